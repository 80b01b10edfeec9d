"""course.toml and lab folders from strangers: each attack ends in one clear sentence, or is told harmlessly."""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from hostile import ACTS
from stand_ins import TOY_LAB, run

from warpgrade.handout import essentials, instructions, make, sheet, template
from warpgrade.handout.instructions import Wheel
from warpgrade.lab import labs
from warpgrade.machine.errors import GraderError
from warpgrade.machine.paths import Layout

COURSE = (
    'schema = 1\n[course]\ntitle = "Threads"\ntimezone = "Europe/Berlin"\n[[lab]]\nname = "toy"\ndue = 2027-03-08\n'
)
ESCAPE = r"\u001b]0;owned\u0007"


def calls(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> tuple[int, str]:
    """Call a command; what it says is for a terminal, in few lines."""
    status, out, err = run(capsys, *arguments)
    said = out + err
    assert not ACTS.search(said), repr(said)
    assert "unexpected error" not in said
    assert len(said) < 20_000
    return status, said


def nested(how: str, times: int = 3000) -> str:
    return how * times + "1" + {"[": "]", "{a=": "}"}.get(how, "") * times


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("x = " + nested("[") + "\n" + COURSE, "course.toml:1: this line has more than|is nested too deeply"),
        (COURSE + "[late]\nx = " + nested("[", 40), "course.toml is nested too deeply"),
        ("x = " + nested("{a=", 900), "is nested too deeply"),
        ("a." * 15_000 + "b = 1\n" + COURSE, "course.toml:1: this line has more than 20,000 characters"),
        ("schema = " + "9" * 5000, "has a number that is too large"),
        ("schema = " + "9" * 400, "schema: this number is too large"),
        (COURSE.replace("Threads", ESCAPE), r"course.toml:3: course.title: has a character .* \(U\+001B\): remove it"),
        (COURSE.replace("Threads", "a\u202eb"), r"course.toml:3: course.title: has .* \(U\+202E\)"),
        (COURSE.replace('"toy"', r'"\u0000"'), r"course.toml:6: lab\[1\].name: has .* \(U\+0000\)"),
        (COURSE.replace("Threads", "x" * 5000), "course.title: has more than 4,000 characters"),
        (COURSE + '"\\u001b[2J" = 1\n', r"a character that nobody sees"),
        (COURSE.replace('"toy"', '"../../etc"'), "“../../etc” is no lab's name"),
        (COURSE.replace('"toy"', '"' + "a" * 3000 + '"'), "there is no lab “a"),
        (COURSE + "[[lab]]\nname = 'x'\n" * 2500, "lab: has more than 2,000 entries"),
        (COURSE + "weight = 1e308\n[[lab]]\nname='b'\nweight = 1e308", "weight must not be below 0, nor above"),
        (COURSE + "weight = nan\n", "weight must not be below 0"),
        (COURSE + "points = { adds = 1e300 }\n", "points of “adds”: must not be below 0, nor above 1,000,000"),
        (COURSE + "[late]\ngrace_minutes = 1e300\n", "late.grace_minutes must not be below 0, nor above a year"),
        (COURSE + "[[extension]]\nstudent='a'\nlab='toy'\ndays=1e12\n", "days must be above 0, and at most 366"),
        (COURSE.replace("2027-03-08", "9999-12-31"), "the year 9999 is not between"),
        (COURSE.replace("2027-03-08", "0001-01-01T00:00:00+14:00"), "the year 1 is not between"),
        (COURSE.replace("Europe/Berlin", "../../../etc/passwd"), "timezone: “../../../etc/passwd” is unknown here"),
        (COURSE.replace("Europe/Berlin", "a" * 3000), "timezone: “a"),
        (COURSE.replace('"Threads"', '"Threads"\ndevice = "vgpu:../../x"'), "device: “vgpu:../../x” is none"),
        (COURSE.replace('"Threads"', '"Threads"\ncompiler = "13.0; rm -rf /"'), "is no version of nvcc"),
        ("\ufeff\ufeff" + COURSE, "course.toml:1: is not valid TOML"),
        ("lab = 5\n" + COURSE.replace("[[lab]]", "[x]"), "course.toml"),
        ("\x00" * 100, "course.toml:1: is not valid TOML"),
    ],
    ids=lambda value: None if len(value) < 40 else value[:20],
)
def test_course_files_from_strangers(
    in_project: Layout, capsys: pytest.CaptureFixture[str], text: str, complaint: str
) -> None:
    (in_project.root / "course.toml").write_text(text, encoding="utf-8")
    for command, expected in ((["course", "check"], 2), (["list"], 3)):
        status, said = calls(capsys, *command)
        if command == ["list"] and "there is no lab" in complaint:
            continue  # it lists those that are there
        assert status == expected, said
        assert re.search(complaint, said), said


def pipe(path: Path) -> None:
    os.mkfifo(path)


def endless(path: Path) -> None:
    path.symlink_to("/dev/zero")


def huge(path: Path) -> None:
    with path.open("wb") as file:
        file.write(b"schema = 1\n")
        file.truncate(4 << 30)  # takes no space


def loop(path: Path) -> None:
    path.symlink_to(path.name)


