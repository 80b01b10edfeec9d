"""What it costs to make each call once more with other inputs (grader/judge/replay.hpp).

    python tests/benchmarks/replay_cost.py [--lab NAME …] [--rounds 5]

Grades the reference of each lab with replays and without, in turn, and compares the processor time of all processes in
sandboxes, as the result tells it: of the tests alone, and of a whole warm grade, in which the submission is compiled
but nothing else is. Medians.
"""

from __future__ import annotations

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


def _used(layout: Layout, lab: Lab, number: int, *, replay: bool) -> Used:
    command = grading._judge_command
    extra = [] if replay else ["--no-replay"]
    mark = f"\n// {number} {replay}\n".encode()  # another program each time, so that it is compiled
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
    parser.add_argument("--lab", action="append")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    layout = find_layout()
    print(f"{'lab':12} {'tests':>8} {'without':>8} {'ratio':>6}   {'grade':>8} {'without':>8} {'ratio':>6}")
    for lab in [labs.find(layout, name) for name in options.lab] if options.lab else labs.discover(layout):
        _used(layout, lab, -1, replay=True)
        spent: dict[bool, list[Used]] = {True: [], False: []}
        for number in range(options.rounds):
            for replay in (True, False):
                spent[replay].append(_used(layout, lab, number, replay=replay))
        tests = {replay: statistics.median(used.tests for used in spent[replay]) for replay in spent}
        whole = {replay: statistics.median(map(_whole, spent[replay])) for replay in spent}
        print(
            f"{lab.name:12} {tests[True]:8.2f} {tests[False]:8.2f} {tests[True] / tests[False]:6.2f}   "
            f"{whole[True]:8.2f} {whole[False]:8.2f} {whole[True] / whole[False]:6.2f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
