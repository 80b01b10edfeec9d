"""A head start for nvcc: what it makes of the headers that a lab's starter includes is made once for all submissions.

A third of nvcc's time goes into the same headers again. It calls the host compiler three times: to preprocess a file
for the host, to do so for the device, and to compile what cudafe++ made of the first. `host_compiler.sh` stands in the
compiler's place, with a folder beside it that holds

    preprocess.*/   of each of the two passes: the text of cuda_runtime.h, which nvcc includes before anything else, and
                    its macros, which are all that is needed to preprocess what comes after it
    host.*/         beginnings of what cudafe++ writes, with a precompiled header of each: up to the first line of the
                    starter's own, and up to the end of cuda_runtime.h
    alone/          of each unit without kernels: how nvcc calls the host compiler for it, which is all that it does

All are used only where the compiler is called with the same words and the text begins with the same bytes, and only
for what compiles without a word: errors and warnings come from a compiler that saw the whole. The object file is the
same, which `tests/grader/compiling/test_head_start.py` compares. All of it is made from the starter, in the sandbox, so
that nothing of one submission is ever in another's.
"""

import re
import shlex
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from warpgrade.machine import cache

RECORD_VARIABLE = "WARPGRADE_RECORD"
FOLDER = "/head-start"  # in the sandbox
COMPILER = "g++"  # the script's name there
PREFIX = "prefix.hpp"
PREPROCESS, HOST = "preprocess", "host"  # the steps that it knows
_ALONE = "alone"
_SCRIPT = Path(__file__).with_name("host_compiler.sh")
_MARKER = re.compile(r'^# \d+ "((?:\\.|[^"\\])*)"((?: \d)*)$')
_DEFINED = re.compile(r"^#(define|undef) (\w+)")
_STATE = re.compile(r"^#pragma GCC diagnostic (push|pop|ignored|warning|error)\b")
_SYSTEM_HEADER = "3"  # among the flags of a line marker


_MANY = 4  # files of a lab: who has compiled so many will compile more

_lock = threading.Lock()
_compiled: dict[Path, int] = {}


@dataclass(frozen=True)
class Beginning:
    """A beginning of what cudafe++ writes, the words that the host compiler was called with, and they as one line."""

    text: str
    words: list[str]
    asked: str


def is_worth_while(folder: Path) -> bool:
    """Tell, once, when this process has compiled several files without the head start that would be kept there."""
    with _lock:
        _compiled[folder] = _compiled.get(folder, 0) + 1
        return _compiled[folder] == _MANY


def key(words: list[str], given: Mapping[str, bytes], starter: bytes) -> str:
    """Return what a head start is kept by."""
    return cache.key(["head start", *words], {**given, "": starter, COMPILER: _SCRIPT.read_bytes()})


def put_script(folder: Path, compiler: Path) -> None:
    """Write the stand-in for a host compiler into a folder."""
    (folder / "compiler").write_text(f"{compiler}\n")
    (folder / COMPILER).write_bytes(_SCRIPT.read_bytes())
    (folder / COMPILER).chmod(0o755)


def keep_preprocessed(recorded: Path, folder: Path) -> None:
    """Keep what was recorded of a file that holds nothing: the text of cuda_runtime.h, and its macros."""
    for number, made in enumerate(_whole(recorded / PREPROCESS, last="text.ii")):
        target = folder / f"{PREPROCESS}.{number}"
        target.mkdir()
        for name in ("asked", "text.ii"):
            (target / name).write_bytes((made / name).read_bytes())
        macros = list(_macros((made / "macros").read_text(), (made / "origins").read_text()))
        for name, first, of_system in (("system.h", "#pragma GCC system_header\n", True), ("own.h", "", False)):
            lines = [line for line, is_system in macros if is_system is of_system]
            (target / name).write_text(first + "".join(f"{line}\n" for line in lines))


