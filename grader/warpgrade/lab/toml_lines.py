"""Where in a TOML file something stands: the parser gives values without lines, and a mistake is named with its own."""

from __future__ import annotations

import re

_TABLE = re.compile(r"\s*\[\[?\s*([\w.-]+)\s*\]")
_KEY = re.compile(r"\s*([\w-]+)\s*=")


def line_of(text: str, table: str, index: int = 0, key: str = "") -> int:
    """Return the line of a key in the table of that name, of several the one numbered `index` from 0.

    Without such a key it is that of the table's head; 0 where there is no such table.
    """
    current, count, head = "", -1, 0
    for number, line in enumerate(text.splitlines(), 1):
        if found := _TABLE.match(line):
            if head:
                return head
            current = found[1]
            if current == table:
                count += 1
                head = number if count == index else 0
        elif head and key and (found := _KEY.match(line)) and found[1] == key:
            return number
    return head
