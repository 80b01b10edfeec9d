"""Scores: turns the judge's verdicts and a lab's points into test results and sums."""

import itertools
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

import msgspec

from warpgrade.compiling.warnings import CompilerWarning
from warpgrade.grading import hints
from warpgrade.grading.judge import Case
from warpgrade.grading.result import Check, Measurement, Score, TestResult
from warpgrade.lab.failure_tags import COUNTERS, FAILURE_TAGS
from warpgrade.lab.good_numbers import GoodNumbers, TestNumbers
from warpgrade.lab.labs import PRELAB, Lab, SpeedItem, TestItem
from warpgrade.machine import device
from warpgrade.machine.errors import GraderError
from warpgrade.machine.text import bounded, clean, clean_tree, number

SPEEDUP, AT_MOST = "speedup", "speedup at most"
_CHARGED = {"counter", "speed", "checks"}  # tags of tests that a mistake takes the points of
_MESSAGE_LINES, _MESSAGE_WIDTH = 100, 2000
_OUTPUT_LINES, _OUTPUT_WIDTH = 40, 400  # of what a program printed in a test
# Of a speed test without points for the kind of device that it ran on.
_WRONG_DEVICE = (
    "its points are for speed on a real GPU: use --device gpu on a machine that has one",
    "its points are for speed on the virtual GPU: use --device vgpu",
)
_ENDED = re.compile(r"your program called exit\(\d+\) inside \w+(?:\n|$)")
_FAILED_CALL = re.compile(r"^\S+:\d+: .*\(cudaError\w+\)$")  # as CHECK prints it
# What to do about a call that CHECK ended the program for, where the checks found nothing.
_HINTS_ON_CALLS = (
    (
        re.compile(r": cudaMemcpy\w*\(.*\(cudaErrorInvalidValue\)$"),
        "Does cudaMalloc set each of the copy's pointers to device memory, before the copy? And do its size, in bytes, "
        "and its direction fit the two?",
    ),
    (
        re.compile(r": cudaMemcpy(?:To|From)Symbol\w*\(.*\(cudaErrorInvalidSymbol\)$"),
        "cudaMemcpyToSymbol and cudaMemcpyFromSymbol take the __device__ variable itself, without & before it.",
    ),
    (
        re.compile(r"\(cudaErrorInvalidResourceHandle\)$"),
        "Is each stream and each event created (cudaStreamCreate, cudaEventCreate) before it is used, and destroyed "
        "only after that?",
    ),
)


def points_at(curve: list[tuple[float, float]], value: float) -> float:
    """Return the points at a value: linear between the curve's points, flat outside."""
    if value <= curve[0][0]:
        return curve[0][1]
    for (left, low), (right, high) in itertools.pairwise(curve):
        if value <= right:
            return low + (high - low) * (value - left) / (right - left)
    return curve[-1][1]


def points_of_level(curve: list[tuple[float, float]], value: float) -> float:
    """Return the points of the last of the curve's points that the value reaches, those of the first one below it."""
    return max((points for at, points in curve if at <= value), default=curve[0][1])


def score_tests(
    lab: Lab,
    cases: Mapping[str, Case],
    device_kind: device.Kind,
    *,
    public_only: bool = False,
    only: Sequence[str] = (),
    warnings: Sequence[CompilerWarning] = (),
) -> list[TestResult]:
    """Return one result for each test of the lab that was to run, in the lab's order.

    Raises GraderError when the judge reports a test that lab.toml does not know, for its points would be lost silently.
    """
    unknown = sorted(set(cases) - {item.name for item in lab.items})
    if unknown:
        raise GraderError(f"labs/{lab.name}/lab.toml has no entry for the test “{unknown[0]}”")
    items = lab.chosen(public_only=public_only, only=only)
    warned = next((one.place for one in warnings if one.is_mistake), "")
    return [_score_item(item, cases.get(item.name), device_kind, warned) for item in items]


