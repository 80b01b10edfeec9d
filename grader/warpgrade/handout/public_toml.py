"""Writes the lab.toml for students, with the public tests only."""

import json
import math
from collections.abc import Iterator
from typing import Any

import msgspec

from warpgrade.lab.labs import Lab

# The sum of all points would tell of what is hidden; the sheet says the rest, and no check needs it.
_NOT_HANDED_OUT = ("points", "hours", "difficulty")


def text(lab: Lab, baseline: float) -> str:
    """Return the public part of a lab.toml; `baseline`: what the starter scores in the public tests."""
    lines = [
        f"# Lab {lab.name}, as it is handed out: its public tests.",
        *_table("lab", {**_set(lab.file.lab), "name": lab.name}),
    ]
    lines += _table("baseline", {"points": baseline})
    for name in ("limits", "headers"):
        lines += _table(name, _set(getattr(lab.file, name)))
    for kind in ("test", "speed"):
        for item in getattr(lab.file, kind):
            if not item.hidden:
                lines += _table(f"[{kind}]", _set(item))
    return "\n".join(lines) + "\n"


def _set(struct: msgspec.Struct) -> dict[str, Any]:
    """Return the fields that differ from their defaults."""
    values = {}
    for field in msgspec.structs.fields(type(struct)):
        value = getattr(struct, field.name)
        usual = field.default if field.default_factory is msgspec.NODEFAULT else field.default_factory()
        if field.required or (field.name not in _NOT_HANDED_OUT and value != usual):
            values[field.name] = value
    return values


def _table(name: str, values: dict[str, Any]) -> Iterator[str]:
    if values:
        yield f"\n[{name}]"
        yield from (f"{key} = {_value(value)}" for key, value in values.items())


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, dict):
        inside = ", ".join(f"{json.dumps(key)} = {_value(one)}" for key, one in value.items())
        return f"{{ {inside} }}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_value, value))}]"
    return f"{value:g}" if isinstance(value, float) and math.isfinite(value) else str(value)
