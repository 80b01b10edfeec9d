"""What a file was called before a browser or a course platform renamed it: `matmul.cu` for `matmul (1).cu`."""

from __future__ import annotations

import re

# lovelaceada_12345_678910_matmul.cu, lovelaceada_LATE_12345_678910_matmul.cu, …_matmul-1.cu when handed in again.
_CANVAS = re.compile(r"(?:[^_]+_)+?\d{2,20}_\d{2,20}_(?P<rest>.+)", re.DOTALL)
_CANVAS_AGAIN = re.compile(r"(?P<stem>.+)-\d{1,3}(?P<suffix>\.[^.]+)", re.DOTALL)
# Ada Lovelace_1234567_assignsubmission_file_matmul.cu
_MOODLE = re.compile(r".+_\d{2,20}_assignsubmission_file_(?P<rest>.+)", re.DOTALL)
_DOWNLOADED_AGAIN = re.compile(r"(?P<stem>.+?)[ +_]?\(\d{1,3}\)(?P<suffix>\.[^.]+)", re.DOTALL)
_LONGEST = 255


def possible(name: str) -> list[str]:
    """Return the name, and those that it may have had before, the likeliest last."""
    names = [name]
    if len(name) > _LONGEST:
        return names
    if moodle := _MOODLE.fullmatch(name):
        names.append(moodle["rest"])
    elif canvas := _CANVAS.fullmatch(name):
        names.append(canvas["rest"])
        if again := _CANVAS_AGAIN.fullmatch(names[-1]):
            names.append(again["stem"] + again["suffix"])
    if copy := _DOWNLOADED_AGAIN.fullmatch(names[-1]):
        names.append(copy["stem"] + copy["suffix"])
    return names
