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
SHORTEST_MS = 0.02  # below, it is mostly the start of a kernel
# ptxas folds most sums of 64 bits into addresses, so the model takes them for one instruction. That half of L2 holds
# what the other half has, too, it does not know.
INSTRUCTIONS_NOT_MODELLED = ("64 bits, x + y", "any words of 128", "any words of 512")
# One thread with many loads in flight, or a multiprocessor that is full of wavefronts.
CHAINS_NOT_MODELLED = ("elements of indices", "of 1 threads", "of 1024 threads")


def _times(table: str) -> dict[str, float]:
    """Return milliseconds by what was measured: the last ones, of tables with several sizes."""
    return {row["what"]: float(row["ms"]) for row in ROW.finditer(table)}


def _modelled(program: str, *folders: str) -> dict[str, float]:
    command = [str(ROOT / "warpgrade"), "run", str(ROOT / "tests" / "hardware" / program), "-q", "-D", "REPEATS=0",
               "--checks", "none", "--instructions", "0"]  # fmt: skip
    for folder in ("common", *folders):
        command += ["-I", str(ROOT / "labs" / folder)]
    command += ["-X", "--extended-lambda"]
    return _times(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def _apart(program: str, is_left_out: Callable[[str], bool]) -> tuple[list[float], str]:
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
        assert statistics.median(found) < 1.15, story
        assert sum(factor <= 1.25 for factor in found) > 0.6 * len(found), story
        assert max(found) < 2.5, story


@pytest.mark.nightly
def test_modelled_times_of_single_instructions_are_near_the_measured_ones() -> None:
    """Nothing was fitted to these times: how many machine instructions one makes is Nsight Compute's count, and the
    rates are those of CUDA's table of throughputs."""
    apart, story = _apart("instructions.cu", lambda what: what.startswith(INSTRUCTIONS_NOT_MODELLED))
    assert len(apart) > 38, story
    assert statistics.median(apart) < 1.2, story
    assert max(apart) < 1.5, story


@pytest.mark.nightly
def test_modelled_times_of_chains_are_near_the_measured_ones() -> None:
    """Only how long a request's further sectors take was fitted, to rows that are not held out. Latencies are those of
    the profile."""
    apart, story = _apart("chains.cu", lambda what: what.endswith(CHAINS_NOT_MODELLED))
    assert len(apart) > 25, story
    assert statistics.median(apart) < 1.15, story
    assert max(apart) < 1.5, story
