"""Points that a person gives beside the tests, comments at lines, and who waits for them."""

import csv
import io
import json
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
import pytest
from class_rows import ADA
from cohort.made_class import MadeClass
from cohort.test_feedback import FINAL, HIDDEN_UNTIL, told
from stand_ins import Script, case, end, run, speed, start

from warpgrade.cohort import feedback_text, gradebook, grades, leaderboard, merge, summary
from warpgrade.cohort.row import Decision, Mark
from warpgrade.cohort.store import Part, Store
from warpgrade.course import excerpt, reader
from warpgrade.course.course import Course
from warpgrade.course.schema import CourseFile, CourseHead, LabEntry, Late, Policy, RubricItem
from warpgrade.grading.result import FileInfo
from warpgrade.handout import sheet
from warpgrade.machine.paths import Layout

DUE = datetime(2026, 11, 20, tzinfo=UTC)
RUBRIC = [RubricItem("readability", 10), RubricItem("explanation", 5)]
COURSE = """\
schema = 1
[course]
title = "Threads"
[[lab]]
name = "toy"
rubric = [
    { name = "readability", points = 10, description = "names, layout" },
    { name = "explanation", points = 5 },
]
"""


def policies(rubric: list[RubricItem] = RUBRIC, **policy: object) -> grades.Policies:
    file = CourseFile(
        1, CourseHead("Threads"), [LabEntry("toy", due=DUE, rubric=rubric)], late=Late(percent_per_day=10, max_days=3),
        policy=Policy(**policy),  # type: ignore[arg-type]
    )  # fmt: skip
    return grades.Policies("toy", 40, Course(file))


def give(made: MadeClass, student: str, **points: float) -> None:
    digest = grades.make_row(made.store, policies(), student).digest
    most = {item.name: item.points for item in RUBRIC}
    marks = [Mark("ta", "2026-11-24T10:00:00Z", digest, name, each, most[name]) for name, each in points.items()]
    made.store.save_marks(student, [*made.store.marks(student), *marks])


def test_points_that_are_not_given_yet_are_no_zero(made: MadeClass) -> None:
    made.add("ada", "// points: 20")
    made.run()
    row = grades.make_row(made.store, policies(), "ada")
    assert (row.points, row.max_points, row.earned, row.open_items) == (None, 55, 20, ["readability", "explanation"])
    give(made, "ada", readability=8)
    row = grades.make_row(made.store, policies(), "ada")
    assert (row.points, row.open_items) == (None, ["explanation"])
    (cells,) = csv.DictReader(io.StringIO(b"".join(gradebook.csv([row])).decode("utf-8-sig"), newline=""))
    assert (cells["points"], cells["max"], cells["rubric"]) == ("", "55", "readability 8/10; explanation ?/5")
    assert gradebook.platform_grades([row])[0].points is None
    assert summary.summarize([row]).unread == 1
    give(made, "ada", explanation=0)
    row = grades.make_row(made.store, policies(), "ada")
    assert (row.points, row.max_points, row.open_items) == (28, 55, [])
    assert gradebook.platform_grades([row])[0].points == 28


def test_lateness_takes_its_share_of_both_and_all_of_what_is_not_accepted(made: MadeClass) -> None:
    made.add("ada", "// points: 20", (DUE + timedelta(hours=1)).isoformat())
    made.add("bob", "// points: 20 too late", (DUE + timedelta(days=9)).isoformat())
    made.run()
    give(made, "ada", readability=10, explanation=0)
    assert grades.make_row(made.store, policies(), "ada").points == 27
    bob = grades.make_row(made.store, policies(), "bob")
    assert (bob.points, bob.open_items) == (0, [])


def test_who_handed_in_nothing_waits_for_nobody_and_who_was_decided_neither(made: MadeClass) -> None:
    made.add("ada", "// points: 20")
    made.run()
    made.store.decide("ada", [Decision(50, "shown in the lab", "prof", "2026-11-23T10:00:00Z")])
    ada = grades.make_row(made.store, policies(), "ada")
    assert (ada.points, ada.max_points, ada.open_items) == (50, 55, [])
    bob = grades.make_row(made.store, policies(), "bob")
    assert (bob.points, bob.max_points, bob.open_items) == (0, 55, [])


def test_what_cannot_be_compiled_is_read_too(made: MadeClass) -> None:
    made.add("ada", "// points: 0")
    made.run()
    made.store.save(msgspec.structs.replace(made.record("ada"), status="rejected"))
    assert grades.make_row(made.store, policies(), "ada").points is None
    give(made, "ada", readability=4, explanation=1)
    assert grades.make_row(made.store, policies(), "ada").points == 5


