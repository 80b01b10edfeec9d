"""What the reference counts in a lab's tests, beside what a submission counts there: labs/<lab>/tests/good.json.

`prove` writes the file and compares it. It stands for one profile of the virtual GPU. Numbers that change with the
values of the inputs are not in it, nor those that a check asks for exactly.
"""

from collections.abc import Collection
from pathlib import Path
from typing import TypeAlias

import msgspec

from warpgrade.lab.handout_note import HANDOUT
from warpgrade.lab.labs import Lab

_FILE = "good.json"


# Of a test, by name of the check, then by its relation: what the reference counts, then the limit or both limits.
TestNumbers: TypeAlias = dict[str, dict[str, list[list[float]]]]


class GoodNumbers(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The whole file: for one device, by name of the test."""

    device: str
    tests: dict[str, TestNumbers]


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
    """Return the file with these tests, a line for each name of a check."""
    blocks = []
    for test, names in numbers.tests.items():
        if test in tests and names:
            lines = ",\n".join(f"   {_json(name)}: {_json(rows)}" for name, rows in names.items())
            blocks.append(f"  {_json(test)}: {{\n{lines}}}")
    inside = ",\n".join(blocks)
    return f'{{\n "device": {_json(numbers.device)},\n "tests": {{\n{inside}\n }}\n}}\n'.encode()


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()
