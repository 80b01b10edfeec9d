"""The accesses of memory that a device recorded of a few warps (grader/device/access_trace.hpp), for pictures of them.

They are kept in memory alone: a result and its grade are the same with them and without them.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal

import msgspec

from warpgrade.findings import diagnosis
from warpgrade.findings.diagnosis import Memory, Place, Shape
from warpgrade.findings.sources import Frame, Sources
from warpgrade.machine.text import one_line

WARP = 32
_MAX_KERNELS = 12
_MAX_OFFSET = 1 << 50
_NAME_WIDTH = 400

Count = Annotated[int, msgspec.Meta(ge=0, lt=1 << 53)]


class Array(msgspec.Struct, frozen=True):
    """An allocation, or a variable of shared memory; `begin`: in its block's shared memory, or in a line."""

    memory: Memory
    begin: Count


class Access(msgspec.Struct, frozen=True):
    """One access of a warp. bytes: of one lane. units: sectors, or wavefronts of shared memory.

    offsets: of the active lanes, in bytes from the array's beginning; first one, step and count of lanes in a row.
    """

    kind: Literal["load", "store", "atomic"]
    space: Literal["global", "shared"]
    bytes: Annotated[int, msgspec.Meta(ge=1, le=WARP)]
    mask: Annotated[int, msgspec.Meta(ge=1, lt=1 << WARP)]
    line: Count
    array: Count
    block: Count
    warp: Count
    units: Count
    conflicts: Count
    offsets: list[tuple[int, int, Annotated[int, msgspec.Meta(ge=1, le=WARP)]]]

    def lanes(self) -> Iterator[tuple[int, int]]:
        """Yield each active lane with its offset."""
        active = (lane for lane in range(WARP) if self.mask >> lane & 1)
        places = (first + step * at for first, step, count in self.offsets for at in range(count))
        return zip(active, places, strict=True)


class Trace(msgspec.Struct, frozen=True):
    """What was recorded of a launch; `line` and `array` of an access are places in these lists."""

    lines: list[Place]
    arrays: list[Array]
    accesses: list[Access]


class TracedLaunch(msgspec.Struct, frozen=True):
    """One launch of a kernel."""

    kernel: str
    name: str
    grid: Shape
    block: Shape
    trace: Trace

    @property
    def lanes(self) -> int:
        """How many lanes took part in all accesses together."""
        return sum(one.mask.bit_count() for one in self.trace.accesses)

    @property
    def is_sound(self) -> bool:
        """Whether all in it fits together: the device server reads what students' programs contain."""
        trace = self.trace
        try:
            places = [[place for _, place in one.lanes()] for one in trace.accesses]
        except ValueError:
            return False
        in_lists = all(one.line < len(trace.lines) and one.array < len(trace.arrays) for one in trace.accesses)
        return in_lists and all(0 <= place < _MAX_OFFSET for lanes in places for place in lanes)


class Traces:
    """Keeps one launch of each kernel: the one in which most lanes took part, of these the first."""

    def __init__(self) -> None:
        self.kept: list[TracedLaunch] = []

    def add(self, described: Mapping[str, Any]) -> None:
        """Look at a launch as the device server describes it; most are not traced."""
        if described.get("trace") is None:
            return
        try:
            launch = msgspec.convert(described, TracedLaunch)
        except msgspec.ValidationError:
            return
        if not launch.lanes or not launch.is_sound:
            return
        at = next((place for place, one in enumerate(self.kept) if one.kernel == launch.kernel), len(self.kept))
        if at < len(self.kept):
            if launch.lanes > self.kept[at].lanes:
                self.kept[at] = launch
        elif at < _MAX_KERNELS:
            self.kept.append(launch)


def codes(launches: Sequence[TracedLaunch]) -> list[int]:
    """Return the places in the program where the arrays were allocated."""
    places = [array.memory.allocated for launch in launches for array in launch.trace.arrays]
    return sorted({place.code for place in places if place.code and not place.file})


def locate(
    launches: Sequence[TracedLaunch], sources: Sources, frames: Mapping[int, Sequence[Frame]]
) -> list[TracedLaunch]:
    """Name the user's own lines and arrays."""

    def located(trace: Trace) -> Trace:
        arrays = [
            Array(memory=diagnosis.locate_memory(array.memory, sources, frames), begin=array.begin)
            for array in trace.arrays
        ]
        lines = [diagnosis.locate_place(place, sources, frames) for place in trace.lines]
        return Trace(lines=lines, arrays=arrays, accesses=trace.accesses)

    return [
        msgspec.structs.replace(
            launch, kernel=one_line(launch.kernel, _NAME_WIDTH), name=one_line(launch.name, _NAME_WIDTH),
            trace=located(launch.trace),
        )
        for launch in launches
    ]  # fmt: skip
