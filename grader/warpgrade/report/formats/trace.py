"""The timeline of a program in the Trace Event Format, which Chrome and Perfetto show."""

from __future__ import annotations

from typing import Any

import msgspec

from warpgrade.machine.text import clean
from warpgrade.report.format import file_format
from warpgrade.running.profile import Profile


def encode(profile: Profile) -> bytes:
    """Return the events; one row a stream, with its name; times in µs."""
    streams = sorted({event.stream for event in profile.timeline})
    device = clean(str(profile.device.get("name", "")) or "device")
    events: list[dict[str, Any]] = [
        {"name": "process_name", "ph": "M", "pid": 0, "args": {"name": device}},
        *(
            {"name": name, "ph": "M", "pid": 0, "tid": stream, "args": value}
            for stream in streams
            for name, value in (
                ("thread_name", {"name": f"stream {stream}" if stream else "default stream"}),
                ("thread_sort_index", {"sort_index": stream}),
            )
        ),
    ]
    events += [
        {
            "name": clean(event.name), "cat": event.kind, "ph": "X", "pid": 0, "tid": event.stream,
            "ts": event.start_ns / 1e3, "dur": event.duration_ns / 1e3,
        }
        for event in profile.timeline
    ]  # fmt: skip
    return msgspec.json.encode({"traceEvents": events, "displayTimeUnit": "ns"}) + b"\n"


FORMAT = file_format(
    "profile",
    "--trace",
    "Write the timeline for a trace viewer (Chrome, Perfetto).",
    lambda report: encode(report.profile) if report.profile else b"",
)
