"""What a submission may use over all stages: counted, said in the result, and a fail beyond the limit."""

import dataclasses
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from stand_ins import Script

from warpgrade.grading import grade, judge
from warpgrade.intake import intake
from warpgrade.lab.budget import Budget, allowance_of
from warpgrade.lab.labs import Lab, Limits
from warpgrade.machine.paths import Layout
from warpgrade.machine.sandbox import Done

TESTS = ["adds", "adds odd sizes", "speed"]
Install = Callable[[Script], Path]


def budget(**limits: float) -> Budget:
    known = msgspec.structs.replace(Limits(), **limits)
    return Budget(known, allowance_of(known))


def plan(program: Path, one: Budget) -> judge.Plan:
    return judge.Plan([str(program)], TESTS, public_only=False, seconds_each=5, budget=one)


def case(name: str, **more: object) -> dict[str, object]:
    return {"type": "case", "name": name, "status": "pass", **more}


def used(seconds: float) -> dict[str, object]:
    return {"type": "used", "processor_seconds": seconds}


START = {"type": "start", "seed": 5}


def test_tests_beyond_the_budget_fail_with_its_limit(script: Install) -> None:
    one = budget(processor_seconds=30)
    one.add_tool(Done(0, b"x" * 500, 4.0))
    program = script([[START, case("adds"), used(3.5), case("adds odd sizes"), used(26.5), "hang"]])
    verdicts = judge.judge(plan(program, one))
    assert {name: each.status for name, each in verdicts.cases.items()} == {
        "adds": "pass", "adds odd sizes": "pass", "speed": "fail",
    }  # fmt: skip
    message = (
        "the submission has used 31 s of processor time, but all its stages together have 30 s "
        "(limits.processor_seconds in lab.toml)"
    )
    assert (verdicts.cases["speed"].message, verdicts.cases["speed"].review) == (message, [message])
    assert (one.build_seconds, one.test_seconds, one.seconds_left) == (4.0, 26.5, -0.5)
    assert len((program.parent / "calls.jsonl").read_text().splitlines()) == 1


def test_reading_what_was_handed_in_counts(layout: Layout, lab: Lab, script: Install, submission: Path) -> None:
    script([[START, *(case(name) for name in TESTS), used(2.0), {"type": "end", "cases": 3}]])
    handed_in = dataclasses.replace(intake.read(lab, submission), seconds=1.5)
    result = grade.grade(layout, lab, handed_in, grade.Options())
    assert result.used is not None
    assert (result.used.intake, result.used.tests) == (1.5, 2.0)
    assert 0 <= result.used.analysis < 1.5


def test_a_test_that_has_its_verdict_keeps_it(script: Install) -> None:
    one = budget(processor_seconds=30)
    end = {"type": "end", "cases": 3}
    program = script([[START, *(case(name) for name in TESTS), used(99.0), end]])
    assert {each.status for each in judge.judge(plan(program, one)).cases.values()} == {"pass"}
    assert "used 99 s" in one.exceeded


def test_calls_of_a_judge_add_up(script: Install) -> None:
    one = budget()
    program = script([[START, case("adds"), used(2.0), "die"], [START, case("adds odd sizes"), used(3.0)],
                      [START, case("speed"), used(4.0)]])  # fmt: skip
    judge.judge(plan(program, one))
    assert one.test_seconds == 9.0


def test_a_record_beyond_the_budget_is_a_fail(script: Install) -> None:
    one = budget(output_mib=1)
    flood = case("adds odd sizes", message="x" * (2 << 20))
    verdicts = judge.judge(plan(script([[START, case("adds"), flood, "hang"]]), one))
    assert verdicts.cases["speed"].status == "fail"
    assert "may take 1 MiB (limits.output_mib in lab.toml)" in verdicts.cases["speed"].message


@pytest.mark.parametrize(("size", "says"), [(1 << 20, ""), ((1 << 20) + 1, "made_mib")])
def test_what_it_compiles_to_is_bounded(size: int, says: str) -> None:
    one = budget(made_mib=1)
    one.add_made(size)
    assert says in one.exceeded
    assert bool(one.exceeded) is bool(says)


def test_nothing_begins_beyond_the_budget(script: Install) -> None:
    one = budget(processor_seconds=1)
    one.build_seconds = 2.0
    program = script([["die"]])
    assert {each.status for each in judge.judge(plan(program, one)).cases.values()} == {"fail"}
    assert not (program.parent / "calls.jsonl").exists()
