"""The budget of a submission for all stages, from intake to the last test, and what it has used.

The limits are in lab.toml, `[limits]`. A submission over a limit fails, and its message names the limit and the excess.
Sizes count its files, what they compile to, and output.
"""

import math
import threading
from dataclasses import dataclass, field

from warpgrade.lab.labs import Limits
from warpgrade.machine.confined import Allowance
from warpgrade.machine.sandbox import Done


def allowance_of(limits: Limits) -> Allowance:
    """Return what reading and analysing a submission may take."""
    return Allowance(limits.analysis_seconds, where=_where("analysis_seconds"))


def _where(key: str) -> str:
    return f"limits.{key} in lab.toml"


@dataclass
class Budget:
    """Of one submission. Times are in processor seconds; `analysis` has those of reading it, intake included."""

    limits: Limits
    analysis: Allowance
    intake_seconds: float = 0.0
    build_seconds: float = 0.0
    test_seconds: float = 0.0
    made_bytes: int = 0
    output_bytes: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False, compare=False)

    @property
    def seconds(self) -> float:
        """Of all stages."""
        return self.analysis.used + self.build_seconds + self.test_seconds

    @property
    def seconds_left(self) -> float:
        """For what is still to do."""
        return self.limits.processor_seconds - self.seconds

    def add_tool(self, done: Done) -> None:
        """Note what a compiler or linker has used and said."""
        with self._lock:
            self.build_seconds += done.cpu_seconds
            self.output_bytes += len(done.words)

    def add_made(self, size: int) -> None:
        """Note a file that was made of it."""
        with self._lock:
            self.made_bytes += size

    @property
    def exceeded(self) -> str:
        """What is over its limit, in a sentence; nothing if all is well."""
        limits = self.limits
        if self.seconds > limits.processor_seconds:
            return (
                f"the submission has used {math.ceil(self.seconds)} s of processor time, but all its stages together "
                f"have {limits.processor_seconds:g} s ({_where('processor_seconds')})"
            )
        for size, most, what, key in (
            (self.made_bytes, limits.made_mib, "the submission's files and what they compile to take", "made_mib"),
            (self.output_bytes, limits.output_mib, "what is printed, warned of and recorded of the submission takes",
             "output_mib"),
        ):  # fmt: skip
            if size > most << 20:
                return f"{what} {math.ceil(size / (1 << 20)):,} MiB, but may take {most:,} MiB ({_where(key)})"
        return ""
