"""Where the time goes: the least that each part of a kernel takes by the device's rates, beside what it took."""

from collections.abc import Iterator, Mapping

from warpgrade.machine.text import number
from warpgrade.report import costs, profile
from warpgrade.report.html import svg
from warpgrade.report.html.device_rates import Rates, dram_bytes, l2_bytes
from warpgrade.report.html.elements import Markup
from warpgrade.running.profile import Kernel, Profile

_SHARED = "shared memory"
_SECTORS_A_CYCLE = 4  # a multiprocessor's first-level cache brings 128 bytes in a cycle
_COPIES = {
    "to_device": "copies to the device", "to_host": "copies to the host", "within_device": "copies within the device",
    "fill": "fills",
}  # fmt: skip


def kernel_bars(kernel: Kernel, rates: Rates) -> Markup:
    """Return a bar for each part of a kernel's time; nothing if it took none."""
    if kernel.total_ns <= 0:
        return Markup()
    count = kernel.counters.get
    conflicts = count("shared_load_bank_conflicts", 0) + count("shared_store_bank_conflicts", 0)
    red = conflicts / (rates.multiprocessors * rates.cycles)
    rows = [
        svg.Bar(name + (", red: bank conflicts" if of_shared and red else ""), ns,
                f"{profile.time(ns)}, {number(100 * ns / kernel.total_ns)} %", red if of_shared else 0)
        for name, ns in _least_times(kernel.counters, rates).items()
        for of_shared in [name == _SHARED]
        if ns > 0
    ]  # fmt: skip
    title = f"Where the {profile.time(kernel.total_ns)} go"
    told = "; ".join(f"{row.label} {row.words}" for row in rows)
    note = ("The least that each part takes by the device's rates. Parts overlap; what no bar explains is what the "
            "compiler makes of divisions and roots, and waiting: for the latency of memory, for barriers, for the "
            "slowest block, and for the launch itself.")  # fmt: skip
    return svg.bars(title, told, rows, note, whole=kernel.total_ns) if rows else Markup()


def _least_times(counters: Mapping[str, int], rates: Rates) -> dict[str, float]:
    """Return the least ns that each part takes by the device's rates."""
    count = counters.get
    cycles = rates.multiprocessors * rates.cycles
    wavefronts = sum(count(f"shared_{kind}_wavefronts", 0) for kind in ("load", "store", "atomic"))
    sectors = sum(
        count(f"{kind}_sectors", 0)
        for kind in ("global_load", "global_store", "local_load", "local_store", "atomic", "texture")
    )
    return {
        "issuing instructions": count("inst_executed", 0) / rates.warp_instructions,
        _SHARED: wavefronts / cycles,
        "sectors through L1": sectors / _SECTORS_A_CYCLE / cycles,
        "L2": l2_bytes(counters) / rates.l2_bytes,
        "device memory": dram_bytes(counters) / rates.dram_bytes,
    }


def line_times(kernel: Kernel, rates: Rates) -> Iterator[tuple[str, int, float]]:
    """Yield file, line, and the ns of the kernel's time that fall to the line, where it has any.

    The modelled time is the root of the sum of the parts' squares, so that a part has the share of its square; a line
    has the share of each part that its counters have. Time spent waiting falls to the lines as the rest does.
    """
    whole = _least_times(kernel.counters, rates)
    squares = sum(ns * ns for ns in whole.values())
    for line in kernel.lines if squares > 0 else ():
        own = _least_times(line.counters, rates)
        if share := sum(own[part] * ns for part, ns in whole.items()) / squares:
            yield line.file, line.line, share * kernel.total_ns


def cost_bars(kernel: Kernel) -> Markup:
    """Return a bar for each cause of lost time; nothing where there is none."""
    rows = [svg.Bar(f"without {name}", share, costs.percent(share)) for name, share in costs.shares(kernel)]
    told = "; ".join(f"{row.label} {row.words}" for row in rows)
    note = "The time is modelled again without each cause. Causes overlap, so that what they cost does not add up."
    return svg.bars("What each cause costs", told, rows, note, whole=1) if rows else Markup()


def run_bars(profiled: Profile) -> Markup:
    """Return a bar for each kernel and each kind of copy of a program; nothing where there is one thing only."""
    rows = [
        svg.Bar(profile.short_name(kernel.name), kernel.total_ns, profile.time(kernel.total_ns))
        for kernel in profiled.kernels[:12]
    ]
    rows += [
        svg.Bar(_COPIES.get(kind, kind), sums.total_ns, profile.time(sums.total_ns))
        for kind, sums in profiled.transfers.items()
    ]
    rows = sorted((row for row in rows if row.value > 0), key=lambda row: -row.value)
    told = "; ".join(f"{row.label} {row.words}" for row in rows)
    copies = costs.copies_share(profiled)
    note = f"The program's time without copies: {costs.percent(copies)}." if copies >= costs.MIN_SHARE else ""
    return svg.bars("Kernels and copies", told, rows, note) if len(rows) > 1 else Markup()
