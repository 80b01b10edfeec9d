"""What each cause of lost time costs a kernel: its modelled time less the modelled time without the cause."""

from collections.abc import Sequence

from warpgrade.machine.text import number
from warpgrade.running.profile import Kernel, Profile

_CAUSES = {
    "uncoalesced": "uncoalesced accesses", "bank_conflicts": "bank conflicts",
    "redundant_loads": "loading the same data again", "divergence": "divergence", "local_memory": "local memory",
    "contention": "atomics that meet", "expensive_arithmetic": "divisions, roots and doubles",
    "dependent_loads": "loads that wait for each other",
    "low_occupancy": "low occupancy", "small_grid": "idle multiprocessors",
}  # fmt: skip
_ALL = "all"
MIN_SHARE = 0.01  # of the kernel's time; of many launches some may have less


def shares(kernel: Kernel) -> list[tuple[str, float]]:
    """Return each cause with its share of the kernel's time, the largest first; last what all of them cost together.

    Causes overlap, so that their shares do not add up.
    """
    if kernel.total_ns <= 0:
        return []
    found = [(name, kernel.costs.get(cause, 0) / kernel.total_ns) for cause, name in _CAUSES.items()]
    found = sorted((one for one in found if one[1] >= MIN_SHARE), key=lambda one: -one[1])
    if len(found) > 1 and _ALL in kernel.costs:
        found.append(("all of these", kernel.costs[_ALL] / kernel.total_ns))
    return [(name, min(share, 1.0)) for name, share in found]


def copies_share(profile: Profile) -> float:
    """Return the share of a program's time in which copies or fills run and no kernel does."""
    if not profile.timeline_complete or profile.clock_ns <= 0:
        return 0
    changes = sorted(
        (at, each.kind == "kernel", change)
        for each in profile.timeline
        for at, change in ((each.start_ns, 1), (each.start_ns + each.duration_ns, -1))
    )
    alone = before = 0.0
    running = {True: 0, False: 0}  # kernels, copies
    for at, is_kernel, change in changes:
        if running[False] and not running[True]:
            alone += at - before
        running[is_kernel] += change
        before = at
    return min(alone / profile.clock_ns, 1.0)


def percent(share: float) -> str:
    """Return how much less time it would be."""
    return f"−{number(100 * share, 0)}\N{NO-BREAK SPACE}%"


def line(found: Sequence[tuple[str, float]]) -> str:
    """Return `bank conflicts −38 %, low occupancy −4 %, all of these −41 %`."""
    return ", ".join(f"{name} {percent(share)}" for name, share in found)
