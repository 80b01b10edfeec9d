"""Fills one column of an exported gradebook with grades, and leaves the rest of the file as it is."""

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import msgspec

from warpgrade.grading import result as results
from warpgrade.grading.result import Result
from warpgrade.machine.errors import BadInput
from warpgrade.machine.text import number, printable_name
from warpgrade.platforms import csv_cells
from warpgrade.platforms.adapter import Sheet
from warpgrade.platforms.csv_cells import Table

_FORMULA = re.compile(r"^[=+@\t\r]|^-(?!\s*\d)")


@dataclass
class FilledSheet:
    """The new file, and lists of the students whose grades were not written, with the reasons."""

    content: bytes
    written: int = 0
    kept: list[str] = field(default_factory=list)
    unmatched: list[str] = field(default_factory=list)
    not_final: list[str] = field(default_factory=list)
    without: list[str] = field(default_factory=list)
    formulas: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Grade:
    """The grade of a student. names: identifiers or names of files that may name the student, the best first.

    points: final, after everything that changes them; None where there is no grade. hidden_until: before this moment
    (ISO 8601) students may not learn them.
    """

    names: tuple[str, ...]
    points: float | None
    max_points: float
    hidden_until: str = ""

    @property
    def shown(self) -> str:
        """Its name in messages."""
        return printable_name(self.names[0])


def read_results(paths: Sequence[Path]) -> list[Grade]:
    """Read result files and folders of them; raises BadInput for other files and for results of several labs."""
    files = [file for path in paths for file in (sorted(path.glob("*.json")) if path.is_dir() else [path])]
    labs: set[str] = set()
    read = [_read(file, labs) for file in files]
    if not read:
        raise BadInput("there are no results", hint="name files that `warpgrade grade --json` wrote, or their folder")
    if len(labs) > 1:
        several = ", ".join(sorted(labs))
        raise BadInput(f"the results are of several labs: {several}", hint="a column has one lab's grades")
    return read


def _read(file: Path, labs: set[str]) -> Grade:
    """Return a result's grade; add its lab to those that were seen."""
    try:
        result = results.decode(file.read_bytes())
    except OSError as error:
        raise BadInput(f"{printable_name(str(file))} cannot be read: {error.strerror}") from None
    except msgspec.DecodeError:
        raise BadInput(
            f"{printable_name(str(file))} is no result", hint="`warpgrade grade --json` writes results"
        ) from None
    labs.add(result.lab.name)
    return result_grade(result, file.stem)


def result_grade(result: Result, file: str) -> Grade:
    """Return the grade of a result, under the names of the submission and of the result's file."""
    score = result.score
    most = max(score.max_points, 0.0)
    points = min(max(score.points, 0.0), most) if _is_grade(result) else None
    submission = result.submission.name.rstrip("/").rsplit("/", 1)[-1]
    names = [submission, submission.rpartition(".")[0], file]
    return Grade(tuple(dict.fromkeys(name for name in names if name)), points, score.max_points, result.hidden_until)


def fill(
    sheet: Sheet, raw: bytes, grades: Sequence[Grade], assignment: str, points: float | None, *, overwrite: bool
) -> FilledSheet:
    """Return the export with the grades in its column; raises BadInput when there is no such column."""
    table = csv_cells.read_table(raw)
    book = _Book(sheet, table, _headings(table))
    column = book.column(assignment)
    scale = _scale(book, column, grades, points)
    filled = FilledSheet(raw)
    chosen: dict[int, tuple[Grade, float]] = {}
    twice: set[int] = set()
    for each in grades:
        if each.points is None:
            filled.not_final.append(each.shown)
            continue
        fitting = book.students(each.names)
        if len(fitting) != 1:
            many = f": {' and '.join(book.name(row) for row in fitting)} fit" if fitting else ""
            filled.unmatched.append(each.shown + many)
        elif fitting[0] in chosen:
            twice.add(fitting[0])
            filled.unmatched.append(f"{each.shown}: a second result of {book.name(fitting[0])}")
        else:
            chosen[fitting[0]] = each, each.points
    for row in twice:
        filled.unmatched.append(f"{chosen.pop(row)[0].shown}: one of several results of {book.name(row)}")
    values: dict[tuple[int, int], str] = {}
    for row, (_, earned) in chosen.items():
        value = number(earned * scale, 2)
        if reason := book.refuses(row, column, value, overwrite=overwrite):
            filled.kept.append(f"{book.name(row)}: {reason}")
        elif not _same(book.cell(row, column), value):
            values[row, column] = value
    done = {*chosen, *twice}
    filled.without = [book.name(row) for row in book.student_rows if row not in done]
    filled.formulas = [book.name(row) for row in book.student_rows if book.has_formula(row)]
    filled.content, filled.written = table.replaced(values), len(values)
    return filled


def _is_grade(result: Result) -> bool:
    final = result.status != "error" and not result.score.error_points and not result.score.pending_points
    return final and result.scope == "all"


def _scale(book: "_Book", column: int, grades: Sequence[Grade], points: float | None) -> float:
    """Return how many points of the column a point of the lab is; raises BadInput if it must be given and is not."""
    most = max((each.max_points for each in grades), default=0.0)
    if points is not None:
        return points / most if most else 0.0
    possible = book.possible(column)
    if possible is not None and most and not math.isclose(possible, most):
        raise BadInput(
            f"the column is out of {number(possible, 2)} points, and the lab of {number(most, 2)}",
            hint=f"--points {number(possible, 2)} scales the grades",
        )
    return 1.0


