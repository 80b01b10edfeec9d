"""What is graded of a class, what is kept, and what is compared."""

import dataclasses
import subprocess
import sys
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import pytest
from cohort.made_class import MadeClass, states
from stand_ins import run as call

from warpgrade.cohort import grade_history, grades, merge, run
from warpgrade.cohort.row import Decision
from warpgrade.cohort.run import RunOptions
from warpgrade.cohort.store import Head, Part, Store
from warpgrade.compiling.failure import Problem
from warpgrade.grading.result import Result
from warpgrade.machine.errors import BadInput
from warpgrade.machine.paths import Layout

POLICIES = grades.Policies("toy", 40)


def test_each_submission_is_graded_once_and_copies_share_a_result(made: MadeClass) -> None:
    made.add("ada", "// points: 10")
    made.add("bob", "// points: 20")
    made.add("cyd", "// points: 10")
    tally = made.run()
    assert (tally.to_do, tally.ended, tally.done) == (2, 2, 3)
    assert len(made.stub.graded) == 2
    assert made.record("ada").key == made.record("cyd").key != made.record("bob").key
    again = made.run()
    assert (again.kept, again.to_do, len(made.stub.graded)) == (3, 0, 2)
    made.add("bob", "// points: 30", number=2)
    assert made.run().done == 1


def test_what_only_one_student_has_does_not_show_in_a_shared_result(made: MadeClass) -> None:
    made.add("ada", "// points: 10")
    made.add("cyd", "// points: 10")
    made.run()
    ada, cyd = grades.make_rows(made.store, POLICIES, {})
    results = [made.store.result_of(row) for row in (ada, cyd)]
    assert [result.submission.name for result in results if result] == ["0", "1"]
    shared = made.store.result(made.record("ada").key)
    assert shared is not None and shared.submission.name == "toy.cu"


def test_a_refused_submission_has_its_reason_and_stops_nobody(made: MadeClass) -> None:
    made.add("ada", b"\0\0")
    made.add("bob", "// points: 20")
    tally = made.run()
    assert (tally.refused, tally.done) == (1, 1)
    assert made.record("ada").status == "refused"
    assert "not a text file" in made.record("ada").problem
    assert states(list(grades.make_rows(made.store, POLICIES, {"eve": "Eve"}))) == {
        "ada": ("refused", 0.0), "bob": ("graded", 20.0), "eve": ("missing", 0.0),
    }  # fmt: skip


def test_what_was_not_handed_in_as_asked_is_taken_and_told(made: MadeClass) -> None:
    made.add("ada", "// points: 10")
    made.add("bob", "// points: 12")
    (made.folder / "in" / "0" / "toy.cu").rename(made.folder / "in" / "0" / "Toy_final.cu")
    made.run()
    found = {row.student: row for row in grades.make_rows(made.store, POLICIES, {})}
    assert (found["ada"].points, found["ada"].repairs) == (10, ["Toy_final.cu is graded as toy.cu"])
    assert (found["bob"].points, found["bob"].repairs) == (12, [])
    shown = made.store.result_of(found["ada"])
    assert shown is not None
    assert shown.submission.notes == ["Toy_final.cu is graded as toy.cu"]  # the student reads it


def test_a_course_may_refuse_what_is_not_as_asked(made: MadeClass) -> None:
    made.add("ada", "// points: 10")
    (made.folder / "in" / "0" / "toy.cu").rename(made.folder / "in" / "0" / "Toy_final.cu")
    made.run(RunOptions(repair=False))
    assert made.record("ada").status == "refused"
    made.run()
    assert (made.record("ada").status, made.record("ada").points) == ("graded", 10)  # in place of the refused one


def test_an_accepted_file_is_graded(made: MadeClass) -> None:
    made.add("ada", "// points: 10")
    made.add("bob", "// points: 11")
    folder = made.folder / "in" / "0"
    (folder / "toy.cu").rename(folder / "v1.cu")
    (folder / "v2.cu").write_text("// points: 12\n")
    made.run()
    assert made.record("ada").status == "refused"
    assert "each of v1.cu, v2.cu could be toy.cu" in made.record("ada").problem
    made.store.accept("ada", "v2.cu")
    made.run()
    record = made.record("ada")
    assert (record.status, record.points) == ("graded", 12)
    assert record.repairs == ["v2.cu is graded as toy.cu: accepted by the person who grades"]
    assert made.record("bob").points == 11
    out = Store(made.folder / "merged")
    merge.merge([made.store.folder], out)
    assert out.accepted("ada") == "v2.cu"


