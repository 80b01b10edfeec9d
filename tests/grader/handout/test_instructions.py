"""What a handout tells students to do works as printed, in its folder, with the package alone."""

import dataclasses
import json
import re
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import click
import msgspec
import pytest
from dev.pages import commands, parse_command
from stand_ins import run

from warpgrade.course import late
from warpgrade.course.course import Course
from warpgrade.course.schema import CourseFile, CourseHead, LabEntry, Late
from warpgrade.handout import instructions, make
from warpgrade.handout.instructions import Wheel
from warpgrade.lab import labs
from warpgrade.lab.labs import Lab
from warpgrade.machine.errors import BadInput
from warpgrade.machine.paths import Layout, find_layout

LAYOUT = find_layout()
REVERSE = labs.find(LAYOUT, "reverse")
ADDRESS = "https://example.edu/gpu/warpgrade-0.1.0-py3-none-any.whl"
# What needs neither hidden tests nor a course.
_STUDENTS = {"check", "run", "explain", "doctor"}
_INLINE = re.compile(r"`(?:\./)?warpgrade ([a-z][^`]*)`")


def page(wheel: Wheel = Wheel(), contact: str = "", course: Course | None = None) -> str:  # noqa: B008 - frozen
    return instructions.page(REVERSE, course, wheel, contact)


def course(policy: Late) -> Course:
    entry = LabEntry("reverse", due=datetime(2027, 3, 22, 12, tzinfo=UTC))
    return Course(CourseFile(1, CourseHead("GPUs"), lab=[entry], late=policy))


@pytest.mark.parametrize("lab", labs.discover(LAYOUT), ids=lambda lab: lab.name)
def test_each_command_of_a_handout_is_a_students_and_names_what_is_there(lab: Lab) -> None:
    texts = [make.sheet_text(lab), instructions.page(lab, None, Wheel(), "")]
    texts += [instructions.for_students(path.read_text(encoding="utf-8")) for path in lab.starter_folder.iterdir()]
    shown = 0
    for text in texts:
        for words in (*commands(text), *_INLINE.findall(text)):
            try:
                name, *arguments = parse_command(words)
            except click.UsageError as error:
                pytest.fail(f"warpgrade {words}: {error.message}")
            assert name in _STUDENTS, words
            assert not [word for word in arguments if "/" in word and word not in instructions._reading()], words
            assert not any(word.isupper() and word not in {"TEXT", "NAME"} for word in arguments), words
            shown += 1
        assert "/path/to" not in text
        assert "./warpgrade " not in text
    assert shown > 3


def test_where_students_get_warpgrade(tmp_path: Path) -> None:
    file = tmp_path / "warpgrade-0.1.0-py3-none-any.whl"
    file.touch()
    asked, address, carried = (instructions.find_wheel(named) for named in ("", ADDRESS, str(file)))
    assert '/pip install "$(echo ./warpgrade-*.whl)[cuda]"\n' in page(asked)
    assert "Get the file `warpgrade-….whl` from ta@uni.edu" in page(asked, "ta@uni.edu")
    assert f'/pip install "warpgrade[cuda] @ {ADDRESS}"\n' in page(address)
    assert f'/pip install "./.warpgrade/{file.name}[cuda]"\n' in page(carried)
    for wheel in (asked, address, carried):
        about = json.loads(instructions.devcontainer(REVERSE, wheel))
        for command in ("onCreateCommand", "postCreateCommand"):
            subprocess.run(["bash", "-n", "-c", about[command]], check=True)
        assert wheel.requirement in about["onCreateCommand"]


@pytest.mark.parametrize(
    "named",
    [
        "gone.whl", "other-1.whl", f'{ADDRESS}"; rm -rf ~; "', f"{ADDRESS}$(id)", "ftp://x/warpgrade-1.whl",
        "https://example.edu/other.whl", "https://a b/warpgrade-1.whl",
    ],
)  # fmt: skip
def test_what_is_no_wheel(named: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "other-1.whl").touch()
    with pytest.raises(BadInput, match=r"^--wheel "):
        instructions.find_wheel(named)


def test_a_wrong_wheel_or_contact_is_told_before_anything_is_built(
    in_project: Layout, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for option, value in (("--wheel", "gone.whl"), ("--contact", "a\nb")):
        status, _, err = run(capsys, "release", "toy", option, value, "--out", tmp_path / "out")
        assert (status, option in err, (tmp_path / "out").exists()) == (2, True, False)


def test_when_and_to_whom(tmp_path: Path) -> None:
    text = page(contact="ta@uni.edu", course=course(Late(percent_per_day=10, max_days=5, grace_minutes=15)))
    files = ", ".join(f"`{name}`" for name in REVERSE.file.lab.files)
    assert f"Hand in {files}. Your answers in `answers.md` go with them; a person reads them" in text
    assert "\n\nIt is due 2027-03-22 12:00 UTC. Later work loses 10 % for each day begun and" in text
    assert "Questions: ta@uni.edu" in text
    assert "prelab is due" not in text
    found = course(Late())
    entry = msgspec.structs.replace(found.file.lab[0], prelab_due=datetime(2027, 3, 8, 12, tzinfo=UTC))
    split = dataclasses.replace(found, file=msgspec.structs.replace(found.file, lab=[entry]))
    assert "\n\nThe prelab is due 2027-03-08 12:00 UTC: hand in what you have by then. Of several" in page(course=split)
    assert "due" not in page().partition("## Handing in")[2].partition("## Reading")[0]


@pytest.mark.parametrize(
    ("policy", "told"),
    [
        (Late(), "Later work loses nothing."),
        (Late(hard=True), "Nothing is accepted after that."),
        (Late(hard=True, grace_minutes=5), "Nothing is accepted after that. 5 minutes more are allowed."),
        (Late(percent_per_day=2.5), "Later work loses 2.5 % for each day begun."),
        (Late(max_days=1), "Later work is not accepted after 1 day."),
        (Late(0, 1, 3), "Later work loses 1 % for each day begun and is not accepted after 3 days."),
    ],
)  # fmt: skip
def test_what_late_work_loses(policy: Late, told: str) -> None:
    assert late.describe(policy) == told


def test_how_to_check_says_how_to_read_a_report_and_how_to_remove_it() -> None:
    text = page()
    assert "**Fix this first**" in text
    assert "](" not in text
    assert "./warpgrade " not in text
    assert text.index("## Reading a failure") < text.index("## Removing it")
