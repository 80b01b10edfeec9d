"""Names as platforms really give them, of all forms, through each adapter: in a class's export, and handed in alone.

A platform with an adapter has its names here, and what is asked of it: whose a file is, and what it was called before.
"""

import json
import time
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import pytest
from classes import CODE, laid, outcomes
from handed_in import refused
from stand_ins import run

from warpgrade.cohort.collect import collect
from warpgrade.intake import intake
from warpgrade.intake.intake import LENIENT, STRICT
from warpgrade.lab.labs import Lab
from warpgrade.machine.errors import BadInput
from warpgrade.machine.paths import Layout
from warpgrade.platforms.adapter import FeedbackFile
from warpgrade.platforms.canvas.adapter import parse_name as canvas_parts
from warpgrade.platforms.moodle.adapter import parse_name as moodle_parts
from warpgrade.platforms.registry import ADAPTERS, EXPORTS, SHEETS, original_names, recognise

LOVELACE = "Ada Lovelace_1234567_assignsubmission_file_"


class Given(NamedTuple):
    """A name in an export; the student whom it tells; what the lab takes it as when it is handed in alone."""

    platform: str
    name: str
    student: str
    late: bool = False


FILES = [
    Given("canvas", "lovelaceada_12345_678910_toy.cu", "12345"),
    Given("canvas", "lovelaceada_LATE_12345_678910_toy.cu", "12345", late=True),
    Given("canvas", "lovelaceada_12345_678910_toy-1.cu", "12345"),
    Given("canvas", "lovelaceada_LATE_12345_678910_toy-12.cu", "12345", late=True),
    Given("canvas", "anon_x1Y2z_678910_toy.cu", "anon_x1Y2z"),
    Given("canvas", "LATE_anon_x1Y2z_678910_toy-2.cu", "anon_x1Y2z", late=True),
    Given("canvas", "de_la_cruz_12345_678910_toy (1).cu", "12345"),
    Given("canvas", "o'brienpat_12345_678910_toy.cu", "12345"),
    Given("canvas", "müllerjörg_12345_678910_toy.cu", "12345"),
    Given("canvas", "mu\u0308llerjo\u0308rg_12345_678910_toy.cu", "12345"),
    Given("canvas", "李小龙_12345_678910_toy.cu", "12345"),
    Given("canvas", "agent007_12345_678910_toy.cu", "12345"),
    Given("canvas", "12_12345_678910_toy.cu", "12345"),
    Given("canvas", "lateada_12345_678910_toy.cu", "12345"),
    Given("moodle", f"{LOVELACE}toy.cu", "1234567"),
    Given("moodle", "Ada Lovelace_7_assignsubmission_file_toy.cu", "7"),
    Given("moodle", "Group A_assignsubmission_file_toy.cu", "Group A"),
    Given("moodle", "Default group_42_assignsubmission_file_toy.cu", "42"),
    Given("moodle", "Participant_1234570_assignsubmission_file_toy.cu", "1234570"),
    Given("moodle", "Pat O'Brien_7_assignsubmission_file_toy (1).cu", "7"),
    Given("moodle", "Jörg Müller-Lüdenscheidt_7_assignsubmission_file_toy.cu", "7"),
    Given("moodle", "Ada_Lovelace_7_assignsubmission_file_toy.cu", "7"),
    # These look like Canvas's.
    Given("moodle", "ada_1234_56789_assignsubmission_file_toy.cu", "56789"),
    Given("moodle", "anon_x1Y2z_678910_assignsubmission_file_toy.cu", "678910"),
    Given("plain", "ada_toy.cu", "ada"),
    Given("plain", "ada.cu", "ada"),
    Given("plain", "o'brien-toy (1).cu", "o'brien"),
    Given("plain", "jörg_müller_toy.cu", "jörg_müller"),
    Given("plain", "007_toy.cu", "007"),
    # Like Canvas's and Moodle's, but not quite.
    Given("plain", "ada_1_2_toy.cu", "ada_1_2"),
    Given("plain", "assignsubmission_file_toy.cu", "assignsubmission_file"),
]
FOLDERS = [
    Given("moodle", LOVELACE, "1234567"),
    Given("moodle", LOVELACE.rstrip("_"), "1234567"),
    Given("moodle", "Group A_assignsubmission_file_", "Group A"),
    Given("github", "toy-ada-l", "ada-l"),
    Given("gradescope", "submission_409194023", "s1"),
    Given("plain", "jörg o'müller", "jörg o'müller"),
    Given("plain", "toy_ken", "toy_ken"),
]


