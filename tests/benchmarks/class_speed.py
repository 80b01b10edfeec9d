"""How much longer a class takes than nvcc alone needs for it: what the whole of Warpgrade costs.

    python tests/benchmarks/class_speed.py [--count 40] [--lab reduction] [--jobs CORES] [--bare] [--save FILE]

Makes so many submissions, all different, of the lab's reference, right and wrong solutions and starter; compiles them
with nvcc -O3 in the grader's sandbox, then grades them as a class does, and compares. Nothing of it comes from an
earlier run: both parts work in caches of their own. The class is graded in two halves: the second finds what the first
has made for all, and so is what one more submission takes. Wall time says little on a busy machine: processor time
stands beside it, of all processes, also of those that nobody waits for. Which programs it was, perf knows:

    perf record -F 499 -o FILE python tests/benchmarks/class_speed.py && perf report -i FILE --sort comm

--bare compiles without the sandbox. --save writes the results, without what differs from run to run, to compare those
of two versions.
"""

import argparse
import ctypes
import dataclasses
import itertools
import os
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import msgspec

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "grader"))

from warpgrade.compiling import build, judges, toolchain
from warpgrade.compiling.build import Builder
from warpgrade.compiling.failure import BuildFailure
from warpgrade.engine.job import Job, Outcome
from warpgrade.engine.local import LocalEngine
from warpgrade.engine.work import Say
from warpgrade.grading.grade import Options, grade, starter_files
from warpgrade.grading.result import Result, Seconds
from warpgrade.grading.submission import Submission
from warpgrade.lab import labs, starter, variant, wrong
from warpgrade.lab.labs import Lab
from warpgrade.machine import device
from warpgrade.machine.paths import Layout, find_layout
from warpgrade.machine.sandbox import Sandbox

_SEED = 20
_SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER: who is left behind becomes our child


@dataclasses.dataclass(frozen=True)
class Spent:
    """Seconds on the wall, of processors, and of these what this process took."""

    wall: float
    cpu: float
    own: float  # of this process alone

    def __add__(self, other: "Spent") -> "Spent":
        return Spent(self.wall + other.wall, self.cpu + other.cpu, self.own + other.own)


def solutions(lab: Lab) -> Iterator[dict[str, bytes]]:
    """Yield what a class might hand in."""
    reference = {path.name: path.read_bytes() for path in starter.reference_files(lab)}
    yield reference
    yield starter_files(lab)
    for path in sorted((lab.folder / "right").glob("*.cu")):
        yield {**reference, lab.main_file: path.read_bytes()}
    for name in wrong.names(lab):
        yield {file: text.encode() for file, text in variant.files(lab, wrong.find(lab, name)).items()}


def submissions(lab: Lab, count: int) -> list[Submission]:
    """Return so many submissions, no two of which have a source file in common."""
    made = []
    for number, files in zip(range(count), itertools.cycle(list(solutions(lab))), strict=False):
        mark = f"\nstatic inline int of_student_{number}(int x) {{ return x + {number}; }}\n".encode()
        made.append(Submission(f"student{number}", {name: text + mark for name, text in files.items()}, [], None, []))
    return made


def measured(work: Callable[[], object]) -> Spent:
    """Return what it took, with all that it started."""
    _reap()
    before, own, started = _cpu(), time.process_time(), time.monotonic()
    work()
    wall, own = time.monotonic() - started, time.process_time() - own
    _reap()
    return Spent(wall, _cpu() - before, own)


def _cpu() -> float:
    parts = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(part.ru_utime + part.ru_stime for part in parts)


def _reap() -> None:
    """Wait for processes whose parents have ended: their time is not counted before."""
    time.sleep(0.2)
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


class _PlainBuilder(Builder):
    """Compiles without what is ours and not nvcc's."""

    def _flags(self, phase: build._Phase = build._OBJECT) -> list[str]:
        return ["-O3" if word == build._HOST_OPTIMIZATION else word for word in super()._flags(phase)]


