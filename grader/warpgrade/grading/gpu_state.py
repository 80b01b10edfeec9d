"""What a GPU was like while it timed: its clock, its temperature, what slowed it down, and who else used it.

nvidia-smi tells all of that, and comes with each driver. Where it says nothing, nothing is known, and times count.
"""

import contextlib
import shutil
import subprocess
import tempfile
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Final, Self

import msgspec

from warpgrade.grading.judge import Case
from warpgrade.lab.labs import SpeedItem
from warpgrade.machine.device import Device
from warpgrade.machine.text import clean, counted, one_line

_EACH_MILLISECONDS: Final = 500
_PATIENCE: Final = 20  # seconds for an answer
_SLOWED: Final = {
    "clocks_throttle_reasons.hw_thermal_slowdown": "by heat",
    "clocks_throttle_reasons.sw_thermal_slowdown": "by heat",
    "clocks_throttle_reasons.hw_power_brake_slowdown": "by its power supply",
}
_FIELDS: Final = ("clocks.sm", "clocks.max.sm", "temperature.gpu", *_SLOWED)
_OURS: Final = "warpgrade-"  # device servers, also of other grades, which wait for the lock


@dataclass(frozen=True)
class GpuState:
    """What was seen of a GPU; zeros and nothing where it was not. others: names of programs."""

    highest_mhz: int = 0
    limit_mhz: int = 0
    hottest: int = 0  # degrees Celsius
    slowed: tuple[str, ...] = ()
    others: tuple[str, ...] = ()

    @property
    def disturbed(self) -> str:
        """Why times do not count; empty if they do."""
        if self.slowed:
            return f"the GPU was slowed down {' and '.join(self.slowed)} while it took the times"
        if self.others:
            names = one_line(", ".join(self.others), 100)
            return f"{counted(len(self.others), 'other program')} used the GPU that took the times ({names})"
        return ""

    @property
    def line(self) -> str:
        """All of it, for the result."""
        if not self.limit_mhz:
            return ""
        return (
            f"the GPU that took the times: up to {self.highest_mhz} of {self.limit_mhz} MHz, {self.hottest} °C; "
            f"{self.disturbed or 'not slowed down, and used by nobody else'}"
        )


def read_rows(rows: Iterable[str], others: Iterable[str]) -> GpuState:
    """Return what rows of numbers as nvidia-smi prints them say; one that is none says nothing."""
    numbers: list[list[int]] = []
    slowed: dict[str, None] = {}
    for row in rows:
        words = [word.strip() for word in row.split(",")]
        if len(words) != len(_FIELDS):
            continue
        numbers.append([int(word) if word.isdecimal() else 0 for word in words[:3]])
        slowed.update((name, None) for name, word in zip(_SLOWED.values(), words[3:], strict=True) if word == "Active")
    highest, limit, hottest = (max(column) for column in zip(*numbers, strict=True)) if numbers else (0, 0, 0)
    return GpuState(highest, limit, hottest, tuple(slowed), tuple(sorted(set(others))))


class Watch:
    """Looks at the GPU while it times; `state` is known at the end."""

    def __init__(self, timed_on: Device | None) -> None:
        self.state = GpuState()
        self._timed_on = timed_on
        self._looking = contextlib.ExitStack()

    def __enter__(self) -> Self:
        program = shutil.which("nvidia-smi")
        if self._timed_on is not None and self._timed_on.kind == "gpu" and program is not None:
            number = self._timed_on.spec.partition(":")[2] or "0"
            self._looking.enter_context(self._look([program, "-i", number, "--format=csv,noheader,nounits"]))
        return self

    def __exit__(self, *_: object) -> None:
        self._looking.close()

    @contextlib.contextmanager
    def _look(self, ask: list[str]) -> Iterator[None]:
        others = _others(ask)
        query = [*ask, f"--query-gpu={','.join(_FIELDS)}", f"--loop-ms={_EACH_MILLISECONDS}"]
        with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as rows:
            looking = subprocess.Popen(query, stdin=subprocess.DEVNULL, stdout=rows, stderr=subprocess.DEVNULL)
            try:
                yield
            finally:
                looking.terminate()
                looking.wait()
                rows.seek(0)
                self.state = read_rows(map(clean, rows), [*others, *_others(ask)])


def _others(ask: list[str]) -> list[str]:
    try:
        done = subprocess.run(
            [*ask, "--query-compute-apps=process_name"], capture_output=True, timeout=_PATIENCE, check=False,
            stdin=subprocess.DEVNULL,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return []
    if done.returncode != 0:
        return []
    names = [PurePosixPath(line.strip()).name for line in clean(done.stdout).splitlines() if line.strip()]
    # In brackets: why there is no name. It may be one of ours.
    return [name for name in names if not name.startswith((_OURS, "["))]


def refuse_disturbed(cases: Mapping[str, Case], speed: Collection[SpeedItem], state: GpuState) -> dict[str, Case]:
    """Make errors of the tests whose times were taken on a disturbed GPU: such times are never scored."""
    if not state.disturbed:
        return dict(cases)
    timed = {item.name for item in speed}
    message = f"{state.disturbed}, so they do not count. Grade again when it is free and cool"
    return {
        name: msgspec.structs.replace(case, status="error", message=message)
        if name in timed and case.status != "fail"
        else case
        for name, case in cases.items()
    }
