"""What a GPU was like while it timed; nvidia-smi is played by a script."""

import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from warpgrade.grading import gpu_state
from warpgrade.grading.gpu_state import GpuState
from warpgrade.grading.judge import Case
from warpgrade.machine.device import Device

GPU = Device("gpu:1", "gpu:1", "gpu", {}, repeatable=False, analysed=False)
SPEED: Any = [SimpleNamespace(name="speed")]
QUIET = "1755, 1980, 41, Not Active, Not Active, Not Active"


def seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rows: str = QUIET, programs: str = "", on: Device | None = GPU
) -> GpuState:
    script, told = tmp_path / "nvidia-smi", tmp_path / "told"
    script.write_text(
        f'#!/bin/sh\ncase "$*" in *compute-apps*) printf "{programs}"; exit;; esac\n'
        f'printf "{rows}\\n"; echo "$@" > {told}.new; mv {told}.new {told}; exec sleep 100\n',
        encoding="utf-8",
    )
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    with gpu_state.Watch(on) as watch:
        if on == GPU:
            while not told.exists():
                time.sleep(0.01)
            assert "-i 1 " in told.read_text(encoding="utf-8")
    return watch.state


def test_a_quiet_gpu_is_told_with_its_clock_and_temperature(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = r"345, 1980, 40, Not Active, Not Active, Not Active\n1980, 1980, 52, Not Active, Not Active, Not Active"
    state = seen(tmp_path, monkeypatch, rows, r"/opt/warpgrade-gpu\n/opt/warpgrade-device\n[Not Found]\n")
    assert state.disturbed == ""
    assert state.line == (
        "the GPU that took the times: up to 1980 of 1980 MHz, 52 °C; not slowed down, and used by nobody else"
    )


@pytest.mark.parametrize(
    ("rows", "programs", "reason"),
    [
        ("900, 1980, 90, Active, Not Active, Not Active", "", "was slowed down by heat while"),
        ("900, 1980, 90, Not Active, Active, Active", "", "was slowed down by heat and by its power supply while"),
        (QUIET, r"/usr/bin/python3\n", "1 other program used the GPU that took the times (python3)"),
    ],
)
def test_times_of_a_disturbed_gpu_are_never_scored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rows: str, programs: str, reason: str
) -> None:
    state = seen(tmp_path, monkeypatch, rows, programs)
    assert reason in state.disturbed
    assert state.disturbed in state.line
    cases = {name: Case(name, "pass") for name in ("right", "speed")}
    refused = gpu_state.refuse_disturbed(cases, SPEED, state)
    assert refused["right"] == cases["right"]
    assert refused["speed"].status == "error"
    assert refused["speed"].message.startswith(state.disturbed)
    failed = {"speed": Case("speed", "fail")}
    assert gpu_state.refuse_disturbed(failed, SPEED, state) == failed  # its results are wrong


def test_where_nothing_is_known_times_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for state in (
        seen(tmp_path, monkeypatch, "[N/A], [N/A], [N/A], [N/A], [N/A], [N/A]"),
        seen(tmp_path, monkeypatch, "No devices were found"),
        seen(tmp_path, monkeypatch, on=None),
        seen(tmp_path, monkeypatch, on=Device("vgpu", "vgpu:h100", "vgpu", {})),
    ):
        assert (state.line, state.disturbed) == ("", "")
        cases = {"speed": Case("speed", "pass")}
        assert gpu_state.refuse_disturbed(cases, SPEED, state) == cases
