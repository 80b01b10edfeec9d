"""Reads names of files: the kind of the file, and its name before a browser renamed it."""

import re
from collections.abc import Sequence
from pathlib import PurePosixPath

from warpgrade.lab.labs import Lab
from warpgrade.platforms.adapter import MAX_NAME_LENGTH

_SOURCE_SUFFIXES = {".cu", ".cuh", ".c", ".cc", ".cpp", ".cxx", ".h", ".hpp"}
_TARS = re.compile(r"\.(tar|tgz|tbz2?|txz|tar\.(gz|bz2|xz))\Z", re.IGNORECASE)
_PLAIN_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]{0,99}")
# matmul (1).cu, of who downloads again.
_COPY = re.compile(r"(?P<stem>.+?)[ +_]?\(\d{1,3}\)(?P<suffix>\.[^.]+)", re.DOTALL)


def is_source(name: str) -> bool:
    """Whether a file of that name should hold source code."""
    return PurePosixPath(name).suffix.lower() in _SOURCE_SUFFIXES


def is_archive(name: str) -> bool:
    """Whether a file of that name should be an archive that is read."""
    return name.lower().endswith(".zip") or _TARS.search(name) is not None


def without_archive_suffix(name: str) -> str:
    """Return an archive's name without its suffix."""
    return name[:-4] if name.lower().endswith(".zip") else _TARS.sub("", name)


def without_copy_number(name: str) -> str:
    """Return the name without the number that a browser gives to copies, such as “ (1)”."""
    copy = _COPY.fullmatch(name) if len(name) <= MAX_NAME_LENGTH else None
    return copy["stem"] + copy["suffix"] if copy else name


def choose_lab_name(lab: Lab, names: Sequence[str]) -> str:
    """Return the lab's name of a file, or ""; `names` are the names that it may have had, the likeliest last."""
    taken = [name for name in names if lab.allows(name) and _PLAIN_NAME.fullmatch(name)]
    listed = [name for name in taken if name in (*lab.file.lab.files, lab.answers)]
    # A pattern of the lab's fits the platform's name as well as the student's.
    return next(iter([*listed, *reversed(taken)]), "")
