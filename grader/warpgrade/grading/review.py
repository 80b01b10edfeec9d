"""What a person should look at in a submission: things that honest work does not do.

An entry comes from where the thing was seen: a BuildFailure carries its own, a judge writes those of a test into the
key `review` of the test's verdict. Here they become the result's list. They are shown to the student too, so that an
entry from a hidden test must be a fixed text, without sizes or values.
"""

from collections.abc import Iterable

from warpgrade.grading.result import Result
from warpgrade.machine.text import one_line

_MAX_NOTES = 32
_WIDTH = 300


def list_notes(notes: Iterable[str]) -> list[str]:
    """Return the notes without duplicates, each on one line, bounded in length and number."""
    seen = list(dict.fromkeys(one_line(note, _WIDTH) for note in notes))
    left_out = len(seen) - _MAX_NOTES
    return [*seen[:_MAX_NOTES], *([f"and {left_out} more"] if left_out > 0 else [])]


def group_by_cause(result: Result) -> dict[str, list[str]]:
    """Group the notes of a result by cause: each with the names of its tests; "" stands for no test."""
    causes: dict[str, list[str]] = {}
    for note in result.review:
        name = next((test.name for test in result.tests if note.startswith(f"{test.name}: ")), "")
        causes.setdefault(note.removeprefix(f"{name}: "), []).append(name)
    return causes
