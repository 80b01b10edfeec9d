"""A change to one test changes its hash alone; a change to what tests share changes all."""

from pathlib import Path

import pytest

from warpgrade.lab import test_digests
from warpgrade.lab.labs import Lab

PUBLIC = """#include "toy.h"
namespace { int twice(int x) { return 2 * x; } }  // TEST_CASE("not one") {

TEST_CASE("adds", "[public]") {
    const char* brace = "}"; char other = '{'; auto raw = R"x(} TEST_CASE("adds odd sizes") { )x";
    if (true) { CHECK(1 == 1); }  /* } */
}
"""
HIDDEN = """TEST_CASE("adds odd sizes", "[hidden]") { CHECK(2 == 2); }

TEST_CASE("speed", "[hidden][speed]") { CHECK(3 == 3); }
"""


@pytest.fixture
def tests(lab: Lab) -> Path:
    folder = lab.folder / "tests"
    folder.mkdir()
    (folder / "public.cpp").write_text(PUBLIC)
    (folder / "hidden.cpp").write_text(HIDDEN)
    return folder


def changed(lab: Lab, path: Path, old: str, new: str) -> set[str]:
    before = test_digests.digest_tests(lab)
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new, 1))
    after = test_digests.digest_tests(lab)
    return {name for name in before if before[name] != after[name]}


@pytest.mark.parametrize(
    ("file", "old", "new", "which"),
    [
        ("public.cpp", "1 == 1", "1 == 2", {"adds"}),
        ("public.cpp", 'brace = "}"', 'brace = "}}"', {"adds"}),
        ("hidden.cpp", "2 == 2", "2 == 3;\n", {"adds odd sizes"}),
        ("hidden.cpp", "3 == 3", "3 == 4", {"speed"}),
        ("hidden.cpp", '"[hidden]"', '"[hidden][x]"', {"adds odd sizes"}),
        ("public.cpp", "2 * x", "3 * x", {"adds", "adds odd sizes", "speed"}),
    ],
)
def test_what_a_change_reaches(lab: Lab, tests: Path, file: str, old: str, new: str, which: set[str]) -> None:
    assert changed(lab, tests / file, old, new) == which


def test_a_header_and_a_data_file_are_everybodys(lab: Lab, tests: Path) -> None:
    (tests / "oracle.hpp").write_text("inline int one() { return 1; }\n")
    everybody = {"adds", "adds odd sizes", "speed"}
    assert changed(lab, tests / "oracle.hpp", "1;", "2;") == everybody
    assert changed(lab, lab.header, "int n", "int m") == everybody
    lab.data.mkdir()
    (lab.data / "a.bin").write_text("1")
    assert changed(lab, lab.data / "a.bin", "1", "2") == everybody


def test_a_test_case_that_cannot_be_read_is_everybodys(lab: Lab, tests: Path) -> None:
    (tests / "hidden.cpp").write_text(HIDDEN.replace('"speed"', "NAME"))
    assert changed(lab, tests / "hidden.cpp", "3 == 3", "3 == 4") == {"adds", "adds odd sizes", "speed"}
