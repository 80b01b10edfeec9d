"""The rates of a device that its properties give, for pictures that hold counters against them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_MOST = 1e12
_SECTOR_BYTES = 32
WARP = 32


@dataclass(frozen=True)
class Rates:
    """What the device does at most; of the whole device, in a nanosecond."""

    multiprocessors: float
    cycles: float
    warp_instructions: float
    l2_bytes: float
    dram_bytes: float


def read(properties: Mapping[str, Any]) -> Rates | None:
    """Return the rates; None where the device does not tell them, as a real GPU."""

    def rate(name: str) -> float:
        value = properties.get(name)
        return float(value) if isinstance(value, int | float) and 0 < value < _MOST else 0

    count, clock = rate("multi_processor_count"), rate("clock_ghz")
    # A multiprocessor has four schedulers, of compute capability 6.0 two; each issues an instruction in a cycle.
    schedulers = 2 if (properties.get("major"), properties.get("minor")) == (6, 0) else 4
    rates = Rates(count, clock, count * schedulers * clock, rate("l2_bytes_per_ns"), rate("dram_bytes_per_ns"))
    return rates if count and clock and rates.l2_bytes and rates.dram_bytes else None


def dram_bytes(counters: Mapping[str, int]) -> int:
    """Return the bytes that came from the device's memory or went there."""
    return _SECTOR_BYTES * (counters.get("dram_read_sectors", 0) + counters.get("dram_write_sectors", 0))


def l2_bytes(counters: Mapping[str, int]) -> int:
    """Return the bytes that multiprocessors asked of L2 or wrote to it."""
    return _SECTOR_BYTES * (counters.get("l2_read_sectors", 0) + counters.get("l2_write_sectors", 0))
