"""Who is in the class: a CSV file with a heading row, as registrars, course platforms and spreadsheets write it."""

import csv
import io
import re
import unicodedata
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Literal

from warpgrade.machine.errors import BadInput
from warpgrade.machine.text import listing, printable_name
from warpgrade.platforms.registry import ADAPTERS, SHEETS

_MAX_BYTES = 64 << 20
_MAX_STUDENTS = 1_000_000
_MAX_CELL_LENGTH = 1000
Column = Literal["id", "account", "student", "name", "first", "last", "submitted"]

_MOODLES_TIME = "%A, %d %B %Y, %I:%M %p"  # Monday, 8 March 2027, 11:59 PM
_ACCOUNTS = tuple(heading for adapter in ADAPTERS.values() for heading in adapter.account_headings)
# Headings in letters and digits only. Of several identifiers the first of these is what a student is called by.
_IDENTIFIERS = (
    "studentid", "id", "studentnumber", "idnumber", "sid", "sisid", "sisuserid", "orgdefinedid", "identifier",
    "integrationid", "matriculationnumber", "sisloginid", "loginid", "login", "netid", "username", "user", "email",
    "emailaddress", "mail", *_ACCOUNTS,
)  # fmt: skip
# Rows of exported gradebooks that are no student's.
_NO_STUDENTS = tuple(sheet.most_points_row for sheet in SHEETS.values() if sheet.most_points_row)
_NAMES: dict[str, Column] = {
    "name": "name", "fullname": "name", "studentname": "name", "displayname": "name", "student": "student",
    "first": "first", "firstname": "first", "givenname": "first", "last": "last", "lastname": "last",
    "surname": "last", "familyname": "last",
    # When the student handed in: the last is a column of Moodle's grading worksheet.
    "submitted": "submitted", "submittedat": "submitted", "submissiontime": "submitted",
    "lastmodifiedsubmission": "submitted",
}  # fmt: skip


@dataclass(frozen=True)
class Student:
    """Somebody on the roster: the identifier, the name for people, all identifiers, the line.

    submitted: when the student handed in, if the roster says it; without a zone as the course has it.
    """

    id: str
    name: str
    identifiers: tuple[str, ...]
    line: int
    submitted: datetime | None = None


@dataclass
class Roster:
    """The class, and who is who in it."""

    students: list[Student] = field(default_factory=list)
    by_identifier: dict[str, Student] = field(default_factory=dict)
    by_account: dict[str, Student] = field(default_factory=dict)
    by_name: dict[str, Student | None] = field(default_factory=dict)

    def find(self, identifiers: Iterable[str], accounts: Iterable[str] = (), name: str = "") -> Student | None:
        """Return the student with one of these identifiers; by name only if no other student has the same name."""
        for table, words in ((self.by_identifier, identifiers), (self.by_account, accounts)):
            for word in words:
                if found := table.get(_folded(word)):
                    return found
        return self.by_name.get(_letters(name)) if name else None


