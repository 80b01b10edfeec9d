"""Replaces cells of a CSV file and leaves every other byte as it is.

Python's csv module would change quotes, line ends and the byte order mark.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from warpgrade.machine.errors import BadInput

_MARK = "\ufeff"
_MAX_BYTES = 64 << 20
_ENDS = {delimiter: re.compile(f"[{delimiter}\r\n]") for delimiter in ",;\t"}


@dataclass(frozen=True)
class Cell:
    """One cell: where its text is in the file, quotes included, and what it says."""

    start: int
    end: int
    value: str
    quoted: bool


@dataclass(frozen=True)
class Table:
    """The file's text, and its cells by rows; lines without any text are no rows."""

    text: str
    rows: list[list[Cell]]

    def replaced(self, values: Mapping[tuple[int, int], str]) -> bytes:
        """Return the file with new values in some cells, given by row and column: numbers, which need no quotes."""
        text, parts, at = self.text, [], 0
        for (row, column), value in sorted(values.items()):
            cell = self.rows[row][column]
            parts += [text[at : cell.start], f'"{value}"' if cell.quoted else value]
            at = cell.end
        return "".join([*parts, text[at:]]).encode("utf-8", "surrogateescape")


def read_table(raw: bytes) -> Table:
    """Read a file in any encoding that has ASCII in it; raises BadInput for what is no table."""
    if len(raw) > _MAX_BYTES:
        raise BadInput("the export is too large to be a gradebook")
    if b"\0" in raw:
        raise BadInput("the export is no text", hint="export it as CSV in UTF-8, not as a spreadsheet or in UTF-16")
    text = raw.decode("utf-8", "surrogateescape")
    begin = len(_MARK) if text.startswith(_MARK) else 0
    return Table(text, _rows(text, begin, _delimiter(text, begin)))


def _delimiter(text: str, begin: int) -> str:
    """Return what stands between the cells of the first line: a comma, a semicolon or a tab."""
    head = text[begin:].lstrip("\r\n").partition("\n")[0]
    outside = "".join(head.split('"')[::2])
    return max(",;\t", key=outside.count)


def _rows(text: str, begin: int, delimiter: str) -> list[list[Cell]]:
    rows: list[list[Cell]] = []
    row: list[Cell] = []
    at = begin
    while at <= len(text):
        if at == len(text) and not row:
            break
        cell, at = _cell(text, at, delimiter)
        row.append(cell)
        if at < len(text) and text[at] == delimiter:
            at += 1
            continue
        if len(row) > 1 or row[0].value.strip():
            rows.append(row)
        row = []
        if at >= len(text):
            break
        at += 2 if text.startswith("\r\n", at) else 1
    return rows


def _cell(text: str, start: int, delimiter: str) -> tuple[Cell, int]:
    """Return the cell that begins there, and where it ends."""
    if text.startswith('"', start):
        at = start + 1
        while True:
            end = text.find('"', at)
            if end < 0:
                raise BadInput("the export has a quote that does not end", hint="export it again")
            if not text.startswith('""', end):
                break
            at = end + 2
        after = end + 1
        if after < len(text) and text[after] not in (delimiter, "\r", "\n"):
            raise BadInput("the export has text after a quoted cell", hint="export it again")
        return Cell(start, after, text[start + 1 : end].replace('""', '"'), quoted=True), after
    found = _ENDS[delimiter].search(text, start)
    end = found.start() if found else len(text)
    return Cell(start, end, text[start:end], quoted=False), end
