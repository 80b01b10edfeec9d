"""Which hint a failed test shows: the one for what failed, or none where it would lead astray.

The judge says what it knows of a failure by names, its signs (lab/failure_tags.py).
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Final

from warpgrade.findings.diagnosis import Diagnostic
from warpgrade.lab.failure_tags import (
    COUNTERS,
    DEVICE_FAULT,
    ENDED,
    HOST_POINTER,
    ORDER,
    PRECISION,
    RACE,
    REPEATED,
    TRUNCATED,
    UNINITIALIZED,
    UNSET,
    UNWRITTEN,
    WRONG,
)  # fmt: skip

_PLACES: Final = ("stride", "tile", "tail", "edge")  # where nothing was written
_RACE_FIRST: Final = "Fix the race that the checks found first: it may well be the cause."
_UNINITIALIZED_FIRST: Final = (
    "Fix the use of uninitialized memory that the checks found first: it may well be the cause."
)
# Their own help says all; a lab's hint on its kernel's indices does not fit.
_EXPLAINED: Final = {"memcheck/host-pointer", "launch/runaway", "launch/configuration"}
_CHECKS_FIRST: Final = "Fix what the checks found first: it may well be the cause."
_PRECISION: Final = (
    "Only precision is missing. Keep every element, product and sum in the type of the contract (not in half or TF32), "
    "and use no approximate functions such as __fdividef."
)
_RESULT_FIRST: Final = "This test is about what the device counts. Get the results right first."


def choose(
    hint: str,
    hints: Mapping[str, str],
    signs: Sequence[str],
    *,
    tags: Collection[str] = (),
    diagnostics: Sequence[Diagnostic] = (),
    warned: str = "",
) -> str:
    """Return the hint for a public test that failed or lost points; `hint` is the lab's for want of a better one.

    warned: the line of a mistake that the compiler warns of.
    """
    rules = {one.rule for one in diagnostics}
    found = {one.rule.partition("/")[0] for one in diagnostics if one.severity == "error"}
    known = set(signs)
    if "racecheck" in found:
        known = {*known, RACE} - {UNWRITTEN, ORDER}  # what came too late is no gap in the work
    if "initcheck" in found and WRONG[-1] in known:
        known = {*known, UNINITIALIZED} - {UNWRITTEN}  # what was computed has no value, but was
    if warned and not found and not known.intersection(ENDED) - {UNWRITTEN, UNSET}:
        return f"Fix what the compiler warns of at {warned} first: it may well be the cause."
    if ended := known.intersection(ENDED):
        if DEVICE_FAULT in ended and rules & _EXPLAINED:
            return hints.get(HOST_POINTER, "") if "memcheck/host-pointer" in rules else ""
        where = _PLACES if UNWRITTEN in ended else ()
        return next((hints[sign] for sign in (*where, *ENDED) if sign in known and sign in hints), "")
    if not known.intersection(WRONG):
        return hint if found else hints.get(COUNTERS, hint)
    if PRECISION in known and not found:
        return hints.get(PRECISION, _PRECISION)
    if found - {"racecheck", "initcheck"}:
        return _CHECKS_FIRST
    if told := next((hints[sign] for sign in WRONG if sign in known and sign in hints), ""):
        return told
    if known & {REPEATED, TRUNCATED}:
        return ""
    if RACE in known:
        return _RACE_FIRST
    if UNINITIALIZED in known and "initcheck/absent-lane" not in rules:
        return _UNINITIALIZED_FIRST
    counts = any(tag.strip("[]") in ("counter", "speed") for tag in tags)
    return _RESULT_FIRST if counts else hint