def _score_item(item: TestItem | SpeedItem, case: Case | None, device_kind: device.Kind, warned: str) -> TestResult:
    kind: Literal["test", "speed"] = "speed" if isinstance(item, SpeedItem) else "test"
    if case is None:
        return TestResult(
            name=item.name, kind=kind, status="error", points=0, max_points=item.points, hidden=item.hidden,
            message="the judge gave no verdict on this test",
        )  # fmt: skip
    status, message, points = case.status, _message(case), 0.0
    # Limits of questions are their answers.
    judged = [] if item.name.startswith(PRELAB) else case.checks
    checks = [Check(**clean_tree(msgspec.structs.asdict(check))) for check in judged]
    if status == "pass" and isinstance(item, TestItem):
        # Something is left of whatever is within a band.
        points = item.points if case.part == 1 else min(max(round(item.points * case.part, 1), 0.1), item.points)
    elif status == "pass" and isinstance(item, SpeedItem):
        curve = item.curve(device_kind)
        speedups = [measured.value for measured in case.measurements if measured.name == SPEEDUP]
        if curve is None:
            status, message = "pending", _WRONG_DEVICE[device_kind == "gpu"]
        elif not speedups:
            status, message = "error", "the test measured no speed-up"
        else:
            # Several measurements: the weakest counts, else a test could pass on its easiest size. Times that vary come
            # with bounds: the curve's points are levels then, and whoever may have reached one has its points.
            bounds = [measured.value for measured in case.measurements if measured.name == AT_MOST]
            points = round(points_of_level(curve, min(bounds)) if bounds else points_at(curve, min(speedups)), 1)
            checks.append(_speedup_check(curve, min(speedups), points, item.points))
            if points < item.points:
                message = message or _what_is_missing(curve, min(speedups), item.points)
    return TestResult(
        name=item.name,
        kind=kind,
        status=status,
        points=points,
        max_points=item.points,
        hidden=item.hidden,
        tags=list(case.tags),
        message=message,
        hint=_hint(item, case, warned) if status != "pending" and points < item.points else "",
        signs=[sign for sign in case.signs if sign in FAILURE_TAGS],
        output=_last_lines(case.output, _failed_call(case)),
        seconds=round(case.seconds, 3),
        measurements=[Measurement(name=m.name, value=m.value, unit=m.unit) for m in case.measurements],
        launches=clean_tree(case.launches),
        diagnostics=case.diagnostics,
        checks=checks,
    )


def _speedup_check(curve: list[tuple[float, float]], speedup: float, points: float, most: float) -> Check:
    outcome: Literal["pass", "part", "fail"] = "pass" if points >= most else "part" if points else "fail"
    return Check(
        name=SPEEDUP, now=speedup, relation="at least", limit=curve[-1][0], outcome=outcome, unit="x",
        words="for all points",
    )  # fmt: skip


def charge_mistakes(tests: Sequence[TestResult], cases: Mapping[str, Case]) -> list[TestResult]:
    """Take the points for counters and speed from each function in which the checks found an error.

    What a program counts, or how fast it is, means little while it makes mistakes. Public tests look at what public
    tests found, so that their points say nothing of hidden data.
    """
    told: dict[str, str] = {}
    for test in tests:
        if not test.hidden and (case := cases.get(test.name)):
            for function, rule in case.faulty.items():
                told.setdefault(function, _mistake(function, rule, test))
    return [_charged(test, cases[test.name], told) if test.name in cases else test for test in tests]


def _charged(test: TestResult, case: Case, told: Mapping[str, str]) -> TestResult:
    charged = _CHARGED.intersection(tag.strip("[]") for tag in test.tags) and not test.name.startswith(PRELAB)
    if test.status != "pass" or not charged:
        return test
    own = {function: _mistake(function, rule, test) for function, rule in case.faulty.items()}
    mistakes = [words for function, words in {**told, **own}.items() if function in case.functions]
    if not mistakes:
        return test
    message = "\n".join([*mistakes, "There are no points for counters and speed while a version makes a mistake."])
    return msgspec.structs.replace(
        test, status="fail", points=0, message=message, hint=test.hint if test.hidden else "", signs=[COUNTERS]
    )


def _mistake(function: str, rule: str, test: TestResult) -> str:
    """Return `the checks found a mistake in scan: race in shared memory (racecheck/shared) at scan.cu:41`."""
    one = next((one for one in test.diagnostics if one.rule == rule and one.severity == "error"), None)
    what = f"{one.title} ({rule})" if one else clean(rule)
    where = f" at {one.place.text}" if one and one.place.own else ""
    return f"the checks found a mistake in {clean(function)}: {what}{where}"


