"""What of course.toml leaves the course: one lab's entry and what applies to it, without the names of students."""

import json
from collections.abc import Collection, Iterator
from datetime import datetime
from typing import Any

import msgspec

from warpgrade.course.course import Course


def lab_excerpt(course: Course, name: str, tests: Collection[str]) -> str:
    """Return a course.toml with that lab alone, and points of those tests only; "" where it is not in the course."""
    entry = course.entry(name)
    if entry is None:
        return ""
    points = {test: points for test, points in entry.points.items() if test in tests}
    entry = msgspec.structs.replace(entry, points=points, weight=entry.weight or 1)  # a course needs some weight
    file = course.file
    lines = [
        "# Made from the course's course.toml: one lab, and no student's name.",
        f"schema = {file.schema}",
        # Its dates have their offsets: a machine that grades needs no database of time zones.
        *_table("[course]", msgspec.structs.replace(file.course, timezone="")),
        *_table("[[lab]]", entry),
        *_table("[late]", file.late),
        *_table("[policy]", file.policy),
    ]
    return "\n".join(lines) + "\n"


def _table(head: str, struct: msgspec.Struct) -> Iterator[str]:
    rows = []
    for field in msgspec.structs.fields(type(struct)):
        value = getattr(struct, field.name)
        usual = field.default if field.default_factory is msgspec.NODEFAULT else field.default_factory()
        if field.required or value != usual:
            rows.append(f"{field.encode_name} = {_value(value)}")
    if rows:
        yield from ("", head, *rows)


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, list):
        return "[" + ", ".join(_value(msgspec.to_builtins(each)) for each in value) + "]"
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{_value(key)} = {_value(each)}" for key, each in value.items()) + " }"
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else str(value)
