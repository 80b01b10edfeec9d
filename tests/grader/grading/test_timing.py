"""Which device times speed tests."""

from __future__ import annotations

import pytest

from warpgrade.grading import timing
from warpgrade.lab import labs
from warpgrade.lab.labs import SpeedItem
from warpgrade.machine import device
from warpgrade.machine.device import Device
from warpgrade.machine.errors import BadInput
from warpgrade.machine.paths import find_layout

LAYOUT = find_layout()
GPU = Device("gpu", "gpu:0", "gpu", {"major": 8, "minor": 0}, repeatable=False, analysed=False)
VGPU = Device("auto", "vgpu:h100", "vgpu", {"major": 9, "minor": 0})
BOTH = SpeedItem("both", 1, vgpu=[(1, 0), (2, 1)], gpu=[(1, 0), (2, 1)])
VIRTUAL = SpeedItem("virtual", 1, vgpu=[(1, 0), (2, 1)])
OTHER = labs.TestItem("other", 1)


def test_auto_times_on_a_gpu_where_all_speed_tests_have_points_for_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device, "find_gpu", lambda layout: GPU)
    assert timing.find(LAYOUT, "auto", "", [OTHER, BOTH]) is GPU
    for requested, items in (("vgpu", [BOTH]), ("auto", [OTHER]), ("auto", [BOTH, VIRTUAL])):
        assert timing.find(LAYOUT, requested, "", items) is None


def test_one_program_runs_on_both_devices() -> None:
    assert timing.architecture(VGPU, None) == 90
    assert timing.architecture(VGPU, GPU) == 80
    assert timing.judge_options(LAYOUT, None) == []
    words = timing.judge_options(LAYOUT, GPU)
    assert words[:3] == ["--timing-device", "gpu:0", "--timing-lock"]


@pytest.mark.skipif(device.find_gpu(LAYOUT) is not None, reason="this machine has a GPU")
@pytest.mark.parametrize("name", ["gpu", "gpu:1"])
def test_a_machine_without_a_gpu_says_so_in_one_line(name: str) -> None:
    with pytest.raises(BadInput, match="no NVIDIA GPU") as told:
        device.resolve(LAYOUT, name)
    assert "\n" not in told.value.message
    assert timing.find(LAYOUT, "auto", "", [BOTH]) is None
