"""How fast the virtual GPU runs kernels beside others that need no GPU either, in one run.

    python tests/benchmarks/beside.py [--repeats 5] [--numba PYTHON] [--small]

Peers: plain C++ (g++ -O2 and -O3), the virtual GPU (`warpgrade run` of a compiled program) with counters and with all
checks, PoCL (OpenCL kernels compiled for the CPU; Debian's pocl-opencl-icd, ocl-icd-opencl-dev and opencl-headers), and
Numba's CUDA simulator (--numba names a Python that has numba). A peer that is missing is named and left out.

A step is one turn of the inner loop of one thread: n³ steps for a product of matrices, n × 8 for a reduction by trees
of 256 numbers, whoever the peer is. Peers take turns, with new inputs each time, and the best time counts; each output
is compared with that of plain C++. Only kernels are timed: programs are compiled and have their inputs before.
Processor time is that of all processes of a peer, the device server as well. --small: sizes for a test, no measurement.
"""

import argparse
import array
import dataclasses
import functools
import itertools
import math
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "grader"))

from warpgrade.compiling import toolchain
from warpgrade.machine.errors import WarpgradeError
from warpgrade.machine.paths import find_layout

ROOT = Path(__file__).resolve().parents[2]
SOURCES = Path(__file__).with_name("peers")
REFERENCE = "plain C++, g++ -O2"
UNIT = "virtual GPU, counters"
SIZES = {"matmul_naive": 512, "matmul_tiled": 512, "reduce_tree": 1 << 22}
SMALL_SIZES = {"matmul_naive": 32, "matmul_tiled": 32, "reduce_tree": 2048}  # also of Numba: seconds, all the same
UNMEASURED = "GPGPU-Sim's functional mode, gpuocelot, HIP-CPU: not measured, as no package of them is to be had"


class Missing(Exception):  # noqa: N818 - reads as what it is
    """A peer that cannot be had here, and why."""


@dataclasses.dataclass
class Peer:
    """A running program that answers commands: peers/peer.hpp."""

    name: str
    threads: int
    process: subprocess.Popen[str]
    sizes: dict[str, int]
    best: dict[tuple[str, str], float] = dataclasses.field(default_factory=dict)  # seconds by algorithm and clock

    def ask(self, *words: object) -> str:
        """Send a command and return the answer; raises Missing when there is none."""
        assert self.process.stdin and self.process.stdout and self.process.stderr
        try:
            print(*words, file=self.process.stdin, flush=True)
            answer = self.process.stdout.readline().strip()
        except BrokenPipeError:
            answer = ""
        if not answer:
            self.process.kill()
            with suppress(BrokenPipeError):
                self.process.stdin.close()  # or its end would raise the same again
            raise Missing(self.process.stderr.read().strip().rpartition("\n")[2] or "it ended without a word")
        return answer

    def measure(self, algorithm: str, seed: int) -> None:
        """Run once and remember the times if they are the best."""
        self.ask("prepare", algorithm, self.sizes[algorithm], seed)
        before = processor_seconds(self.process.pid)
        times = {"wall": float(self.ask("run")), "processor": processor_seconds(self.process.pid) - before}
        for clock, seconds in times.items():
            self.best[algorithm, clock] = min(seconds, self.best.get((algorithm, clock), math.inf))

    def rate(self, algorithm: str, clock: str) -> float:
        """Return how many million steps a second it makes."""
        size = self.sizes[algorithm]
        return (size * 8 if algorithm == "reduce_tree" else size**3) / self.best[algorithm, clock] / 1e6

    def result(self) -> list[float]:
        """Return the output of the last run."""
        with tempfile.NamedTemporaryFile() as file:
            self.ask("result", file.name)
            return list(array.array("f", Path(file.name).read_bytes()))


def processor_seconds(pid: int) -> float:
    """Return what a process and its descendants have used, threads that have ended included."""
    used = time.clock_gettime(~pid << 3 | 2)  # as clock_getcpuclockid() makes it
    for children in Path(f"/proc/{pid}/task").glob("*/children"):
        used += sum(map(processor_seconds, map(int, children.read_text().split())))
    return used


