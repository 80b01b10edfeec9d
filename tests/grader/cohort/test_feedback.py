"""Feedback of a class: what students read, in the zips that platforms take."""

import io
import re
import zipfile
from datetime import UTC, datetime
from pathlib import Path

import golden_files
import msgspec
import pytest
from class_rows import ADA, BOB, CLASS, EVE, GRACE, JOE, KAI, LIN
from hostile import ACTS, ANY, HOSTILE
from hypothesis import given
from page_reader import Reader
from samples import GRADED, RACE, REJECTED

from warpgrade.cohort import feedback, feedback_text
from warpgrade.cohort.row import Decision, Row
from warpgrade.compiling.failure import Problem
from warpgrade.grading import score
from warpgrade.grading.result import Result
from warpgrade.platforms import zip_names

GOLDEN = Path(__file__).parent / "golden"
MOODLE = "Ada Lovelace_1234567_assignsubmission_file_"
STYLE = re.compile(rb"<style>.*?</style>\n|sha256-[^&]*", re.DOTALL)  # that of all pages
NOW = datetime(2026, 11, 23, tzinfo=UTC)
FINAL = msgspec.structs.replace(
    GRADED, status="graded", tests=[test for test in GRADED.tests if test.status in ("pass", "fail")]
)
FINAL = msgspec.structs.replace(FINAL, score=score.total(FINAL.tests))
HIDDEN_UNTIL = msgspec.structs.replace(FINAL, hidden_until="2026-12-01T00:00:00+00:00")
RESULTS = {"results/12345.json": FINAL, "results/12346.json": FINAL, "results/eve.json": REJECTED,
           "results/kai.json": GRADED}  # fmt: skip


def load(row: Row) -> Result | None:
    return RESULTS.get(row.result)


def told(row: Row, result: Result | None, now: datetime = NOW) -> feedback_text.Feedback:
    about = feedback_text.make_feedback(row, result, now)
    assert about is not None
    return about


