"""Which device times speed tests."""

from pathlib import Path

import pytest

from warpgrade.grading import timing
from warpgrade.machine import device
from warpgrade.machine.device import Device
from warpgrade.machine.errors import BadInput
from warpgrade.machine.paths import find_layout

LAYOUT = find_layout()
GPU = Device("gpu", "gpu:0", "gpu", {"major": 8, "minor": 0}, repeatable=False, analysed=False)
VGPU = Device("auto", "vgpu:h100", "vgpu", {"major": 9, "minor": 0})


def test_nothing_but_a_named_device_times_in_place_of_the_one_that_all_else_runs_on() -> None:
    assert timing.find(LAYOUT, "") is None
    named = timing.find(LAYOUT, "plain:t4")
    assert named is not None
    assert (named.kind, named.architecture) == ("plain", 75)
    with pytest.raises(BadInput, match="unknown device"):
        timing.find(LAYOUT, "gpus")


def test_one_program_runs_on_both_devices() -> None:
    assert timing.architecture(VGPU, None) == 90
    assert timing.architecture(VGPU, GPU) == 80
    assert timing.judge_options(LAYOUT, VGPU, None) == []
    words = timing.judge_options(LAYOUT, VGPU, GPU)
    assert words[:3] == ["--timing-device", "gpu:0", "--timing-lock"]
    assert timing.judge_options(LAYOUT, GPU, GPU) == words[:2]  # who holds the lock already would wait for ever


@pytest.mark.skipif(Path("/dev/nvidiactl").exists(), reason="this machine has a GPU")
@pytest.mark.parametrize("name", ["gpu", "gpu:1"])
def test_a_machine_without_a_gpu_says_so_in_one_line(name: str) -> None:
    with pytest.raises(BadInput, match="no NVIDIA GPU") as told:
        device.resolve(LAYOUT, name)
    assert "\n" not in told.value.message
