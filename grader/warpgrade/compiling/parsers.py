"""nvcc's two parsers, which begin where CUDA's headers end: `grader/resume` says how.

cudafe++ and cicc each read a text of which all but the end is the same for every submission of a lab. Two images of
each, made of the starter, are part of a head start: `warpgrade-resume` lies in the parser's place in the sandbox, and
goes on from the later image that fits, where it is called with the same words for a text with the same headers. Else it
calls the parser.
"""

from __future__ import annotations

import platform
from collections.abc import Mapping
from pathlib import Path

from warpgrade.compiling.toolchain import Compilers
from warpgrade.machine import facts
from warpgrade.machine.cpu import identity
from warpgrade.machine.paths import Layout

# In the sandbox; grader/resume/image.hpp knows them as well.
PROC = "/parse/proc"
_PROGRAMS = "/parse"
_RECORDER = "/parse/record.so"
STEP = "parse"  # of a head start, and of what is recorded for one


def depends_on(layout: Layout) -> list[str]:
    """Return what an image is made for besides the compilers: our own programs, this kernel and this processor."""
    parts = [layout.program("warpgrade-resume"), _library(layout)]
    return [platform.release(), identity(), *(facts.digest(part) for part in parts if part.is_file())]


def stand_ins(layout: Layout, compilers: Compilers, *, recorded: bool = False) -> Mapping[str, Path]:
    """Return what lies where in the sandbox, as `Run.read_only`: in the parsers' places, and they elsewhere."""
    resume, library = layout.program("warpgrade-resume"), _library(layout)
    parsers = compilers.parsers
    if not parsers or not all(path.is_file() for path in (resume, library)):
        return {}
    return {
        **{str(parser): resume for parser in parsers},
        **{f"{_PROGRAMS}/{parser.name}": parser for parser in parsers},
        **({_RECORDER: library} if recorded else {}),
    }


def keep_images(recorded: Path, folder: Path) -> None:
    """Move what was recorded into a head start."""
    for image in (recorded / STEP).glob("*"):
        image.replace(folder / f"{STEP}.{image.name}")


def _library(layout: Layout) -> Path:
    return layout.libraries / "libwarpgrade-record.so"
