"""Which measurements nothing may be fitted to. Written down before anything was measured."""

import hashlib
from typing import NamedTuple


def is_held_out(what: str) -> bool:
    """True for about half of the rows of tests/hardware/atomics.cu and histogram.cu, by their first column."""
    return hashlib.sha256(what.encode()).digest()[0] % 2 == 1


class HeldOutSet(NamedTuple):
    """Programs NAME_*.cu, their hashes NAME.sha256, and what was measured: NAME.md, and NAME.ncu.tsv if under ncu too.

    What is not measured yet is not compared.
    """

    name: str
    kernels: int
    is_stated: bool = False  # Results say how far the model is off for this set (warpgrade.machine.fidelity).
    other_requests: tuple[str, ...] = ()  # Kernels for which the GPU makes other requests than PTX says.
    shared_compared: tuple[int, int] = (0, 0)  # At least so many have the GPU's requests of shared loads, of stores.


SETS = (
    # Loads of wmma are not the GPU's; a grid that waits for others spins as often as it has to; lanes of a loop that
    # ptxas unrolls part where ours do not.
    HeldOutSet("families", 75, True, ("half_tensor", "total_grid", "spmv_scalar"), (12, 27)),
    HeldOutSet("second", 70),
    HeldOutSet("third", 51),
)
