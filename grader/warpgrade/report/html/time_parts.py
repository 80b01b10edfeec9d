"""Where the time goes: the least that each part of a kernel takes by the device's rates, beside what it took."""

from __future__ import annotations

from warpgrade.machine.text import number
from warpgrade.report import profile
from warpgrade.report.html import svg
from warpgrade.report.html.device_rates import Rates, dram_bytes, l2_bytes
from warpgrade.report.html.elements import Markup
from warpgrade.running.profile import Kernel, Profile

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
    cycles = rates.multiprocessors * rates.cycles
    wavefronts = count("shared_load_wavefronts", 0) + count("shared_store_wavefronts", 0)
    conflicts = count("shared_load_bank_conflicts", 0) + count("shared_store_bank_conflicts", 0)
    sectors = sum(
        count(f"{kind}_sectors", 0)
        for kind in ("global_load", "global_store", "local_load", "local_store", "atomic", "texture")
    )
    parts = [
        ("issuing instructions", count("inst_executed", 0) / rates.warp_instructions, 0.0),
        ("shared memory" + (", red: bank conflicts" if conflicts else ""), wavefronts / cycles, conflicts / cycles),
        ("sectors through L1", sectors / _SECTORS_A_CYCLE / cycles, 0.0),
        ("L2", l2_bytes(kernel.counters) / rates.l2_bytes, 0.0),
        ("device memory", dram_bytes(kernel.counters) / rates.dram_bytes, 0.0),
    ]
    rows = [
        svg.Bar(name, ns, f"{profile.time(ns)}, {number(100 * ns / kernel.total_ns)} %", part)
        for name, ns, part in parts
        if ns > 0
    ]
    title = f"Where the {profile.time(kernel.total_ns)} go"
    told = "; ".join(f"{row.label} {row.words}" for row in rows)
    note = ("The least that each part takes by the device's rates. Parts overlap; what no bar explains is waiting: for "
            "the latency of memory, for barriers, for the slowest block, and for the launch itself.")  # fmt: skip
    return svg.bars(title, told, rows, note, whole=kernel.total_ns) if rows else Markup()


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
    return svg.bars("Kernels and copies", told, rows) if len(rows) > 1 else Markup()
