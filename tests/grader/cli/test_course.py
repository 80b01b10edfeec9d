"""What a course.toml changes in the commands: order, points, device, compiler, and when hidden tests are shown."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import jsonschema
import msgspec
import pytest
from samples import GRADED
from stand_ins import Script, case, end, run, speed, start

from warpgrade.cli.outlets import formats
from warpgrade.compiling.failure import Problem
from warpgrade.course import reader
from warpgrade.grading import result
from warpgrade.machine.paths import Layout
from warpgrade.report import findings, hidden

Install = Callable[[Script], Path]
MIXED: Script = [[start(), case("adds"), case("adds odd sizes", "fail", "a[3] is 1"), speed(2.0), end()]]
COURSE = """\
schema = 1
[course]
title = "Threads"
compiler = "12.4"
device = "vgpu:h100"
[[lab]]
name = "toy"
due = 2027-03-08T12:00:00+01:00
points = { "adds" = 4, "speed" = 30 }
"""


@pytest.fixture
def course(in_project: Layout) -> Callable[[str, str], Path]:
    """Write the project's course.toml, with one change."""

    def write(old: str = "", new: str = "") -> Path:
        assert old in COURSE
        path = in_project.root / "course.toml"
        path.write_text(COURSE.replace(old, new, 1), encoding="utf-8")
        return path

    write()
    return write


Write = Callable[..., Path]


