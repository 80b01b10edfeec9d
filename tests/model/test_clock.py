"""The modelled times of atomics, of starting blocks, of single instructions and of chains of loads against an H100's
(h100.md)."""

import math
import re
import statistics
import subprocess
from collections.abc import Callable

import pytest
from held_out import is_held_out

from warpgrade.machine.paths import find_layout

ROOT = find_layout().root
MEASURED = (ROOT / "tests" / "model" / "h100.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| (?P<what>[^|]+?) \| (?P<size>[^|]*?) ?\| (?P<ms>[0-9.e+-]+) ms \|", re.MULTILINE)
START_MS = 0.0062  # of what events measure, beyond what the model takes an empty kernel for
LAUNCH_MS = 0.0036  # of the host, which modelled events measure as well
SHORTEST_MS = 0.02  # below, it is mostly the start of a kernel
# Warps of several blocks that compare and swap the same words, and copies of pageable memory at 12 GB/s instead of 16.
OVERLAP_NOT_MODELLED = ("the same 32 words", "tree in shared memory, strided", "pageable")


def _times(table: str) -> dict[str, float]:
    """Return milliseconds by what was measured: the last ones, of tables with several sizes."""
    return {row["what"]: float(row["ms"]) for row in ROW.finditer(table)}


def _modelled(program: str, *folders: str) -> dict[str, float]:
    command = [str(ROOT / "warpgrade"), "run", str(ROOT / "tests" / "hardware" / program), "-q", "-D", "REPEATS=0",
               "--checks", "none", "--instructions", "0"]  # fmt: skip
    for folder in ("common", *folders):
        command += ["-I", str(ROOT / "labs" / folder)]
    command += ["-X", "--extended-lambda"]
    times = _times(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return {what: ms - LAUNCH_MS for what, ms in times.items()}


def _apart(program: str, is_left_out: Callable[[str], bool] = lambda _: False) -> tuple[list[float], str]:
    """Return by which factors modelled and measured times of a program's rows are apart, and the ratios as a table."""
    measured = _times(MEASURED)
    factors = {
        what: ms / (measured[what] - START_MS) for what, ms in _modelled(program).items() if not is_left_out(what)
    }
    story = "\n".join(f"{factor:.2f}  {what}" for what, factor in factors.items())
    return [math.exp(abs(math.log(factor))) for factor in factors.values()], story


@pytest.mark.nightly
def test_modelled_times_of_atomics_are_near_the_measured_ones() -> None:
    measured = _times(MEASURED)
    modelled = {**_modelled("atomics.cu"), **_modelled("histogram.cu", "histogram")}
    assert len(modelled) > 200
    factors: dict[bool, list[float]] = {False: [], True: []}
    table = []
    for what, ms in sorted(modelled.items()):
        kernel_ms = measured[what] - START_MS
        if kernel_ms < SHORTEST_MS:
            continue
        factor = ms / kernel_ms
        table.append(f"{factor:.2f}  {what}{' (held out)' if is_held_out(what) else ''}")
        factors[is_held_out(what)].append(math.exp(abs(math.log(factor))))
    for held_out, found in factors.items():
        story = f"held out: {held_out}\n" + "\n".join(table)
        assert len(found) > 75, story
        assert statistics.median(found) < 1.16, story
        assert sum(factor <= 1.25 for factor in found) > 0.6 * len(found), story
        assert max(found) < 2.5, story


@pytest.mark.nightly
def test_modelled_times_of_single_instructions_are_near_the_measured_ones() -> None:
    """How many machine instructions one makes is Nsight Compute's count, for which units is counted in machine code,
    and the rates are those of CUDA's table of throughputs. That a quotient of floats is checked by the unit for special
    functions comes from its time here."""
    apart, story = _apart("instructions.cu")
    assert len(apart) > 40, story
    assert statistics.median(apart) < 1.15, story
    assert sum(factor <= 1.25 for factor in apart) > 0.88 * len(apart), story
    assert max(apart) < 1.5, story


@pytest.mark.nightly
def test_modelled_times_of_chains_are_near_the_measured_ones() -> None:
    """Only how long a request's further sectors take was fitted, to rows that are not held out. Latencies are those of
    the profile."""
    apart, story = _apart("chains.cu")
    assert len(apart) > 30, story
    assert statistics.median(apart) < 1.1, story
    assert sum(factor <= 1.25 for factor in apart) > 0.74 * len(apart), story
    assert max(apart) < 2.05, story  # all threads in one MiB: L1, L2 and latency overlap better than all else


@pytest.mark.nightly
def test_modelled_times_of_what_overlaps_are_near_the_measured_ones() -> None:
    """From these rows come the latency of a root, the number of loads in flight, and how far apart requests come."""
    measured = _times(MEASURED)
    apart, story = _apart(
        "overlap.cu", lambda what: what.endswith(OVERLAP_NOT_MODELLED) or measured[what] - START_MS < SHORTEST_MS
    )
    assert len(apart) > 65, story
    assert statistics.median(apart) < 1.15, story
    assert sum(factor <= 1.25 for factor in apart) > 0.85 * len(apart), story
    assert max(apart) < 1.75, story


@pytest.mark.nightly
def test_modelled_times_of_loops_and_branches_are_near_the_measured_ones() -> None:
    """From these rows come what a turn of a loop, a branch and a warp that parts cost."""
    apart, story = _apart("branches.cu")
    assert len(apart) == 80, story
    assert statistics.median(apart) < 1.16, story
    assert sum(factor <= 1.25 for factor in apart) > 0.86 * len(apart), story
    assert max(apart) < 1.4, story


@pytest.mark.nightly
def test_modelled_times_of_tables_in_constant_memory_are_near_the_measured_ones() -> None:
    """Which loads are made once for all lanes was read in machine code. When warps take lines from each other is a
    curve through these rows, of which those with an array beside are worst."""
    apart, story = _apart("constants.cu")
    assert len(apart) == 36, story
    assert statistics.median(apart) < 1.25, story
    assert sum(factor <= 1.5 for factor in apart) > 0.75 * len(apart), story
    assert max(apart) < 2.75, story


@pytest.mark.nightly
def test_modelled_times_of_calls_are_near_the_measured_ones() -> None:
    """The cubin says how many registers a call saves. The farthest are stacks that L1 does not hold."""
    apart, story = _apart("calls.cu")
    assert len(apart) == 24, story
    assert statistics.median(apart) < 1.1, story
    assert sum(factor <= 1.25 for factor in apart) > 0.8 * len(apart), story
    assert max(apart) < 1.7, story
