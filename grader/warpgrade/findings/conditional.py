"""Barriers under conditions on the thread, found in the source of the kernels that ran.

The device sees only what the compiler leaves of them: where both sides of a condition have a barrier, or the same
condition comes twice, it may merge them, and nothing goes wrong in this run.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping

from warpgrade.findings.barriers import Conditional
from warpgrade.findings.diagnosis import Diagnostic, Place, Related
from warpgrade.findings.sources import Sources
from warpgrade.machine.text import bounded

RULE = "synccheck/conditional-barrier"
TITLE = "__syncthreads() under a condition"
_HELP = "All threads of the block must reach the same __syncthreads(): move it out of the if or loop."
_SHOWN = 120  # of a condition
_NAME = re.compile(r"([A-Za-z_]\w*)\s*(?:[<(]|\Z)")


def is_wanted(checks: str) -> bool:
    """Whether the user's choice of checks includes this one."""
    return checks == "all" or "sync" in checks.split(",")


def find_conditional_barriers(
    found: Iterable[Diagnostic], launched: Iterable[str], own: Sources, files: Collection[str]
) -> list[Diagnostic]:
    """Return what the source shows of kernels that were launched, and the device has not found itself."""
    parsed = {file: own.kernels(file) for file in files}
    conditional = [(file, one) for file, kernels in parsed.items() for one in kernels.conditional()]
    if not conditional:
        return []
    told = {_bare(one.kernel) for one in found if one.rule.startswith("synccheck/")}
    # What a kernel does wrong it has been told once.
    calls: dict[str, set[str]] = {}
    for kernels in parsed.values():
        calls.update(kernels.calls())
    reached = _reached({_bare(kernel) for kernel in launched} - told, calls)
    spared = _reached(told, calls)
    return [_diagnostic(file, one, own) for file, one in conditional if one.function in reached - spared]


def _bare(kernel: str) -> str:
    """Return `tiled` of `void lab::tiled<32>(float*)`."""
    match = _NAME.search(kernel)
    return match[1] if match else ""


def _reached(kernels: set[str], calls: Mapping[str, set[str]]) -> set[str]:
    """Return the names of these and of all functions that they call."""
    found, open_ = set(kernels), list(kernels)
    while open_:
        more = (calls.get(open_.pop(), set()) & calls.keys()) - found
        open_ += more
        found |= more
    return found


def _diagnostic(file: str, one: Conditional, own: Sources) -> Diagnostic:
    condition = bounded(one.condition, lines=1, width=_SHOWN)
    message = {
        "if": f"stands in an if that not all threads of the block need enter: `{condition}`",
        "else": f"stands in the else of an if that not all threads of the block need take alike: `{condition}`",
        "loop": f"stands in a loop that the threads of the block may leave at different times: `{condition}`",
        "switch": f"stands in a switch that the threads of the block may take differently: `{condition}`",
    }[one.kind]

    def place(line: int) -> Place:
        return Place(file=file, line=line, source=own.line(file, line))

    asked = [Related("the condition stands", place(one.asked_at))] if one.asked_at != one.line else []
    return Diagnostic(
        rule=RULE, severity="warning", title=TITLE, help=_HELP, message=message, kernel=one.function,
        place=place(one.line), thread=None, related=asked, memory=None, count=0, weight=0.0,
    )  # fmt: skip


def own_files(names: Iterable[str]) -> Iterator[str]:
    """Yield those that can hold kernels."""
    return (name for name in names if name.endswith((".cu", ".cuh", ".h", ".hpp")))
