"""The source with heat: each line's share of a counter that the reader chooses, and the findings at their lines."""

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from warpgrade.compiling.ptx_lines import PtxLines
from warpgrade.machine.text import number
from warpgrade.report import profile
from warpgrade.report.findings import Finding
from warpgrade.report.html import time_parts
from warpgrade.report.html.device_rates import Rates
from warpgrade.report.html.elements import Markup, render
from warpgrade.report.html.parts import anchor, show_finding
from warpgrade.running.profile import Kernel

_MAX_FILES = 8
_STEPS = 20
_DARKEST = 60  # per cent of the colour, so that the text stays readable
_MIN_SHARE = 0.001  # of a counter's sum; what is less is not shown at its line

# What the source may be coloured by: the title, and the counters that it adds up.
HEAT: Final[Mapping[str, tuple[str, tuple[str, ...]]]] = {
    "time": ("time", ()),  # ns, of time_parts
    "instructions": ("instructions", ("inst_executed",)),
    "sectors": ("sectors", ("global_load_sectors", "global_store_sectors", "atomic_sectors")),
    "conflicts": ("bank conflicts", ("shared_load_bank_conflicts", "shared_store_bank_conflicts")),
    "divergence": ("divergent branches", ("divergent_branches",)),
}


@dataclass(frozen=True)
class Source:
    """A file: its name, its lines, and {line: {name in HEAT: sum of its counters}}."""

    name: str
    lines: list[str]
    counted: dict[int, dict[str, float]]


def read_submission(
    folder: Path | None, names: Iterable[str], kernels: Sequence[Kernel], rates: Rates | None = None
) -> Iterator[Source]:
    """Yield the files that were graded, where they are still in the folder."""
    if folder is None:
        return
    for name in names:
        if lines := profile.source_lines(folder / name):
            yield Source(name, lines, _add_up_lines(kernels, name, rates))


def read_program(kernels: Sequence[Kernel], rates: Rates | None = None) -> Iterator[Source]:
    """Yield the files that the kernels' lines come from."""
    for file in sorted({line.file for kernel in kernels for line in kernel.lines}):
        lines = profile.source_lines(Path(file))
        yield Source(profile.from_here(file), lines, _add_up_lines(kernels, file, rates))


def section(sources: Sequence[Source], findings: Sequence[Finding], ptx: PtxLines | None = None) -> Markup:
    """Return the files in which something was counted or found, with the PTX of their lines where that is known."""
    files = []
    names = {source.name for source in sources[:_MAX_FILES]}
    for place, source in enumerate(sources[:_MAX_FILES]):
        found: dict[int, list[Finding]] = {}
        for one in findings:
            if one.diagnostic.place.file == source.name and one.diagnostic.severity != "advice":
                found.setdefault(one.diagnostic.place.line, []).append(one)
        if not source.counted and not found:
            continue
        sums = {heat: sum(row[heat] for row in source.counted.values()) for heat in HEAT}
        choices = {heat: HEAT[heat][0] for heat in HEAT if sums[heat]}
        instructions = (ptx or {}).get(source.name, {})
        rows = [
            {**_line(source, at, sums, found.get(at, []), names), "ptx": "\n".join(instructions.get(at, []))}
            for at in range(1, len(source.lines) + 1)
        ]
        files.append({"name": source.name, "group": f"heat{place}", "choices": choices, "rows": rows,
                      "ptx": f"ptx{place}" if instructions else ""})  # fmt: skip
    return render("source.html", files=files)


def _add_up_lines(kernels: Sequence[Kernel], file: str, rates: Rates | None) -> dict[int, dict[str, float]]:
    """Return {line: {name in HEAT: sum of its counters}}."""
    sums: dict[int, dict[str, float]] = {}
    for line in (line for kernel in kernels for line in kernel.lines if line.file == file):
        into = sums.setdefault(line.line, {})
        for heat, (_, counters) in HEAT.items():
            into[heat] = into.get(heat, 0) + sum(line.counters.get(counter, 0) for counter in counters)
    for place, at, ns in (one for kernel in kernels if rates for one in time_parts.line_times(kernel, rates)):
        if place == file:
            sums[at]["time"] += ns
    return sums


def _line(
    source: Source, at: int, sums: Mapping[str, float], found: Sequence[Finding], files: Container[str]
) -> dict[str, Any]:
    counted = source.counted.get(at, {})
    shares = {heat: counted[heat] / sums[heat] for heat in counted if counted[heat] >= _MIN_SHARE * sums[heat] > 0}
    heats = [
        {"name": heat, "share": number(100 * share),
         "count": profile.time(counted[heat]) if heat == "time" else f"{counted[heat]:,} {HEAT[heat][0]}",
         "class": f"{heat}-{max(1, round(_STEPS * share))}"}
        for heat, share in shares.items()
    ]  # fmt: skip
    return {
        "at": at, "text": source.lines[at - 1], "anchor": anchor(source.name, at), "heats": heats,
        "found": [replace(show_finding(one, files), anchor="") for one in found],
    }  # fmt: skip


def style() -> str:
    """Return the rules that show the counter that is chosen for each file.

    A class for each step of the colour: the page's policy forbids `style` attributes.
    """
    rules = []
    for heat in HEAT:
        chosen = ",".join(f"#heat{place}-{heat}:checked ~ .source" for place in range(_MAX_FILES))
        rules.append(f":is({chosen}) .heat {{ background: color-mix(in srgb, var(--bad) var(--{heat}, 0%), "
                     f"transparent) }} :is({chosen}) .heat .{heat} {{ display: inline }}")  # fmt: skip
        rules += [f".{heat}-{step} {{ --{heat}: {_DARKEST * step // _STEPS}% }}" for step in range(1, _STEPS + 1)]
    shown = ",".join(f"#ptx{place}-shown:checked ~ .source" for place in range(_MAX_FILES))
    return "\n".join([*rules, f":is({shown}) .ptx {{ display: block }}"])
