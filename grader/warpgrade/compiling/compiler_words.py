"""What compilers and linkers say about a submission, with files named as the student knows them, and no others.

`#line` puts any name into a message. Own files keep theirs, the toolkit's headers are named without their folders, and
all else is <elsewhere>.
"""

import os
import re
from collections.abc import Callable, Collection, Sequence
from pathlib import Path, PurePosixPath

from warpgrade.machine.text import bounded, clean, printable_name

_LINES, _WIDTH = 2000, 1000
_ELSEWHERE = "<elsewhere>"
# Not files, but who is talking.
_SPEAKERS = {"collect2", "ld", "g++", "cc1plus", "as", "nvcc", "nvlink", "ptxas", "error", "warning"}
# `matmul.cu(3): error`, `In file included from a.cuh:3`, `a.cu: In function`, `at line 3 of a.cuh`.
_FILES = (
    re.compile(
        r"^(?P<lead>[ \t]*(?:In file included from |from )?)(?P<file>[^\s(:][^(:\n]*+)"
        r"(?=\(\d+\)|:\d+|: (?:In|At|Assembler) |:\(\.)",
        re.MULTILINE,
    ),
    re.compile(r"(?P<lead>\bat line \d{1,9} of \"?)(?P<file>[^\s\"]++)"),
)


def header_test(homes: Sequence[Path]) -> Callable[[str], bool]:
    """Return what tells whether a compiler's word for a file names a header in one of these folders."""

    def is_header(path: str) -> bool:
        name = os.path.normpath(path)
        try:
            return any(Path(name).is_relative_to(home) for home in homes) and Path(name).is_file()
        except (OSError, ValueError):
            return False

    return is_header


def as_the_student_knows_it(
    raw: bytes, own: Collection[str], folders: Sequence[str], is_header: Callable[[str], bool]
) -> str:
    """Return the words cleaned and bounded; `folders` are where the files were for the compiler."""
    words = bounded(clean(raw), lines=_LINES, width=_WIDTH)
    for folder in folders:
        words = re.sub(rf"(?<![^\s:(\"'`]){re.escape(folder)}/", "", words)  # at a path's beginning

    words = clean(words)  # `/folder/::error` begins a line with a command to GitHub now

    def rename(found: re.Match[str]) -> str:
        return found["lead"] + _name(found["file"], own, is_header)

    for pattern in _FILES:
        words = pattern.sub(rename, words)
    return words


def _name(file: str, own: Collection[str], is_header: Callable[[str], bool]) -> str:
    name = os.path.normpath(file)
    if name in own or file in _SPEAKERS:
        return name
    return f"<{printable_name(PurePosixPath(name).name)}>" if is_header(file) else _ELSEWHERE
