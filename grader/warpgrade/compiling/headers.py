"""Headers that do a lab's work: which of them a submission uses, as the compiler itself says.

The source is not asked, for macros, line splices and `#include_next` can hide a name from everyone but a preprocessor.
The host compiler writes down each file that it opens, in the host's pass and in the device's, and nothing in a source
file can turn that off.
"""

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path, PurePosixPath

from warpgrade.compiling.failure import Problem
from warpgrade.machine.errors import GraderError
from warpgrade.machine.text import printable_name

# GCC appends to this file what it reads, system headers as well.
RECORD_VARIABLE = "SUNPRO_DEPENDENCIES"

_MOST_BYTES = 16 << 20
_NAME = re.compile(r"(?:\\.|[^\s\\])+")


def refused(
    record: Path, unit: str, names: Sequence[str], *, folder: str, toolkits: Iterable[Path], compiled: bool
) -> Problem | None:
    """Return what to tell about the first header of these names that the compiler read; None: there is none.

    `folder` is where the compiler ran; names of folders that the toolkits themselves lie in say nothing. A unit that
    was `compiled` without a record is trouble of ours.
    """
    if not names:
        return None
    raw = _read(record)
    if raw is None and compiled:
        raise GraderError("the host compiler does not say which headers it reads", hint="use g++: set CXX to it")
    if raw is not None and len(raw) >= _MOST_BYTES:
        return Problem(  # what comes after is not looked at
            stage="compile", message=f"{unit} includes too many files", hint="include only what the lab needs"
        )
    found = first_of(
        names, read_files((raw or b"").decode("utf-8", errors="replace")), folder=folder, toolkits=list(toolkits)
    )
    if found is None:
        return None
    return Problem(
        stage="compile",
        message=f"{unit} uses <{printable_name(found)}>, which this lab does not allow: it does the lab's work",
        hint="remove the #include and write that part yourself",
    )


def read_files(record: str) -> Iterator[str]:
    """Return the names in what a compiler wrote for `make`, rule after rule, the rules' targets left out."""
    for rule in record.replace("\\\n", " ").split("\n"):
        for name in _NAME.findall(rule.partition(": ")[2]):
            yield re.sub(r"\\(.)", r"\1", name).replace("$$", "$")


def first_of(names: Sequence[str], files: Iterable[str], *, folder: str, toolkits: Sequence[Path]) -> str | None:
    """Return the first of the files that one of the names means: a header, or with a slash at its end a folder."""
    for file in dict.fromkeys(files):
        path = PurePosixPath(os.path.realpath(PurePosixPath(folder, file)))
        if path.parent == PurePosixPath(folder):
            continue  # the submission's own
        home = next((home for home in toolkits if path.is_relative_to(home)), None)
        inside = path.relative_to(home) if home else path
        for name in names:
            wanted = PurePosixPath(name).parts
            parts = inside.parts
            last = len(parts) - len(wanted)
            # A folder stands before the file, a header at the end.
            places = range(last) if name.endswith("/") else range(max(last, 0), last + 1)
            for at in places:
                if parts[at : at + len(wanted)] == wanted:
                    return "/".join(parts[at:])
    return None


def _read(record: Path) -> bytes | None:
    try:
        descriptor = os.open(record, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError:
        return None
    with os.fdopen(descriptor, "rb") as file:
        return file.read(_MOST_BYTES)
