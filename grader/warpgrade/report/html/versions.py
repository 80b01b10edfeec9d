"""The versions of a lab beside each other: how fast they are, and what each kernel does for a request."""

from collections.abc import Sequence

from warpgrade.grading.result import TestResult
from warpgrade.grading.score import SPEEDUP
from warpgrade.machine.text import number
from warpgrade.report import checks, profile
from warpgrade.report.html import svg
from warpgrade.report.html.elements import Markup
from warpgrade.running.profile import Kernel

_MAX_KERNELS = 12
_SHARED = ("shared_load", "shared_store")
# What is compared: the title, the counters above and below the line, and what the best is.
_RATIOS = (
    ("Sectors for each load from global memory", ("global_load_sectors",), ("global_load_requests",),
     "Of 4-byte elements, 4 is the best for neighbours, 1 for one element for all threads, 32 the worst."),
    ("Bank conflicts for each access to shared memory", tuple(f"{each}_bank_conflicts" for each in _SHARED),
     tuple(f"{each}_requests" for each in _SHARED), "0 is the best, 31 the worst."),
    ("Thread instructions for each load from global memory", ("thread_inst_executed",), ("global_load_requests",),
     "More means that what was loaded is used more often."),
)  # fmt: skip


def speed(tests: Sequence[TestResult]) -> Markup:
    """Return a bar for each speed-up that was measured."""
    found = [(test, check) for test in tests for check in test.checks if check.name == SPEEDUP and check.now > 0]
    rows = []
    for test, check in found:
        now, good, limit = checks.numbers(check, {check.relation: ""})
        rows.append(svg.Bar(test.name, check.now, f"{now}{f', good {good}' if good else ''}, all points at {limit}"))
    told = "; ".join(f"{row.label}: {row.words}" for row in rows)
    whole = max((value for _, check in found for value in (check.good or 0, check.limit)), default=0)
    return svg.bars("Speed-up over the starter", told, rows, whole=whole) if rows else Markup()


def kernels(counted: Sequence[Kernel]) -> Markup:
    """Return bars of what does not depend on the size of the data, where there are kernels to compare."""
    pictures = []
    for title, above, below, caption in _RATIOS:
        rows = []
        for kernel in sorted(counted, key=first_line)[:_MAX_KERNELS]:
            sums = [sum(kernel.counters.get(name, 0) for name in names) for names in (above, below)]
            if sums[1] > 0:
                ratio = sums[0] / sums[1]
                rows.append(svg.Bar(profile.short_name(kernel.name), ratio, number(ratio, 2)))
        if len(rows) > 1 and any(row.value for row in rows):
            told = "; ".join(f"{row.label} {row.words}" for row in rows)
            pictures.append(svg.bars(title, told, rows, caption))
    return Markup().join(pictures)


def first_line(kernel: Kernel) -> tuple[str, int]:
    """Return where a kernel begins: kernels stand in the source in the order of the versions."""
    return min(((line.file, line.line) for line in kernel.lines), default=("", 0))