@pytest.mark.parametrize(
    ("make_it", "complaint"),
    [
        (pipe, "is not an ordinary file"),
        (endless, "is not an ordinary file"),
        (huge, "is larger than 1 MiB: is it the right file?"),
        (loop, "cannot be read: Too many levels of symbolic links"),
        (Path.mkdir, "is not an ordinary file"),
    ],
)
def test_files_that_are_none(
    in_project: Layout, capsys: pytest.CaptureFixture[str], make_it: Callable[[Path], None], complaint: str
) -> None:
    lab = in_project.labs / "toy" / "lab.toml"
    for path in (in_project.root / "course.toml", *([] if make_it is loop else [lab])):
        path.unlink(missing_ok=True)
        make_it(path)
        status, said = calls(capsys, "list")
        assert status == 3, said
        assert complaint in said
        (shutil.rmtree if path.is_dir() else Path.unlink)(path)
    lab.write_text(TOY_LAB, encoding="utf-8")


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("Adding vectors", ESCAPE, r"labs/toy/lab.toml:3: lab.title: has a character that nobody sees.*U\+001B"),
        ('"toy.cu"', '"/etc/passwd"', "files: “/etc/passwd” must be a plain file name"),
        ('"toy.cu"', '"..\\\\toy.cu"', "must be a plain file name"),
        ('"toy.cu"', '"-x.cu"', "files: “-x.cu” must be a plain file name"),
        ('"toy.cu"', '"$(id).cu"', "must be a plain file name"),
        ('"toy.cu"', '"<b>.cu"', "must be a plain file name"),
        ('"toy.cu"', '"' + "a" * 300 + '.cu"', "must be a plain file name"),
        ('["toy"]', '["toy); system(\\"id\\""]', "is not a C\\+\\+ name"),
        ("seconds = 5", "seconds = 1e300", "limits.seconds must be above 0, and at most 86,400"),
        ("seconds = 5", "memory_mib = 999999999999", "limits.memory_mib must be above 0, and at most"),
        ("points = 20\n", "points = 1e300\n", "points must not be below 0, nor above 1,000,000"),
        ("hidden = true", "hidden = " + nested("[", 60), "nested too deeply"),
        ('name = "adds odd sizes"', 'name = "\u200badds"', r"test\[2\].name: has .*U\+200B"),
        ("order = 10", "order = " + "9" * 5000, "has a number that is too large"),
        ("order = 10", 'order = 10\nname = "../x"', "the folder's name must be lower-case letters"),
    ],
)
def test_labs_from_strangers(
    in_project: Layout, capsys: pytest.CaptureFixture[str], old: str, new: str, complaint: str
) -> None:
    assert old in TOY_LAB
    (in_project.labs / "toy" / "lab.toml").write_text(TOY_LAB.replace(old, new, 1), encoding="utf-8")
    status, said = calls(capsys, "list")
    assert status == 3
    assert re.search(complaint, said), said


def test_a_long_course_file_with_many_mistakes_takes_no_time(
    in_project: Layout, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nor a screen for each of them."""
    extensions = "".join(f"[[extension]]\nstudent = 's{n}'\nlab = 'none{n}'\ndays = -1\n" for n in range(1900))
    (in_project.root / "course.toml").write_text(COURSE + extensions, encoding="utf-8")
    status, said = calls(capsys, "course", "check")
    assert status == 2
    assert "days must be above 0" in said
    assert re.search(r"and [\d,]+ more", said)


TITLE = """</title><script>alert(1)</script>{{=cmd}}"x" \\ $(id) `id` %0A @file@ =1+1"""


def test_a_title_lands_harmlessly_in_pages_and_templates(layout: Layout, tmp_path: Path) -> None:
    text = TOY_LAB.replace('"Adding vectors"', json.dumps(TITLE))
    (layout.labs / "toy" / "lab.toml").write_text(text, encoding="utf-8")
    lab = labs.find(layout, "toy")
    page = sheet.page(f"# {TITLE}\n\n{TITLE}\n", tmp_path)
    assert "<script" not in page
    assert page.count("</title>") == 1
    assert json.loads(instructions.devcontainer(lab, Wheel()))["name"] == TITLE
    wheel = tmp_path / "warpgrade-0.whl"
    wheel.touch()
    for platform in template.list_platforms():
        out = tmp_path / platform.name
        for path in template.write(layout, platform, lab, out, [wheel], lambda text: None, "none"):
            content = path.read_bytes()
            if path.suffix == ".html":
                assert b"<script" not in content, path
                assert b"{{=cmd" not in content, path
            if path.suffix == ".json":
                json.loads(content)
            if path.suffix == ".sh" or content.startswith(b"#!"):
                assert b"$(id)" not in content, path
                subprocess.run(["bash", "-n", str(path)], check=True)


@pytest.mark.parametrize("where", ["given/secret.cu", "data/secret", "figures/secret.svg", "tests/public_secret.cpp"])
def test_no_link_leads_out_of_a_lab_that_is_handed_out(layout: Layout, tmp_path: Path, where: str) -> None:
    secret = tmp_path / "secret"
    secret.write_text("root:$6$", encoding="utf-8")
    place = layout.labs / "toy" / where
    place.parent.mkdir(exist_ok=True)
    place.symlink_to(secret)
    lab = labs.find(layout, "toy")
    complaint = re.escape(f"labs/toy/{where} is a link to a place outside of the lab")
    with pytest.raises(GraderError, match=complaint):
        make.release(layout, lab, tmp_path / "out")
    with pytest.raises(GraderError, match=complaint):
        essentials.write(layout, lab, tmp_path / "essentials", lambda text: None, public_only=True)
