"""The instructions of PTX that nvcc made of each source line, by the places that -lineinfo keeps."""

import re
from collections.abc import Sequence
from typing import Final

from warpgrade.machine.text import one_line

PtxLines = dict[str, dict[int, list[str]]]

_FILE: Final = re.compile(r'^\s*\.file\s+(\d{1,6})\s+"([^"]*)"', re.MULTILINE)
_PLACE: Final = re.compile(r"\s*\.loc\s+(\d{1,6})\s+(\d{1,7})\b")
_INSTRUCTION: Final = re.compile(r"\s*(?:@!?%\w+\s+)?[a-z]")
_UNIT: Final = re.compile(r"^(?=\.version\b)", re.MULTILINE)
_MAX_OF_LINE, _MAX_WIDTH, _MAX_ALL = 120, 120, 6000


def read(code: bytes, names: Sequence[str]) -> PtxLines:
    """Return {file: {line: instructions}} of the files with these names; what is too long is cut."""
    found: PtxLines = {}
    count = 0
    for unit in _UNIT.split(code.decode(errors="replace")):
        files = {number: _own_name(path, names) for number, path in _FILE.findall(unit)}
        into: list[str] | None = None
        for row in unit.split("\n"):
            if place := _PLACE.match(row):
                name = files.get(place[1], "")
                into = found.setdefault(name, {}).setdefault(int(place[2]), []) if name else None
            elif into is not None and len(into) < _MAX_OF_LINE and count < _MAX_ALL and _INSTRUCTION.match(row):
                into.append(one_line(row.strip(), _MAX_WIDTH))
                count += 1
    return found


def _own_name(path: str, names: Sequence[str]) -> str:
    return next((name for name in names if path == name or path.endswith(f"/{name}")), "")
