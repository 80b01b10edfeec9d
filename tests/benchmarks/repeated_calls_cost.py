"""What it costs to make each call once more: with other inputs, or in other orders of blocks and warps.

    python tests/benchmarks/repeated_calls_cost.py [--of replay|orders] [--lab NAME …] [--rounds 5]

Grades the reference of each lab with that (grader/judge/replay.hpp, grader/judge/orders.hpp) and without, in turn, and
compares the processor time of all processes in sandboxes, as the result tells it: of the tests alone, and of a whole
warm grade, in which the submission is compiled but nothing else is. Medians.
"""

import argparse
import statistics
import sys
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "grader"))

from warpgrade.grading import grade as grading
from warpgrade.grading.result import Used
from warpgrade.grading.submission import Submission
from warpgrade.lab import labs, starter
from warpgrade.lab.labs import Lab
from warpgrade.machine.paths import Layout, find_layout

_SEED = 20


def _used(layout: Layout, lab: Lab, number: int, *, without: str = "") -> Used:
    command = grading._judge_command
    extra = [f"--no-{without}"] if without else []
    mark = f"\n// {number} {without}\n".encode()  # another program each time, so that it is compiled
    files = {path.name: path.read_bytes() + mark for path in starter.reference_files(lab)}
    submission = Submission("reference", files, [], None, [])
    with mock.patch.object(grading, "_judge_command", lambda *given: [*command(*given), *extra]):
        result = grading.grade(layout, lab, submission, grading.Options(seed=_SEED))
    if result.used is None or result.score.points < result.score.max_points:
        sys.exit(f"the reference of {lab.name} lost points: {result.score}")
    return result.used


def _whole(used: Used) -> float:
    return used.intake + used.analysis + used.build + used.tests


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--of", choices=["replay", "orders"], default="replay")
    parser.add_argument("--lab", action="append")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    layout = find_layout()
    print(f"{'lab':12} {'tests':>8} {'without':>8} {'ratio':>6}   {'grade':>8} {'without':>8} {'ratio':>6}")
    for lab in [labs.find(layout, name) for name in options.lab] if options.lab else labs.discover(layout):
        _used(layout, lab, -1)
        spent: dict[str, list[Used]] = {"": [], options.of: []}
        for number in range(options.rounds):
            for without, used in spent.items():
                used.append(_used(layout, lab, number, without=without))
        tests = [statistics.median(one.tests for one in used) for used in spent.values()]
        whole = [statistics.median(map(_whole, used)) for used in spent.values()]
        print(
            f"{lab.name:12} {tests[0]:8.2f} {tests[1]:8.2f} {tests[0] / tests[1]:6.2f}   "
            f"{whole[0]:8.2f} {whole[1]:8.2f} {whole[0] / whole[1]:6.2f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