def test_the_list_is_the_courses(course: Write, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(capsys, "list")
    assert status == 0
    assert "Threads" in out
    assert "54 points" in out
    assert "due 2027-03-08 12:00 UTC+01:00 · 100 % of the course" in out
    course('name = "toy"', 'name = "toi"')
    assert "not in course.toml: toy" in run(capsys, "list")[1]


def test_points_device_and_compiler_of_the_course(
    course: Write, submission: Path, script: Install, capsys: pytest.CaptureFixture[str]
) -> None:
    program = script(MIXED)
    status, out, _ = run(capsys, "grade", "toy", submission, "--json", "-")
    assert status == 0
    document = json.loads(out)
    jsonschema.validate(document, json.loads(result.json_schema()))
    assert [(test["points"], test["max_points"]) for test in document["tests"]] == [(4, 4), (0, 20), (15, 30)]
    assert document["device"]["requested"] == "vgpu:h100"
    note = "compiled with nvcc 13.0.88, but the course's is 12.4: counters, modelled times and points can differ"
    assert document["notes"] == [note]
    assert "compiled with nvcc 13.0.88, but" in run(capsys, "grade", "toy", submission)[1]
    course('compiler = "12.4"', 'compiler = "13.0"')
    assert "compiled with" not in run(capsys, "grade", "toy", submission)[1]
    course("vgpu:h100", "vgpu:x900")
    assert "no profile vgpu:x900" in run(capsys, "grade", "toy", submission)[2]
    assert run(capsys, "grade", "toy", submission, "--device", "vgpu:h100")[0] == 0
    line = json.loads((program.parent / "calls.jsonl").read_text().splitlines()[0])
    assert "vgpu:h100" in line


def test_hidden_tests_before_their_date(
    course: Write, submission: Path, script: Install, capsys: pytest.CaptureFixture[str]
) -> None:
    script(MIXED)
    course("due", "hidden_until = 9990-01-02T03:04:05Z\ndue")
    status, out, _ = run(capsys, "grade", "toy", submission)
    assert status == 0
    assert "adds odd sizes" not in out
    assert "19 / 34" in out
    assert "1 hidden test (20 points) not shown before 9990-01-02 03:04 UTC" in out
    assert "19 / 34" in run(capsys, "grade", "toy", submission, "--quiet")[1]
    assert "19 / 54" in run(capsys, "grade", "toy", submission, "--show-hidden")[1]
    document = json.loads(run(capsys, "grade", "toy", submission, "--json", "-")[1])
    assert document["hidden_until"] == "9990-01-02T03:04:05+00:00"
    assert len(document["tests"]) == 3
    course("due", "hidden_until = 2001-01-02T03:04:05Z\ndue")
    assert "19 / 54" in run(capsys, "grade", "toy", submission)[1]


@pytest.mark.parametrize("option", [each.option.opts[0] for each in formats("result") if not each.whole])
def test_no_format_tells_of_hidden_tests_before_their_date(
    option: str, course: Write, submission: Path, script: Install, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    script(MIXED)
    flag = next(each for each in formats("result") if each.option.opts[0] == option).option.is_flag
    told = []
    for moment in ("2001-01-02T03:04:05Z", "9990-01-02T03:04:05Z"):
        course("due", f"hidden_until = {moment}\ndue")
        out = tmp_path / "out"
        out.mkdir(exist_ok=True)
        stdout = run(capsys, "grade", "toy", submission, "--quiet", option, *([] if flag else [out / "file"]))[1]
        told.append(stdout + "".join(path.read_text() for path in sorted(out.rglob("*")) if path.is_file()))
    shown, early = (re.sub(r"(?s)<(style|script)>.*?</\1>", "", each) for each in told)
    assert "adds odd sizes" not in early
    assert not re.search(r"\b54\b", early)  # of all points
    if "adds odd sizes" in shown:
        assert re.search(r"\b34\b|0\.5588", early), early


def test_neither_a_gradebook_nor_a_leaderboard_is_filled_before_the_date(
    course: Write, submission: Path, script: Install, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    script(MIXED)
    course("due", "hidden_until = 9990-01-02T03:04:05Z\ndue")
    sheet = tmp_path / "sheet.csv"
    sheet.write_text("Student,ID,SIS User ID,SIS Login ID,Section,Toy (1)\n    Points Possible,,,,,54\nA,1,2,ada,A,\n")
    run(capsys, "grade", "toy", submission, "--json", tmp_path / "ada.json")
    words: list[str | Path] = [
        "gradebook",
        "canvas",
        sheet,
        tmp_path / "ada.json",
        "--assignment",
        "Toy",
        "--out",
        tmp_path / "filled",
    ]
    status, _, err = run(capsys, *words)
    assert status == 2
    assert "the course shows hidden tests of this lab from 9990-01-02 03:04 UTC on, and points tell of them" in err
    assert "--show-hidden" in err
    assert not (tmp_path / "filled").exists()
    assert "1 grade written" in run(capsys, *words, "--show-hidden")[2]


def test_nothing_of_hidden_tests_passes_the_gate_before_its_time() -> None:
    names = [test.name for test in GRADED.tests if test.hidden]
    noted = msgspec.structs.replace(
        GRADED, hidden_until="9990-01-01T00:00:00+00:00", review=[f"{names[0]}: it hung", "a.cu: too long"]
    )
    shown = hidden.for_students(noted)
    assert not any(name in result.encode(shown).decode() for name in names)
    assert shown.review == ["a.cu: too long"]
    # The one test with an error is hidden.
    assert (shown.status, shown.score.error_points, shown.score.max_points) == ("graded", 0, 95)
    assert [one for one in findings.result_findings(noted) if hidden.TESTS in one.tests] == []
    broken = msgspec.structs.replace(noted, problem=Problem("link", "no symbol"))
    assert hidden.for_students(broken).status == "error"
    public = msgspec.structs.replace(noted, tests=[test for test in noted.tests if not test.hidden])
    assert hidden.for_students(public) == public


def test_a_broken_course_stops_with_its_line(
    course: Write, submission: Path, script: Install, capsys: pytest.CaptureFixture[str]
) -> None:
    script(MIXED)
    course("points", "pionts")
    for words in (["grade", "toy", submission], ["list"]):
        status, _, err = run(capsys, *words)
        assert status == 3
        assert "course.toml:9: [[lab]] number 1 “toy”: unknown key `pionts`: did you mean `points`?" in err
    assert run(capsys, "course", "check")[0] == 2
    course('"adds" = 4', '"add" = 4')
    status, _, err = run(capsys, "grade", "toy", submission)
    assert status == 3
    assert "course.toml:9: lab “toy” has no test “add”: did you mean “adds”?" in err


def test_checking_the_course(course: Write, in_project: Layout, capsys: pytest.CaptureFixture[str]) -> None:
    course("[[lab]]", "[late]\ngrace_minutes = 5\npercent_per_day = 12.5\nmax_days = 3\n[[lab]]")
    status, out, _ = run(capsys, "course", "check")
    assert status == 0
    assert "12.4, but here 13.0.88" in out or "nvcc 12.4; here: " in out
    assert "54 points (2 changed) · due 2027-03-08 12:00" in out
    assert "5 minutes of grace; then −12.5 % for each day that has begun" in out
    course('"adds" = 4', '"add" = 4')
    status, _, err = run(capsys, "course", "check")
    assert status == 2
    assert "course.toml:9: lab “toy” has no test “add”" in err
    assert "course.toml:9: lab “toy” has no test “add”" in run(capsys, "doctor")[1]
    (in_project.root / "course.toml").unlink()
    status, _, err = run(capsys, "course", "check")
    assert status == 2
    begun = re.sub("^    ", "", err.partition("begin with\n")[2], flags=re.MULTILINE)
    assert [entry.name for entry in reader.parse(begun).lab] == ["first"]
