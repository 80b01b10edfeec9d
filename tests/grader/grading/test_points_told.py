"""What a test's result says of its points, in every number: roundings, what is missing to all of them, and its hint."""

from collections.abc import Callable

import msgspec
import pytest
from samples import GRADED, RACE
from stand_ins import TOY_LAB

from warpgrade.grading import hints, result, review, score
from warpgrade.grading.judge import Case, JudgeMeasurement
from warpgrade.lab import labs
from warpgrade.lab.labs import Lab
from warpgrade.machine.paths import Layout

Changed = Callable[..., Lab]


@pytest.fixture
def changed(layout: Layout) -> Changed:
    """Return the toy lab with other words in its lab.toml."""

    def change(*words: tuple[str, str]) -> Lab:
        text = TOY_LAB
        for old, new in words:
            assert old in text
            text = text.replace(old, new, 1)
        (layout.labs / "toy" / "lab.toml").write_text(text, encoding="utf-8")
        return labs.find(layout, "toy")

    return change


def scored(lab: Lab, case: Case) -> result.TestResult:
    return next(test for test in score.score_tests(lab, {case.name: case}, "vgpu") if test.name == case.name)


def fast(*speedups: float, message: str = "") -> Case:
    measured = [JudgeMeasurement("speedup", value) for value in speedups]
    return Case(name="speed", status="pass", measurements=measured, message=message)


def test_each_kind_of_test_is_named_with_a_verdict_and_without(lab: Lab) -> None:
    kinds = [(test.name, test.kind) for test in score.score_tests(lab, {}, "vgpu")]
    assert kinds == [("adds", "test"), ("adds odd sizes", "test"), ("speed", "speed")]
    assert scored(lab, fast(3)).kind == "speed"
    assert scored(lab, Case(name="adds", status="pass")).kind == "test"


def test_all_points_are_given_as_they_are_and_parts_to_a_tenth(changed: Changed) -> None:
    lab = changed(('"adds"\npoints = 10', '"adds"\npoints = 1.125'))
    whole = scored(lab, Case(name="adds", status="pass"))
    assert whole.points == 1.125
    assert scored(lab, Case(name="adds", status="pass", part=0.9)).points == 1.0  # of 1.0125
    assert score.total([whole]).points == 1.12
    assert score.total([msgspec.structs.replace(whole, points=1, max_points=3)]).percent == 33.33
    assert scored(lab, fast(1.334)).points == 1.7  # of 0.334 / 2 · 10


def test_what_is_missing_names_the_weakest_speed_and_where_points_begin_and_end(changed: Changed) -> None:
    def told(curve: str) -> str:
        lab = changed(
            ("vgpu = [[1.0, 0], [3.0, 10]]", f"vgpu = {curve}"), ("gpu = [[1.0, 0], [2.0, 10]]", f"gpu = {curve}")
        )
        return scored(lab, fast(2.9, 0.5)).message

    assert told("[[1.0, 0], [3.0, 10]]") == "0.5× as fast as the starter; points begin above 1×, all 10 at 3×"
    assert "points begin above 1.12×, all 10 at 3.38×" in told("[[1.0, 0], [1.125, 0], [2, 1], [3.375, 10]]")
    assert "points begin above 1.5×, all 10 at 4×" in told("[[1.5, 2], [2, 3], [4, 10]]")
    lab = changed()
    assert scored(lab, fast(0.5, message="slow")).message == "slow"
    assert scored(lab, fast(3)).message == ""


def test_a_result_keeps_known_signs_and_thousandths_of_seconds(lab: Lab) -> None:
    test = scored(lab, Case(name="adds", status="fail", signs=["wrong", "unheard-of", "tail"], seconds=1.23456))
    assert test.signs == ["wrong", "tail"]
    assert test.seconds == 1.235


def test_a_message_has_a_hundred_lines_of_two_thousand_letters(lab: Lab) -> None:
    def message(text: str) -> str:
        return scored(lab, Case(name="adds", status="fail", message=text)).message

    hundred = "\n".join(map(str, range(100)))
    assert message(hundred) == hundred
    assert message(hundred + "\n100") == hundred + "\n… and 1 more line"
    assert message("x" * 2000) == "x" * 2000
    assert message("x" * 2001) == "x" * 1999 + "…"


def test_a_line_of_output_has_four_hundred_letters_and_tabs_of_four(lab: Lab) -> None:
    def output(text: str) -> str:
        return scored(lab, Case(name="adds", status="pass", output=text)).output

    assert output("x" * 400) == "x" * 400
    assert output("x" * 401) == "x" * 399 + "…"
    assert output("a\tb\n\tc\n") == "a   b\n    c"


def test_a_hidden_test_and_one_without_an_outcome_have_the_general_hint(changed: Changed) -> None:
    own = ("hint = ", 'hints = { tail = "The last one." }\nhint = ')
    lab = changed(own, ("hidden = true\nhint", 'hidden = true\nhints = { tail = "The last one." }\nhint'))

    def hint(name: str, status: str) -> str:
        return scored(lab, Case(name=name, status=status, signs=["wrong", "tail"])).hint  # type: ignore[arg-type]

    assert hint("adds", "fail") == "The last one."
    assert hint("adds", "error") == "Which element is this thread's?"
    assert hint("adds odd sizes", "fail") == "Guard the last block."


def test_memory_that_nobody_wrote_has_its_hint_whatever_else_is_known() -> None:
    unset = [msgspec.structs.replace(RACE, rule="initcheck/shared")]
    assert hints.choose("general", {"uninitialized": "the halo"}, ["wrong"], diagnostics=unset) == "the halo"


def test_notes_of_several_tests_are_told_by_their_cause() -> None:
    first, second, *_ = [test.name for test in GRADED.tests]
    notes = [f"{first}: odd", f"{second}: odd", "of the whole", f"{second}: worse"]
    causes = review.group_by_cause(msgspec.structs.replace(GRADED, review=notes))
    assert causes == {"odd": [first, second], "of the whole": [""], "worse": [second]}
