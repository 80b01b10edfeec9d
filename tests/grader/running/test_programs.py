"""Whole programs: of NVIDIA's own header libraries, and one whose output a real GPU has printed before."""

import hashlib
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from warpgrade.machine.paths import find_layout

pytestmark = pytest.mark.labs

LAYOUT = find_layout()
PROGRAMS = Path(__file__).parent / "programs"


def run(name: str, *options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "warpgrade", "run", "-q", *options, str(PROGRAMS / f"{name}.cu")],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=400,
        env={**os.environ, "PYTHONPATH": str(LAYOUT.root / "grader")},
    )  # fmt: skip


@pytest.mark.nightly
@pytest.mark.parametrize("order", ["forward", "reverse", "interleaved", "ahead"])
@pytest.mark.parametrize("name", ["thrust_algorithms", "cub_device", "cub_block"])
def test_a_program_of_the_cuda_core_libraries_computes_what_the_host_does(name: str, order: str) -> None:
    done = run(name, "--order", order)
    assert (done.returncode, done.stdout) == (0, "right\n"), done.stderr


@pytest.mark.parametrize("name", ["matrix_sums", "texture_filters"])
def test_tensor_cores_and_texture_units_give_an_h100s_bits(name: str) -> None:
    done = run(name)
    assert done.returncode == 0, done.stderr
    assert folded(done.stdout) == (PROGRAMS / f"{name}.h100.txt").read_text().splitlines()


def test_threads_of_openmp_launch_kernels() -> None:
    done = run("openmp", "-X", "-Xcompiler", "-X", "-fopenmp")
    assert (done.returncode, done.stdout, done.stderr) == (0, "4 threads, 0 wrong\n", "")


def test_a_program_of_openmp_without_its_option_is_told_which() -> None:
    done = run("openmp")
    assert done.returncode == 2
    assert "omp_get_thread_num is not defined" in done.stderr
    assert "-X -Xcompiler -X -fopenmp" in " ".join(done.stderr.split())


def folded(printed: str) -> list[str]:
    """Return what each kind of line says, as a digest; what an H100 has printed is kept so."""
    kinds: dict[str, list[str]] = {}
    for line in printed.splitlines():
        kinds.setdefault(re.split(r" (?:before|lane) \d+: ", line)[0], []).append(line)
    return [
        f"{kind}: {hashlib.sha256(chr(10).join(lines).encode()).hexdigest()[:16]} of {len(lines)} lines"
        for kind, lines in kinds.items()
    ]
