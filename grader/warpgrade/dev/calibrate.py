"""`calibrate`: what a lab's solutions reach on a real GPU, and the levels of its speed tests that follow.

Each solution is graded several times, its speed tests alone. The level for all points lies between the slowest right
solution and the fastest wrong one below it, the level for half of them halfway to the starter.
"""

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
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


def measure(
    layout: Layout,
    lab: Lab,
    timing_device: str,
    times: int,
    *,
    all_right: bool = False,
    only: str = "",
    say: Say = lambda text: None,
) -> list[Reached]:
    """Grade reference, starter, wrong solutions that lose a speed test and, if asked, right ones, `times` times each.

    Each run has inputs of its own. `only`: beside reference and starter those whose names contain it. Raises
    GraderError if one is not graded.
    """
    timing.find(layout, timing_device)
    judges.require(layout, lab, toolchain.find(layout), say)
    reached: list[Reached] = []
    solutions = [
        solution
        for solution in _solutions(lab, all_right=all_right)
        if solution[0] in ("reference", "starter") or only in solution[0]
    ]
    for number, (name, is_right, files) in enumerate(solutions, start=1):
        say(f"solution {number} of {len(solutions)}: {name}")
        reached += measure_one(layout, lab, name, files, timing_device, times, is_right=is_right)
    return reached


def _solutions(lab: Lab, *, all_right: bool) -> Iterator[tuple[str, bool, Mapping[str, str]]]:
    """Yield names, whether they are right, and files."""
    speed = {item.name for item in lab.file.speed}
    yield "reference", True, read_files(lab.reference_folder)
    yield "starter", False, read_files(lab.starter_folder)
    for mistake in (wrong.find(lab, name) for name in wrong.names(lab)):
        if speed & set(mistake.loses):
            yield f"wrong {mistake.name}", False, variant.files(lab, mistake)
    for way in (right.find(lab, name) for name in right.names(lab)):
        if all_right and way.points == lab.max_points:
            yield f"right {way.name}", True, variant.files(lab, way)


def read_files(folder: Path) -> dict[str, str]:
    """Return the texts of a folder's files by their names."""
    return {path.name: path.read_text(encoding="utf-8") for path in folder.iterdir() if path.is_file()}


def measure_one(
    layout: Layout, lab: Lab, name: str, files: Mapping[str, str], timing_device: str, times: int, *, is_right: bool
) -> list[Reached]:
    """Return what a solution reached in each speed test; not where its results are wrong."""
    rows: dict[str, Reached] = {}
    only = tuple(item.name for item in lab.file.speed)
    for run in range(times):
        options = grade.Options(seed=run + 1, timing_device=timing_device, only=only)
        result = graded_files(layout, lab, files, options)
        if result.status != "graded":
            raise GraderError(f"{name} of lab {lab.name} was not graded", detail=str(result.problem or ""))
        for test in result.tests:
            measured = {one.name: one.value for one in test.measurements}
            if score.SPEEDUP in measured:
                row = rows.setdefault(test.name, Reached(name, test.name, is_right))
                row.speedups.append(measured[score.SPEEDUP])
                row.at_most.append(measured.get(score.AT_MOST, measured[score.SPEEDUP]))
                row.points.append(test.points)
    return list(rows.values())


def find_levels(item: SpeedItem, reached: Sequence[Reached]) -> Levels | None:
    """Return the levels of a test; None if no right solution was measured."""
    rows = [row for row in reached if row.test == item.name]
    slowest = min((min(row.speedups) for row in rows if row.is_right), default=0.0)
    if not slowest:
        return None
    below = [most for row in rows if not row.is_right and (most := max(row.at_most)) < slowest]
    as_fast = tuple(row.solution for row in rows if not row.is_right and max(row.at_most) >= slowest)
    last = round(max(math.sqrt(slowest * max(below, default=1.0)), _CLOSEST * slowest), 2)
    if last < _NO_GAIN:
        return Levels(None, 0, as_fast)
    middle = round(math.sqrt(last), 2)
    curve: Curve = [(1.0, 0.0), (middle, item.points / 2), (last, item.points)]
    bounds = [most for row in rows if row.is_right for most in row.at_most]
    return Levels(curve, sum(most < last for most in bounds) / len(bounds), as_fast)


def write(lab: Lab, levels: Mapping[str, Levels]) -> None:
    """Write the levels into lab.toml, as `gpu` of each test; a test without gain loses its `gpu`."""
    path = lab.folder / "lab.toml"
    path.write_text(edit(path.read_text(encoding="utf-8"), levels), encoding="utf-8")


def edit(text: str, levels: Mapping[str, Levels]) -> str:
    """Return lab.toml with other levels; raises GraderError if a test's table is not laid out as usual."""
    for name, level in levels.items():
        pattern = re.compile(
            rf'(^\[\[speed\]\]\nname = "{re.escape(name)}"\n(?:(?!\[\[|gpu = ).*\n)*)(gpu = .*\n)?', re.MULTILINE
        )
        found = pattern.search(text)
        if found is None:
            raise GraderError(f"lab.toml has no table [[speed]] that begins with the name “{name}”")
        pairs = ", ".join(f"[{at:g}, {points:g}]" for at, points in level.curve or [])
        table, line = found[1], f"gpu = [{pairs}]\n" if pairs else ""
        if found[2] is None:  # its place is behind the curve of the virtual GPU
            table, line = re.sub(r"^vgpu = .*\n", rf"\g<0>{line}", table, flags=re.MULTILINE), ""
        text = text[: found.start()] + table + line + text[found.end() :]
    return text
