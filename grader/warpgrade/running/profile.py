"""What a program did on the device, summed up by kernel: the data behind `warpgrade run`."""

import math
from functools import lru_cache
from typing import Any

import msgspec

from warpgrade.findings import diagnosis
from warpgrade.findings.diagnosis import Diagnostic
from warpgrade.machine.fidelity import Fidelity
from warpgrade.machine.text import one_line
from warpgrade.running.time_budget import Stopped

Counters = dict[str, int]
Shape = tuple[int, int, int]

_MAX_CALL_ERRORS = 20
_NOT_SUPPORTED = 801  # cudaErrorNotSupported
_MAX_EVENTS = 100_000
_MAX_LAUNCHES = 1000  # whose counters are kept one by one
_MAX_TEXT_LENGTH = 4000
SAMPLED = " [sampled]"  # after the name of what did not run all of its blocks


class Line(msgspec.Struct):
    """One source line of a kernel."""

    file: str
    line: int
    counters: Counters


class Sample(msgspec.Struct):
    """Launches that ran only some of their blocks; what was counted and modelled of them is scaled."""

    launches: int = 0
    blocks_run: int = 0
    blocks: int = 0  # in the grids of these launches


class AnyData(msgspec.Struct):
    """What it is worth that the checks found no error in a kernel's launches.

    They would find none with any contents of its arrays, or that is not known, `because` of an "address" or a "branch"
    that data decide, of the "order" in which threads see what others write, of a "value" that several threads store,
    or of "calls" that are not analysed.
    """

    holds: bool
    because: str = ""
    file: str = ""  # of the first line for which that is so
    line: int = 0


class Kernel(msgspec.Struct):
    """All launches of one kernel; times in nanoseconds of the device's clock. A real GPU tells no counters."""

    name: str
    symbol: str
    launches: int = 0
    total_ns: float = 0
    shortest_ns: float = 0
    longest_ns: float = 0
    grid: Shape | None = None  # of all launches; nothing when they differ
    block: Shape | None = None
    registers_per_thread: int = 0
    static_shared_bytes: int = 0
    dynamic_shared_bytes: int = 0  # the most of any launch
    occupancy: float = 0  # theoretical, weighted by time; resident warps / those that fit
    achieved_occupancy: float = 0
    limiter: str = ""
    counters: Counters = {}
    lines: list[Line] = []
    costs: dict[str, float] = {}  # ns that each cause costs: the time less the modelled time without it
    error: str = ""
    any_data: AnyData | None = None  # nothing: not every launch was checked and without errors
    sample: Sample | None = None  # nothing: all blocks of all launches ran


class Transfers(msgspec.Struct):
    """Copies or fills of one kind."""

    count: int = 0
    bytes: int = 0
    total_ns: float = 0


class Migrations(msgspec.Struct):
    """Managed memory that moved one way; of 64 KiB pages the last of an allocation may be smaller."""

    pages: int = 0
    bytes: int = 0


class Launch(msgspec.Struct):
    """One launch of a kernel: its shape, how many blocks a multiprocessor holds at once, and what was counted."""

    grid: Shape
    block: Shape
    resident_blocks: int = 0  # 0: not known
    counters: Counters = {}  # all of them, in their order
    sampled_blocks: int = 0  # that ran, if not all did


class Event(msgspec.Struct, omit_defaults=True):
    """One piece of work on the modelled clock."""

    name: str
    kind: str  # "kernel", "to_device", "to_host", "within_device" or "fill"
    stream: int
    start_ns: float
    duration_ns: float
    launch: Launch | None = None  # of the first kernels


class Profile(msgspec.Struct):
    """The whole run; schema warpgrade/profile/1."""

    schema: str = "warpgrade/profile/1"
    device: dict[str, Any] = {}
    exit_status: int = 0
    sampled: bool = False  # some launch ran only some of its blocks: results are incomplete, numbers scaled
    stopped: Stopped | None = None  # when its time was over
    clock_ns: float = 0  # from the first call to the end of all work
    kernels: list[Kernel] = []  # longest total time first
    transfers: dict[str, Transfers] = {}
    migrations: dict[str, Migrations] = {}
    migrations_complete: bool = True
    call_errors: list[str] = []
    diagnostics: list[Diagnostic] = []  # what the checks found, worst first
    timeline: list[Event] = []
    timeline_complete: bool = True
    fidelity: Fidelity | None = None