def nvcc_alone(layout: Layout, lab: Lab, class_: list[Submission], jobs: int, *, bare: bool) -> Spent:
    """Compile all files of a class, several at a time, with what grading runs for it and nothing else."""
    compilers = toolchain.find(layout)
    sandbox = Sandbox(layout.program("warpgrade-sandbox"), confined=not bare).strongest()
    target = device.resolve(layout, "vgpu")
    builder = _PlainBuilder(
        layout, lab, compilers, sandbox, target.architecture, judges.require(layout, lab, compilers).binding
    )
    builder.__dict__["_may_have_head_start"] = False

    def compile_one(submission: Submission) -> None:
        with tempfile.TemporaryDirectory() as scratch:
            for unit in submission.files:
                with suppress(BuildFailure):
                    builder._compile(unit, submission.files, Path(scratch), time.monotonic() + 600)

    return measured(lambda: _all(compile_one, class_, jobs))


def _all(work: Callable[[Submission], object], class_: list[Submission], jobs: int) -> list[object]:
    with ThreadPoolExecutor(jobs) as pool:
        return list(pool.map(work, class_))


def graded(layout: Layout, lab: Lab, class_: list[Submission], jobs: int) -> tuple[Spent, list[Result]]:
    """Grade a class, as the engine of this machine does it."""
    results: dict[str, Result] = {}
    options = Options(seed=_SEED)
    work = [Job(each.name, lab.name, each.name, dict(each.files), options) for each in class_]

    def graded(job: Job, say: Say) -> Outcome:
        return Outcome(job.key, grade(layout, lab, job.submission, job.options))

    def done(outcome: Outcome) -> None:
        assert outcome.result is not None
        results[outcome.key] = outcome.result

    spent = measured(lambda: LocalEngine(graded, jobs).run(work, done, lambda: False))
    return spent, [results[job.key] for job in work]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--lab", default="reduction")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--bare", action="store_true")
    parser.add_argument("--save", type=Path)
    given = parser.parse_args()
    ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)
    layout = find_layout()
    lab = labs.find(layout, given.lab)
    class_ = submissions(lab, given.count)
    with tempfile.TemporaryDirectory(prefix="warpgrade-class-speed-") as state:
        own = Path(state)
        (own / "setup").symlink_to(layout.state / "setup")
        layout = dataclasses.replace(layout, state_home=own)
        # Half before and half after, since machines grow slower and faster.
        half = len(class_) // 2
        before = nvcc_alone(layout, lab, class_[:half], given.jobs, bare=given.bare)
        first, results = graded(layout, lab, class_[:half], given.jobs)
        second, others = graded(layout, lab, class_[half:], given.jobs)
        after = nvcc_alone(layout, lab, class_[half:], given.jobs, bare=given.bare)
    results += others
    _print(before + after, first + second, results, given.count, given.jobs)
    each, ratio = second.cpu / (given.count - half), second.cpu / after.cpu
    print(f"one more submission (the second half): {each:.3f} CPU s each, {ratio:.2f} times nvcc's")
    if given.save:
        given.save.write_bytes(b"\n".join(msgspec.json.encode(_lasting(result)) for result in results))


def _lasting(result: Result) -> Result:
    tests = [msgspec.structs.replace(test, seconds=0) for test in result.tests]
    return msgspec.structs.replace(result, started_at="", seconds=Seconds(build=0, judge=0), tests=tests)


def _print(alone: Spent, whole: Spent, results: list[Result], count: int, jobs: int) -> None:
    states = {state: sum(result.status == state for result in results) for state in ("graded", "rejected", "error")}
    print(f"{count} submissions, {jobs} at a time: {', '.join(f'{n} {state}' for state, n in states.items() if n)}")
    print(f"{'':24}{'wall s':>10}{'CPU s':>10}{'CPU s each':>12}")
    for title, spent in (("nvcc alone", alone), ("the class", whole)):
        print(f"{title:24}{spent.wall:10.2f}{spent.cpu:10.2f}{spent.cpu / count:12.3f}")
    print(f"{'ratio':24}{whole.wall / alone.wall:10.2f}{whole.cpu / alone.cpu:10.2f}")
    build, judged = (sum(getattr(result.seconds, name) for result in results) for name in ("build", "judge"))
    print(
        f"beyond nvcc: {(whole.cpu - alone.cpu) / count:.3f} CPU s each, {whole.own / count:.3f} of them Python's own"
    )
    print(f"wall s each: {build / count:.2f} to compile and link, {judged / count:.2f} for the judge and what follows")


if __name__ == "__main__":
    main()
