"""What students get: complete, and without anything that is not for them."""

from __future__ import annotations

import io
import json
import subprocess
import tomllib
import zipfile
from pathlib import Path

import pytest

from warpgrade.compiling import judges
from warpgrade.compiling.toolchain import Compilers
from warpgrade.handout import leaks, make, public_toml, sheet
from warpgrade.lab import labs
from warpgrade.lab.labs import Lab
from warpgrade.machine.errors import BadInput, GraderError
from warpgrade.machine.paths import find_layout

LAYOUT = find_layout()
REVERSE = labs.find(LAYOUT, "reverse")


def secrets(lab: Lab = REVERSE) -> list[leaks.Secret]:
    given = [path.read_bytes() for path in (*lab.given, *lab.starter_folder.iterdir())]
    given += [path.read_bytes() for path in (lab.folder / "tests").glob("public*.cpp")]
    given += [path.read_bytes() for path in (lab.folder / "tests").glob("*.hpp")]
    return leaks.secrets(lab, given, ["/home/teacher/course"])


def zipped(name: str, content: bytes) -> bytes:
    inside = io.BytesIO()
    with zipfile.ZipFile(inside, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, content)
    return inside.getvalue()


def solution_line() -> bytes:
    return next(one.text for one in secrets() if "reference" in one.what)


def hidden_name() -> str:
    return next(item.name for item in REVERSE.items if item.hidden)


def hidden_text() -> bytes:
    return next(one.text for one in secrets() if one.what.startswith("a text of hidden"))


@pytest.mark.parametrize(
    ("name", "content", "what"),
    [
        ("notes.txt", b"try this:\n   " + solution_line().replace(b"=", b" = ") + b"\n", "a line of the reference"),
        ("judge", b"\x7fELF\0\1" + hidden_name().encode() + b"\0\2", "the name of a hidden test"),
        ("judge", b"\x7fELF\0" + hidden_text() + b"\0", "a text of hidden"),
        ("judge", b"\0/home/teacher/course/labs/reverse/tests/public.cpp\0", "the name of a folder of this machine"),
        ("more.zip", zipped("old.zip", zipped("a.cu", solution_line())), "a line of the reference"),
        (f"{hidden_name()}.txt", b"", "the name of a hidden test"),
    ],
)
def test_a_planted_leak_is_found(name: str, content: bytes, what: str) -> None:
    clean = [("reverse.cu", (REVERSE.starter_folder / "reverse.cu").read_bytes())]
    assert not list(leaks.find(clean, secrets()))
    found = list(leaks.find([*clean, (name, content)], secrets()))
    assert found
    assert found[0].file.startswith(name)
    assert any(leak.secret.what.startswith(what) for leak in found), [leak.told for leak in found]


@pytest.mark.parametrize("lab", labs.discover(LAYOUT), ids=lambda lab: lab.name)
def test_the_public_part_of_a_lab(lab: Lab) -> None:
    raw = tomllib.loads(public_toml.text(lab, 3))
    public = [item for item in lab.items if not item.hidden]
    assert [one["name"] for one in (*raw.get("test", []), *raw.get("speed", []))] == [item.name for item in public]
    written = tomllib.loads((lab.folder / "lab.toml").read_text(encoding="utf-8"))
    for kind in ("test", "speed"):
        shown = [entry for entry in written.get(kind, []) if not entry.get("hidden")]
        assert raw.get(kind, []) == [
            {key: value for key, value in entry.items() if value is not False} for entry in shown
        ]
    assert raw["lab"]["name"] == lab.name
    assert "points" not in raw["lab"]  # the sum would tell of what is hidden
    for table in ("limits", "headers"):
        for key, value in raw.get(table, {}).items():
            assert value == getattr(getattr(lab.file, table), key)
    sources = [path.name for path in make.public_sources(lab)]
    assert not [name for name in sources if "hidden" in name or "prelab" in name or "questions" in name]
    assert "public.cpp" in sources


@pytest.mark.parametrize("lab", labs.discover(LAYOUT), ids=lambda lab: lab.name)
def test_the_sheet_keeps_what_is_public_and_the_sum_of_the_rest(lab: Lab) -> None:
    text = sheet.without_hidden_rows(sheet.without_links_out((lab.folder / "README.md").read_text(encoding="utf-8")))
    assert "](../" not in text
    for item in lab.items:
        if item.hidden:
            assert f"| {item.name} |" not in text
    page = sheet.page(text, lab.folder)
    assert 'src="figures/' not in page
    assert page.count("<table>") == len([line for line in text.splitlines() if line.startswith(("|--", "|:-", "| --"))])


def test_pages_that_a_handout_does_not_have() -> None:
    text = sheet.without_links_out(
        "[docs/student.md](../../docs/student.md) says how, [docs/checks.md](../../docs/checks.md#a) what, "
        "[a lab](../first/README.md) why; [`a.h`](a.h), ![f](figures/f.svg) and [web](https://x) stay"
    )
    assert text == (
        "[CHECK.md](CHECK.md) says how, `warpgrade explain` what, "
        "a lab why; [`a.h`](a.h), ![f](figures/f.svg) and [web](https://x) stay"
    )


def test_the_page_suits_dark_rooms_and_narrow_screens() -> None:
    page = sheet.page("# A\n\n| a | b |\n|---|--:|\n| x | 1 ms |\n", REVERSE.folder)
    assert "color-scheme: light dark" in page
    assert "prefers-color-scheme: dark" in page
    assert "max-width: 40rem" in page
    assert 'style="text-align:right"' in page  # the cells whose numbers do not break


def test_how_to_check_says_how_to_read_a_report() -> None:
    text = make._reading()
    assert "**Fix this first**" in text
    assert "](" not in text
    assert "./warpgrade" not in text


def test_hidden_rows_become_one() -> None:
    text = "| a | 2 | |\n| b | 1.5 | hidden |\n| c | 3 | hidden |\n| d | 1 | |\n"
    rows = sheet.without_hidden_rows(text).splitlines()
    assert rows[0] == "| a | 2 | |"
    assert rows[1].endswith("| 4.5 | hidden |")
    assert rows[2] == "| d | 1 | |"


@pytest.mark.labs
def test_a_handout_is_checked_at_once_and_made_once(tmp_path: Path) -> None:
    made = make.release(LAYOUT, REVERSE, tmp_path)
    handed = labs.load(made.path)
    assert (handed.name, handed.is_handout) == ("reverse", True)
    container = json.loads((made.path / ".devcontainer" / "devcontainer.json").read_text(encoding="utf-8"))
    assert container["name"] == REVERSE.title
    for command in ("onCreateCommand", "postCreateCommand"):
        subprocess.run(["bash", "-n", "-c", container[command]], check=True)
    assert handed.file.baseline.points == made.points < made.max_points == handed.max_points
    with pytest.raises(BadInput, match="already there"):
        make.release(LAYOUT, REVERSE, tmp_path)
    archive = make.release(LAYOUT, REVERSE, tmp_path / "reverse.zip")
    with zipfile.ZipFile(archive.path) as inside:
        assert sorted(inside.namelist()) == sorted(made.files)


def test_a_handout_whose_judge_is_missing(tmp_path: Path) -> None:
    (tmp_path / ".warpgrade").mkdir()
    compilers = Compilers(Path("nvcc"), "13.0", Path("g++"), "g++ 12")
    with pytest.raises(GraderError, match="judge of lab reverse is missing") as caught:
        judges.require(LAYOUT, Lab("reverse", tmp_path, REVERSE.file), compilers)
    assert "unpack the lab again" in caught.value.hint