def test_times_that_come_later_count_for_what_is_graded(made: MadeClass) -> None:
    made.add("ada", "// points: 10")
    made.run()
    (ada,) = made.handed_in
    made.handed_in[:] = [dataclasses.replace(ada, submitted=datetime(2026, 11, 21, tzinfo=UTC))]
    assert made.run().kept == 1
    assert made.record("ada").submitted == "2026-11-21T00:00:00+00:00"
    made.handed_in[:] = [ada]
    made.run()
    assert made.record("ada").submitted == "2026-11-21T00:00:00+00:00"


def test_a_refused_row_moves_with_the_labs_points_only_when_it_is_asked_for(made: MadeClass) -> None:
    made.add("ada", b"\0\1\2")
    made.run()
    assert made.record("ada").max_points == 40
    [item, *others] = made.lab.file.test
    larger = msgspec.structs.replace(made.lab.file, test=[msgspec.structs.replace(item, points=100), *others])
    made.lab = dataclasses.replace(made.lab, file=larger)
    made.run()
    assert made.record("ada").max_points == 40
    made.regrade()
    assert made.record("ada").max_points > 100 - 40


def test_the_machines_trouble_is_tried_again_and_never_scored(made: MadeClass) -> None:
    made.add("ada", "machine fails")
    made.add("bob", "// points: 20")
    tally = made.run()
    assert (tally.errors, tally.done) == (1, 1)
    assert made.stub.graded.count("machine fails") == 2
    record = made.record("ada")
    assert (record.status, record.problem, record.tries) == ("error", "the device server died", 2)
    assert states(list(grades.make_rows(made.store, POLICIES, {})))["ada"] == ("error", None)
    made.run()
    assert made.stub.graded.count("machine fails") == 4


def test_a_changed_test_changes_nothing_until_it_is_asked_for(made: MadeClass) -> None:
    made.add("ada", "// points: 10")
    made.add("bob", "// points: 20")
    made.run()
    made.stub.version = "2"
    made.stub.worth["// points: 10"] = 40
    assert made.run().stale == 2
    assert made.record("ada").points == 10

    dry = made.regrade(dry=True)
    assert [(change.summary, change.reasons) for change in dry.changes] == [
        ("ada: 10 → 40", ["10/40 → 40/40: adds: before: C[0] is 0"])
    ]
    assert made.record("ada").points == 10

    graded = len(made.stub.graded)
    assert [change.summary for change in made.regrade().changes] == ["ada: 10 → 40"]
    assert len(made.stub.graded) == graded  # the dry run's results are kept
    assert made.record("ada").points == 40
    assert made.regrade().changes == []


def test_one_student_is_graded_again_and_the_others_stay(made: MadeClass) -> None:
    for student in ("ada", "bob"):
        made.add(student, f"// points: 10 {student}")
    made.run()
    made.stub.version, made.stub.worth = "2", {"// points: 10 ada": 20, "// points: 10 bob": 20}
    tally = made.regrade(students=frozenset({"ada"}))
    assert (tally.done, tally.kept, tally.stale) == (1, 1, 1)
    assert (made.record("ada").points, made.record("bob").points) == (20, 10)