@dataclasses.dataclass
class Plan:
    """How a peer is started; `command` compiles what it needs, and raises Missing when it cannot."""

    name: str
    threads: int
    command: Callable[[], list[str]]
    settings: dict[str, str] = dataclasses.field(default_factory=dict)
    is_slow: bool = False

    @contextmanager
    def start(self, sizes: dict[str, int]) -> Iterator[Peer]:
        """Start the peer, see that it works, and end it at last."""
        try:
            process = subprocess.Popen(
                self.command(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                env={**os.environ, **self.settings},
            )  # fmt: skip
        except OSError as error:
            raise Missing(f"{error.filename}: {error.strerror}") from None
        with process:  # which ends it by closing its input
            peer = Peer(self.name, self.threads, process, SMALL_SIZES if self.is_slow else sizes)
            for algorithm, size in SMALL_SIZES.items():  # what only a first launch costs is not timed
                peer.ask("prepare", algorithm, size, 1)
                peer.ask("run")
            yield peer


def compile_program(program: Path, compiler: Path | str, *words: str) -> list[str]:
    """Compile a peer and return its command."""
    command = [str(compiler), "-std=c++17", "-I", str(ROOT / "tests"), *words, "-o", str(program)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as error:
        raise Missing(f"{compiler}: {error.strerror}") from None
    if done.returncode != 0:
        reason = next((line for line in done.stderr.splitlines() if "error" in line), "the compiler fails")
        raise Missing(f"it does not compile: {reason.strip()}")
    return [str(program)]


def plans(folder: Path, numba: str | None) -> Iterator[Plan]:
    """Yield all peers, on one thread and, where they can, on all cores."""
    counts = sorted({1, len(os.sched_getaffinity(0))})

    @functools.cache
    def cuda_program() -> list[str]:
        compilers = toolchain.find(find_layout())
        words = ["-arch", "sm_90", "-ccbin", str(compilers.host), "-cudart", "shared", str(SOURCES / "cuda.cu")]
        return compile_program(folder / "cuda", compilers.nvcc, *words)

    def plain(level: str) -> list[str]:
        loops = ROOT / "tests" / "vgpu" / "bench" / "plain.cpp"
        return compile_program(folder / f"plain{level}", "g++", level, str(SOURCES / "plain.cpp"), str(loops))

    def virtual(checks: str, threads: int) -> list[str]:
        words = ["run", "-q", "--checks", checks, "--threads", str(threads), *cuda_program()]
        return [sys.executable, "-m", "warpgrade", *words]

    def pocl() -> list[str]:
        host = compile_program(folder / "opencl", "g++", "-O2", str(SOURCES / "opencl.cpp"), "-lOpenCL")
        return [*host, str(SOURCES / "kernels.cl")]

    def simulator() -> list[str]:
        if not numba:
            raise Missing("name a Python that has it with --numba")
        return [numba, str(SOURCES / "simulator.py")]

    for level in ("-O2", "-O3"):
        yield Plan(f"plain C++, g++ {level}", 1, functools.partial(plain, level))
    for name, checks in ((UNIT, "none"), ("virtual GPU, all checks", "all")):
        for threads in counts:
            yield Plan(name, threads, functools.partial(virtual, checks, threads), {"PYTHONPATH": str(ROOT / "grader")})
    for threads in counts:
        limit = str(threads)  # under its two names: before PoCL 4 and since
        yield Plan("PoCL", threads, pocl, {"POCL_MAX_PTHREAD_COUNT": limit, "POCL_CPU_MAX_CU_COUNT": limit})
    yield Plan("Numba's CUDA simulator", 1, simulator, {"NUMBA_ENABLE_CUDASIM": "1"}, is_slow=True)


def measure(peers: list[Peer], reference: Peer, repeats: int) -> None:
    """Let all peers take turns at all algorithms, and compare what they computed."""
    for algorithm in SIZES:
        for seed in range(1, repeats + 1):
            expected: dict[int, list[float]] = {}
            for size in {peer.sizes[algorithm] for peer in peers}:
                reference.ask("prepare", algorithm, size, seed)
                reference.ask("run")
                expected[size] = reference.result()
            for peer in peers:
                try:
                    peer.measure(algorithm, seed)
                    check_close(peer, algorithm, peer.result(), expected[peer.sizes[algorithm]])
                except Missing as reason:
                    sys.exit(f"{peer.name}: {algorithm} stops: {reason}")


def check_close(peer: Peer, algorithm: str, got: list[float], expected: list[float]) -> None:
    """Fail unless both are equal within rounding: compilers may fuse a multiplication and an addition."""
    for place, (one, other) in enumerate(itertools.zip_longest(got, expected, fillvalue=math.nan)):
        if not abs(one - other) <= 1e-4 * abs(other):
            sys.exit(f"{peer.name}: {algorithm}: element {place} is {one}, expected {other}")


def print_table(peers: list[Peer], clock: str, title: str) -> None:
    """Print rates, and in brackets how many times the virtual GPU's rate on one thread that is."""
    names = [f"{name} {size}" for name, size in peers[0].sizes.items()]
    print(f"\n10⁶ steps per second of {title}; × the virtual GPU with counters on one thread\n")
    print(f"| | threads | {' | '.join(names)} |\n|---|---|{'---|' * len(names)}")
    unit = next((peer for peer in peers if peer.name == UNIT), None)
    for peer in peers:
        cells = []
        for algorithm in SIZES:
            rate = peer.rate(algorithm, clock)
            cells.append(short(rate) + (f" ({short(rate / unit.rate(algorithm, clock))}×)" if unit else ""))
        note = "" if peer.sizes == peers[0].sizes else f" ({', '.join(map(str, peer.sizes.values()))})"
        print(f"| {peer.name}{note} | {peer.threads} | {' | '.join(cells)} |")


def short(number: float) -> str:
    """Return it with two digits or more."""
    return f"{number:,.0f}" if number >= 100 else f"{number:.2g}"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--numba", metavar="PYTHON")
    parser.add_argument("--small", action="store_true")
    given = parser.parse_args()
    missing: dict[str, str] = {}
    with tempfile.TemporaryDirectory(prefix="warpgrade-beside-") as folder, ExitStack() as stack:
        peers = []
        for plan in plans(Path(folder), given.numba):
            try:
                peers.append(stack.enter_context(plan.start(SMALL_SIZES if given.small else SIZES)))
            except (Missing, WarpgradeError) as reason:
                missing[plan.name] = str(reason)
        if REFERENCE in missing:
            sys.exit(f"{REFERENCE}, with which all are compared, is missing: {missing[REFERENCE]}")
        measure(peers, peers[0], max(1, given.repeats))
    for clock, title in (("processor", "processor time"), ("wall", "wall time")):
        print_table(peers, clock, title)
    print("", *(f"{name}: missing: {why}" for name, why in missing.items()), UNMEASURED, sep="\n")


if __name__ == "__main__":
    main()
