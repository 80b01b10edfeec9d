"""Programs that use NVIDIA's own header libraries: each checks itself and says `right`."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from warpgrade.paths import find_layout

pytestmark = pytest.mark.labs

LAYOUT = find_layout()
PROGRAMS = Path(__file__).parent / "programs"


@pytest.mark.parametrize("name", ["thrust_algorithms", "cub_device", "cub_block"])
def test_a_program_of_the_cuda_core_libraries_computes_what_the_host_does(name: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "warpgrade", "run", "-q", str(PROGRAMS / f"{name}.cu")],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=400,
        env={**os.environ, "PYTHONPATH": str(LAYOUT.root / "grader")},
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "right\n"), done.stderr
