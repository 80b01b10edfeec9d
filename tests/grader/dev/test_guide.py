"""The guide to writing a lab: its commands are ours, its code compiles, its files are what it says.

docs/first-lab.md is followed as a whole by test_package.py.
"""

import re
import subprocess
import tomllib
from pathlib import Path

import click
import msgspec
import pytest
from dev.pages import Fence, commands, fences, parse_command

from warpgrade.lab.labs import LabFile
from warpgrade.machine.paths import find_layout

LAYOUT = find_layout()
GUIDE = LAYOUT.root / "docs" / "labs.md"
PAGES = [LAYOUT.root / "README.md", *sorted((LAYOUT.root / "docs").glob("*.md"))]
# What the guide's pieces take for granted: all in one file, each in a namespace of its own.
_HEAD = """
#include "judge/judge.hpp"
#include "matmul.h"
#include "reverse.h"
#include "matmul/tests/expectations.hpp"
#include "reverse/tests/expectations.hpp"
using namespace warpgrade::judge;
"""
_BEFORE = {
    "TEST_CASE(": "const auto before = std::vector<int>(64);",
    "CHECK_THAT(": """inline void piece(const Profile& run) {
        const int m = 1, n = 1; const double operations = 1, loads = 1;""",
    "[[maybe_unused]]": """inline double thread_occupancy(int) { return 0; }
        inline int resident_blocks(int) { return 0; }
        inline int matmul_best(float*) { return 0; }""",
}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_each_command_of_a_page_has_the_options_that_it_is_given(page: Path) -> None:
    for words in commands(page.read_text(encoding="utf-8")):
        try:
            parse_command(words)
        except click.UsageError as error:
            pytest.fail(f"{page.name}: warpgrade {words}: {error.message}")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_no_page_asks_an_index_for_warpgrade(page: Path) -> None:
    """No index has it, and whoever took the name there would be installed."""
    asked = re.findall(r"pip install .*", page.read_text(encoding="utf-8"))
    assert [line for line in asked if "warpgrade" in line and ".whl" not in line] == []


def test_the_guide_shows_commands() -> None:
    assert len(commands(GUIDE.read_text(encoding="utf-8"))) >= 11


def test_the_guides_lab_toml_is_one() -> None:
    (fence,) = [each for each in fences(GUIDE) if each.language == "toml"]
    file = msgspec.convert(tomllib.loads(fence.code), LabFile)
    keys = {field.name for kind in (*file.test, *file.speed) for field in msgspec.structs.fields(kind)}
    assert {key for key in keys if key not in fence.code} == set()


def test_the_guides_patch_is_that_of_the_lab() -> None:
    (fence,) = [each for each in fences(GUIDE) if each.language == "diff"]
    assert fence.code == (LAYOUT.labs / "matmul" / "wrong" / "drops_tails.patch").read_text(encoding="utf-8")


@pytest.mark.labs
def test_the_guides_code_compiles(tmp_path: Path) -> None:
    """In one file, so that the judge's headers are read once."""
    pieces = [each for each in fences(GUIDE) if each.language == "cpp" and not each.is_fragment]
    assert len(pieces) >= 5
    source = tmp_path / "guide.cpp"
    source.write_text(_HEAD + "".join(map(_in_a_namespace, pieces)), encoding="utf-8")
    folders = [LAYOUT.root / "grader", *(LAYOUT.labs / name for name in ("", "matmul", "reverse"))]
    flags = [word for folder in folders for word in ("-iquote", str(folder))]
    done = subprocess.run(
        ["g++", "-std=c++20", "-w", "-fsyntax-only", "-DFMT_HEADER_ONLY", *flags, str(source)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[:4000]


def _in_a_namespace(fence: Fence) -> str:
    first = fence.begin
    before = next((text for begin, text in _BEFORE.items() if first.startswith(begin)), "")
    end = "}" if first.startswith("CHECK_THAT(") else ""
    return f'\nnamespace piece_{fence.line} {{\n{before}\n#line {fence.line} "{fence.page.name}"\n{fence.code}{end}}}\n'
