"""Which failure to look at first: the one that may explain the others."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Final

from warpgrade.grading.result import TestResult
from warpgrade.lab.failure_tags import COUNTERS

PRELAB: Final = "prelab: "  # begins the names of tests of questions asked before a lab; docs/labs.md


def in_order(tests: Iterable[TestResult], fell: Collection[str] = ()) -> list[TestResult]:
    """Return the tests that failed or lost points and say why, the one to begin with first.

    fell: the names of those that had more points before the last change, which is what to look at first.

    What a test counts or how fast it is means little while results are wrong, so wrong results come first; else the
    order is that of the lab, which goes from the simple to the difficult. Predictions run the kernels as well: while a
    test of these fails with a wrong result, prelabs come after all other tests.
    """
    lost = [
        test
        for test in tests
        if test.status in ("fail", "error", "pass") and test.points < test.max_points and test.message
    ]
    kernels_first = any(test.status == "fail" and is_wrong(test) and not _is_prelab(test) for test in lost)
    return sorted(lost, key=lambda test: (test.name not in fell, kernels_first and _is_prelab(test), _rank(test)))


def _is_prelab(test: TestResult) -> bool:
    return test.name.startswith(PRELAB)


def _rank(test: TestResult) -> int:
    if test.status == "error":
        return 3
    if test.status == "pass":  # too slow
        return 2
    return 0 if is_wrong(test) else 1


def is_wrong(test: TestResult) -> bool:
    """Tell whether the program did something wrong, other than to count or to take too much."""
    return bool(set(test.signs) - {COUNTERS})
