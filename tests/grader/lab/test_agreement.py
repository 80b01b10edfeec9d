"""What lab.toml, the contract and the tests say of each other: an author's mistake has its file and its line."""

from collections.abc import Callable
from pathlib import Path

import pytest
from stand_ins import TOY_LAB, Script, case, end, run, speed, start

from warpgrade.lab import agreement, labs
from warpgrade.lab.labs import Lab, LabMistake
from warpgrade.lab.toml_lines import find_line
from warpgrade.machine.paths import Layout, find_layout

PUBLIC = """\
#include "toy.h"  // call<other>: a comment calls nothing
/* TEST_CASE("not this one", "[public]") */
TEST_CASE("adds", "[public]") { check<toy>(); }

TEST_CASE("speed", "[public][speed]") {
    compare_with_starter<toy>("//");
}
"""
HIDDEN = 'TEST_CASE("adds " "odd sizes", "[hidden]") { submission().call<toy>(in(a), 3); }\n'
WHERE = "labs/toy/lab.toml"


def write(layout: Layout, public: str = PUBLIC, hidden: str | None = HIDDEN, toml: str = TOY_LAB) -> Lab:
    folder = layout.labs / "toy" / "tests"
    folder.mkdir(exist_ok=True)
    (folder / "public.cpp").write_text(public, encoding="utf-8")
    if hidden is not None:
        (folder / "hidden.cpp").write_text(hidden, encoding="utf-8")
    (layout.labs / "toy" / "lab.toml").write_text(toml, encoding="utf-8")
    (layout.labs / "toy" / "toy.h").write_text("void toy(float* a, int n);\nint other(int n);  // (…);\n")
    return labs.find(layout, "toy")


def told(lab: Lab) -> list[str]:
    return [mistake.message for mistake in agreement.mistakes(lab)]


def line(text: str, toml: str = TOY_LAB) -> int:
    return toml[: toml.index(text)].count("\n") + 1


def test_what_agrees_is_not_named(layout: Layout, lab: Lab) -> None:
    assert told(lab) == []  # no tests are there
    assert told(write(layout)) == []


@pytest.mark.parametrize("lab", labs.discover(find_layout()), ids=lambda lab: lab.name)
def test_the_projects_own_labs_agree(lab: Lab) -> None:
    assert told(lab) == []


def test_a_test_without_an_entry(layout: Layout) -> None:
    (mistake,) = told(write(layout, PUBLIC + '\nTEST_CASE("subtracts", "[public]") {}\n'))
    assert mistake.startswith(
        "labs/toy/tests/public.cpp:9: the test “subtracts” has no entry in labs/toy/lab.toml: add"
    )


def test_an_entry_without_a_test(layout: Layout) -> None:
    renamed = PUBLIC.replace('"adds"', '"Adds"')
    mistakes = told(write(layout, renamed))
    assert mistakes[0].startswith("labs/toy/tests/public.cpp:3: the test “Adds” has no entry")
    assert mistakes[1] == f"{WHERE}:{line('name =')}: there is no test “adds” in labs/toy/tests: did you mean “Adds”?"
    (mistake,) = told(write(layout, PUBLIC.replace('TEST_CASE("adds", "[public]") ', "")))
    assert mistake.endswith("there is no test “adds” in labs/toy/tests: write it, or remove this")
    # Nothing is certain where a test's name is made by the preprocessor.
    assert told(write(layout, PUBLIC.replace('TEST_CASE("adds",', 'TEST_CASE(NAME "adds",'))) == []
    assert told(write(layout, PUBLIC.replace('TEST_CASE("adds",', 'SCENARIO("adds",'))) == []


def test_hidden_tests_that_are_not_handed_out_are_not_missed(layout: Layout) -> None:
    assert told(write(layout, PUBLIC.replace("<toy>", "<something>"), hidden=None)) == []


def test_a_tag_that_says_something_else(layout: Layout) -> None:
    at = f"{WHERE}:{line('name = ' + chr(34) + 'adds odd')}"
    (mistake,) = told(write(layout, hidden=HIDDEN.replace("hidden", "public")))
    first = f"labs/toy/tests/hidden.cpp:1: “adds odd sizes” is tagged [public], but is hidden at {at}"
    assert mistake == f"{first}: change one of them"
    (mistake,) = told(write(layout, PUBLIC.replace('"adds", "[public]"', '"adds"')))
    assert mistake.startswith("labs/toy/tests/public.cpp:3: “adds” is not tagged [public], but is public at ")


def test_functions_on_one_side_only(layout: Layout) -> None:
    at = f"{WHERE}:{line('functions')}"
    (mistake,) = told(write(layout, PUBLIC.replace("starter<toy>", "starter<other>")))
    what = "the tests call other(), which is missing from `functions`"
    assert mistake == f"labs/toy/tests/public.cpp:6: {what}: add it at {at}"
    (mistake,) = told(write(layout, toml=TOY_LAB.replace('["toy"]', '["toy", "other"]')))
    assert mistake.startswith(f"{at}: functions: no test calls other(), but every submission must define it: ")
    (mistake,) = told(write(layout, toml=TOY_LAB.replace('["toy"]', '["toy", "othre"]')))
    assert mistake == f"{at}: functions: toy.h does not declare othre(): declare it there, or did you mean other?"


def test_grading_ends_as_the_graders_error_and_an_authors_command_as_wrong_input(
    submission: Path, in_project: Layout, script: Callable[[Script], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    script([[start(), case("adds"), case("adds odd sizes"), speed(9.0), end()]])
    write(in_project)
    assert run(capsys, "grade", "toy", submission)[0] == 0
    write(in_project, PUBLIC + '\nTEST_CASE("subtracts", "[public]") {}\nTEST_CASE("more", "[public]") {}\n')
    for arguments, status in ((("grade", "toy", submission), 3), (("prove", "toy"), 2), (("starter", "toy"), 2)):
        done, out, err = run(capsys, *arguments)
        assert (done, out) == (status, "")
        assert err.splitlines()[0].startswith("warpgrade: labs/toy/tests/public.cpp:9: the test “subtracts” has no ")
        assert err.splitlines()[1].startswith("    labs/toy/tests/public.cpp:10: the test “more” has no entry ")
    write(in_project)
    broken = TOY_LAB.replace("points = 20", "points = -20")
    (in_project.labs / "toy" / "lab.toml").write_text(broken, encoding="utf-8")
    said = f"{WHERE}:{line('points = -20', broken)}: “adds odd sizes”: points must not be below 0, nor above 1,000,000"
    for arguments, status in ((("grade", "toy", submission), 3), (("wrong", "toy"), 2)):
        done, _, err = run(capsys, *arguments)
        assert (done, err.splitlines()[0]) == (status, f"warpgrade: {said}")
    with pytest.raises(LabMistake):
        labs.find(in_project, "toy")


def test_lines_of_a_description() -> None:
    toml = "# [lab]\n[lab]\nx = 1\n\n[[test]]\nx = 2\n[[test]]\n  x=3\ny = 4\n[last]\n"
    assert [find_line(toml, "lab", key="x"), find_line(toml, "test", 0, "x"), find_line(toml, "test", 1, "x")] == [
        3,
        6,
        8,
    ]
    assert [find_line(toml, "test", 0, "y"), find_line(toml, "test", 1)] == [5, 7]
    assert [find_line(toml, "test", 2), find_line(toml, "speed"), find_line(toml, "last", key="x")] == [0, 0, 10]
