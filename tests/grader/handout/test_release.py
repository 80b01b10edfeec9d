"""What students get: complete, and without anything that is not for them."""

import dataclasses
import io
import json
import re
import subprocess
import tomllib
import zipfile
from pathlib import Path

import pytest
from stand_ins import run

from warpgrade.compiling import judges
from warpgrade.compiling.toolchain import Compilers
from warpgrade.handout import leaks, make, public_toml, sheet
from warpgrade.lab import labs
from warpgrade.lab.labs import Lab
from warpgrade.machine import on_demand
from warpgrade.machine.errors import BadInput, GraderError
from warpgrade.machine.paths import Layout, find_layout

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
    assert any(leak.secret.what.startswith(what) for leak in found), [leak.message for leak in found]


def test_lines_of_wrong_and_right_solutions_are_secrets_however_they_are_stored() -> None:
    lines = [*secrets(labs.find(LAYOUT, "scan")), *secrets()]
    found = {one.what for one in lines if not one.text.startswith((b"RIGHT:", b"WRONG:"))}
    assert found >= {"a line of the right solution three_launches", "a line of the right solution one_template"}
    changed = b"block_scan_kernel<<<1,BLOCK_SIZE>>>(d_sums,d_scanned_sums,nullptr,blocks);"
    assert leaks.Secret("a line of the wrong solution two_levels_only", changed) in lines


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


def test_the_table_has_the_points_of_the_course() -> None:
    text = "| test | points | |\n|---|---:|---|\n| a | 2 | public |\n| b | 1.5 | hidden |\n| **total** | **3.5** | |\n"
    changed = sheet.with_points(text, {"a": 10, "b": 0.5})
    assert changed.splitlines()[2:] == ["| a | 10 | public |", "| b | 0.5 | hidden |", "| **total** | **10.5** | |"]


@pytest.mark.parametrize("lab", labs.discover(LAYOUT), ids=lambda lab: lab.name)
def test_without_a_course_the_table_stays(lab: Lab) -> None:
    text = (lab.folder / "README.md").read_text(encoding="utf-8")
    assert sheet.with_points(text, {item.name: item.points for item in lab.items}) == text
    doubled = sheet.with_points(text, {item.name: 2 * item.points for item in lab.items})
    assert ("| **200** |" in doubled) == ("| **100** |" in text)


def test_no_name_of_a_student_with_an_extension_is_handed_out() -> None:
    files = [("lab.toml", b"points = 1\n"), ("notes/course.toml", b'student = "lovelace"\n')]
    (found,) = leaks.find(files, list(leaks.student_names({"lovelace", "ada", ""})))
    assert found.message.startswith("notes/course.toml holds the name of a student with an extension")


@pytest.mark.labs
def test_a_course_hands_out_its_own_labs_with_its_points(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    root = tmp_path / "course"
    for kind in ("labs", "starter", "reference"):
        (root / kind).mkdir(parents=True)
        for name in ("reverse", "matmul"):
            (root / kind / name).symlink_to(LAYOUT.root / kind / name)
    (root / "labs" / "common").symlink_to(LAYOUT.labs / "common")
    (public, *_) = [item.name for item in REVERSE.items if not item.hidden]
    (root / "course.toml").write_text(
        'schema = 1\n[course]\ntitle = "C"\n[[lab]]\nname = "reverse"\n'
        f"points = {{ {json.dumps(public)} = 77, {json.dumps(hidden_name())} = 3 }}\ndue = 2027-01-01T00:00:00Z\n"
        '[[extension]]\nstudent = "lovelace"\ndays = 3\n',
        encoding="utf-8",
    )
    own = dataclasses.replace(LAYOUT, root=root, native=on_demand.require_kit(LAYOUT), state_home=LAYOUT.state)
    monkeypatch.setattr("warpgrade.machine.paths.find_layout", lambda: own)
    monkeypatch.setattr(Layout, "device_server", property(lambda layout: LAYOUT.program("warpgrade-device")))
    monkeypatch.setattr(Layout, "program", lambda layout, name: LAYOUT.build / "bin" / name)
    status, _, err = run(capsys, "release", "--course", "--out", tmp_path / "out")
    assert status == 0, err
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["reverse"]
    handed = labs.load(tmp_path / "out" / "reverse")
    assert next(item.points for item in handed.items if item.name == public) == 77
    assert re.search(rf"^\| {re.escape(public)} \| 77 \|", (handed.folder / "README.md").read_text(), re.MULTILINE)
    (tmp_path / "warpgrade-0.whl").touch()
    status, _, err = run(
        capsys, "platform", "github", "reverse", "--wheel", tmp_path / "warpgrade-0.whl", "--out", tmp_path / "gh"
    )
    assert status == 0, err
    told = "".join(path.read_text() for path in (tmp_path / "gh").rglob("course.toml"))
    assert public in told
    assert hidden_name() not in told
    assert "lovelace" not in told


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
    assert handed.answers == "answers.md"
    assert (made.path / "answers.md").read_text() == (REVERSE.folder / "answers.md").read_text()
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
