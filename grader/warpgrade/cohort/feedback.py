"""Feedback for each student of a class, in a zip that the platform takes, or with a folder a student."""

import io
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path, PurePosixPath

import msgspec

from warpgrade.cohort import feedback_text
from warpgrade.cohort.feedback_text import Feedback
from warpgrade.cohort.row import Row
from warpgrade.grading.result import Result
from warpgrade.machine import files
from warpgrade.machine.errors import BadInput
from warpgrade.machine.text import printable_name
from warpgrade.platforms.adapter import FeedbackFile
from warpgrade.platforms.file_names import is_source
from warpgrade.platforms.registry import ADAPTERS
from warpgrade.platforms.zip_names import Names

_PAGE = "feedback.html"
_WEB = {".html", ".htm"}


@dataclass
class FeedbackArchive:
    """How many files were written, and which students have none, with the reason."""

    files: int = 0
    left_out: list[str] = field(default_factory=list)


def write(
    archive: Path, platform: str, rows: Iterable[Row], load: Callable[[Row], Result | None], *,
    alias: Callable[[Row], str] = lambda row: "", title: str = "",
    hidden_until: str | None = None, now: datetime | None = None,
) -> FeedbackArchive:  # fmt: skip
    """Write the zip; the same rows and results make the same bytes.

    load: loads the result of a row; only one is in memory at a time. alias: returns a student's name on the
    leaderboard, or "". title: the lab's title, for rows without a result. hidden_until: the course's current date
    (ISO 8601 or ""), in place of the date in the results. now: the time to compare it with.
    """
    packed = FeedbackArchive()

    def read_feedback() -> Iterator[tuple[Row, Feedback]]:
        for row in rows:
            result = load(row)
            if result is not None and hidden_until is not None:
                result = msgspec.structs.replace(result, hidden_until=hidden_until)
            about = feedback_text.make_feedback(row, result, now, alias(row), title)
            if about is not None:
                yield row, about
            elif row.state not in ("missing", "waiting"):
                packed.left_out.append(f"{_display_name(row)}: the result cannot be found")

    try:
        with files.replacing_file(archive.absolute()) as file:
            packed.files = files.pack(file, _name_files(read_feedback(), platform, packed.left_out))
    except OSError as error:
        raise BadInput(f"{printable_name(str(archive))} cannot be written: {error.strerror}") from None
    return packed


def _display_name(row: Row) -> str:
    return printable_name(row.name or row.student)


def _name_files(
    feedback: Iterable[tuple[Row, Feedback]], platform: str, left_out: list[str]
) -> Iterator[tuple[str, bytes]]:
    """Yield the zip's files under the names that the platform expects; without a platform, in a folder a student."""
    name_feedback = ADAPTERS[platform].name_feedback
    seen: set[str] = set()
    folders = Names()
    for row, about in feedback:
        try:
            folder = folders.make_unique(row.student)
            named = name_feedback(row) if name_feedback else FeedbackFile(f"{folder}/{_PAGE}", folder)
        except BadInput as problem:
            left_out.append(f"{_display_name(row)}: {problem.message}")
            continue
        if named.key in seen:
            left_out.append(f"{_display_name(row)}: a second submission for {named.name}")
            continue
        seen.add(named.key)
        yield named.name, _render(PurePosixPath(named.name).suffix.lower(), about)


def _render(suffix: str, about: Feedback) -> bytes:
    """Return the feedback in the format of a file name's suffix: HTML, zip, source comment or text."""
    if suffix in _WEB:
        return feedback_text.render_html(about)
    if suffix == ".zip":
        inner = io.BytesIO()
        files.pack(inner, [(_PAGE, feedback_text.render_html(about))])
        return inner.getvalue()
    text = feedback_text.render_text(about)
    if is_source(f"x{suffix}"):
        # A backslash at its end would make the next line part of it, which is a comment too.
        text = "".join(f"// {line}".rstrip() + "\n" for line in text.rstrip("\n").split("\n"))
    return text.encode()
