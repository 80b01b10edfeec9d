"""Which of the device servers of an installed package this processor runs: the fastest, all with the same results."""

import functools
import os
from pathlib import Path

from warpgrade.machine.errors import GraderError

# The levels of the x86-64 ABI, the best first, each with flags of /proc/cpuinfo that stand for it.
LEVELS = {
    "x86-64-v4": {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl", "avx2", "fma", "bmi2"},
    "x86-64-v3": {"avx2", "fma", "bmi2", "f16c", "movbe"},
    "x86-64-v2": {"sse4_2", "ssse3", "popcnt", "cx16"},
}
_CHOICE = "WARPGRADE_CPU"


def supported_levels() -> list[str]:
    """Return the levels that this processor has, the best first, up to that of WARPGRADE_CPU; raises GraderError."""
    possible = [name for name, flags in LEVELS.items() if flags <= _flags()]
    if not possible:
        raise GraderError("this processor is older than x86-64-v2 (SSE4.2), which the virtual GPU needs")
    wanted = os.environ.get(_CHOICE) or possible[0]
    if wanted not in possible:
        raise GraderError(f"{_CHOICE} names {wanted}; this processor has {', '.join(possible)}")
    return possible[possible.index(wanted) :]


@functools.cache
def _flags() -> frozenset[str]:
    return frozenset(_first_processor("flags").split())


@functools.cache
def _first_processor(name: str) -> str:
    """Return what /proc/cpuinfo says of the first processor."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    return next((line.partition(":")[2].strip() for line in text.splitlines() if line.startswith(name)), "")
