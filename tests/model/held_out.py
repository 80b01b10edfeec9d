"""Which measurements nothing may be fitted to. Written down before anything was measured."""

import hashlib


def is_held_out(what: str) -> bool:
    """True for about half of the rows of tests/hardware/atomics.cu and histogram.cu, by their first column."""
    return hashlib.sha256(what.encode()).digest()[0] % 2 == 1
