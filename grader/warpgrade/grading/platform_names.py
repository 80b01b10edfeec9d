"""What Canvas and Moodle call a file that they hand out: whose it is, and what it was called before.

The patterns are those of their own sources (content_zipper.rb; mod/assign, downloader.php). Nothing else here reads
such names.
"""

from __future__ import annotations

import re
from typing import NamedTuple

# lovelaceada_LATE_12345_678910_matmul.cu; without names: LATE_anon_x1Y2z_678910_matmul.cu. The last number is the
# file's, and grows from one hand-in to the next.
_CANVAS = re.compile(
    r"(?:(?P<name>.+?)(?P<late>_LATE)?_(?P<user>\d{2,20})|(?P<late2>LATE_)?anon_(?P<anonymous>[A-Za-z0-9]{3,12}))"
    r"_(?P<file>\d{2,20})_(?P<rest>.+)",
    re.DOTALL,
)
_CANVAS_TYPED = re.compile(r".+_\w{3,20}_(?:text|link)\.html", re.DOTALL)
# matmul-1.cu, of who hands in again.
_CANVAS_AGAIN = re.compile(r"(?P<stem>.+)-\d{1,3}(?P<suffix>\.[^.]+)", re.DOTALL)
# Ada Lovelace_1234567_assignsubmission_file_/matmul.cu, and before the files were put into folders, or if they shall
# not be, Ada Lovelace_1234567_assignsubmission_file_matmul.cu. A group may have no number.
_MOODLE = re.compile(
    r"(?P<name>.+?)(?:_(?P<participant>\d{1,20}))?_assignsubmission_(?P<type>file|onlinetext)(?:_(?P<rest>.*))?",
    re.DOTALL,
)
# matmul (1).cu, of who downloads again.
_DOWNLOADED_AGAIN = re.compile(r"(?P<stem>.+?)[ +_]?\(\d{1,3}\)(?P<suffix>\.[^.]+)", re.DOTALL)
_LONGEST = 300


class OfCanvas(NamedTuple):
    """`user` is Canvas's number of the student; nothing where names are hidden, and then `anonymous` stands for it."""

    name: str
    user: str
    anonymous: str
    file: int
    late: bool
    rest: str


class OfMoodle(NamedTuple):
    """`participant` is the worksheet's "Participant 1234567"; nothing for a group without a number."""

    name: str
    participant: str
    typed: bool
    rest: str


def canvas(name: str) -> OfCanvas | None:
    """Return the parts of a name that Canvas gave to a file."""
    found = _CANVAS.fullmatch(name) if len(name) <= _LONGEST else None
    if found is None:
        return None
    part = found.groupdict(default="")
    late = bool(part["late"] or part["late2"])
    return OfCanvas(part["name"], part["user"], part["anonymous"], int(part["file"]), late, part["rest"])


def is_typed_in_canvas(name: str) -> bool:
    """Whether Canvas gave this name to what was typed in the browser."""
    return len(name) <= _LONGEST and _CANVAS_TYPED.fullmatch(name) is not None


def moodle(name: str) -> OfMoodle | None:
    """Return the parts of a name that Moodle gave to a folder or a file."""
    found = _MOODLE.fullmatch(name) if len(name) <= _LONGEST else None
    if found is None:
        return None
    part = found.groupdict(default="")
    return OfMoodle(part["name"], part["participant"], part["type"] == "onlinetext", part["rest"])


def possible(name: str) -> list[str]:
    """Return the name, and those that it may have had before a browser or a platform renamed it, the likeliest last."""
    names = [name]
    if len(name) > _LONGEST:
        return names
    if (of_moodle := moodle(name)) and of_moodle.rest:
        names.append(of_moodle.rest)
    elif of_canvas := canvas(name):
        names.append(of_canvas.rest)
        if again := _CANVAS_AGAIN.fullmatch(names[-1]):
            names.append(again["stem"] + again["suffix"])
    if copy := _DOWNLOADED_AGAIN.fullmatch(names[-1]):
        names.append(copy["stem"] + copy["suffix"])
    return names
