"""Whether what the checks did not find in a kernel's launches they would not find with any data."""

from collections.abc import Sequence
from pathlib import Path

from warpgrade.machine.text import clean
from warpgrade.running.profile import AnyData, Kernel

PROVED = "with any data: no race, nothing out of bounds and nothing unset in launches of these sizes"
_WHY_NOT = {
    "address": "{place} accesses other elements with other data",
    "branch": "{place} goes another way with other data",
    "order": "{place} depends on when other threads write",
    "calls": "{place} calls a function, which is not looked into",
}


def words(found: AnyData) -> str:
    """Return for which data a kernel has been checked, and why not for all."""
    return PROVED if found.holds else f"with these data only: {_why_not(found)}"


def summary(kernels: Sequence[Kernel]) -> list[str]:
    """Return lines that sum up kernels, each with its launches of all tests; nothing is said of those with errors."""
    proved = [clean(kernel.name) for kernel in kernels if kernel.any_data and kernel.any_data.holds]
    others = [
        f"{clean(kernel.name)} ({_why_not(kernel.any_data)})"
        for kernel in kernels
        if kernel.any_data and not kernel.any_data.holds
    ]
    lines = [f"Checked {PROVED}: {', '.join(proved)}."] if proved else []
    return lines + ([f"Checked with the data of the tests only: {', '.join(others)}."] if others else [])


def _why_not(found: AnyData) -> str:
    place = f"{Path(found.file).name}:{found.line}" if found.file and found.line else "a line"
    return _WHY_NOT.get(found.because, "not known").format(place=clean(place))