def add_good_numbers(tests: Sequence[TestResult], good: GoodNumbers | None, device_name: str) -> list[TestResult]:
    """Put what the reference counts beside what was counted; on another device than it was counted on, nothing."""
    if good is None or good.device != device_name:
        return list(tests)
    known = {
        (test, name, relation, *limits): number
        for test, names in good.tests.items()
        for name, relations in names.items()
        for relation, rows in relations.items()
        for number, *limits in rows
    }

    def reference_has(test: str, check: Check) -> float | None:
        return check.limit if check.relation == "is" else known.get((test, *_what(check)))

    return [
        msgspec.structs.replace(
            test, checks=[msgspec.structs.replace(one, good=reference_has(test.name, one)) for one in test.checks]
        )
        for test in tests
    ]


def _what(check: Check) -> tuple[str | float, ...]:
    """Return what tells a check from the others of its test."""
    return (check.name, check.relation, check.limit, *([] if check.upper is None else [check.upper]))


def collect_good_numbers(runs: Sequence[Sequence[TestResult]]) -> dict[str, TestNumbers]:
    """Return what several runs of the reference agree on, by name of the test; the inputs differ from run to run.

    A number that not all runs have stands beside a limit that the inputs choose.
    """
    seen: dict[tuple[str | float, ...], list[tuple[int, float]]] = {}
    for run, tests in enumerate(runs):
        for test in tests:
            for one in test.checks:
                if one.relation != "is":
                    seen.setdefault((test.name, *_what(one)), []).append((run, one.now))
    good: dict[str, TestNumbers] = {}
    for (test_name, name, relation, *limits), numbers in seen.items():
        in_runs, values = {run for run, _ in numbers}, {now for _, now in numbers}
        if len(in_runs) == len(runs) and len(values) == 1:
            rows = good.setdefault(str(test_name), {}).setdefault(str(name), {}).setdefault(str(relation), [])
            rows.append([values.pop(), *map(float, limits)])
    return good


def _message(case: Case) -> str:
    first, end, rest = clean(case.message).strip().partition("\n")
    if call := _failed_call(case):
        first = f"{first}: {call}"
    return bounded(first + end + rest, lines=_MESSAGE_LINES, width=_MESSAGE_WIDTH)


def _failed_call(case: Case) -> str:
    """Return what CHECK printed of the call that it ended the program for, if that is how the test ended."""
    if not _ENDED.match(case.message):
        return ""
    last = clean(case.output).rstrip().rsplit("\n", 1)[-1]
    return last if len(last) <= _OUTPUT_WIDTH and _FAILED_CALL.search(last) else ""


def _hint(item: TestItem | SpeedItem, case: Case, warned: str) -> str:
    # What a submission can choose by the data of a hidden test must not show in it.
    if item.hidden or case.status == "error":
        return item.hint
    if (call := _failed_call(case)) and not any(one.severity == "error" for one in case.diagnostics):
        for pattern, hint in _HINTS_ON_CALLS:
            if pattern.search(call):
                return hint
    return hints.choose(
        item.hint, item.hints, case.signs, tags=case.tags, diagnostics=case.diagnostics,
        warned="" if item.name.startswith(PRELAB) else warned,
    )  # fmt: skip


def _last_lines(output: str, told: str = "") -> str:
    # Our runtime tells the terminal of an error what a test's message says anyway.
    lines = [line for line in clean(output).expandtabs(4).rstrip().split("\n") if not line.startswith("warpgrade: ")]
    if told and lines[-1] == told:
        lines.pop()
    return "\n".join(bounded(line, lines=1, width=_OUTPUT_WIDTH) for line in lines[-_OUTPUT_LINES:])


def _what_is_missing(curve: list[tuple[float, float]], speedup: float, points: float) -> str:
    begins = max((value for value, worth in curve if worth <= 0), default=curve[0][0])
    scale = f"points begin above {number(begins, 2)}×, all {number(points)} at {number(curve[-1][0], 2)}×"
    return f"{number(speedup, 2)}× as fast as the starter; {scale}"


def total(tests: Iterable[TestResult]) -> Score:
    """Return the sums."""
    rows = list(tests)
    points = round(sum(row.points for row in rows), 2)
    max_points = sum(row.max_points for row in rows)
    return Score(
        points=points,
        max_points=max_points,
        percent=round(100 * points / max_points, 2) if max_points else 0.0,
        error_points=sum(row.max_points for row in rows if row.status == "error"),
        pending_points=sum(row.max_points for row in rows if row.status == "pending"),
    )
