"""A new lab is whole: what its author begins with is what the guide asks for."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from warpgrade.compiling import toolchain
from warpgrade.compiling.build import Builder
from warpgrade.lab import labs, new, starter, variant, wrong
from warpgrade.lab.labs import Lab
from warpgrade.machine import device
from warpgrade.machine.errors import BadInput
from warpgrade.machine.paths import Layout, find_layout
from warpgrade.machine.sandbox import Sandbox

LAYOUT = find_layout()


@pytest.fixture
def saxpy(layout: Layout) -> Lab:
    shutil.copytree(LAYOUT.labs / "common", layout.labs / "common")
    return new.create(layout, "saxpy")


def files(layout: Layout, lab: Lab) -> list[Path]:
    folders = (lab.folder, layout.references / lab.name, layout.starters / lab.name)
    return [path for folder in folders for path in folder.rglob("*") if path.is_file()]


def test_a_new_lab_loads_and_is_the_last_of_the_course(layout: Layout, saxpy: Lab) -> None:
    assert [lab.name for lab in labs.discover(layout)] == ["toy", "saxpy"]
    assert saxpy.max_points == 100
    assert saxpy.file.baseline.points < saxpy.max_points / 3
    assert list(saxpy.parameters) == saxpy.file.lab.functions
    assert all(item.hint for item in saxpy.items)
    for path in files(layout, saxpy):
        assert not re.search(r"@|toy|\.in\b", path.name + path.read_text(encoding="utf-8").replace("@@", "")), path


def test_starter_and_wrong_solutions_follow_from_its_reference(layout: Layout, saxpy: Lab) -> None:
    assert starter.drift(saxpy) == ""
    starting = (layout.starters / "saxpy" / "saxpy.cu").read_text(encoding="utf-8")
    assert "TODO(student)" in starting
    assert len(wrong.names(saxpy)) >= 5
    lost: set[str] = set()
    for name in wrong.names(saxpy):
        mistake = wrong.find(saxpy, name)
        assert variant.files(saxpy, mistake)["saxpy.cu"].startswith("// WRONG: loses ")
        lost |= set(mistake.loses)
    assert lost == {item.name for item in saxpy.items}


def test_its_tests_are_those_of_its_description_and_of_its_sheet(saxpy: Lab) -> None:
    for file, hidden in (("public.cpp", False), ("hidden.cpp", True)):
        cases = re.findall(r'TEST_CASE\("([^"]+)"', (saxpy.folder / "tests" / file).read_text(encoding="utf-8"))
        assert cases == [item.name for item in saxpy.items if item.hidden is hidden]
    sheet = (saxpy.folder / "README.md").read_text(encoding="utf-8")
    for item in saxpy.items:
        assert f"| {item.name} | {item.points:g} | {'hidden' if item.hidden else 'public'} |" in sheet


def test_its_contract_compiles_alone(saxpy: Lab) -> None:
    words = ["-std=c++20", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-x", "c++"]
    subprocess.run(["g++", *words, "-include", str(saxpy.header), "/dev/null"], check=True)


@pytest.mark.parametrize("name", ["a", "a_lab_with_quite_a_long_name"])
def test_it_is_formatted_whatever_its_name(layout: Layout, name: str) -> None:
    if shutil.which("clang-format") is None:
        pytest.skip("clang-format is not installed")
    shutil.copy(LAYOUT.root / ".clang-format", layout.root)
    code = [str(path) for path in files(layout, new.create(layout, name)) if path.suffix in (".h", ".hpp", ".cpp")]
    subprocess.run(["clang-format", "--dry-run", "-Werror", *code], check=True)


@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        ("Saxpy", "“Saxpy” cannot be the name of a lab"),
        ("../saxpy", "cannot be the name"),
        ("2d", "cannot be the name"),
        ("toy", "labs/toy is already there"),
        ("common", "labs/common is already there"),
        ("old", "reference/old is already there"),
        ("math", "the contract of lab math would hide the system's header <math.h>"),
    ],
)
def test_names_that_cannot_be(layout: Layout, name: str, complaint: str) -> None:
    (layout.labs / "common").mkdir()
    (layout.references / "old").mkdir(parents=True)
    before = sorted(layout.root.rglob("*"))
    with pytest.raises(BadInput, match=re.escape(complaint)):
        new.create(layout, name)
    assert sorted(layout.root.rglob("*")) == before


@pytest.mark.labs
def test_its_solutions_compile(saxpy: Lab, layout: Layout, tmp_path: Path) -> None:
    target = device.resolve(LAYOUT, "auto")
    sandbox = Sandbox(LAYOUT.program("warpgrade-sandbox"))
    builder = Builder(
        layout, saxpy, toolchain.find(LAYOUT), sandbox, target.architecture, layout.library("binding-saxpy")
    )
    for path in (layout.references / "saxpy" / "saxpy.cu", *sorted((saxpy.folder / "right").glob("*.cu"))):
        builder._compile("saxpy.cu", {"saxpy.cu": path.read_bytes()}, tmp_path, builder._deadline())