def test_points_belong_to_the_submission_that_was_read_and_to_the_item_as_it_was(made: MadeClass) -> None:
    made.add("ada", "// points: 20", "2026-11-01T10:00:00+00:00", 1)
    made.run()
    give(made, "ada", readability=8, explanation=5)
    assert grades.make_row(made.store, policies(), "ada").points == 33
    doubled = grades.make_row(made.store, policies([RubricItem("readability", 20), RUBRIC[1]]), "ada")
    assert (doubled.points, doubled.open_items) == (None, ["readability"])
    made.add("ada", "// points: 30", "2026-11-02T10:00:00+00:00", 2)
    made.run()
    assert grades.make_row(made.store, policies(), "ada").open_items == ["readability", "explanation"]
    give(made, "ada", readability=9, explanation=5)
    assert grades.make_row(made.store, policies(), "ada").points == 44


def test_a_speed_is_ranked_before_a_person_has_read_the_code(made: MadeClass) -> None:
    row = msgspec.structs.replace(ADA, points=None, rubric=[Mark("", "", "", "readability", None, 10)])
    metric = "speed on 256 × 256: speedup"
    assert [each.value for each in leaderboard.rank([row], leaderboard.Metric(metric), ["12345"]).entries] == [2.66]
    assert leaderboard.rank([row], leaderboard.Metric("points"), ["12345"]).entries == []


def test_students_read_points_and_comments_but_not_before_hidden_tests_are_shown() -> None:
    marks = [Mark("ta", "", "", "readability", 8, 10, text="short names"), Mark("", "", "", "explanation", None, 5)]
    row = msgspec.structs.replace(
        ADA, points=None, max_points=125, rubric=marks,
        comments=[Mark("ta", "", "", place="matmul.cu:12", text="why <7>?")],
    )  # fmt: skip
    text = feedback_text.render_text(told(row, FINAL))
    assert "Earned by the tests: 58.3 of 110\nreadability: 8 of 10: short names\nexplanation: not given yet\n" in text
    assert "No grade yet" in text
    assert "matmul.cu:12\n  why <7>?" in text
    page = feedback_text.render_html(told(row, FINAL)).decode()
    assert "why &lt;7&gt;?" in page
    for early in (
        feedback_text.render_text(told(row, HIDDEN_UNTIL)),
        feedback_text.render_html(told(row, HIDDEN_UNTIL)).decode(),
    ):
        for word in ("short names", "8 of 10", "matmul.cu:12"):
            assert word not in early
    late = msgspec.structs.replace(
        row, points=61.65, late="1 day late: −10 %", rubric=[marks[0], msgspec.structs.replace(marks[1], points=2.2)]
    )
    assert "1 day late: −10 %: −6.85\nGrade: 61.65 of 125" in feedback_text.render_text(told(late, FINAL))


def test_points_of_shards_are_merged(made: MadeClass) -> None:
    made.add("ada", "// points: 20")
    made.run()
    give(made, "ada", readability=8, explanation=5)
    out = Store(made.folder / "merged")
    merge.merge([made.store.folder], out)
    merge.merge([made.store.folder], out)
    assert out.marks("ada") == made.store.marks("ada")
    assert grades.make_row(out, policies(), "ada").points == 33


def test_a_decision_about_nothing_handed_in_does_not_move_with_the_labs_points(made: MadeClass) -> None:
    made.add("ada", "// points: 20")
    made.run()
    made.store.take_in(Part((1, 1), max_points=40), keep_points=True)
    made.store.decide("bob", [Decision(30, "ill", "prof", "2026-11-23T10:00:00Z")])
    today = grades.Policies("toy", 60)
    assert grades.make_row(made.store, today, "ada").max_points == 40
    for keep_points, most in ((True, 40), (False, 60), (True, 60)):
        made.store.take_in(Part((1, 1), max_points=60), keep_points=keep_points)
        assert grades.make_row(made.store, today, "bob").max_points == most
    made.store.save_part(Part((1, 1)))  # as an earlier warpgrade wrote it
    assert grades.make_row(made.store, today, "bob").max_points == 60


Override = Callable[..., tuple[int, str, str]]


@pytest.fixture
def override(made: MadeClass, in_project: Layout, capsys: pytest.CaptureFixture[str]) -> Override:
    (in_project.root / "course.toml").write_text(COURSE, encoding="utf-8")
    made.add("ada", "// points: 20")
    made.add("bob", b"\0\0")
    made.run()
    made.store.save_people({"ada": "Ada", "bob": "Bob", "cyd": "Cyd"})
    return lambda *words: run(capsys, "override", str(made.store.folder), *words)


def lines(made: MadeClass) -> dict[str, dict[str, object]]:
    rows = [json.loads(line) for line in (made.store.folder / "grades.jsonl").read_text().splitlines()]
    return {row["student"]: row for row in rows}


