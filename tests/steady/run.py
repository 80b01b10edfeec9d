"""Is a grade the same on a busy machine? Grades submissions again and again, and compares whole results bit by bit.

    .venv/bin/python tests/steady/run.py [--times 100] [--only NAME] [--busy 6]

Meanwhile processes without end keep all cores busy, and the judge and all that it has started are stopped and continued
at random. Only times and the name of the moment may differ. The exit status is 1 if anything else does.
"""

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "grader"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "adversarial"))

import table

from warpgrade.grading import grade as grading
from warpgrade.grading.result import Result, encode
from warpgrade.grading.submission import Submission
from warpgrade.lab import labs, starter, variant
from warpgrade.lab import right as other_ways
from warpgrade.lab.labs import Lab
from warpgrade.machine.paths import find_layout

_SEED = 20
_TIMES = {"seconds", "started_at", "used"}
_LONGEST_STOP = 0.05  # seconds: a limit of the machine's patience is never reached by it
# What two host threads ask of the device comes in an order of its own each time, which the device's clock shows.
_ORDER_OF_ITS_OWN = {"host threads"}
_OF_THE_DEVICE = {"launches", "measurements"}


def _submissions() -> dict[str, tuple[Lab, Submission]]:
    """Plain work, host threads, streams, a race, and host code that a comparison of runs has to find."""
    layout = find_layout()

    def of(lab_name: str, text: str | None) -> tuple[Lab, Submission]:
        lab = labs.find(layout, lab_name)
        files = {path.name: path.read_bytes() for path in starter.reference_files(lab)}
        if text is not None:
            files[lab.main_file] = text.encode()
        return lab, Submission("steady", files, [], None, [])

    def odd(name: str) -> tuple[Lab, Submission]:
        text = (table.HERE / "odd" / f"{name}.cu").read_text(encoding="utf-8")
        shared = (table.HERE / "honest.cuh").read_text(encoding="utf-8")
        return of("matmul", text.replace('#include "honest.cuh"\n', shared))

    def hostile(lab_name: str, name: str) -> tuple[Lab, Submission]:
        one = next(one for one in table.read() if one.name == name and lab_name in one.labs)
        return of(lab_name, one.source(labs.find(layout, lab_name)))

    def right(lab_name: str, name: str) -> tuple[Lab, Submission]:
        lab = labs.find(layout, lab_name)
        return of(lab_name, variant.files(lab, other_ways.find(lab, name))[lab.main_file])

    return {
        "reference of reduction": of("reduction", None),
        "reference of debug, with streams": of("debug", None),
        "host threads": odd("two_threads"),
        "clocks among the arguments": odd("clock_and_pointers"),
        "a cooperative kernel": right("scan", "cooperative"),
        "a race between streams": hostile("matmul", "unordered_streams"),
        "results in choices": hostile("matmul", "chosen"),
    }


def _without(left_out: set[str], value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without(left_out, inner) for key, inner in value.items() if key not in left_out}
    return [_without(left_out, inner) for inner in value] if isinstance(value, list) else value


def _comparable(name: str, result: Result) -> dict[str, Any]:
    left_out = _TIMES | (_OF_THE_DEVICE if name in _ORDER_OF_ITS_OWN else set())
    kept: dict[str, Any] = _without(left_out, json.loads(encode(result)))
    return kept


def _first_difference(one: Any, other: Any, path: str = "") -> str:
    if isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys():
        pairs = [(f"{path}.{key}", one[key], other[key]) for key in one]
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        pairs = [(f"{path}[{at}]", a, b) for at, (a, b) in enumerate(zip(one, other, strict=True))]
    else:
        return "" if one == other else f"{path}: {one!r:.200} and {other!r:.200}"
    return next((found for name, a, b in pairs if (found := _first_difference(a, b, name))), "")


def _descendants(ancestor: int) -> list[int]:
    parents: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            parents.setdefault(int(fields[1]), []).append(int(entry.name))
    found, waiting = [], [ancestor]
    while waiting:
        children = parents.get(waiting.pop(), [])
        found += children
        waiting += children
    return found


@contextmanager
def _trouble(busy: int) -> Iterator[None]:
    """Keep the cores busy, and stop and continue what the grader has started."""
    burners = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(busy)]
    spared = {burner.pid for burner in burners}
    over = threading.Event()

    def disturb() -> None:
        chance = random.Random(_SEED)  # noqa: S311 - no secret
        while not over.wait(chance.uniform(0, 0.2)):
            chosen = [pid for pid in _descendants(os.getpid()) if pid not in spared]
            for pid in chance.sample(chosen, min(len(chosen), chance.randint(1, 3))):
                _stop_for(pid, chance.uniform(0, _LONGEST_STOP))

    disturber = threading.Thread(target=disturb)
    disturber.start()
    try:
        yield
    finally:
        over.set()
        disturber.join()
        for burner in burners:
            burner.kill()
            burner.wait()


def _stop_for(pid: int, seconds: float) -> None:
    try:
        os.kill(pid, signal.SIGSTOP)
        time.sleep(seconds)
        os.kill(pid, signal.SIGCONT)
    except ProcessLookupError:
        pass


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, default=100)
    parser.add_argument("--only", help="submissions whose name contains this")
    parser.add_argument("--busy", type=int, default=3 * len(os.sched_getaffinity(0)), help="processes without end")
    options = parser.parse_args()
    layout = find_layout()
    differing = 0
    for name, (lab, submission) in _submissions().items():
        if options.only and options.only not in name:
            continue

        def graded(name: str = name, lab: Lab = lab, submission: Submission = submission) -> dict[str, Any]:
            return _comparable(name, grading.grade(layout, lab, submission, grading.Options(seed=_SEED)))

        first = graded()
        found: dict[str, int] = {}
        with _trouble(options.busy):
            for _ in range(options.times):
                difference = _first_difference(first, graded())
                if difference:
                    found[difference] = found.get(difference, 0) + 1
        points = first["score"]["points"]
        print(f"{name}: {lab.name}, {points:g} points, {options.times - sum(found.values())} of {options.times} alike")
        for difference, count in found.items():
            print(f"    {count} ×  {difference}", flush=True)
        differing += sum(found.values())
    sys.exit(1 if differing else 0)


if __name__ == "__main__":
    main()