@pytest.mark.parametrize("given", FILES, ids=lambda given: given.name)
@pytest.mark.parametrize("kind", ["folder", "zip"])
def test_a_file_in_the_export_of_a_class(lab: Lab, tmp_path: Path, given: Given, kind: str) -> None:
    found = collect(lab, laid(tmp_path, kind, {f"all/{given.name}": CODE, "all/.x": b""}, "export"))
    assert (found.platform, found.unclaimed, found.others) == (given.platform, [], [])
    (one,) = found.submissions
    assert (one.student, one.late, one.read(LENIENT).files) == (given.student, given.late, {"toy.cu": CODE})


@pytest.mark.parametrize("given", FILES, ids=lambda given: given.name)
def test_a_file_handed_in_alone(lab: Lab, tmp_path: Path, given: Given) -> None:
    path = laid(tmp_path, "folder", {given.name: CODE}, "work")
    places = [path / given.name] if given.platform == "plain" else [path, path / given.name]
    for place in places:  # in a folder, one name of many, only what a platform has named is taken
        taken = intake.read(lab, place)
        assert (taken.files, taken.notes) == ({"toy.cu": CODE}, [f"{given.name} is graded as toy.cu"])


@pytest.mark.parametrize("given", FOLDERS, ids=lambda given: given.name)
@pytest.mark.parametrize("kind", ["folder", "zip"])
def test_a_folder_in_the_export_of_a_class(lab: Lab, tmp_path: Path, given: Given, kind: str) -> None:
    tree = {f"{given.name}/toy.cu": CODE}
    if given.platform == "github":
        tree |= {f"{given.name}/.git/HEAD": b"ref: refs/heads/main\n"}
    if given.platform == "gradescope":
        tree |= {"submission_metadata.yml": f"{given.name}:\n  :submitters:\n  - :sid: {given.student}\n".encode()}
    if given.platform == "plain":
        tree |= {"bob/toy.cu": CODE}  # alone, a folder is around the class
    found = collect(lab, laid(tmp_path, kind, tree))
    assert (found.platform, found.unclaimed, found.others) == (given.platform, [], [])
    assert outcomes(found)[given.student] == {"toy.cu": CODE}


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("lovelaceada_12345_678910_toy.cu", ("lovelaceada", "12345", "", 678910, False, "toy.cu")),
        ("lovelaceada_LATE_12345_678910_toy-1.cu", ("lovelaceada", "12345", "", 678910, True, "toy-1.cu")),
        ("de_la_cruz_12345_678910_my_toy.cu", ("de_la_cruz", "12345", "", 678910, False, "my_toy.cu")),
        ("anon_x1Y2z_678910_toy.cu", ("", "", "x1Y2z", 678910, False, "toy.cu")),
        ("LATE_anon_x1Y2z_678910_toy.cu", ("", "", "x1Y2z", 678910, True, "toy.cu")),
        ("ada_1_2_toy.cu", None),
        ("12345_678910_toy.cu", None),
        ("lovelaceada_12345_678910_", None),
        ("a" * 300 + "_12_34_toy.cu", None),
    ],
)
def test_parts_of_a_name_of_canvas(name: str, parts: tuple[object, ...] | None) -> None:
    assert canvas_parts(name) == parts


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        (LOVELACE, ("Ada Lovelace", "1234567", False, "")),
        ("Ada Lovelace_7_assignsubmission_file_toy.cu", ("Ada Lovelace", "7", False, "toy.cu")),
        ("Ada_Lovelace_12_assignsubmission_file", ("Ada_Lovelace", "12", False, "")),
        ("Group A_assignsubmission_file_my_toy.cu", ("Group A", "", False, "my_toy.cu")),
        ("Ada_7_assignsubmission_onlinetext_", ("Ada", "7", True, "")),
        ("_assignsubmission_file_toy.cu", None),
        ("toy.cu", None),
    ],
)
def test_parts_of_a_name_of_moodle(name: str, parts: tuple[object, ...] | None) -> None:
    assert moodle_parts(name) == parts


