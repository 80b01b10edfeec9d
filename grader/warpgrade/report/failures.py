"""Which failure to look at first: the one that may explain the others."""

from __future__ import annotations

from collections.abc import Iterable

from warpgrade.grading.result import TestResult
from warpgrade.lab.signs import COUNTERS


def in_order(tests: Iterable[TestResult]) -> list[TestResult]:
    """Return the tests that failed or lost points and say why, the one to begin with first.

    What a test counts or how fast it is means little while results are wrong, so wrong results come first; else the
    order is that of the lab, which goes from the simple to the difficult.
    """
    lost = [
        test
        for test in tests
        if test.status in ("fail", "error", "pass") and test.points < test.max_points and test.message
    ]
    return sorted(lost, key=_rank)


def _rank(test: TestResult) -> int:
    if test.status == "error":
        return 3
    if test.status == "pass":  # too slow
        return 2
    return 0 if is_wrong(test) else 1


def is_wrong(test: TestResult) -> bool:
    """Tell whether the program did something wrong, other than to count or to take too much."""
    return bool(set(test.signs) - {COUNTERS})
