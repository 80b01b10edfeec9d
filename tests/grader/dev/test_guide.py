"""The guide to writing a lab: its commands are ours, its code compiles, its files are what it says.

docs/first-lab.md is followed as a whole by test_package.py.
"""

from __future__ import annotations

import re
import shlex
import subprocess
import tomllib
from pathlib import Path

import click
import msgspec
import pytest
from dev.pages import Fence, fences

from warpgrade.cli import main
from warpgrade.lab.labs import LabFile
from warpgrade.machine.paths import find_layout

LAYOUT = find_layout()
GUIDE = LAYOUT.root / "docs" / "labs.md"
PAGES = [LAYOUT.root / "README.md", *sorted((LAYOUT.root / "docs").glob("*.md"))]
_CALL = re.compile(r"^ {4,}(?:\$ )?(?:\./)?warpgrade +(?P<words>[a-z].*)$")
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


def commands(page: Path) -> list[str]:
    found = [_CALL.match(line) for line in page.read_text(encoding="utf-8").splitlines()]
    return [each["words"] for each in found if each]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_each_command_of_a_page_has_the_options_that_it_is_given(page: Path) -> None:
    for words in commands(page):
        shown = re.split(r"\s{2,}|\s#| \|\| | && | > | [─…]", words)[0]
        arguments = shlex.split(re.sub(r"<\w+>", "matmul", shown).replace("…", ""))
        command: click.Command = main.main
        context = click.Context(command)
        try:
            while isinstance(command, click.Group) and arguments:
                _, found, arguments = command.resolve_command(context, arguments)
                assert found is not None
                command, context = found, click.Context(found, parent=context)
            command.make_parser(context).parse_args(arguments)
        except click.UsageError as error:
            pytest.fail(f"{page.name}: warpgrade {words}: {error.message}")


def test_the_guide_shows_commands() -> None:
    assert len(commands(GUIDE)) >= 11


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
