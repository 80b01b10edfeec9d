"""Whether what the checks did not find in a kernel's launches they would not find with any data."""

from collections.abc import Sequence
from pathlib import Path

from warpgrade.machine.text import clean, counted
from warpgrade.running.profile import AnyData, Kernel

PROVED = "with any data: no race, nothing out of bounds and nothing unset in launches of these sizes"
_WHY_NOT = {
    "address": "{place} accesses other elements with other data",
    "branch": "{place} goes another way with other data",
    "order": "{place} depends on when other threads write",
    "value": "{place} stores what is there already, which other data may change",
    "calls": "{place} calls a function, which is not looked into",
}


def words(found: AnyData) -> str:
    """Return for which data a kernel has been checked, and why not for all."""
    return PROVED if found.holds else f"with these data only: {_why_not(found)}"


def summary(kernels: Sequence[Kernel]) -> list[str]:
    """Return lines that sum up kernels, each with its launches of all tests; those with errors do not count."""
    checked = [(kernel, kernel.any_data) for kernel in kernels if kernel.any_data]
    others = [f"{clean(kernel.name)} ({_why_not(found)})" for kernel, found in checked if not found.holds]
    proved = len(checked) - len(others)
    if not checked:
        return []
    some = f"{proved} of " if others else "all " if proved > 1 else ""
    lines = [f"Checked {PROVED}: {some}{counted(len(checked), 'kernel')}."] if proved else []
    return lines + ([f"Checked with the data of the tests only: {', '.join(others)}."] if others else [])


def _why_not(found: AnyData) -> str:
    place = f"{Path(found.file).name}:{found.line}" if found.file and found.line else "a line"
    return _WHY_NOT.get(found.because, "not known").format(place=clean(place))