def test_a_test_is_run_again_although_nothing_has_changed(made: MadeClass) -> None:
    made.add("ada", "// points: 10")
    made.add("bob", "// points: 30")
    made.run()
    made.stub.worth = {"// points: 10": 20}
    before = made.store.result(made.record("ada").key)
    assert made.regrade().changes == []
    dry = made.regrade(students=frozenset({"ada"}), tests=("adds",), dry=True)
    assert [change.summary for change in dry.changes] == ["ada: 10 → 20"]
    assert dry.changes[0].reasons == ["10/40 → 20/40: adds: C[0] is 0"]
    assert made.record("ada").points == 10
    assert made.store.result(made.record("ada").key) == before
    tally = made.regrade(students=frozenset({"ada"}), tests=("adds",))
    assert (tally.done, made.record("ada").points, made.record("bob").points) == (1, 20, 30)
    assert tally.changes[0].reasons == dry.changes[0].reasons
    assert made.stub.forgot == [("adds",), ("adds",)]


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("--student", "ada"), "--student and --test say what is graded again\nwarpgrade: add --regrade"),
        (
            ("--regrade", "--test", "adsd"),
            "no test of toy has “adsd” in its name\nwarpgrade: there are: adds; adds odd",
        ),
        (("--regrade", "--student", "ad"), "nobody in this class is called ad\nwarpgrade: did you mean ada?"),
    ],
)
def test_what_is_not_there_is_not_graded_again(
    made: MadeClass, in_project: Layout, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], complaint: str
) -> None:
    made.add("ada", "// points: 10")
    made.run()
    status, _, err = call(capsys, "class", "toy", made.folder / "in", "--out", made.store.folder, *words)
    assert status == 2
    assert complaint in err


def test_a_grade_is_not_lost_to_the_machines_trouble(made: MadeClass) -> None:
    made.add("ada", "// points: 10")
    made.run()
    made.stub.version = "2"

    def fail(*_: object) -> None:
        raise OSError(5, "Input/output error", "disk")

    made.stub.during = fail
    with pytest.raises(OSError, match="Input/output"):
        made.regrade()
    assert made.record("ada").points == 10


def test_a_decision_stays_and_can_be_taken_back(made: MadeClass) -> None:
    made.add("ada", "// points: 10")
    made.run()
    made.store.decide("ada", [Decision(33, "shown in the lab", "prof", "2026-11-23T10:00:00Z")])
    made.stub.version = "2"
    made.regrade()
    (row,) = grades.make_rows(made.store, POLICIES, {})
    assert (row.points, row.earned) == (33, 10)
    assert row.decision is not None and row.decision.by == "prof"
    made.store.decide("ada", [])
    assert next(grades.make_rows(made.store, POLICIES, {})).points == 10


def test_best_or_latest(made: MadeClass) -> None:
    made.add("ada", "// points: 30", "2026-11-01T10:00:00+00:00", 1)
    made.add("ada", "// points: 10", "2026-11-02T10:00:00+00:00", 2)
    made.add("ada", "// points: 30.0", "2026-11-03T10:00:00+00:00", 3)
    made.add("ada", "// points: 5", "2026-11-04T10:00:00+00:00", 4)
    made.run(RunOptions(latest=True))
    assert made.stub.graded == ["// points: 5"]
    made.run()
    best = grades.make_row(made.store, grades.Policies("toy", 40, attempts="best"), "ada")
    latest = grades.make_row(made.store, grades.Policies("toy", 40, attempts="latest"), "ada")
    assert (best.points, best.submitted[:10], best.attempts) == (30, "2026-11-01", 4)
    assert (latest.points, latest.submitted[:10]) == (5, "2026-11-04")


def test_shards_are_apart_and_merge_to_the_same(made: MadeClass, tmp_path: Path) -> None:
    for number in range(20):
        made.add(f"s{number}", f"// points: {number}")
    made.run()
    whole = states(list(grades.make_rows(made.store, POLICIES, {})))
    everything = made.folder
    parts = []
    for number in (1, 2, 3):
        made.folder = everything / f"part{number}"
        made.run(RunOptions(shard=(number, 3)))
        parts.append(made.store.folder)
    assert sum(len(list(Store(part).students())) for part in parts) == 20
    Store(parts[1]).decide("s1", [Decision(1, "late", "ta", "2026-11-23T10:00:00Z")])
    out = Store(everything / "merged")
    first = merge.merge(parts, out)
    assert (first.submissions, first.twice, first.decisions) == (20, [], 1)
    assert {**whole, "s1": ("graded", 1.0)} == states(list(grades.make_rows(out, POLICIES, {})))
    assert len(merge.merge(parts, out).twice) == 20
    other = Store(everything / "other")
    other.begin(Head("toy", 6))
    with pytest.raises(BadInput, match="another seed: 6, not 5"):
        merge.merge([*parts, other.folder], out)


