"""The grades of a class as files: a table for people and spreadsheets, lines of JSON for programs, and grades for the
sheets that platforms export."""

from collections.abc import Iterable, Iterator
from typing import Final

import msgspec

from warpgrade.cohort.row import Mark, Row
from warpgrade.machine.text import clean_tree, csv_cell, number
from warpgrade.platforms.gradebook import Grade
from warpgrade.platforms.registry import is_submission_name

COLUMNS: Final = (
    "student", "name", "lab", "points", "max", "percent", "late", "state", "decision", "reason", "by", "at", "earned",
    "rubric", "submitted", "attempts", "problem", "review", "source", "result",
)  # fmt: skip
_MARK = "\ufeff"
_WIDTH = 1000


def csv(rows: Iterable[Row], *, mark: bool = True) -> Iterator[bytes]:
    """Yield a table in UTF-8, as RFC 4180 has it, a line a student.

    mark: with the mark at the beginning without which Excel reads no UTF-8. Text that a spreadsheet would run gets an
    apostrophe before it, which makes it text there; numbers stay numbers, also those with a sign.
    """
    yield ((_MARK if mark else "") + ",".join(COLUMNS) + "\r\n").encode()
    for row in rows:
        yield (",".join(_cells(row)) + "\r\n").encode()


def _cells(row: Row) -> Iterator[str]:
    decision = row.decision
    yield _text(row.student)
    yield _text(row.name)
    yield _text(row.lab)
    yield "" if row.points is None else number(row.points, 2)
    yield number(row.max_points, 2)
    percent = percent_of(row)
    yield "" if percent is None else number(percent, 2)
    yield _text(row.late)
    yield row.state
    yield number(decision.points, 2) if decision else ""
    yield from (map(_text, (decision.reason, decision.by, decision.at)) if decision else ("", "", ""))
    yield number(row.earned, 2)
    yield _text("; ".join(map(rubric_text, row.rubric)))
    yield _text(row.submitted)
    yield str(row.attempts)
    yield _text(row.problem)
    yield _text("; ".join(row.review))
    yield _text(row.source)
    yield _text(row.result)


def _text(value: str) -> str:
    return csv_cell(value, _WIDTH)


def rubric_text(mark: Mark) -> str:
    """Return `readability 8/10`, or `readability ?/10` if the points are not given yet."""
    points = "?" if mark.points is None else number(mark.points, 2)
    return f"{mark.item} {points}/{number(mark.max_points, 2)}"


def percent_of(row: Row) -> float | None:
    """Return the points in percent of all points; None if there is no grade."""
    return None if row.points is None or row.max_points <= 0 else round(100 * row.points / row.max_points, 2)


def json_lines(rows: Iterable[Row]) -> Iterator[bytes]:
    """Yield an object a student: all keys of a row, and `percent`; texts as they are, but on one clean line."""
    for row in rows:
        document = {**msgspec.to_builtins(row), "percent": percent_of(row)}
        yield msgspec.json.encode(clean_tree(document)) + b"\n"


def platform_grades(rows: Iterable[Row], *, missing: bool = True) -> list[Grade]:
    """Return the grades for `gradebook.fill`: points after deductions and decisions.

    missing: also the zeros of those who handed in nothing.
    """
    return [
        Grade(_names(row), row.points, row.max_points)
        for row in rows
        if missing or row.state != "missing" or row.decision is not None
    ]


def _names(row: Row) -> tuple[str, ...]:
    """Return the student's identifiers, and what was handed in if a platform has put its own number into the name."""
    source = row.source.rstrip("/").rsplit("/", 1)[-1]
    of_platform = [source] if is_submission_name(source) else []
    return tuple(dict.fromkeys([row.student, *row.identifiers, *of_platform]))
