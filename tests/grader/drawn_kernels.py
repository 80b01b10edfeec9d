"""Kernels and a device that tests of pages share."""

from typing import Any

from warpgrade.running.profile import Kernel, Line

# As an H100 with four multiprocessors tells.
DEVICE: dict[str, Any] = {
    "clock_ghz": 1.98, "dram_bytes_per_ns": 90.9, "l2_bytes_per_ns": 166.7, "major": 9, "minor": 0, "warp_size": 32,
    "max_blocks_per_multi_processor": 32, "max_threads_per_block": 1024, "max_threads_per_multi_processor": 2048,
    "multi_processor_count": 4, "regs_per_block": 65536, "regs_per_multiprocessor": 65536,
    "reserved_shared_mem_per_block": 1024, "shared_mem_per_block_optin": 232448,
    "shared_mem_per_multiprocessor": 233472,
}  # fmt: skip


def counted(file: str = "toy.cu") -> Kernel:
    few, many = {"inst_executed": 100, "global_load_sectors": 0}, {"inst_executed": 300, "global_load_sectors": 8}
    lines = [Line(file, 1, few), Line(file, 2, many)]
    totals = {name: few[name] + many[name] for name in few}
    return Kernel(
        "k", "_Z1kPf", launches=1, total_ns=2000, grid=(1, 1, 1), block=(32, 1, 1), counters=totals, lines=lines
    )


def drawn(name: str) -> Kernel:
    """A kernel that every picture has something to show of."""
    kernel = counted(name)
    kernel.name = name
    kernel.block, kernel.registers_per_thread, kernel.static_shared_bytes = (256, 1, 1), 64, 8192
    kernel.occupancy, kernel.limiter = 0.5, "registers"
    kernel.costs = {"bank_conflicts": 760, "low_occupancy": 80, "divergence": 1, "all": 820}
    kernel.counters |= {
        "thread_inst_executed": 12800, "global_load_requests": 2, "dram_read_sectors": 8, "l2_read_sectors": 8,
        "shared_load_requests": 10, "shared_load_wavefronts": 40, "shared_load_bank_conflicts": 30,
    }  # fmt: skip
    return kernel