def test_a_shard_that_is_not_there_makes_nobody_a_zero(made: MadeClass) -> None:
    people = {f"s{number}": "" for number in range(20)}
    for student in list(people)[:15]:
        made.add(student, "// points: 7")
    everything, parts = made.folder, []
    for number in (1, 2, 3):
        made.folder = everything / f"part{number}"
        made.run(RunOptions(shard=(number, 3)))
        made.store.save_part(Part((number, 3)))
        parts.append(made.store.folder)
    out = Store(everything / "two")
    merge.merge(parts[:2], out)
    assert out.lacking() == ["3 of 3"]
    found = states(list(grades.make_rows(out, POLICIES, people)))
    for student, (state, points) in found.items():
        here = not Part((3, 3)).has(student)
        known = ("graded", 7) if student in list(people)[:15] else ("missing", 0)
        assert (state, points) == (known if here else ("waiting", None))
    merge.merge(parts[2:], out)
    assert out.lacking() == []
    assert Counter(state for state, _ in states(list(grades.make_rows(out, POLICIES, people))).values()) == {
        "graded": 15, "missing": 5,
    }  # fmt: skip
    # What nobody is named for may be anybody's.
    out.save_part(Part((1, 3), ["toy.cu: nothing says whose it is"]))
    assert states(list(grades.make_rows(out, POLICIES, people)))["s19"] == ("waiting", None)