@pytest.mark.parametrize(
    ("platform", "good", "typed"),
    [
        ("canvas", "lovelaceada_12345_678910_toy.cu", "lovelaceada_12345_text.html"),
        ("canvas", "anon_x1Y2z_678910_toy.cu", "anon_x1Y2z_link.html"),
        ("moodle", f"{LOVELACE}toy.cu", "Bob_8_assignsubmission_onlinetext_onlinetext.html"),
    ],
)
def test_what_no_name_claims_is_an_error_and_the_rest_no_submission(
    lab: Lab, tmp_path: Path, platform: str, good: str, typed: str
) -> None:
    tree = {good: CODE, f"x{good}": CODE, typed: b"x", "stray.cu": CODE, "stray.zip": b"x", "notes.txt": b"x"}
    found = collect(lab, laid(tmp_path, "folder", tree), platform=platform)
    why = f"not named as {'Canvas names files' if platform == 'canvas' else 'Moodle names submissions'}"
    expected = [f"stray.cu: {why}", f"stray.zip: {why}"]
    if good.startswith("anon_"):  # with something before it, that is no name of Canvas's
        expected.append(f"x{good}: {why}")
    assert found.unclaimed == expected
    assert sorted(found.others) == sorted([f"{typed}: typed in the browser", f"notes.txt: {why}"])


@pytest.mark.parametrize("name", ["toy.cu", "toy (1).cu", "toy-1.cu", "ada_toy-1.cu", "ada_12_34_toy-2.cu"])
def test_a_plain_name_that_may_be_somebodys_is_not_guessed(lab: Lab, tmp_path: Path, name: str) -> None:
    found = collect(lab, laid(tmp_path, "folder", {name: CODE, "bob.cu": CODE, "cyd.cu": CODE}))
    assert found.unclaimed == [f"{name}: nothing says whose it is"]
    assert sorted(outcomes(found)) == ["bob", "cyd"]


@pytest.mark.parametrize("name", ["toy-1.cu", "toy (x).cu", "ada_1_2_toy.cu", "12345_678910_toy.cu"])
def test_in_a_folder_a_name_that_no_platform_gave_is_refused(lab: Lab, tmp_path: Path, name: str) -> None:
    assert "expected toy.cu, found " in refused(lab, laid(tmp_path, "folder", {name: CODE}, "work"), STRICT)


