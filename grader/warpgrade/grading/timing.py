"""The device that times speed tests, where it is another than the one that everything else runs on."""

from __future__ import annotations

from pathlib import Path

from warpgrade.machine import device
from warpgrade.machine.device import Device
from warpgrade.machine.paths import Layout


def find(layout: Layout, timing: str) -> Device | None:
    """Return the device that times in place of the one that the rest runs on, if one is named."""
    return device.resolve(layout, timing) if timing else None


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