class Collector:
    """Sums up the device server's reports as they come."""

    def __init__(self) -> None:
        self._kernels: dict[str, Kernel] = {}
        self._lines: dict[str, dict[tuple[str, int], Counters]] = {}
        self._transfers: dict[str, Transfers] = {}
        self._migrations: dict[str, Migrations] = {}
        self._migrations_complete = True
        self._events: list[Event] = []
        self._launches = 0
        self._complete = True
        self._call_errors: list[str] = []
        self.unsupported: list[str] = []  # calls that failed because the device lacks something
        self._diagnostics: list[Diagnostic] = []
        self._clock_ns = 0.0

    def add(self, report: dict[str, Any]) -> None:
        """Add one report of the device server."""
        for launch in report["launches"]:
            self._add_launch(launch)
        for transfer in report.get("transfers", []):
            sums = self._transfers.setdefault(transfer["kind"], Transfers())
            sums.count += 1
            sums.bytes += transfer["bytes"]
            sums.total_ns += transfer["duration_ns"]
            self._event(Event(
                name=transfer["kind"], kind=transfer["kind"], stream=transfer["stream"],
                start_ns=transfer["start_ns"], duration_ns=transfer["duration_ns"],
            ))  # fmt: skip
        for way, moved in report.get("migrations", {}).items():
            whole = self._migrations.setdefault(way, Migrations())
            whole.pages += moved["pages"]
            whole.bytes += moved["bytes"]
        self._migrations_complete &= "migrations" not in report.get("truncated", [])
        for error in report["call_errors"]:
            if len(self._call_errors) < _MAX_CALL_ERRORS:
                self._call_errors.append(_text(f"{error['operation']}: {error['message']}"))
                if error.get("code") == _NOT_SUPPORTED:
                    self.unsupported.append(self._call_errors[-1])
        self._diagnostics = diagnosis.merge([*self._diagnostics, *diagnosis.read(report["diagnostics"])])
        self._clock_ns += report["clock_ns"]

    def finish(self, device: dict[str, Any], exit_status: int) -> Profile:
        """Return the sums."""
        for symbol, kernel in self._kernels.items():
            if kernel.total_ns > 0:
                kernel.occupancy /= kernel.total_ns
                kernel.achieved_occupancy /= kernel.total_ns
            places = self._lines.get(symbol, {})
            kernel.lines = [
                Line(file=file, line=line, counters=counters) for (file, line), counters in sorted(places.items())
            ]
        return Profile(
            device=device,
            exit_status=exit_status,
            sampled=any(kernel.sample for kernel in self._kernels.values()),
            clock_ns=self._clock_ns,
            kernels=sorted(self._kernels.values(), key=lambda kernel: (-kernel.total_ns, kernel.symbol)),
            transfers=self._transfers,
            migrations=self._migrations,
            migrations_complete=self._migrations_complete,
            call_errors=self._call_errors,
            diagnostics=self._diagnostics,
            timeline=sorted(self._events, key=lambda event: event.start_ns),
            timeline_complete=self._complete,
        )

    def _add_launch(self, launch: dict[str, Any]) -> None:
        symbol, name = _text(launch["kernel"]), _text(launch["name"])
        grid, block = _shape(launch["grid"]), _shape(launch["block"])
        duration = launch["duration_ns"] or 0  # nothing: the kernel failed
        kernel = self._kernels.get(symbol)
        if kernel is None:
            kernel = self._kernels[symbol] = Kernel(
                name=name, symbol=symbol, grid=grid, block=block, shortest_ns=duration,
                counters=dict.fromkeys(launch["counters"] or {}, 0),
            )  # fmt: skip
        found = _any_data(launch.get("any_data"))
        if kernel.launches == 0 or found is None:
            kernel.any_data = found
        kernel.launches += 1
        kernel.total_ns += duration
        kernel.shortest_ns = min(kernel.shortest_ns, duration)
        kernel.longest_ns = max(kernel.longest_ns, duration)
        kernel.grid = grid if kernel.grid == grid else None
        kernel.block = block if kernel.block == block else None
        kernel.registers_per_thread = launch["registers_per_thread"]
        kernel.static_shared_bytes = launch["static_shared_bytes"]
        kernel.dynamic_shared_bytes = max(kernel.dynamic_shared_bytes, launch["dynamic_shared_bytes"])
        occupancy = launch["occupancy"]
        kernel.occupancy += occupancy["theoretical"] * duration
        kernel.achieved_occupancy += occupancy.get("achieved", 0.0) * duration
        kernel.limiter = occupancy["limiter"]
        _sum_into(kernel.counters, launch["counters"] or {})
        for name, share in launch.get("costs", {}).items():
            cause = _text(name)
            kernel.costs[cause] = kernel.costs.get(cause, 0.0) + share * duration
        if launch["error"] is not None and not kernel.error:
            kernel.error = _text(launch["error"]["message"])
        places = self._lines.setdefault(symbol, {})
        for line in launch["lines"]:
            _sum_into(places.setdefault((_text(line["file"]), line["line"]), {}), line["counters"])
        self._launches += 1
        one = Launch(grid, block, occupancy.get("blocks_per_multiprocessor", 0), dict(launch["counters"] or {}))
        if ran := launch.get("sampled_blocks", 0):
            one.sampled_blocks = ran
            kernel.sample = kernel.sample or Sample()
            kernel.sample.launches += 1
            kernel.sample.blocks_run += ran
            kernel.sample.blocks += math.prod(grid)
            name += SAMPLED
        self._event(Event(
            name=name, kind="kernel", stream=launch["stream"], start_ns=launch["start_ns"] or 0, duration_ns=duration,
            launch=one if self._launches <= _MAX_LAUNCHES else None,
        ))  # fmt: skip

    def _event(self, event: Event) -> None:
        if len(self._events) < _MAX_EVENTS:
            self._events.append(event)
        else:
            self._complete = False


def _any_data(raw: dict[str, Any] | None) -> AnyData | None:
    if raw is None:
        return None
    if raw["holds"]:
        return AnyData(holds=True)
    place = raw["place"]
    return AnyData(holds=False, because=_text(raw["because"]), file=_text(place["file"]), line=place["line"])


@lru_cache(maxsize=4096)  # the same few names come again and again
def _text(foreign: str) -> str:
    return one_line(foreign, _MAX_TEXT_LENGTH)


def _shape(values: list[int]) -> Shape:
    x, y, z = values
    return (x, y, z)


def _sum_into(sums: Counters, more: Counters) -> None:
    for name, count in more.items():
        sums[name] = sums.get(name, 0) + count
