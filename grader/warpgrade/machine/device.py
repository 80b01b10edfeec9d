"""The device that a submission runs on, as named on the command line."""

from __future__ import annotations

import re
import shutil
import subprocess
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import msgspec

from warpgrade.machine import facts, files
from warpgrade.machine.errors import BadInput, GraderError
from warpgrade.machine.paths import COMMAND, Layout
from warpgrade.machine.text import bounded, clean

DEFAULT_PROFILE = "h100"
# nvcc 13 compiles for compute capability 7.5 and newer; older profiles run the code for 7.5.
_MIN_ARCHITECTURE = 75
_SPEC = re.compile(
    r"auto|(?:vgpu|plain)(?::(?P<profile>[A-Za-z0-9_-]+(?::(?:[0-9]+|all))?))?|gpu(?::(?P<index>[0-9]+))?"
)
Kind = Literal["vgpu", "plain", "gpu"]


@dataclass(frozen=True)
class Device:
    """A device: how it was asked for, what the device server is told, what it says of itself.

    repeatable: it gives the same bits and times each time. analysed: it tells counters, findings and origins.
    """

    requested: str
    spec: str
    kind: Kind
    properties: dict[str, Any]
    repeatable: bool = True
    analysed: bool = True

    @property
    def architecture(self) -> int:
        """The compute capability to compile for, e.g. 90."""
        major, minor = (int(self.properties.get(key, 0)) for key in ("major", "minor"))
        return max(10 * major + minor, _MIN_ARCHITECTURE)

    @property
    def title(self) -> str:
        """The device in a few words."""
        name = self.properties.get("name")
        return f"{self.spec} ({name})" if name else self.spec


def is_spec(text: str) -> bool:
    """Tell whether that is how a device is named, be it available or not."""
    return _SPEC.fullmatch(text) is not None


def resolve(layout: Layout, requested: str, *, whole: bool = False) -> Device:
    """Return the device of `auto`, `vgpu[:PROFILE[:SMS]]` or `gpu[:N]`; raises BadInput when it is not available.

    Where SMS is not said, it is the profile's usual slice, or all of the device if `whole`.
    """
    match = _SPEC.fullmatch(requested)
    if match is None:
        raise BadInput(
            f"unknown device “{clean(requested)}”",
            hint="use auto, vgpu, vgpu:PROFILE, vgpu:PROFILE:MULTIPROCESSORS (a number or all) or gpu:N",
        )
    if requested.startswith("gpu"):
        there = "this machine has a GPU, but " if machine_gpus() else "this machine has no NVIDIA GPU, and "
        raise BadInput(
            f"device {requested} is not available: {there}this build runs on the virtual GPU only",
            hint="leave --device out, or use vgpu",
        )
    profile = (match["profile"] or DEFAULT_PROFILE).lower()
    kind = kind_of(requested)
    spec = f"{kind}:{profile}:all" if whole and ":" not in profile else f"{kind}:{profile}"
    properties = describe(layout, spec)
    row = properties.pop("kind")  # of grader/device/kinds.def
    return Device(
        requested=requested, spec=spec, kind=kind, properties=properties,
        repeatable=row["repeatable"], analysed=row["analysed"],
    )  # fmt: skip


def kind_of(requested: str) -> Kind:
    """Return the kind of device that is asked for, be it available or not."""
    name = requested.partition(":")[0]
    return "gpu" if name == "gpu" else "plain" if name == "plain" else "vgpu"


def hold_device(layout: Layout, target: Device) -> AbstractContextManager[None]:
    """Return the token of a device: one program at a time runs on a real GPU, or its times would not be its own."""
    if target.repeatable:
        return nullcontext()
    return files.hold_lock(layout.state / "locks" / f"device-{target.spec.replace(':', '-')}")


def describe(layout: Layout, spec: str) -> dict[str, Any]:
    """Ask the device server what the device is."""
    program = layout.device_server
    return dict(facts.asked_once(("device", spec), [program], lambda: _described(program, spec)))


def _described(program: Path, spec: str) -> dict[str, Any]:
    try:
        done = subprocess.run(
            [str(program), "--device", spec, "--describe"], capture_output=True, timeout=60, check=False,
            stdin=subprocess.DEVNULL,
        )  # fmt: skip
    except FileNotFoundError:
        raise GraderError("the C++ part is not built", hint=f"run {COMMAND}, which builds it") from None
    except subprocess.TimeoutExpired:
        raise GraderError("the device server does not answer") from None
    if done.returncode != 0:
        reason = bounded(clean(done.stderr).strip().removeprefix(f"{program.name}: "), lines=3)
        raise BadInput(f"device {spec} is not available: {reason}")
    try:
        return msgspec.json.decode(done.stdout, type=dict[str, Any])
    except msgspec.DecodeError:
        raise GraderError("this grader cannot read the device server's description of its device") from None


def machine_gpus() -> list[str]:
    """Return the names of the machine's NVIDIA GPUs, as nvidia-smi has them."""
    program = shutil.which("nvidia-smi")
    if program is None:
        return []
    try:
        done = subprocess.run(
            [program, "--query-gpu=name,driver_version", "--format=csv,noheader"], capture_output=True, timeout=20,
            check=False, stdin=subprocess.DEVNULL,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return []
    return [line.strip() for line in clean(done.stdout).splitlines() if line.strip()] if done.returncode == 0 else []
