"""The device that a submission runs on, as named on the command line."""

import re
import shutil
import subprocess
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

import msgspec

from warpgrade.machine import facts, files
from warpgrade.machine.errors import BadInput, GraderError
from warpgrade.machine.paths import COMMAND, Layout
from warpgrade.machine.text import bounded, clean

DEFAULT_PROFILE = "h100"
# nvcc 13 compiles for compute capability 7.5 and newer; older profiles run the code for 7.5.
_MIN_ARCHITECTURE = 75
Kind = Literal["vgpu", "gpu", "plain"]  # the rows of grader/device/kinds.def: a test compares them
_KINDS: tuple[Kind, ...] = get_args(Kind)
_WITH_PROFILE = "|".join(kind for kind in _KINDS if kind != "gpu")
_SPEC = re.compile(rf"auto|(?:{_WITH_PROFILE})(?::(?P<profile>[A-Za-z0-9_-]+(?::(?:[0-9]+|all))?))?|gpu(?::[0-9]+)?")


@dataclass(frozen=True)
class Device:
    """A device that the device server can open.

    requested: its name on the command line. spec: its name for the device server. properties: what the server says of
    it. repeatable: each run gives the same bits and times. analysed: it tells counters, findings and origins.
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
    """Whether this is a device's name; the device may not be available."""
    return _SPEC.fullmatch(text) is not None


def resolve(layout: Layout, requested: str, *, whole: bool = False) -> Device:
    """Return the device named `auto`, `vgpu[:PROFILE[:SMS]]` or `gpu[:N]`; raises BadInput if it is not available.

    Without SMS, the device is the profile's usual slice, or with `whole` all of the profile's multiprocessors.
    """
    match = _SPEC.fullmatch(requested)
    if match is None:
        raise BadInput(
            f"unknown device “{clean(requested)}”",
            hint="use auto, vgpu, vgpu:PROFILE, vgpu:PROFILE:MULTIPROCESSORS (a number or all) or gpu:N",
        )
    kind = kind_of(requested)
    if kind == "gpu":
        spec = requested if ":" in requested else "gpu:0"
        properties = _described(layout.device_server, spec)  # no cache knows whether the GPU is still there
    else:
        profile = (match["profile"] or DEFAULT_PROFILE).lower()
        spec = f"{kind}:{profile}:all" if whole and ":" not in profile else f"{kind}:{profile}"
        properties = describe(layout, spec)
    row = properties.pop("kind")  # of grader/device/kinds.def
    return Device(
        requested=requested, spec=spec, kind=kind, properties=properties,
        repeatable=row["repeatable"], analysed=row["analysed"],
    )  # fmt: skip


def kind_of(requested: str) -> Kind:
    """Return the kind of the named device, which may not be available."""
    name = requested.partition(":")[0]
    return next((kind for kind in _KINDS if kind == name), "vgpu")


def hold_device(layout: Layout, target: Device) -> AbstractContextManager[None]:
    """Wait for a real GPU and keep other programs off it, because they would change its times."""
    return nullcontext() if target.repeatable else files.hold_lock(lock_file(layout, target))


def lock_file(layout: Layout, target: Device) -> Path:
    """Return the file whose lock the one program that may time something on the device holds."""
    return layout.state / "locks" / f"device-{target.spec.replace(':', '-')}"


def describe(layout: Layout, spec: str) -> dict[str, Any]:
    """Ask the device server what the device is."""
    program = layout.device_server
    return dict(facts.cached_answer(("device", spec), [program], lambda: _described(program, spec)))


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