def test_a_merge_names_the_shards_that_are_not_there(
    in_project: Layout, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("warpgrade.cli.cohort._prepare", lambda *given: None)
    students = [f"s{number}" for number in range(12)]
    for student in students[:6]:
        (tmp_path / "in" / student).mkdir(parents=True)
        (tmp_path / "in" / student / "toy.cu").write_bytes(b"")  # which is refused
    (tmp_path / "roster.csv").write_text("id,name\n" + "".join(f"{each},{each}\n" for each in students))
    roster: list[str | Path] = ["--roster", tmp_path / "roster.csv"]
    for number in (1, 3):
        words: list[str | Path] = [
            "--shard",
            f"{number}/3",
            "--seed",
            "5",
            "--out",
            tmp_path / f"part{number}",
            "--quiet",
        ]
        assert call(capsys, "class", "toy", tmp_path / "in", *words, *roster)[0] == 0
    parts = [tmp_path / "part1", tmp_path / "part3"]
    status, _, err = call(capsys, "merge", *parts, "--out", tmp_path / "all", *roster)
    waiting = sum(Part((2, 3)).has(student) for student in students)
    assert status == 3
    assert "shard 2 of 3 not among the parts: whoever is in there has no grade" in err
    assert f"{waiting} have no grade yet" in err
    words = ["--shard", "2/3", "--seed", "5", "--out", tmp_path / "part2", "--quiet"]
    assert call(capsys, "class", "toy", tmp_path / "in", *words, *roster)[0] == 0
    assert call(capsys, "merge", tmp_path / "part2", "--out", tmp_path / "all", *roster)[0] == 0


def test_who_handed_in_waits_when_a_run_ends_before_it_began(made: MadeClass) -> None:
    made.add("ada", "// points: 10")
    made.add("bob", "// points: 12")
    tally = made.run(stopped=lambda: True)
    made.store.save_part(Part((1, 1)))
    assert (tally.to_do, tally.ended) == (2, 0)
    assert states(list(grades.make_rows(made.store, POLICIES, {"cyd": ""}))) == {
        "ada": ("waiting", None), "bob": ("waiting", None), "cyd": ("missing", 0),
    }  # fmt: skip
    made.run()
    assert states(list(grades.make_rows(made.store, POLICIES, {})))["bob"] == ("graded", 12)


def test_two_calls_at_once_on_one_folder(made: MadeClass) -> None:
    code = (
        "import sys; from pathlib import Path; from warpgrade.cohort.store import Store\n"
        "with Store(Path(sys.argv[1])).lock(): print('in')"
    )
    with made.store.lock():
        done = subprocess.run(
            [sys.executable, "-c", code, str(made.store.folder)], capture_output=True, text=True, check=False,
            env={"PYTHONPATH": str(Path(__file__).parents[3] / "grader")},
        )  # fmt: skip
    assert "another warpgrade is grading into" in done.stderr


def test_a_file_that_is_broken_is_named(made: MadeClass) -> None:
    made.add("ada", "// points: 10")
    made.run()
    (path,) = (made.store.folder / "submissions" / "ada").iterdir()
    path.write_text(path.read_text()[:20])
    with pytest.raises(BadInput, match=r"submissions/ada/0001-.*\.json is not what this warpgrade writes"):
        made.run()
    path.unlink()
    assert made.run().shared == 1
    (made.store.folder / "class.json").write_text('{"schema": "warpgrade/class/2", "lab": "toy", "seed": 1}')
    with pytest.raises(BadInput, match=r"class\.json is not what this warpgrade writes"):
        made.store.head()


def test_a_broken_result_is_made_again(made: MadeClass) -> None:
    made.add("ada", "// points: 10")
    made.run()
    path = made.store.result_path(made.record("ada").key)
    path.write_bytes(path.read_bytes()[:50])
    made.stub.version = "2"
    assert made.regrade().done == 1


def test_seeds_of_students_differ_and_stay() -> None:
    head = Head("toy", 5, seed_per_student=True)
    assert head.seed_of("ada") == msgspec.structs.replace(head, warpgrade="2").seed_of("ada") != head.seed_of("bob")
    assert Head("toy", 5).seed_of("ada") == 5


def test_a_submission_that_changes_meanwhile_is_not_graded_as_what_it_was(made: MadeClass) -> None:
    made.add("ada", "// points: 10")
    made.add("bob", "// points: 20")
    path = made.folder / "in" / "1" / "toy.cu"

    def hand_in_again(*_: object) -> None:
        path.write_text("// points: 40")

    made.stub.during = hand_in_again
    assert made.run().errors == 1
    assert "changed while the class was graded" in made.record("bob").problem


def test_students_are_found_however_they_are_spelt(made: MadeClass) -> None:
    made.add("ada", "// points: 8")
    made.add("adam", "// points: 8")
    made.run()
    (record,) = made.store.records("ada")
    made.store.save(msgspec.structs.replace(record, identifiers=["ada", "ada@example.edu"]))
    assert [made.store.find_student(who) for who in ("ada", "ADA", "Ada@Example.edu", "adam")] == [
        "ada",
        "ada",
        "ada",
        "adam",
    ]
    with pytest.raises(BadInput, match="nobody in this class is called addam") as nobody:
        made.store.find_student("addam")
    assert nobody.value.hint.startswith("did you mean adam")
    with pytest.raises(BadInput, match="nobody in this class is called zzz"):
        made.store.find_student("zzz")


def test_why_nothing_was_tested_is_the_compilers_first_error(made: MadeClass) -> None:
    detail = 'toy.cu(1): warning: unused\n\ntoy.cu(3): error: expected a ";"\n  x\ntoy.cu(9): error: more'
    problem = Problem("compile", "toy.cu does not compile", detail, hint="fix the first error first")
    result = msgspec.structs.replace(of_made(made, "// points: 8"), status="rejected", problem=problem)
    record = run.record_result(made.record("ada"), result)
    assert record.problem == 'toy.cu does not compile: toy.cu(3): error: expected a ";"'
    plain = msgspec.structs.replace(result, problem=msgspec.structs.replace(problem, detail=""))
    assert run.record_result(record, plain).problem == "toy.cu does not compile: fix the first error first"


def test_a_cause_for_review_is_told_once(made: MadeClass) -> None:
    result = of_made(made, "// points: 8")
    tests = [msgspec.structs.replace(result.tests[0], name=name) for name in ("prelab: a", "b")]
    notes = ["prelab: a: not of the device", "b: not of the device", "b: asked the clock", "hostile names"]
    record = run.record_result(made.record("ada"), msgspec.structs.replace(result, tests=tests, review=notes))
    assert record.review == ["not of the device (in 2 tests)", "asked the clock (in “b”)", "hostile names"]


def of_made(made: MadeClass, text: str) -> Result:
    made.add("ada", text)
    made.run()
    result = made.store.result(made.record("ada").key)
    assert result is not None
    return result


def test_changes_name_the_student_and_which_submission() -> None:
    change = grade_history.Change("12345", "Ada Lovelace", None, 95, [], number=2)
    assert change.summary == "12345 (Ada Lovelace), submission 2: – → 95"
    points = [(None, 5), (5, 7), (5, 3), (5, None), (5, 5), (None, None)]
    directions = [grade_history.Change("a", "", before, after, []).direction for before, after in points]
    assert directions == ["new", "up", "down", "down", "", ""]
