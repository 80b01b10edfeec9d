"""What the reference counts in a lab's tests, beside what a submission counts there: labs/<lab>/tests/good.json.

`prove` writes the file and compares it. It stands for one profile of the virtual GPU. Numbers that change with the
values of the inputs are not in it.
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

import msgspec

from warpgrade.lab.handout_note import HANDOUT
from warpgrade.lab.labs import Lab

_FILE = "good.json"


class GoodNumber(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """What a check of a test says, which tells it from the others, and what the reference counts."""

    name: str
    relation: str
    limit: float
    good: float
    unit: str = ""
    upper: float | None = None


class GoodNumbers(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The whole file: for one device, by name of the test."""

    device: str
    tests: dict[str, list[GoodNumber]]


def path(lab: Lab) -> Path:
    """Return where a lab's numbers are kept."""
    return lab.folder / (HANDOUT if lab.is_handout else "tests") / _FILE


def read(lab: Lab) -> GoodNumbers | None:
    """Return a lab's numbers; None where it has none, or not of this form: they are help, and no part of a grade."""
    try:
        return msgspec.json.decode(path(lab).read_bytes(), type=GoodNumbers)
    except (OSError, msgspec.DecodeError):
        return None


def encode(numbers: GoodNumbers, tests: Collection[str]) -> bytes:
    """Return the file with these tests, a line for each number."""
    blocks = []
    for name, rows in numbers.tests.items():
        if name in tests and rows:
            lines = ",\n".join(f"   {msgspec.json.encode(row).decode()}" for row in rows)
            blocks.append(f"  {msgspec.json.encode(name).decode()}: [\n{lines}\n  ]")
    inside = ",\n".join(blocks)
    device = msgspec.json.encode(numbers.device).decode()
    return f'{{\n "device": {device},\n "tests": {{\n{inside}\n }}\n}}\n'.encode()
