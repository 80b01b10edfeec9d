"""Finds the lab's main file in a hand-in where it does not stand under its name at the top.

What can be meant in one way only is taken, with a note for the student and for whoever grades. Where there are several
files that it could be, a person must say which.
"""

from collections.abc import Callable, Sequence
from pathlib import PurePosixPath

from warpgrade.intake.archives import Member
from warpgrade.lab.labs import Lab
from warpgrade.machine.errors import BadInput
from warpgrade.machine.text import listing, printable_name
from warpgrade.platforms.file_names import is_source
from warpgrade.platforms.registry import name_for_lab

_CODE_SUFFIXES = {".cu", ".c", ".cc", ".cpp", ".cxx"}


def without_text_suffix(name: str) -> str:
    """Return `matmul.cu` for `matmul.cu.txt`, as mail programs and browsers call it."""
    inner = name[:-4] if name.lower().endswith(".txt") else name
    return inner if is_source(inner) else name


def is_code(name: str) -> bool:
    """Whether a file of that name should hold code that is compiled by itself, and not a header."""
    return PurePosixPath(name).suffix.lower() in _CODE_SUFFIXES


def find(lab: Lab, members: Sequence[Member], max_bytes: int) -> Member | None:
    """Return the file that must be the main file, None if nothing looks like it; raises BadInput if several do."""
    main = PurePosixPath(lab.main_file)

    def is_renamed(name: str) -> bool:
        return name_for_lab(lab, name) == lab.main_file

    rules: tuple[Callable[[str], bool], ...] = (
        is_renamed,
        lambda name: name.casefold() == lab.main_file.casefold(),
        lambda name: PurePosixPath(name).suffix.lower() == main.suffix.lower(),
        lambda name: PurePosixPath(name).stem.casefold() == main.stem.casefold() and is_code(name),
    )
    named = [(member, without_text_suffix(member.name)) for member in members]
    for rule in rules:
        fitting = [member for member, name in named if rule(name)]
        if len(fitting) > 1 and len({member.read(max_bytes) for member in fitting}) > 1:
            raise BadInput(
                f"each of {listing(sorted(printable_name(member.path) for member in fitting))} could be {main}",
                hint=f"hand in only the one to grade, as {main}",
            )
        if fitting:
            return fitting[0]
    return None


def choose(members: Sequence[Member], chosen: str) -> Member:
    """Return the file that a person has chosen, by path or name in the hand-in; raises BadInput if there is none."""
    fitting = [member for member in members if chosen in (member.path, member.name)]
    if len(fitting) == 1:
        return fitting[0]
    there = listing(sorted(printable_name(member.path) for member in members))
    what = "is there several times" if fitting else "is not in the hand-in"
    raise BadInput(f"the accepted file {printable_name(chosen)} {what}", hint=f"there are {there}")
