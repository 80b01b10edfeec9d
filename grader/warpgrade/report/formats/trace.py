"""The timeline of a program in the Trace Event Format, which Chrome and Perfetto show.

The device is a process with its streams as threads, and so is each multiprocessor. The model knows when a kernel runs,
and that blocks that take equally long go round the multiprocessors; it does not know when one block or warp begins or
ends, so none of them is drawn: a multiprocessor shows the kernel, with how many blocks and warps it gets.
"""

import math
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from warpgrade.machine.text import clean
from warpgrade.report.format import file_format
from warpgrade.running.profile import Event, Launch, Profile

_WARP = 32
_MAX_SLICES = 50_000  # of kernels on multiprocessors


def encode(profile: Profile) -> bytes:
    """Return the events; one row a stream, with its name; times in µs."""
    device = clean(str(profile.device.get("name", "")) or "device")
    streams = {event.stream for event in profile.timeline}
    events = [*_process(0, device, streams), *(_slice(0, event, {}) for event in profile.timeline)]
    count = profile.device.get("multi_processor_count")
    if isinstance(count, int) and count > 0:
        kernels = [(event, launch) for event in profile.timeline if (launch := event.launch) and launch.resident_blocks]
        drawn = kernels[: _MAX_SLICES // count]
        for number in range(count):
            slices = [
                _slice(1 + number, event, shares)
                for event, launch in drawn
                if (shares := _share(launch, number, count))
            ]
            events += _process(1 + number, f"multiprocessor {number}", {each["tid"] for each in slices})
            events += slices
    return msgspec.json.encode({"traceEvents": events, "displayTimeUnit": "ns"}) + b"\n"


def _process(pid: int, title: str, streams: Iterable[int]) -> Iterator[dict[str, Any]]:
    yield {"name": "process_name", "ph": "M", "pid": pid, "args": {"name": title}}
    yield {"name": "process_sort_index", "ph": "M", "pid": pid, "args": {"sort_index": pid}}
    for stream in sorted(streams):
        name = f"stream {stream}" if stream else "default stream"
        yield {"name": "thread_name", "ph": "M", "pid": pid, "tid": stream, "args": {"name": name}}
        yield {"name": "thread_sort_index", "ph": "M", "pid": pid, "tid": stream, "args": {"sort_index": stream}}


def _slice(pid: int, event: Event, facts: dict[str, int]) -> dict[str, Any]:
    made = {
        "name": clean(event.name), "cat": event.kind, "ph": "X", "pid": pid, "tid": event.stream,
        "ts": event.start_ns / 1e3, "dur": event.duration_ns / 1e3,
    }  # fmt: skip
    return {**made, "args": facts} if facts else made


def _share(launch: Launch, number: int, count: int) -> dict[str, int]:
    """Return what a multiprocessor gets of a launch if all blocks take equally long; {} if it gets no block."""
    blocks = math.prod(launch.grid)
    mine = blocks // count + (number < blocks % count)
    if not mine:
        return {}
    resident = min(mine, launch.resident_blocks)
    warps = -(-math.prod(launch.block) // _WARP)
    return {
        "blocks": mine, "blocks at a time": resident, "warps at a time": resident * warps, "waves": -(-mine // resident)
    }  # fmt: skip


FORMAT = file_format(
    "profile",
    "--trace",
    "Write the timeline for a trace viewer (Chrome, Perfetto).",
    lambda report: encode(report.profile) if report.profile else b"",
)