def _headings(table: Table) -> list[str]:
    if not table.rows:
        raise BadInput("the export is empty", hint="export the gradebook again")
    return [cell.value.strip() for cell in table.rows[0]]


def _same(old: str, new: str) -> bool:
    grade = _number(old)
    return grade is not None and math.isclose(grade, float(new), abs_tol=0.005)


def _number(text: str) -> float | None:
    try:
        value = float(text.strip().replace(",", "."))
    except ValueError:
        return None
    return value if math.isfinite(value) else None


@dataclass(frozen=True)
class _Book:
    """An exported gradebook: its columns, and the rows of students."""

    sheet: Sheet
    table: Table
    headings: list[str]

    def cell(self, row: int, column: int) -> str:
        cells = self.table.rows[row]
        return cells[column].value if column < len(cells) else ""

    def _at(self, heading: str) -> int | None:
        return self.headings.index(heading) if heading and heading in self.headings else None

    @cached_property
    def identifiers(self) -> list[int]:
        """The columns that say who a student is."""
        found = [place for name in self.sheet.identifiers if (place := self._at(name)) is not None]
        if not found:
            known = ", ".join(self.sheet.identifiers)
            raise BadInput(f"the export has none of the columns {known}", hint="is it that platform's, in English?")
        return found

    @cached_property
    def student_rows(self) -> list[int]:
        """The rows of students: those that have an identifier, which rows of points and notes do not."""
        columns = self.identifiers
        rows = range(1, len(self.table.rows))
        return [row for row in rows if any(self.cell(row, column).strip() for column in columns)]

    def name(self, row: int) -> str:
        """Return a student's name for messages."""
        columns = [place for name in self.sheet.names if (place := self._at(name)) is not None]
        return printable_name(" ".join(filter(None, (self.cell(row, place).strip() for place in columns))))

    def students(self, names: Iterable[str]) -> list[int]:
        """Return the rows of the first name that any row has."""
        for name in names:
            wanted = {name.casefold(), *self.sheet.find_ids(name)}
            if found := {row for each in wanted for row in self._by_identifier.get(each, ())}:
                return sorted(found)
        return []

    @cached_property
    def _by_identifier(self) -> dict[str, list[int]]:
        """The rows of each identifier, in small letters."""
        rows: dict[str, list[int]] = {}
        for row in self.student_rows:
            for column in self.identifiers:
                if value := self.cell(row, column).strip().casefold():
                    rows.setdefault(value, []).append(row)
        return rows

    def column(self, assignment: str) -> int:
        """Return the column of the assignment; raises BadInput with those that there are."""
        if not assignment and (place := self._at(self.sheet.only_column)) is not None:
            return place
        wanted = assignment.strip().casefold()
        suffix = self.sheet.heading_suffix
        fitting = [place for place, heading in enumerate(self.headings) if wanted and wanted in self._called(heading)]
        if len(fitting) != 1:
            about = f"has {'several columns' if fitting else 'no column'} “{printable_name(assignment)}”"
            others = [heading for heading in self.headings if suffix.search(heading)] or self.headings
            raise BadInput(
                f"the export {about}" if wanted else "--assignment NAME is missing: which column is it?",
                hint="there are: " + "; ".join(printable_name(heading) for heading in others[:20]),
            )
        if fitting[0] in self.identifiers or self.headings[fitting[0]] in self.sheet.names:
            raise BadInput(f"“{printable_name(assignment)}” says who a student is, and is no column of grades")
        return fitting[0]

    def _called(self, heading: str) -> set[str]:
        bare = self.sheet.heading_suffix.sub("", heading)
        return {heading.casefold(), bare.casefold(), bare.removeprefix("Assignment: ").casefold()}

    def possible(self, column: int) -> float | None:
        """Return the maximum points of the column, if the export has them."""
        for cells in self.table.rows[1:4] if self.sheet.most_points_row else ():
            if cells[0].value.strip().casefold() == self.sheet.most_points_row and column < len(cells):
                if self.sheet.read_only and self.sheet.read_only in cells[column].value:
                    raise BadInput("that column is read only: the platform computes it itself")
                return _number(cells[column].value)
        place = self._at(self.sheet.most_points_column)
        told = {_number(self.cell(row, place)) for row in self.student_rows} if place is not None else set()
        return told.pop() if len(told) == 1 else None

    def refuses(self, row: int, column: int, value: str, *, overwrite: bool) -> str:
        """Return why a student's cell must not be changed, or ""."""
        if column >= len(self.table.rows[row]):
            return "the row ends before the column"
        place = self._at(self.sheet.locked_column)
        if place is not None and self.cell(row, place).strip().casefold() == "no":
            return "the export says that this grade cannot be changed"
        old = self.cell(row, column).strip()
        if old and not _same(old, value) and not overwrite:
            return f"has {printable_name(old)}, and the grade is {value} (--overwrite replaces it)"
        return ""

    def has_formula(self, row: int) -> bool:
        """Whether a spreadsheet would take a cell of the row for a formula."""
        return any(_FORMULA.match(cell.value) for cell in self.table.rows[row])
