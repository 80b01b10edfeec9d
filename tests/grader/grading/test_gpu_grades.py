"""Speed on a real GPU: references have all points and starters none; `run` tells times. Without a GPU all skip."""

from pathlib import Path

import pytest

from warpgrade.compiling import judges, toolchain
from warpgrade.dev.calibrate import read_files
from warpgrade.dev.prove import graded_files
from warpgrade.grading import grade
from warpgrade.lab import labs
from warpgrade.lab.labs import Lab
from warpgrade.machine import device
from warpgrade.machine.paths import find_layout
from warpgrade.running import run

pytestmark = [
    pytest.mark.labs,
    pytest.mark.gpu,
    pytest.mark.skipif(not device.machine_gpus(), reason="no NVIDIA GPU in this machine"),
]

LAYOUT = find_layout()
LABS = [lab for lab in labs.discover(LAYOUT) if any(item.gpu for item in lab.file.speed)]


@pytest.mark.parametrize("lab", LABS, ids=lambda lab: lab.name)
def test_the_reference_has_all_points_and_the_starter_none(lab: Lab) -> None:
    judges.require(LAYOUT, lab, toolchain.find(LAYOUT), lambda text: None)
    timed = {item.name: item.points for item in lab.file.speed if item.gpu}
    for folder, share, seeds in ((lab.reference_folder, 1, (1, 2)), (lab.starter_folder, 0, (1,))):
        for seed in seeds:
            options = grade.Options(seed=seed, timing_device="gpu:0", only=tuple(timed))
            result = graded_files(LAYOUT, lab, read_files(folder), options)
            speedups = [one.value for test in result.tests for one in test.measurements if one.name == "speedup"]
            print(f"{folder.parent.name}/{lab.name}: {', '.join(f'{one:.3g}' for one in speedups)} times as fast")
            assert {test.name: test.points for test in result.tests} == {
                name: share * points for name, points in timed.items()
            }


def test_run_tells_the_times_of_a_program(tmp_path: Path) -> None:
    source = tmp_path / "twice.cu"
    source.write_text(
        "__global__ void twice(float* x) { x[blockIdx.x * 256 + threadIdx.x] *= 2; }\n"
        "int main() { float* x; cudaMalloc(&x, 1 << 20); for (int i = 0; i < 3; ++i) twice<<<1024, 256>>>(x);\n"
        "  return cudaDeviceSynchronize(); }\n"
    )
    profile = run.run(LAYOUT, [source], [], run.Options(device="gpu"))
    (kernel,) = profile.kernels
    assert (profile.exit_status, kernel.launches, kernel.counters) == (0, 3, {})
    assert 0 < kernel.shortest_ns <= kernel.total_ns / 3
    assert profile.clock_ns >= kernel.total_ns > 0
