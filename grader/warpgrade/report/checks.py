"""The numbers of a test's checks: what was counted, what the reference counts, and the limit."""

import math
import re
from collections.abc import Mapping

from warpgrade.grading.result import Check, TestResult
from warpgrade.grading.score import SPEEDUP
from warpgrade.machine.text import clean

SIGNS = {"is": "= ", "at most": "≤ ", "at least": "≥ ", "below": "< ", "between": ""}  # for tables
_LIMITS = {"is": "exactly ", "at most": "", "at least": "at least ", "below": "less than ", "between": ""}
_GROUPED_FROM = 10_000
_JUDGES = re.compile(r"(-?[\d,]+(?:\.\d+)?(?:e[+-]\d+)?)\b.{0,40}(?:, expected |; all points at )")


def numbers(check: Check, limits: Mapping[str, str] = _LIMITS) -> tuple[str, str, str]:
    """Return now, good and limit as words; good is empty if it is not known, or said by the limit.

    limits: what stands before a limit, by relation.
    """
    show = _short
    if len({_short(one) for one in _values(check)}) < len(set(_values(check))):
        show = _exact  # show the digits that differ
    unit = "×" if check.unit == "x" else f" {clean(check.unit)}" if check.unit else ""
    upper = "" if check.upper is None else f" to {show(check.upper)}"
    known = check.good is not None and check.relation != "is"
    good = f"{show(check.good)}{unit}" if known and check.good is not None else ""
    return f"{show(check.now)}{unit}", good, f"{limits[check.relation]}{show(check.limit)}{upper}{unit}"


def line(check: Check) -> str:
    """Return `sectors stored to global memory: now 2048, good 512, limit 1024 (each element once)`."""
    now, good, limit = numbers(check)
    words = f" ({clean(check.words)})" if check.words else ""
    return f"{clean(check.name)}: now {now}{f', good {good}' if good else ''}, limit {limit}{words}"


def in_message(test: TestResult) -> str:
    """Return the test's message with the three numbers of each failed check in place of what the judge says of it."""
    waiting = [check for check in test.checks if check.outcome != "pass"]
    lines = test.message.split("\n")
    for at, said in enumerate(lines):
        one = next((check for check in waiting if _is_about(said, check)), None)
        if one is not None:
            waiting.remove(one)
            lines[at] = line(one)
    return "\n".join(lines)


def _is_about(said: str, check: Check) -> bool:
    """Tell whether a line of a message is the judge's on a check: `NAME: 2048, expected 512 (…)`."""
    if check.relation == "is":  # all is said: what is good is the limit
        return False
    if check.name == SPEEDUP:
        return "as fast as the starter; points begin above" in said
    start = f"{check.name}: "
    found = _JUDGES.match(said[len(start) :]) if said.startswith(start) and check.words in said else None
    return found is not None and math.isclose(float(found[1].replace(",", "")), check.now, rel_tol=1e-4)


def _values(check: Check) -> list[float]:
    return [one for one in (check.now, check.good, check.limit, check.upper) if one is not None]


def _short(value: float) -> str:
    if value == int(value):
        whole = int(value)
        return f"{whole:,}" if abs(whole) >= _GROUPED_FROM else str(whole)
    return f"{value:,.0f}" if abs(value) >= _GROUPED_FROM else f"{value:.3g}" if abs(value) < 100 else f"{value:.5g}"


def _exact(value: float) -> str:
    return f"{int(value):,}" if value == int(value) else repr(value)
