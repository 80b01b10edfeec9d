"""What is so where nothing is said of it, and how long a name may be."""

import time

import msgspec
import pytest

from warpgrade.grading import grade, result
from warpgrade.grading.grade import Options
from warpgrade.grading.judge import Case, Plan, Verdicts
from warpgrade.grading.result import DeviceInfo, LabInfo, Result, Score, Seconds, SubmissionInfo, Used
from warpgrade.grading.submission import Submission
from warpgrade.intake.archives import Member
from warpgrade.lab.budget import Budget, allowance_of
from warpgrade.lab.labs import Lab


def test_a_verdict_of_few_words() -> None:
    case = msgspec.json.decode(b'{"type": "case", "name": "adds", "status": "pass"}', type=Case)
    assert (case.unsupported, case.seconds, case.message, case.part, case.seed) == (False, 0, "", 1, None)
    verdicts = Verdicts()
    assert (verdicts.complete, verdicts.out_of_time, verdicts.processor_seconds) == (False, False, 0)


@pytest.mark.parametrize(
    ("part", "is_taken"), [("0", True), ("1", True), ("0.5", True), ("-0.1", False), ("1.1", False)]
)
def test_a_part_of_the_points_is_between_none_and_all(part: str, is_taken: bool) -> None:
    raw = f'{{"type": "case", "name": "adds", "status": "pass", "part": {part}}}'.encode()
    if is_taken:
        assert msgspec.json.decode(raw, type=Case).part == float(part)
    else:
        with pytest.raises(msgspec.ValidationError):
            msgspec.json.decode(raw, type=Case)


def test_options_and_plans_of_few_words() -> None:
    options = Options()
    assert (options.confined, options.public_only, options.scope, options.checks) == (True, False, "all", "all")
    plan = Plan(["judge"], ["a", "b"], public_only=False, seconds_each=10)
    assert (plan.chosen, plan.patience, plan.seconds) == (False, 120, 140)  # 6 · 10 + 60; 2 · 10 besides
    assert Submission("x", {}, []).seconds == 0


def test_a_result_of_few_words() -> None:
    test = result.TestResult(name="adds", kind="test", status="pass", points=1, max_points=1, hidden=False)
    assert test.seconds == 0
    used = Used()
    assert (used.intake, used.analysis, used.build, used.tests, used.made_bytes, used.output_bytes) == (0,) * 6
    found = Result(
        lab=LabInfo(name="toy", title="Toy"), submission=SubmissionInfo(name="x"), status="graded",
        score=Score(points=0, max_points=0, percent=0, error_points=0, pending_points=0), tests=[],
        device=DeviceInfo(requested="auto", kind="vgpu"), started_at="", seconds=Seconds(build=0, judge=0),
    )  # fmt: skip
    assert (found.sandboxed, found.scope) == (True, "all")


def test_seconds_are_told_in_thousandths(lab: Lab) -> None:
    limits = lab.file.limits
    budget = Budget(limits, allowance_of(limits), intake_seconds=0.12345)
    budget.analysis.add(0.12345 + 1.23456)
    budget.build_seconds, budget.test_seconds = 2.34567, 3.45678
    used = grade._used(budget)
    assert (used.intake, used.analysis, used.build, used.tests) == (0.123, 1.235, 2.346, 3.457)
    since = grade._since(time.monotonic() - 2)
    assert 2 <= since < 60
    assert since == round(since, 3)


def test_a_members_name_is_the_last_part_of_its_path() -> None:
    def never() -> None:
        raise AssertionError("it was opened")

    assert Member("a/b.c/toy.cu", never).name == "toy.cu"  # type: ignore[arg-type]
    assert Member("toy.cu", never).name == "toy.cu"  # type: ignore[arg-type]
