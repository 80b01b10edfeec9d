"""Where in a TOML file something stands: the parser gives values without lines, and a mistake is named with its own."""

import functools
import re
from collections.abc import Collection
from typing import Any

_TABLE = re.compile(r"\s*\[\[?\s*([\w.-]+)\s*\]")
_ENTRY = re.compile(r"\s*\[\[[^.\]]*\]\]")  # not [[lab.rubric]], which belongs to the entry above it
_KEY = re.compile(r"\s*([\w-]+)\s*=")


def find_line(text: str, table: str, index: int = 0, key: str = "") -> int:
    """Return the line of a key in the table of that name, of several the one numbered `index` from 0.

    Without such a key it is that of the table's head; 0 where there is no such table.
    """
    entries = _tables(text).get(table, [])
    if index >= len(entries):
        return 0
    head, keys = entries[index]
    return keys.get(key, head)


@functools.lru_cache(maxsize=8)
def _tables(text: str) -> dict[str, list[tuple[int, dict[str, int]]]]:
    """Return where the tables of each name begin, and the first line of each of their keys."""
    found: dict[str, list[tuple[int, dict[str, int]]]] = {}
    keys: dict[str, int] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if table := _TABLE.match(line):
            keys = {}
            found.setdefault(table[1], []).append((number, keys))
        elif key := _KEY.match(line):
            keys.setdefault(key[1], number)
    return found


def explain_error(message: str, raw: dict[str, Any], toml: str, tables: Collection[str]) -> tuple[int, str]:
    """Turn msgspec's `… - at $.test[1].points` into words that name the table, and its line.

    tables: the names of those that a file has once at most; all others are entries of a list.
    """
    text, _, place = message.partition(" - at `$.")
    text = text.replace("Object contains unknown field", "unknown key").replace(
        "Object missing required field", "missing key"
    )
    if not place:
        return 0, text
    parts = re.match(r"(\w+)(?:\[(\d+)\])?(.*)`$", place)
    if parts is None:
        return 0, message
    table, index, rest = parts.groups()
    unknown = re.search(r"`(\w+)`", text) if text.startswith("unknown key") else re.match(r"\.(\w+)", rest)
    line = find_line(toml, table, int(index or 0), unknown[1] if unknown else "")
    if index is None:
        return line, f"[{table}]{rest}: {text}" if table in tables else message
    entries = raw.get(table, [])
    entry = entries[int(index)] if isinstance(entries, list) and int(index) < len(entries) else None
    name = f" “{entry['name']}”" if isinstance(entry, dict) and isinstance(entry.get("name"), str) else ""
    return line, f"[[{table}]] number {int(index) + 1}{name}{rest}: {text}"


def line_with(toml: str, word: str, start: int) -> int:
    """Return the first line from `start` on, in this entry of a list of tables, that holds the word; else `start`."""
    lines = toml.splitlines()
    for number in range(max(start, 1), len(lines) + 1):
        if number > start and _ENTRY.match(lines[number - 1]):
            break
        if word in lines[number - 1]:
            return number
    return start