def unpacked(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        return {entry.filename: archive.read(entry) for entry in archive.infolist()}


@pytest.mark.parametrize(
    ("name", "row", "result"),
    [("graded", ADA, FINAL), ("late", GRACE, FINAL), ("decided", KAI, FINAL), ("rejected", EVE, REJECTED),
     ("error", JOE, GRADED), ("refused", LIN, None), ("early", ADA, HIDDEN_UNTIL)],
)  # fmt: skip
def test_golden(name: str, row: Row, result: Result | None) -> None:
    """Feedback with tests is kept as what differs from that of `graded`."""
    about = told(row, result)
    with_tests = name in ("late", "decided", "error", "early")
    graded = told(ADA, FINAL)
    for suffix, render in (
        ("txt", feedback_text.render_text),
        ("html", lambda one: STYLE.sub(b"", feedback_text.render_html(one))),
    ):
        golden_files.check(GOLDEN / f"feedback-{name}.{suffix}", render(about), render(graded) if with_tests else "")
    assert "\x1b" not in feedback_text.render_text(about)
    Reader(feedback_text.render_html(about))


def test_how_the_points_came_about() -> None:
    late = feedback_text.render_text(told(GRACE, FINAL))
    assert "Earned by the tests: 110 of 110\n2 days late: −20 %: −22\nGrade: 88 of 110 points (80 %)" in late
    decided = feedback_text.render_text(told(KAI, FINAL))
    assert 'Decided by Prof. "X", <b> on 2026-11-23: 70: @SUM(1+1) the grader\'s machine was' in decided


def test_what_hidden_tests_found_stays_hidden() -> None:
    for page in (feedback_text.render_text(told(ADA, FINAL)), feedback_text.render_html(told(ADA, FINAL)).decode()):
        assert "keeps NaN and infinity" in page
        assert "expected NaN" not in page


def test_before_its_date_nothing_tells_of_hidden_tests_not_even_the_grade() -> None:
    row = msgspec.structs.replace(ADA, decision=Decision(61.25, "the hidden test is wrong", "X", ""), points=61.25)
    for page in (
        feedback_text.render_text(told(row, HIDDEN_UNTIL)),
        feedback_text.render_html(told(row, HIDDEN_UNTIL)).decode(),
    ):
        for word in ("NaN", "61.25", "hidden test is wrong", "of 110 points"):
            assert word not in page
        assert "No grade yet" in page
        assert "not shown before 2026-12-01" in page
    after = feedback_text.render_text(told(row, HIDDEN_UNTIL, datetime(2026, 12, 2, tzinfo=UTC)))
    assert "61.25" in after


def test_the_date_is_the_courses_of_today(tmp_path: Path) -> None:
    later, now = "2026-12-01T00:00:00+00:00", NOW
    feedback.write(tmp_path / "a.zip", "plain", [ADA], lambda row: FINAL, hidden_until=later, now=now)
    assert b"No grade yet" in unpacked(tmp_path / "a.zip")["12345/feedback.html"]
    feedback.write(tmp_path / "a.zip", "plain", [ADA], lambda row: HIDDEN_UNTIL, hidden_until="", now=now)
    assert b"No grade yet" not in unpacked(tmp_path / "a.zip")["12345/feedback.html"]


def test_nobody_is_told_a_grade_that_is_none() -> None:
    assert feedback_text.make_feedback(BOB, None) is None
    assert feedback_text.make_feedback(ADA, None) is None
    assert told(JOE, GRADED).grade == ""
    excused = msgspec.structs.replace(BOB, points=100, decision=Decision(100, "ill", "X", ""))
    assert told(excused, None).grade.startswith("100 of 110")


def test_what_the_checks_found_is_told() -> None:
    tests = [msgspec.structs.replace(FINAL.tests[2], diagnostics=[RACE]), *FINAL.tests]
    page = Reader(feedback_text.render_html(told(ADA, msgspec.structs.replace(FINAL, tests=tests)))).text
    assert "race in shared memory [racecheck/shared]" in page
    assert "fix this first" in page


def test_one_cause_is_told_once() -> None:
    failed = [
        msgspec.structs.replace(
            test, status="fail", points=0, hint="", output="", signs=["wrong"],
            diagnostics=[RACE] if number < 3 else [],
            message=f"on the device: kernel '{RACE.kernel}': reverse.cu:18: reads what was not written\n  n = {number}",
        )
        for number, test in enumerate(FINAL.tests)
    ]  # fmt: skip
    about = told(ADA, msgspec.structs.replace(FINAL, tests=failed))
    texts = [row.text for row in about.tests]
    assert texts[0].startswith(f"kernel {RACE.kernel} failed at ")
    assert "reads what was not written" not in texts[0]
    assert texts[1:3] == [f"the same as in “{failed[0].name}”"] * 2
    assert about.first == failed[0].name


def test_a_plain_zip_has_a_folder_a_student(tmp_path: Path) -> None:
    packed = feedback.write(tmp_path / "a.zip", "plain", CLASS, load, now=NOW)
    found = unpacked(tmp_path / "a.zip")
    assert list(found) == ["12345/feedback.html", "12346/feedback.html", "_cmd__ _C calc__A0-b3c49727/feedback.html",
                           "+4915112345/feedback.html", "009/feedback.html"]  # fmt: skip
    assert (packed.files, packed.left_out) == (5, ["Joe: the result cannot be found"])
    assert "<script>" not in found["_cmd__ _C calc__A0-b3c49727/feedback.html"].decode()


def test_moodles_bulk_upload(tmp_path: Path) -> None:
    rows = [
        msgspec.structs.replace(ADA, student="ada", source=MOODLE),
        msgspec.structs.replace(GRACE, student="Participant 77", name="Gr_ace/.. Hopper", source="x"),
        msgspec.structs.replace(
            GRACE, student="gh", name="", identifiers=["g@example.edu", "Participant 78"], source="x"
        ),
        msgspec.structs.replace(KAI, source=f"export/Kai_7_assignsubmission_file_/{KAI.source}"),
        msgspec.structs.replace(KAI, name="Twice", source=MOODLE),
        EVE,
    ]
    packed = feedback.write(tmp_path / "a.zip", "moodle", rows, load, now=NOW)
    assert list(unpacked(tmp_path / "a.zip")) == [
        "Ada Lovelace_1234567_assignsubmission_file_/feedback.html",
        "Gr ace .. Hopper_77_assignsubmission_file_/feedback.html",
        "gh_78_assignsubmission_file_/feedback.html",
        "Kai gnp.exe_7_assignsubmission_file_/feedback.html",
    ]
    assert [line.split(": ", 1)[1] for line in packed.left_out] == [
        "a second submission for Twice_1234567_assignsubmission_file_/feedback.html",
        "no name of Moodle's says which participant it is",
    ]  # fmt: skip


def canvas_takes(name: str) -> tuple[str, str]:
    """As Canvas reads names of files: the first two parts that are numbers."""
    user, file = [part for part in name.split("_") if re.fullmatch(r"\d+", part)][:2]
    assert not name.rsplit("_", maxsplit=1)[-1].startswith("link")
    return user, file


def test_canvas_takes_files_of_the_names_that_it_gave(tmp_path: Path) -> None:
    rows = [
        ADA, GRACE, KAI, EVE,
        msgspec.structs.replace(ADA, student="1", source="99_11_22_x.cu"),
        msgspec.structs.replace(ADA, student="2", source="bob_33_44_link.cu"),
        msgspec.structs.replace(ADA, student="3", source="pdf_55_66_paper.pdf"),
        msgspec.structs.replace(ADA, student="4", source="dee_77_88_a: b?.html"),
        msgspec.structs.replace(ADA, student="5", source="two_91_92_a, b.cu, two_91_93_c.zip and 2 more"),
    ]  # fmt: skip
    packed = feedback.write(tmp_path / "a.zip", "canvas", rows, load, now=NOW)
    found = unpacked(tmp_path / "a.zip")
    assert list(found) == [
        ADA.source, GRACE.source, KAI.source, "student_11_22_feedback.cu", "student_33_44_feedback.cu",
        "student_77_88_feedback.html", "two_91_92_a, b.cu",
    ]  # fmt: skip
    assert [canvas_takes(name)[0] for name in found] == ["12345", "12346", "12348", "11", "33", "77", "91"]
    # What opens a .cu file reads a comment, and what opens a zip finds a page.
    lines = found[ADA.source].decode().splitlines()
    assert lines[0] == "// Matrix multiplication in shared memory"
    assert all(line.startswith("//") for line in lines)
    with zipfile.ZipFile(io.BytesIO(found[KAI.source])) as inner:
        assert inner.namelist() == ["feedback.html"]
    assert found["student_77_88_feedback.html"].startswith(b"<!DOCTYPE html>")
    assert [line.rsplit(": ", 1)[1] for line in packed.left_out] == [
        "its name has not Canvas's numbers", "handed in a .pdf file, and feedback would look like a damaged one",
    ]  # fmt: skip


@pytest.mark.parametrize("kind", ["plain", "moodle", "canvas"])
def test_the_same_makes_the_same_bytes_one_result_at_a_time(kind: str, tmp_path: Path) -> None:
    held: list[str] = []
    written = {}

    def one(row: Row) -> Result | None:
        held.append(row.student)
        return load(row)

    for name in ("a.zip", "b.zip"):
        held.clear()
        feedback.write(tmp_path / name, kind, iter(CLASS), one, now=NOW)
        written[name] = (tmp_path / name).read_bytes()
        assert held == [row.student for row in CLASS]
    assert written["a.zip"] == written["b.zip"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.zip", "b.zip"]


def test_a_zip_that_cannot_be_finished_leaves_the_old_one(tmp_path: Path) -> None:
    (tmp_path / "a.zip").write_bytes(b"old")

    def fails(row: Row) -> Result | None:
        raise RuntimeError

    with pytest.raises(RuntimeError):
        feedback.write(tmp_path / "a.zip", "plain", CLASS, fails)
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("a.zip", b"old")]


def test_the_alias_of_the_leaderboard_is_told() -> None:
    about = feedback_text.make_feedback(ADA, FINAL, NOW, "amber otter")
    assert about is not None
    assert "On the leaderboard you are “amber otter”." in feedback_text.render_text(about)


@ANY
@given(words=HOSTILE)
def test_hostile_words(words: str) -> None:
    tests = [msgspec.structs.replace(test, message=words, hint=words, output=words) for test in FINAL.tests]
    result = msgspec.structs.replace(FINAL, tests=tests, notes=[words])
    row = msgspec.structs.replace(
        KAI, student=words, name=words, late=words, source=words, submitted=words,
        decision=Decision(1, words, words, words),
    )  # fmt: skip
    about = told(row, result)
    page = feedback_text.render_html(about)
    for text in (*Reader(page).pieces, feedback_text.render_text(about)):
        assert not ACTS.search(text)


@ANY
@given(words=HOSTILE)
def test_names_in_archives_are_safe(words: str) -> None:
    name = zip_names.safe(words)
    assert name
    assert not re.search(r'[/\\:*?"<>|\x00-\x1f]', name)
    assert name[0] not in ".~- "
    assert name[-1] not in ". "
    assert len(name.encode()) <= 81
    assert zip_names.safe(name) == name


def test_no_two_students_share_a_folder() -> None:
    names = zip_names.Names()
    given_names = ["ada", "ADA", "a/da", "a\\da", "con", "CON.txt", "..", "", "ada", "ａda", "é", "e\u0301", "x" * 300]
    found = [names.make_unique(name) for name in given_names]
    assert found[0] == "ada"
    assert found[1].startswith("ADA-")
    assert found[1] != "ADA-2"
    assert len({zip_names.safe(name).casefold() for name in found}) == len(found)


def test_why_nothing_ran_is_told_once() -> None:
    problem = Problem("compile", "matmul.cu does not compile", 'matmul.cu(3): error: expected a ";"', hint="fix it")
    tests = [msgspec.structs.replace(test, status="fail", points=0, message=problem.message) for test in FINAL.tests]
    about = told(EVE, msgspec.structs.replace(FINAL, status="rejected", problem=problem, tests=tests))
    for text in (feedback_text.render_text(about), feedback_text.render_html(about).decode()):
        assert text.count("does not compile") == 1
        assert "ix this first" not in text
        assert FINAL.tests[0].name in text


def test_a_name_that_is_the_identifier_is_told_once() -> None:
    assert told(msgspec.structs.replace(ADA, name="Ada", student="ada"), FINAL).who == "Ada"