def read(path: Path) -> Roster:
    """Read a roster; raises BadInput with the line where it is not one."""
    shown = printable_name(str(path))
    try:
        with path.open("rb") as file:
            raw = file.read(_MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        raise BadInput(f"{shown} cannot be read: {getattr(error, 'strerror', error)}") from None
    if len(raw) > _MAX_BYTES:
        raise BadInput(f"{shown} is too large to be a roster")
    return _parsed(_text(raw, shown), shown)


def _text(raw: bytes, shown: str) -> str:
    hint = "save it as “CSV UTF-8”"
    if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        try:
            return raw.decode("utf-16")
        except UnicodeDecodeError:
            raise BadInput(f"{shown} begins like UTF-16 and is not", hint=hint) from None
    if raw.startswith(b"PK\x03\x04"):
        raise BadInput(f"{shown} is a spreadsheet, not CSV", hint=hint)
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise BadInput(f"{shown}, line {line}: the text is not in UTF-8", hint=hint) from None
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise BadInput(f"{shown}, line {line}: this is no text", hint=hint)
    return text


def _parsed(text: str, shown: str) -> Roster:
    lines = list(io.StringIO(text, newline=""))
    skipped = 0
    delimiter = ""
    # As some spreadsheets begin a file, for other spreadsheets.
    if lines and (said := re.fullmatch(r'"?sep=(.)"?\s*', lines[0])):
        delimiter, skipped = said[1], 1
    while skipped < len(lines) and not lines[skipped].strip():
        skipped += 1
    if skipped == len(lines):
        raise BadInput(f"{shown} is empty", hint="its first line should head the columns: id,name")
    outside = "".join(lines[skipped].split('"')[::2])
    rows = csv.reader(lines[skipped:], delimiter=delimiter or max(",;\t", key=outside.count), strict=True)
    roster = Roster()
    columns: list[Column | None] = []
    ranks: list[int] = []
    try:
        for row in rows:
            line = skipped + rows.line_num
            cells = [cell.strip() for cell in row]
            if not any(cells):
                continue
            if not columns:
                columns, ranks = _columns(cells, f"{shown}, line {line}")
                continue
            _add(roster, _student(cells, columns, ranks, line, shown), cells, columns, shown)
            if len(roster.students) > _MAX_STUDENTS:
                raise BadInput(f"{shown} has more than {_MAX_STUDENTS} students")
    except csv.Error as error:
        raise BadInput(f"{shown}, line {skipped + rows.line_num}: {error}", hint="save it as CSV again") from None
    if not roster.students:
        raise BadInput(f"{shown} has no students", hint="each line after the first should be one")
    return roster


def _columns(headings: Sequence[str], where: str) -> tuple[list[Column | None], list[int]]:
    """Return what each column is, and how good an identifier."""
    plain = [re.sub(r"[^a-z0-9]", "", heading.casefold()) for heading in headings]
    columns: list[Column | None] = [
        "account" if each in _ACCOUNTS else "id" if each in _IDENTIFIERS else _NAMES.get(each) for each in plain
    ]
    others = {column for column in columns if column != "student"}
    # In some gradebooks `Student` is the name, beside `ID`; where there is no other identifier, it is that.
    meaning: Column = "name" if others & {"id", "account"} and not others & {"name", "first", "last"} else "id"
    columns = [meaning if column == "student" else column for column in columns]
    if not {"id", "account"} & set(columns):
        raise BadInput(
            f"{where}: no column is headed as an identifier, only {listing(list(headings))}",
            hint=f"head one of them id, login, username, email or {_ACCOUNTS[0]}",
        )
    ranks = [_IDENTIFIERS.index(each) if each in _IDENTIFIERS else 0 for each in plain]
    return columns, ranks


def _student(
    cells: Sequence[str], columns: Sequence[Column | None], ranks: Sequence[int], line: int, shown: str
) -> Student | None:
    if any(len(cell) > _MAX_CELL_LENGTH for cell in cells):
        raise BadInput(f"{shown}, line {line}: a cell has more than {_MAX_CELL_LENGTH} characters")
    if len(cells) > len(columns) and any(cells[len(columns) :]):
        raise BadInput(f"{shown}, line {line}: there are more cells than headings", hint="save it as CSV again")
    told = [
        (rank, cell) for rank, cell, column in zip(ranks, cells, columns, strict=False) if column in ("id", "account")
    ]
    identifiers = [cell for _, cell in sorted(told, key=lambda pair: pair[0]) if cell]
    words = {column: cell for cell, column in zip(cells, columns, strict=False) if column and cell}
    name = words.get("name") or f"{words.get('first', '')} {words.get('last', '')}".strip()
    if not identifiers:
        if name.casefold().startswith(_NO_STUDENTS):
            return None
        raise BadInput(f"{shown}, line {line}: {printable_name(name) if name else 'the student'} has no identifier")
    submitted = _moment(words.get("submitted", ""), f"{shown}, line {line}")
    return Student(identifiers[0], name, tuple(dict.fromkeys(identifiers)), line, submitted)


def _moment(cell: str, where: str) -> datetime | None:
    """Return a moment, as ISO 8601 or as Moodle writes it in English; None of one who has handed in nothing."""
    if cell in ("", "-"):
        return None
    for parse in (datetime.fromisoformat, lambda text: datetime.strptime(text, _MOODLES_TIME)):
        with suppress(ValueError):
            return parse(cell)
    raise BadInput(f"{where}: {printable_name(cell)} is no time", hint="write it as 2027-03-08 23:59")


def _add(
    roster: Roster, student: Student | None, cells: Sequence[str], columns: Sequence[Column | None], shown: str
) -> None:
    if student is None:
        return
    for word in student.identifiers:
        other = roster.by_identifier.setdefault(_folded(word), student)
        if other is not student:
            raise BadInput(
                f"{shown}, line {student.line}: {printable_name(word)} is in line {other.line} already",
                hint="each student should have one line, and identifiers of their own",
            )
    for cell, column in zip(cells, columns, strict=False):
        if column == "account" and cell:
            roster.by_account[_folded(cell)] = student
    words = {column: cell for cell, column in zip(cells, columns, strict=False) if column}
    for key in _orders(words.get("name", ""), words.get("first", ""), words.get("last", "")):
        if roster.by_name.setdefault(key, student) is not student:
            roster.by_name[key] = None  # two of one name: the name does not say who it is
    roster.students.append(student)


def _folded(word: str) -> str:
    return unicodedata.normalize("NFC", word.strip()).casefold()


def _letters(name: str) -> str:
    return "".join(filter(str.isalnum, _folded(name)))


def _orders(name: str, first: str, last: str) -> set[str]:
    """Return the letters of a name in both orders: first name first, and last name first."""
    before, comma, after = name.partition(",")
    if not comma:
        before, _, after = name.rpartition(" ")
    keys = {before + after, after + before, first + last, last + first}
    return {letters for key in keys if (letters := _letters(key))}
