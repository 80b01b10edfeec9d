"""Moodle's assignment: "Download all submissions", the grading worksheet, "Upload multiple feedback files in a zip".

The names are those of its own source, mod/assign/classes/downloader.php.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from warpgrade.lab.labs import Lab
from warpgrade.machine.errors import BadInput
from warpgrade.platforms.adapter import (
    MAX_NAME_LENGTH,
    Adapter,
    Attempt,
    Contents,
    Entry,
    Export,
    FeedbackFile,
    Recipient,
    Sheet,
)
from warpgrade.platforms.zip_names import safe

# Ada Lovelace_1234567_assignsubmission_file_/matmul.cu, and before the files were put into folders, or if they shall
# not be, Ada Lovelace_1234567_assignsubmission_file_matmul.cu. A group may have no number.
_NAME = re.compile(
    r"(?P<name>.+?)(?:_(?P<participant>\d{1,20}))?_assignsubmission_(?P<type>file|onlinetext)(?:_(?P<rest>.*))?",
    re.DOTALL,
)
_PARTICIPANT = re.compile(r"(?i)participant (?P<number>\d{1,20})")


class MoodleName(NamedTuple):
    """`participant` is the worksheet's "Participant 1234567"; empty for a group without a number."""

    name: str
    participant: str
    typed: bool
    rest: str


def parse_name(name: str) -> MoodleName | None:
    """Return the parts of a name that Moodle gave to a folder or a file."""
    found = _NAME.fullmatch(name) if len(name) <= MAX_NAME_LENGTH else None
    if found is None:
        return None
    part = found.groupdict(default="")
    return MoodleName(part["name"], part["participant"], part["type"] == "onlinetext", part["rest"])


def _original_names(name: str) -> list[str]:
    parsed = parse_name(name)
    return [parsed.rest] if parsed and parsed.rest else []


def _read(_: Lab, __: str, entries: Sequence[Entry]) -> Contents:
    """Read names of folders, or of files."""
    students: dict[str, list[Entry]] = {}
    names: dict[str, str] = {}
    contents = Contents([])
    for entry in entries:
        parsed = parse_name(entry.name)
        if parsed is None:
            contents.unclaimed.append((entry, "not named as Moodle names submissions"))
        elif parsed.typed:
            contents.others.append(f"{entry.shown}: typed in the browser")
        else:
            student = parsed.participant or parsed.name
            students.setdefault(student, []).append(entry)
            names.setdefault(student, parsed.name)
    contents.attempts.extend(
        Attempt(student, several, names[student], identifiers=(f"Participant {student}",))
        for student, several in students.items()
    )
    return contents


def _find_ids(name: str) -> list[str]:
    parsed = parse_name(name)
    return [f"participant {parsed.participant}"] if parsed and parsed.participant else []


def _name_feedback(recipient: Recipient) -> FeedbackFile:
    """Name a page as Moodle names submissions: it finds the student by the number."""
    number = _participant(recipient)
    if not number:
        raise BadInput("no name of Moodle's says which participant it is")
    # An underscore ends the name; Moodle writes it as a blank too.
    name = safe(recipient.name or recipient.student).replace("_", " ").strip() or "student"
    return FeedbackFile(f"{name}_{number}_assignsubmission_file_/feedback.html", number)


def _participant(recipient: Recipient) -> str:
    for part in reversed(recipient.source.split("/")):
        if (parsed := parse_name(part)) and parsed.participant:
            return parsed.participant
    numbers = map(_PARTICIPANT.fullmatch, (recipient.student, *recipient.identifiers))
    return next((number["number"] for number in numbers if number), "")


ADAPTER = Adapter(
    title="Moodle",
    original_names=_original_names,
    export=Export(lambda entry: parse_name(entry.name) is not None, _read, certainty=3),
    sheet=Sheet(
        identifiers=("Identifier", "ID number", "Email address", "Username"),
        names=("Full name", "First name", "Last name", "Surname"),
        heading_suffix=re.compile(r"\s+\((?:Real|Points)\)$"),
        find_ids=_find_ids,
        only_column="Grade",
        most_points_column="Maximum Grade",
        locked_column="Grade can be changed",
    ),
    name_feedback=_name_feedback,
)
