"""A hint knows the failure: the one that a test shows is the lab's for it, or none where it would lead astray."""

from __future__ import annotations

import re

import pytest
from samples import RACE

from warpgrade.grading import hints
from warpgrade.machine.paths import find_layout

LAB = "Which index must threadIdx.x choose?"


def chosen(*signs: str, **more: object) -> str:
    return hints.choose(LAB, {"tail": "the last block", "crash": "the host", "counters": "neighbours"}, signs, **more)  # type: ignore[arg-type]


def test_the_labs_hint_for_what_failed_comes_before_its_general_one() -> None:
    assert chosen("wrong", "tail") == "the last block"
    assert chosen("wrong", "zeros", "tail") == "the last block"
    assert chosen("wrong") == LAB
    assert chosen() == "neighbours"  # right results, wrong counters
    assert hints.choose(LAB, {}, []) == LAB


@pytest.mark.parametrize("sign", ["time-out", "device-fault", "cuda-error", "unwritten", "origin"])
def test_no_hint_on_the_kernel_where_the_call_did_not_end_well(sign: str) -> None:
    assert chosen("wrong", sign) == ""
    assert chosen("crash") == "the host"


def test_a_race_and_wrong_results_come_before_counters() -> None:
    assert chosen("wrong", tags=["[counter]"]).endswith("Get the results right first.")
    assert chosen(tags=["[counter]"]) == "neighbours"
    assert "race" in chosen("wrong", diagnostics=[RACE])
    assert chosen(diagnostics=[RACE], tags=["[counter]"]).startswith("Fix the race")


def test_the_judges_signs_are_the_ones_that_are_known() -> None:
    header = (find_layout().root / "grader" / "judge" / "signs.hpp").read_text(encoding="utf-8")
    named = set(re.findall(r'= "([a-z-]+)"', header))
    assert named == hints.SIGNS - {hints.COUNTERS}
