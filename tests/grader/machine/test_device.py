"""Kinds of device, and how many programs may use one at a time."""

import re
import threading
from typing import get_args

from warpgrade.machine import device
from warpgrade.machine.device import Device
from warpgrade.machine.paths import Layout, find_layout


def together(layout: Layout, target: Device) -> bool:
    """Tell whether two threads are on a device at the same time."""
    inside, met = threading.Barrier(2), []

    def work() -> None:
        with device.hold_device(layout, target):
            try:
                inside.wait(timeout=0.3)
                met.append(True)
            except threading.BrokenBarrierError:
                pass

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return len(met) == 2


def test_one_program_at_a_time_runs_on_a_real_gpu_and_many_on_virtual_ones(layout: Layout) -> None:
    assert not together(layout, Device("gpu:0", "gpu:0", "gpu", {}, repeatable=False, analysed=False))
    assert together(layout, Device("vgpu", "vgpu:h100", "vgpu", {}))


def test_kinds_are_those_of_the_table() -> None:
    table = (find_layout().root / "grader" / "device" / "kinds.def").read_text(encoding="utf-8")
    assert list(get_args(device.Kind)) == re.findall(r"^WG_DEVICE_KIND\((\w+)", table, re.MULTILINE)