def beginnings(recorded: Path, unit: str) -> Iterator[Beginning]:
    """Yield of what was recorded what precedes the first line of the unit itself."""
    for made in _whole(recorded / HOST, last="whole.cpp"):
        text = prefix((made / "whole.cpp").read_text(), unit)
        yield Beginning(text, (made / "words").read_text().splitlines(), (made / "asked").read_text())


def _whole(folder: Path, last: str) -> list[Path]:
    """Return the steps of which all was recorded: nvcc may have been stopped."""
    return sorted(path.parent for path in folder.glob(f"*/{last}"))


def keep_beginning(folder: Path, beginning: Beginning) -> list[str]:
    """Keep a beginning; return how the host compiler is to be called, in that folder, to precompile it."""
    (folder / "asked").write_text(beginning.asked)
    (folder / "bytes").write_text(f"{len(beginning.text.encode())}\n")
    (folder / PREFIX).write_text(beginning.text)
    (folder / "pragmas").write_text("".join(f"{line}\n" for line in pragmas(beginning.text)))
    words = iter(beginning.words)
    kept = []
    for word in words:
        if word == "-o":
            next(words)
        elif word != "-c" and not word.endswith(".cudafe1.cpp"):
            kept.append(word)
    at = kept.index("-x")
    return [*kept[:at], *kept[at + 2 :], "-x", "c++-header", PREFIX, "-o", f"{PREFIX}.gch"]


def keep_host_words(folder: Path, unit: str, output: str, dry_run: str) -> None:
    """Keep how nvcc calls the host compiler for a unit without kernels, as it says itself; nothing if it does more."""
    said = [line.removeprefix("#$ ") for line in dry_run.splitlines() if not re.match(r"#\$ \w+=", line)]
    words = shlex.split(said[0]) if len(said) == 1 else []
    if words[-3:] == [unit, "-o", output]:
        (folder / _ALONE).mkdir(exist_ok=True)
        (folder / _ALONE / unit).write_text("".join(f"{word}\n" for word in words[1:]))


def host_words(folder: Path, unit: str) -> list[str]:
    """Return the words after the host compiler's name for a unit, or nothing if they are not known."""
    try:
        return (folder / _ALONE / unit).read_text().splitlines()
    except OSError:
        return []


def prefix(text: str, unit: str) -> str:
    """Return what stands before the first line of the unit's own: all after the marker that every text begins with."""
    lines = text.splitlines(keepends=True)
    own = f'"{unit}"'
    for number, line in enumerate(lines):
        marker = _MARKER.match(line.rstrip("\n"))
        if number and marker and (f'"{marker[1]}"' == own or marker[1].endswith(".cudafe1.stub.c")):
            return "".join(lines[:number])
    return text


def pragmas(text: str) -> list[str]:
    """Return the pragmas that still hold at the end of a text: a precompiled header does not keep them."""
    levels: list[list[str]] = [[]]
    for line in text.splitlines():
        state = _STATE.match(line)
        if state is None:
            continue
        if state[1] == "push":
            levels.append([])
        elif state[1] != "pop":
            levels[-1].append(line)
        elif len(levels) > 1:
            levels.pop()
    return [line for level in levels for line in level]


def _macros(final: str, origins: str) -> Iterator[tuple[str, bool]]:
    """Yield the macros that a header leaves, and whether a system header defined them; not the compiler's own."""
    place, flags = "<built-in>", ""
    defined: dict[str, tuple[str, bool]] = {}
    for line in origins.splitlines():
        if marker := _MARKER.match(line):
            place, flags = marker[1], marker[2]
        elif change := _DEFINED.match(line):
            defined[change[2]] = (place, _SYSTEM_HEADER in flags.split())
    for line in final.splitlines():
        name = _DEFINED.match(line)
        place, of_system = defined.get(name[2], ("<built-in>", False)) if name else ("<built-in>", False)
        if not place.startswith("<"):
            yield line, of_system