def test_a_person_gives_points_and_comments_and_takes_them_back(made: MadeClass, override: Override) -> None:
    status, out, _ = override("ada", "--item", "readability=8", "--comment", "toy.cu:1", "one word", "--by", "ta")
    assert status == 0
    assert "readability: 8 of 10 points, by ta at " in out
    assert "explanation: not given yet, of 5 points" in out
    assert "toy.cu:1, by ta at " in out
    assert "ada: – → – of 55" in out
    status, out, _ = override("ada", "--item", "Explanation=2.5", "--reason", "half of it")
    assert (status, "ada: – → 30.5 of 55" in out) == (0, True)
    row = lines(made)["ada"]
    assert (row["points"], row["max_points"]) == (30.5, 55)
    assert [mark["text"] for mark in row["comments"]] == ["one word"]  # type: ignore[attr-defined]
    status, out, _ = override("ada")
    assert "explanation: 2.5 of 5 points" in out
    assert "half of it" in out
    _, out, _ = override("ada", "--item", "explanation=", "--comment", "toy.cu:1", "")
    assert "ada: 30.5 → – of 55" in out
    assert "toy.cu:1" not in out


def test_a_platforms_sheet_gets_no_number_until_all_points_are_given(
    made: MadeClass, override: Override, capsys: pytest.CaptureFixture[str]
) -> None:
    sheet_file = made.folder / "canvas.csv"
    sheet_file.write_text("Student,ID,SIS User ID,SIS Login ID,Section,Toy (1)\nAda,1,ada,ada,A,\n", encoding="utf-8")
    fill = ("gradebook", "canvas", sheet_file, made.store.folder, "--assignment", "Toy", "--out", "-")
    status, out, err = run(capsys, *fill)
    assert (status, "Ada,1,ada,ada,A,\n" in out) == (1, True)
    assert "no grade yet; grades.csv says why (2):\n    ada" in err
    override("ada", "--item", "readability=10", "--item", "explanation=5")
    assert "Ada,1,ada,ada,A,35\n" in run(capsys, *fill)[1]


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("ada", "--item", "style=3"), "no item “style”.*there are readability, explanation"),
        (("ada", "--item", "readability"), "how many of 10 points.*--item 'readability=10'"),
        (("ada", "--item", "readability=11"), "how many of 10 points"),
        (("ada", "--item", "readability=nan"), "how many of 10 points"),
        (("ada", "--item", "readability=x"), "how many of 10 points"),
        (("ada", "--comment", "toy.cu", "well"), "which line of which file"),
        (("ada", "--comment", "other.cu:3", "well"), "which line of which file.*toy.cu:12"),
        (("ada", "--item", "readability=1", "--points", "3", "--reason", "x"), "exclude each other"),
        (("cyd", "--item", "readability=1"), "cyd has handed in nothing"),
    ],
)
def test_what_cannot_be_meant_is_refused_with_what_to_write(
    made: MadeClass, override: Override, words: tuple[str, ...], complaint: str
) -> None:
    record = made.record("ada")
    result = made.store.result(record.key)
    assert result is not None
    files = [FileInfo("toy.cu", 1, "")]
    submission = msgspec.structs.replace(result.submission, files=files)
    made.store.save_result(record.key, msgspec.structs.replace(result, submission=submission))
    status, _, err = override(*words)
    assert status == 2
    assert re.search(complaint, err.replace("\n", " ")), err
    assert made.store.marks("ada") == []


def test_the_course_its_sheet_and_its_templates_name_the_rubric() -> None:
    course = Course(reader.parse(COURSE), COURSE)
    assert "a person gives 15 more (readability 10, explanation 5)" in course.facts("toy")
    assert reader.parse(excerpt.lab_excerpt(course, "toy", [])).lab == course.file.lab
    section = sheet.rubric_section([*course.file.lab[0].rubric, RubricItem("a|b", 1)])
    page = sheet.page(f"# Toy\n{section}", Path())
    for row in ("<td>readability: names, layout</td>", "<td>explanation</td>", "<td>a|b</td>"):
        assert row in page
    assert sheet.rubric_section([]) == ""


def test_a_platform_that_shows_the_tests_alone_names_the_rest(
    in_project: Layout, submission: Path, script: Callable[[Script], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    (in_project.root / "course.toml").write_text(COURSE, encoding="utf-8")
    script([[start(), case("adds"), case("adds odd sizes"), speed(2.0), end()]])
    out = run(capsys, "grade", "toy", submission, "--quiet", "--gradescope", "-")[1]
    assert "a person gives more points beside these: readability (10), explanation (5)" in json.loads(out)["output"]
