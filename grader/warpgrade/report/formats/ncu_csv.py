"""The counters of each launch as a table with the columns and metric names of Nsight Compute's `ncu --csv`."""

from collections.abc import Iterator

from warpgrade.machine.text import csv_cell
from warpgrade.report.counters import metrics
from warpgrade.report.format import Report, file_format
from warpgrade.report.stream import say
from warpgrade.running.profile import Event, Launch, Profile

# Of `ncu --csv --metrics …`.
COLUMNS = (
    "ID", "Process ID", "Process Name", "Host Name", "Kernel Name", "Context", "Stream", "Block Size", "Grid Size",
    "Device", "CC", "Section Name", "Metric Name", "Metric Unit", "Metric Value",
)  # fmt: skip
_SECTION = "Command line profiler metrics"
_WIDTH = 1000


def encode(profile: Profile) -> bytes:
    """Return a row for each metric of each launch; what is not known of a process stays empty."""
    major, minor = (profile.device.get(part) for part in ("major", "minor"))
    capability = f"{major}.{minor}" if isinstance(major, int) and isinstance(minor, int) else ""
    rows = [",".join(f'"{column}"' for column in COLUMNS)]
    for number, (event, launch) in enumerate(_launches(profile)):
        shape = [csv_cell(f"({', '.join(map(str, each))})", _WIDTH) for each in (launch.block, launch.grid)]
        head = [f'"{number}"', "", "", "", csv_cell(event.name, _WIDTH), '"1"', f'"{event.stream}"', *shape, '"0"']
        head += [csv_cell(capability, 10), f'"{_SECTION}"']
        rows += [",".join([*head, *(f'"{cell}"' for cell in cells)]) for cells in _values(event, launch)]
    return ("\n".join(rows) + "\n").encode()


def _launches(profile: Profile) -> Iterator[tuple[Event, Launch]]:
    return ((event, event.launch) for event in profile.timeline if event.launch is not None)


def _values(event: Event, launch: Launch) -> Iterator[tuple[str, str, str]]:
    """Yield the name of each metric, its unit and its value."""
    yield "gpu__time_duration.sum", "ns", f"{event.duration_ns:.2f}"
    for counter, metric in metrics().items():
        if (count := launch.counters.get(counter)) is not None:
            yield metric, "", str(count)


def _encode(report: Report) -> bytes:
    if report.profile is None:
        return b""
    known, every = sum(1 for _ in _launches(report.profile)), sum(each.launches for each in report.profile.kernels)
    if known < every:
        say(f"warpgrade: --csv: the first {known:,} of {every:,} launches", err=True)
    return encode(report.profile)


FORMAT = file_format("profile", "--csv", "Write the counters of each launch as `ncu --csv` does; - is stdout.", _encode)
