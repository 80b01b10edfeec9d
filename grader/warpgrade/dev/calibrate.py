"""`calibrate`: what a lab's solutions reach on a real GPU, and the levels of its speed tests that follow.

Each solution is graded several times, its speed tests alone. The level for all points lies between the slowest right
solution and the fastest wrong one below it, the level for half of them halfway to the starter.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from warpgrade.compiling import judges, toolchain
from warpgrade.dev.prove import graded_files
from warpgrade.grading import grade, score, timing
from warpgrade.lab import right, variant, wrong
from warpgrade.lab.labs import Lab, SpeedItem
from warpgrade.lab.speed_curve import Curve
from warpgrade.machine.errors import GraderError
from warpgrade.machine.paths import Layout

Say = Callable[[str], None]

_CLOSEST = 0.8  # of what the slowest right solution reaches: a level needs no more room for noise
_NO_GAIN = 1.05  # a speed-up below it earns nothing


@dataclass
class Reached:
    """What a solution reached in a speed test, run by run: speed-ups, their upper bounds, and points."""

    solution: str
    test: str
    is_right: bool
    speedups: list[float] = field(default_factory=list)
    at_most: list[float] = field(default_factory=list)
    points: list[float] = field(default_factory=list)

    @property
    def spread(self) -> float:
        """By how much the fastest run is above the slowest, relative to it."""
        return max(self.speedups) / min(self.speedups) - 1


@dataclass(frozen=True)
class Levels:
    """The levels of a speed test, and how often right solutions would miss the last one."""

    curve: Curve | None  # None: this device shows no gain
    false_fails: float  # share of right solutions' runs that miss the last level
    # Wrong solutions that are not slower than all right ones: they lose for other reasons.
    as_fast: tuple[str, ...] = ()
