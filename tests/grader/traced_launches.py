"""Launches with recorded accesses, as a device server describes them."""

from typing import Any

ALL = 0xFFFFFFFF
UNKNOWN = {"file": "", "line": 0, "code": 0}


def array(name: str, size: int, *, begin: int = 0, variable: bool = True) -> dict[str, Any]:
    return {"memory": {"name": name, "variable": variable, "bytes": size, "allocated": UNKNOWN}, "begin": begin}


def access(line: int, place: int, offsets: list[tuple[int, int, int]], units: int, **more: Any) -> dict[str, Any]:
    return {
        "kind": "load", "space": "global", "bytes": 4, "mask": ALL, "line": line, "array": place, "block": 0, "warp": 0,
        "units": units, "conflicts": 0, "offsets": offsets, **more,
    }  # fmt: skip


def traced(name: str = "v0", file: str = "toy.cu", accesses: list[dict[str, Any]] | None = None) -> dict[str, Any]:
    """Line 3 reads a column of d, three times; line 4 reads rows of d, and a column and one word of tile."""
    shared = {"space": "shared"}
    if accesses is None:
        accesses = [
            *(access(0, 0, [(4 * k, 4096, 32)], 32) for k in range(3)),
            *(access(1, 0, [(4096 * k, 4, 32)], 4, warp=warp) for warp in (0, 1) for k in range(2)),
            access(1, 0, [(0, 4, 7)], 1, mask=127, kind="store"),
            access(1, 0, [(0, 0, 32)], 1),
            access(1, 0, [(64, 0, 1)], 1, mask=1, kind="atomic"),
            access(1, 1, [(0, 128, 32)], 32, conflicts=31, **shared),
            access(1, 1, [(0, 132, 32)], 1, **shared),
            access(1, 1, [(0, 0, 16), (64, 0, 16)], 1, **shared),
            access(1, 1, [(0, 16, 32)], 8, conflicts=4, bytes=16, kind="store", **shared),
            access(1, 0, [(0, 1, 32)], 1, bytes=1),
        ]
    trace = {
        "lines": [{"file": file, "line": 3}, {"file": file, "line": 4}],
        "arrays": [array("d", 1 << 20), array("tile", 4224, begin=4)],
        "accesses": accesses,
    }
    return {"kernel": f"_Z{len(name)}{name}Pf", "name": name, "grid": [4, 1, 1], "block": [64, 1, 1], "trace": trace}
