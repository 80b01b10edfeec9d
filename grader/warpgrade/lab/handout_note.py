"""The note in a handout, `.warpgrade/handout.json`: of which lab it is, its format, and which Warpgrade made it.

FORMAT numbers all that a handout made by one Warpgrade and the programs of another must agree on: the files in
`.warpgrade/` and the keys of lab.toml, the judge's command line and verdicts, what it says to worker, sandbox and
device server, and how its binding is linked. It is raised when a handout that was made before no longer works, and
MIN_FORMAT with it; if only new handouts need a newer Warpgrade, FORMAT alone. A test watches these files.
"""

from pathlib import Path

import msgspec

from warpgrade import __version__
from warpgrade.machine.errors import GraderError
from warpgrade.machine.text import printable_name

# In the folder that students get: what checking needs besides what they read and write.
HANDOUT = ".warpgrade"
FORMAT = 12
MIN_FORMAT = 12  # that is still read
_NAME = "handout.json"
_MAX_BYTES = 4096
_AGAIN = "fetch the lab again and copy your work into it"


class Note(msgspec.Struct, frozen=True):
    """What handout.json says; later formats may say more."""

    lab: str
    warpgrade: str
    format: int = 0


def write(handout: Path, lab: str) -> None:
    """Write the note of a lab's handout."""
    note = Note(lab=lab, warpgrade=__version__, format=FORMAT)
    (handout / HANDOUT / _NAME).write_bytes(msgspec.json.encode(note) + b"\n")


def require_readable(handout: Path) -> None:
    """Refuse a handout that this Warpgrade cannot read, before anything else in it is; raises GraderError."""
    try:
        with (handout / HANDOUT / _NAME).open("rb") as file:
            note = msgspec.json.decode(file.read(_MAX_BYTES), type=Note)
    except (OSError, msgspec.DecodeError, RecursionError):
        raise GraderError(f"{HANDOUT}/{_NAME} is missing or broken", hint=_AGAIN) from None
    if MIN_FORMAT <= note.format <= FORMAT:
        return
    maker = printable_name(note.warpgrade, 20)
    made = f"this lab was handed out in format {note.format}, by Warpgrade {maker}"
    reads = f"format {FORMAT}" if MIN_FORMAT == FORMAT else f"formats {MIN_FORMAT} to {FORMAT}"
    if note.format > FORMAT:
        raise GraderError(
            f"{made}: that is newer than this Warpgrade, {__version__}, which reads {reads}",
            hint="install the newer Warpgrade as its CHECK.md says",
        )
    raise GraderError(
        f"{made}: that is older than what this Warpgrade, {__version__}, reads ({reads})",
        hint=f"{_AGAIN}, or install Warpgrade {maker} as its CHECK.md says",
    )
