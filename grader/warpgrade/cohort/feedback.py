"""Feedback for each student of a class, in a zip that Moodle or Canvas takes, or with a folder a student."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import Literal

import msgspec

from warpgrade.cohort import feedback_text
from warpgrade.cohort.feedback_text import Feedback
from warpgrade.cohort.row import Row
from warpgrade.cohort.zip_names import Names, safe
from warpgrade.grading import platform_names
from warpgrade.grading.platform_names import OfCanvas
from warpgrade.grading.result import Result
from warpgrade.machine import files
from warpgrade.machine.errors import BadInput
from warpgrade.machine.text import printable_name

Kind = Literal["moodle", "canvas", "plain"]

_PAGE = "feedback.html"
_PARTICIPANT = re.compile(r"(?i)participant (?P<number>\d{1,20})")
_ARCHIVES = {".tar", ".gz", ".tgz", ".bz2", ".tbz2", ".xz", ".txz", ".7z", ".rar", ".pdf", ".docx"}
_WEB = {".html", ".htm"}
_COMMENTS = {".cu", ".cuh", ".c", ".cc", ".cpp", ".cxx", ".h", ".hpp"}


@dataclass
class Packed:
    """What became of the rows: how many files were written, and whom there is none for, with why."""

    files: int = 0
    left_out: list[str] = field(default_factory=list)


def write(
    archive: Path, kind: Kind, rows: Iterable[Row], load: Callable[[Row], Result | None], *,
    alias: Callable[[Row], str] = lambda row: "", title: str = "",
    hidden_until: str | None = None, now: datetime | None = None,
) -> Packed:  # fmt: skip
    """Write the zip, one student after the other; the same rows and results make the same bytes.

    load: the whole result of a row, of which one at a time is held. alias: what a student is called on the
    leaderboard, if on it. title: the lab's, where no result says it. hidden_until: as the course has it
    today (ISO 8601, or nothing), if it may have changed since the results were made. now: to compare that with.
    """
    packed = Packed()

    def told() -> Iterator[tuple[Row, Feedback]]:
        for row in rows:
            result = load(row)
            if result is not None and hidden_until is not None:
                result = msgspec.structs.replace(result, hidden_until=hidden_until)
            about = feedback_text.of_row(row, result, now, alias(row), title)
            if about is not None:
                yield row, about
            elif row.state not in ("missing", "waiting"):
                packed.left_out.append(f"{_who(row)}: the result cannot be found")

    make = {"moodle": _for_moodle, "canvas": _for_canvas, "plain": _plain}[kind]
    try:
        with files.replaced(archive.absolute()) as file:
            packed.files = files.pack(file, make(told(), packed.left_out))
    except OSError as error:
        raise BadInput(f"{printable_name(str(archive))} cannot be written: {error.strerror}") from None
    return packed


def _who(row: Row) -> str:
    return printable_name(row.name or row.student)


def _plain(told: Iterable[tuple[Row, Feedback]], left_out: list[str]) -> Iterator[tuple[str, bytes]]:
    names = Names()
    for row, about in told:
        yield f"{names.of(row.student)}/{_PAGE}", feedback_text.as_html(about)


def _for_moodle(told: Iterable[tuple[Row, Feedback]], left_out: list[str]) -> Iterator[tuple[str, bytes]]:
    """Yield what "Upload multiple feedback files in a zip" takes: Moodle finds the student by the number."""
    seen: set[str] = set()
    for row, about in told:
        number = _of_moodle(row)
        if not number or number in seen:
            why = "a second submission of one number" if number else "no name of Moodle's says which participant it is"
            left_out.append(f"{_who(row)}: {why}")
            continue
        seen.add(number)
        # An underscore ends the name; Moodle writes it as a blank too.
        name = safe(row.name or row.student).replace("_", " ").strip() or "student"
        yield f"{name}_{number}_assignsubmission_file_/{_PAGE}", feedback_text.as_html(about)


def _of_moodle(row: Row) -> str:
    for part in reversed(row.source.split("/")):
        if (found := platform_names.moodle(part)) and found.participant:
            return found.participant
    for name in (row.student, *row.identifiers):
        if number := _PARTICIPANT.fullmatch(name):
            return number["number"]
    return ""


def _for_canvas(told: Iterable[tuple[Row, Feedback]], left_out: list[str]) -> Iterator[tuple[str, bytes]]:
    """Yield what "Re-upload submissions" takes: files with the two numbers that Canvas had put into the name.

    Canvas shows each as a comment, under the name of the file that the student had handed in. So it is one of the same
    type: the feedback as a comment of C++, as text, or in a zip.
    """
    seen: set[tuple[str, int]] = set()
    for row, about in told:
        source = _first(PurePosixPath(row.source).name)
        found = platform_names.canvas(source)
        if found is None or not found.user or (found.user, found.file) in seen:
            why = "a second submission of one file" if found and found.user else "its name has not Canvas's numbers"
            left_out.append(f"{_who(row)}: {why}")
            continue
        suffix = PurePosixPath(source).suffix.lower()
        if suffix in _ARCHIVES:
            left_out.append(f"{_who(row)}: handed in a {suffix} file, and feedback would look like a damaged one")
            continue
        seen.add((found.user, found.file))
        yield _canvas_name(source, found, suffix), _as(suffix, about)


def _first(source: str) -> str:
    """Return the first of several files, which are listed with commas; a name may have commas of its own."""
    first, *others = source.split(", ")
    for other in others:
        if platform_names.canvas(other):
            break
        first += f", {other}"
    return first


def _canvas_name(source: str, numbers: OfCanvas, suffix: str) -> str:
    """Return the name itself, or one with its numbers: Canvas reads the first two, and ignores a link."""
    first, *_, last = source.split("_")
    if safe(source) == source and not first.isdigit() and not last.startswith("link"):
        return source
    return f"student_{numbers.user}_{numbers.file}_feedback{safe('x' + suffix)[1:]}"


def _as(suffix: str, about: Feedback) -> bytes:
    """Return the feedback in the type of the file whose name it will have."""
    if suffix in _WEB:
        return feedback_text.as_html(about)
    if suffix == ".zip":
        inner = io.BytesIO()
        files.pack(inner, [(_PAGE, feedback_text.as_html(about))])
        return inner.getvalue()
    text = feedback_text.as_text(about)
    if suffix in _COMMENTS:
        # A backslash at its end would make the next line part of it, which is a comment too.
        text = "".join(f"// {line}".rstrip() + "\n" for line in text.rstrip("\n").split("\n"))
    return text.encode()
