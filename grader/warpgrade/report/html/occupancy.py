"""Occupancy: what limits a kernel's, and what it would be with other blocks, registers and shared memory."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from warpgrade.machine.text import number
from warpgrade.report.html import svg
from warpgrade.report.html.elements import Markup
from warpgrade.running.profile import Kernel

_TOP, _BOTTOM, _HEIGHT, _GAP = 14, 92, 124, 16
_LIMITS = ("warps", "blocks", "registers", "shared memory")
_TOLERANCE = 0.001
_KEYS = (
    "warp_size", "max_threads_per_multi_processor", "max_blocks_per_multi_processor", "regs_per_multiprocessor",
    "shared_mem_per_multiprocessor", "shared_mem_per_block_optin", "max_threads_per_block", "major",
)  # fmt: skip


def resident_warps(device: Mapping[str, Any], threads: int, registers: int, shared_bytes: int) -> int:
    """Return how many warps a multiprocessor holds, as CUDA's occupancy calculator does (vgpu/model/occupancy.cpp)."""
    size = device["warp_size"]
    warps = -(-threads // size)
    partitions = 2 if (device["major"], device.get("minor")) == (6, 0) else 4
    per_warp = -(-registers * size // 256) * 256  # a warp's registers are allocated in units of 256
    blocks = min(device["max_threads_per_multi_processor"] // size // warps, device["max_blocks_per_multi_processor"])
    if per_warp:
        if per_warp * -(-warps // partitions) * partitions > device.get("regs_per_block", 65536):
            return 0
        blocks = min(blocks, device["regs_per_multiprocessor"] // partitions // per_warp * partitions // warps)
    unit = 128 if device["major"] >= 8 else 256
    shared = -(-(shared_bytes + device.get("reserved_shared_mem_per_block", 0)) // unit) * unit
    if shared:
        blocks = min(blocks, device["shared_mem_per_multiprocessor"] // shared)
    return int(blocks * warps)


def picture(kernel: Kernel, device: Mapping[str, Any]) -> Markup:
    """Return three curves; nothing for launches of several sizes, or if the formula gives other than was counted."""
    known = all(isinstance(device.get(key), int) and device[key] > 0 for key in _KEYS)
    if not known or kernel.block is None or kernel.limiter not in _LIMITS:
        return Markup()
    threads = kernel.block[0] * kernel.block[1] * kernel.block[2]
    registers, shared = kernel.registers_per_thread, kernel.static_shared_bytes + kernel.dynamic_shared_bytes
    most = device["max_threads_per_multi_processor"] // device["warp_size"]
    if not 0 < threads <= device["max_threads_per_block"] or not 0 < registers <= 255:
        return Markup()

    def share(threads: int, registers: int, shared: int) -> float:
        return resident_warps(device, threads, registers, shared) / float(most)

    if abs(share(threads, registers, shared) - kernel.occupancy) > _TOLERANCE:
        return Markup()
    largest = min(device["shared_mem_per_block_optin"], device["shared_mem_per_multiprocessor"])
    panels: tuple[tuple[str, range, int, Callable[[int], float]], ...] = (
        ("threads a block", range(32, device["max_threads_per_block"] + 1, 32), threads,
         lambda x: share(x, registers, shared)),
        ("registers a thread", range(16, 256), registers, lambda x: share(threads, x, shared)),
        ("KiB of shared memory", range(0, largest + 1, 1024), shared, lambda x: share(threads, registers, x)),
    )  # fmt: skip
    width = (svg.WIDTH - 2 * _GAP) / len(panels)
    parts = [
        part
        for place, (name, values, now, at) in enumerate(panels)
        for part in _panel(place * (width + _GAP), width, name, values, now, at)
    ]
    title = f"Occupancy: {number(100 * kernel.occupancy)} %, limited by {kernel.limiter}"
    best = max((at(value), name, value) for name, values, _, at in panels for value in values)
    told = f"{title}; {number(100 * kernel.achieved_occupancy)} % achieved"
    if best[0] > kernel.occupancy + _TOLERANCE:
        value = number(best[2] / 1024) if best[1].startswith("KiB") else str(best[2])
        told += f"; {number(100 * best[0])} % with {value} {best[1]}"
    return svg.figure(title, told, _HEIGHT, parts, f"{told}. The dot is this kernel.")


def _panel(
    left: float, width: float, name: str, values: range, now: int, at: Callable[[int], float]
) -> Iterator[Markup]:
    across = svg.Scale(values[0], values[-1], left, left + width)
    up = svg.Scale(0, 1, _BOTTOM, _TOP)
    scale = 1024 if name.startswith("KiB") else 1
    yield svg.line([(left, up(1)), (left + width, up(1))], "grid")
    yield svg.line([(left, up(0)), (left + width, up(0))], "grid")
    yield svg.line([(across(value), up(at(value))) for value in values], "curve")
    yield svg.dot(across(now), up(at(now)), f"{number(now / scale)} {name}: {number(100 * at(now))} %")
    yield svg.text(left, _BOTTOM + 12, f"{values[0] / scale:g}", style="small")
    yield svg.text(left + width, _BOTTOM + 12, f"{values[-1] / scale:g}", anchor="end", style="small")
    yield svg.text(left + width / 2, _BOTTOM + 26, name, anchor="middle", style="small")
    if left == 0:
        yield svg.text(0, _TOP - 4, "100 %", style="small")