def test_a_class_with_work_of_nobody_says_so_and_is_not_done(
    in_project: Layout, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("warpgrade.cli.cohort._prepare", lambda *given: None)
    path = laid(tmp_path, "folder", {"lovelaceada_12345_678910_toy.cu": b"", "stray.cu": CODE}, "class")
    (tmp_path / "roster.csv").write_text("id,name\n12345,Ada\n99,Perhaps stray\n")
    words: list[str | Path] = ["--platform", "canvas", "--quiet", "--roster", tmp_path / "roster.csv"]
    words += ["--out", tmp_path / "out"]
    status, _, err = run(capsys, "class", "toy", path, *words)
    assert status == 3, err
    assert "not graded: 1 in the export that nobody is named for" in err
    assert "    stray.cu: not named as Canvas names files" in err
    assert "give each a name as the platform gives to hand-ins" in err
    lines = (tmp_path / "out" / "grades.jsonl").read_text().splitlines()
    told = [(json.loads(line)["state"], json.loads(line)["points"]) for line in lines]
    assert told == [("refused", 0), ("waiting", None)]  # no zero for whose the stray one may be
    (path / "stray.cu").unlink()
    assert run(capsys, "class", "toy", path, *words)[0] == 0
    lines = (tmp_path / "out" / "grades.jsonl").read_text().splitlines()
    assert [json.loads(line)["state"] for line in lines] == ["refused", "missing"]


def test_feedback_is_named_as_the_platform_finds_it() -> None:
    class Student(NamedTuple):
        student: str
        name: str
        source: str
        identifiers: tuple[str, ...] = ()

    canvas, moodle = ADAPTERS["canvas"].name_feedback, ADAPTERS["moodle"].name_feedback
    assert canvas is not None
    assert moodle is not None
    name = "o'brienpat_12345_678910_toy.cu"
    assert canvas(Student("12345", "", name)) == FeedbackFile("student_12345_678910_feedback.cu", "12345 678910")
    assert moodle(Student("7", "Pat O'Brien", "Pat O'Brien_7_assignsubmission_file_/")).key == "7"


def test_each_sheet_finds_whom_its_platforms_names_tell() -> None:
    for given in FILES:
        if given.platform in SHEETS:
            (*_, found) = SHEETS[given.platform].find_ids(given.name) or [""]
            expected = given.student.casefold() if given.student.isdigit() else ""
            assert found.removeprefix("participant ") == expected


def test_of_an_empty_export_nothing_is_recognised() -> None:
    assert recognise([]) == "plain"
    assert len({export.certainty for export in EXPORTS.values()}) == len(EXPORTS)


def test_names_made_to_take_long_do_not(lab: Lab, tmp_path: Path) -> None:
    began = time.process_time()
    for name in (
        "a_" * 5000, "a_12" * 60 + ".cu", "1_" * 127, "(1)" * 80, "-1" * 120 + ".cu", "_" * 255, "anon_" * 55 + "_12_x",
        "_assignsubmission_file" * 12, "9" * 255, "_1" * 120 + "_text.html", "9" * 250 + ".cu",
    ):  # fmt: skip
        assert original_names(name)[0] == name
        laid(tmp_path, "zip", {f"{name}/{name}": CODE, f"{name}.cu": CODE, f"x{name}": b"x"}, "long")
        for platform in set(EXPORTS) - {"gradescope"}:
            with suppress(BadInput):
                collect(lab, tmp_path / "long.zip", platform=platform)
    assert time.process_time() - began < 5


def test_names_have_three_hundred_letters_at_most() -> None:
    def long(length: int, ending: str) -> str:
        return "a" * (length - len(ending)) + ending

    for length, is_read in ((300, True), (301, False)):
        assert (canvas_parts(long(length, "_12345_678910_toy.cu")) is not None) is is_read
        assert (moodle_parts(long(length, "_7_assignsubmission_file_toy.cu")) is not None) is is_read
        assert (len(original_names(long(length, " (1).cu"))) == 2) is is_read


def test_each_name_that_a_file_may_have_had_is_found() -> None:
    assert original_names("toy.cu") == ["toy.cu"]
    assert original_names("toy (1).cu") == ["toy (1).cu", "toy.cu"]
    of_canvas = "ada_12345_678910_toy-1 (2).cu"
    assert original_names(of_canvas)[0] == of_canvas
    assert original_names(of_canvas)[-2:] == ["toy-1 (2).cu", "toy-1.cu"]
    again = "ada_12345_678910_toy-1.cu"
    assert original_names(again) == [again, "toy-1.cu", "toy.cu"]
    of_moodle = "Ada_7_assignsubmission_file_toy-1 (1).cu"
    assert original_names(of_moodle)[-2:] == ["toy-1 (1).cu", "toy-1.cu"]
