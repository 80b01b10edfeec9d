"""The device that times speed tests, where it is another than the one that everything else runs on."""

from warpgrade.machine import device
from warpgrade.machine.device import Device
from warpgrade.machine.paths import Layout


def find(layout: Layout, timing: str) -> Device | None:
    """Return the device that times in place of the one that the rest runs on, if one is named."""
    return device.resolve(layout, timing) if timing else None


def architecture(target: Device, timing: Device | None) -> int:
    """Return the compute capability to compile for, so that one program runs on both."""
    return min(target.architecture, timing.architecture if timing else target.architecture)


def judge_options(layout: Layout, target: Device, timing: Device | None) -> list[str]:
    """Return what the judge's command line says of the device that times."""
    if timing is None:
        return []
    words = ["--timing-device", timing.spec]
    if timing.repeatable or timing.spec == target.spec:  # the lock of the target is held around the judge
        return words
    lock = device.lock_file(layout, timing)
    lock.parent.mkdir(parents=True, exist_ok=True)
    return [*words, "--timing-lock", str(lock)]
