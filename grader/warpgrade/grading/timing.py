"""The device that times speed tests, where it is another than the one that everything else runs on."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from warpgrade.lab.labs import SpeedItem, TestItem
from warpgrade.machine import device
from warpgrade.machine.device import Device
from warpgrade.machine.paths import Layout


def find(layout: Layout, requested: str, timing: str, items: Sequence[TestItem | SpeedItem]) -> Device | None:
    """Return the device that times in place of the requested one, if one does.

    With `auto` that is a GPU of the machine, if there is one and all speed tests among the items have points for it.
    """
    if timing:
        return device.resolve(layout, timing)
    speed = [item for item in items if isinstance(item, SpeedItem)]
    if requested != "auto" or not speed or any(item.gpu is None for item in speed):
        return None
    return device.find_gpu(layout)


def architecture(target: Device, timing: Device | None) -> int:
    """Return the compute capability to compile for, so that one program runs on both."""
    return min(target.architecture, timing.architecture if timing else target.architecture)


def judge_options(layout: Layout, timing: Device | None) -> list[str]:
    """Return what the judge's command line says of the device."""
    if timing is None:
        return []
    words = ["--timing-device", timing.spec]
    return words if timing.repeatable else [*words, "--timing-lock", str(_made(device.lock_file(layout, timing)))]


def _made(lock: Path) -> Path:
    lock.parent.mkdir(parents=True, exist_ok=True)
    return lock
