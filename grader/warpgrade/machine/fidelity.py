"""How far a device's results, counters and times can be trusted: what each result says of it, and why.

docs/virtual-gpu.md has the same rows, and a test compares them. Whoever measures anew changes them here.
"""

from collections.abc import Iterable

import msgspec

from warpgrade.machine.device import Device
from warpgrade.machine.text import one_line

_MAX_UNSUPPORTED, _WIDTH = 10, 200
_MEASURED_DEVICE = "NVIDIA H100"
_NOT_MEASURED = "not measured on this device"


class Modelled(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is not counted or timed but computed by a model, and how far that was off where it was measured."""

    what: str
    error: str


class Fidelity(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the device did exactly, what it modelled, and what it lacked.

    measured_on: the device on which the errors were measured. unsupported: what the program needed and did not get.
    """

    device: str
    summary: str
    exact: list[str]
    modelled: list[Modelled]
    measured_on: str = ""
    unsupported: list[str] = []

    @property
    def line(self) -> str:
        """The statement in one short line."""
        lacking = f"; not supported: {', '.join(self.unsupported)}" if self.unsupported else ""
        return self.summary + lacking


EXACT = [
    "results: nvcc's PTX, instruction by instruction; 1033 forms of opcodes give an H100's bits, and approximate "
    "functions stay within PTX's bounds",
    "counters of global requests and sectors, registers, possible occupancy, and shared wavefronts where ptxas merges "
    "no accesses: those of Nsight Compute, which has up to 7 % more wavefronts where others wait; instructions are "
    "PTX's",
]
REAL = "times of speed tests on a real GPU: its own, of kernels, copies and fills, by its events"
MODELLED = [
    Modelled("L1 hit rates", "half of 69 kernels within 0.2 points, nine tenths within 8.4, the worst 48.4 off"),
    Modelled(
        "sectors that L1 requests from L2",
        "half of 69 kernels within a factor of 1.01, nine tenths within 1.47, the worst 15.14 off",
    ),
    Modelled(
        "sectors read from device memory",
        "half of 69 kernels within a factor of 1.01, nine tenths within 1.07, the worst 3.06 off",
    ),
    Modelled("achieved occupancy", "half of 77 kernels within 6.3 points, nine tenths within 25.4, the worst 52.1 off"),
    Modelled(
        "times",
        "half of 34 kernels within 25 %; of 159 with atomics or very many blocks two thirds; of 149 of single "
        "instructions, chains of loads and of what overlaps five sixths",
    ),
    Modelled(
        "times of held-out kernels",
        "half of 59 kernels within a factor of 1.14, nine tenths within 1.43, the worst 2.02 off",
    ),
]


def state(target: Device, unsupported: Iterable[str] = (), timing: Device | None = None) -> Fidelity:
    """Return the statement for a device, and the one that times speed tests in its place, if one does."""
    name = str(target.properties.get("name") or target.requested)
    lacking = list(dict.fromkeys(one_line(what, _WIDTH) for what in unsupported))[:_MAX_UNSUPPORTED]
    if target.kind == "gpu":
        return Fidelity(name, "results and times are the GPU's own; nothing counted", [REAL], [], unsupported=lacking)
    if timing is not None and timing.kind == "gpu":
        real = str(timing.properties.get("name") or timing.requested)
        rest = state(target, unsupported)
        return msgspec.structs.replace(
            rest, summary=f"results exact; speed measured on {one_line(real, _WIDTH)}", exact=[*rest.exact, REAL]
        )
    if not target.analysed:
        return Fidelity(name, "results exact; nothing counted or timed", EXACT[:1], [], unsupported=lacking)
    if not name.startswith(_MEASURED_DEVICE):
        unknown = [Modelled(one.what, _NOT_MEASURED) for one in MODELLED]
        return Fidelity(name, "results exact; times modelled, and never compared with this device", EXACT, unknown,
                        unsupported=lacking)  # fmt: skip
    return Fidelity(name, "results exact; times modelled, for half of 34 kernels within 25 % of an H100's", EXACT,
                    MODELLED, f"{_MEASURED_DEVICE} 80GB HBM3", lacking)  # fmt: skip
