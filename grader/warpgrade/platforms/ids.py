"""Who a student is to Canvas and Moodle, read from what these call a submission that they hand out."""

from __future__ import annotations

import re
from typing import NamedTuple

# lovelaceada_LATE_12345_678910_matmul.cu
_CANVAS = re.compile(r"[^_]+(?:_LATE)?_(?P<user>\d{2,20})_(?P<file>\d{2,20})(?:_.*)?", re.DOTALL)
# Ada Lovelace_1234567_assignsubmission_file_matmul.cu, or the folder Ada Lovelace_1234567_assignsubmission_file_
_MOODLE = re.compile(r".+_(?P<user>\d{1,20})_assignsubmission_.*", re.DOTALL)


class OfCanvas(NamedTuple):
    """Canvas's numbers of the student and of the file that was handed in."""

    user: str
    file: str


def canvas(name: str) -> OfCanvas | None:
    """Return the numbers that Canvas has put into a file's name."""
    found = _CANVAS.fullmatch(name)
    return OfCanvas(found["user"], found["file"]) if found else None


def moodle(name: str) -> str:
    """Return the number of the student's hand-in, which is the worksheet's "Participant 1234567"; or nothing."""
    found = _MOODLE.fullmatch(name)
    return found["user"] if found else ""
