"""No platform: folders, archives and files named by their students, ada/, ada.zip, ada.cu, ada_matmul.cu."""

import re
from collections.abc import Container, Sequence
from pathlib import PurePosixPath

from warpgrade.lab.labs import Lab
from warpgrade.platforms.adapter import Adapter, Attempt, Contents, Entry, Export
from warpgrade.platforms.file_names import (
    choose_lab_name,
    is_archive,
    is_source,
    without_archive_suffix,
    without_copy_number,
)

_SEPARATORS = "_-. "
# matmul-1.cu, and ada_matmul-1.cu: a platform may have numbered it, and then the rest is the platform's too.
_NUMBER = re.compile(r"[-_ ]?\d{1,3}(?=\.[^.]*\Z)")


def _read(lab: Lab, _: str, entries: Sequence[Entry]) -> Contents:
    groups: dict[str, list[tuple[str, Entry, str]]] = {}
    contents = Contents([])
    later: list[Entry] = []
    for entry in entries:
        if entry.is_folder or is_archive(entry.name):
            stem = entry.name if entry.is_folder else without_archive_suffix(entry.name)
            student, name = _before(stem, lab.name) or stem, ""
        elif split := _split(lab, entry.name):
            student, name = split
        elif not is_source(entry.name):
            contents.others.append(f"{entry.shown}: {entry.why_no_submission}")
            continue
        elif _split(lab, f"x_{_without_number(entry.name)}"):
            contents.unclaimed.append((entry, "nothing says whose it is"))
            continue
        else:
            later.append(entry)
            continue
        groups.setdefault(student.casefold(), []).append((student, entry, name))
    # ada_tile.cuh belongs to ada if there is ada_matmul.cu
    for entry in sorted(later, key=lambda each: not _main_file(lab, each)):
        student, name = _known_student(lab, entry, groups) or (entry.name.rpartition(".")[0], "")
        groups.setdefault(student.casefold(), []).append((student, entry, name))
    for several in groups.values():
        student = several[0][0]
        names = {entry.name: name or _main_file(lab, entry) for _, entry, name in several}
        is_renamed = all(names.values()) and (len(several) > 1 or several[0][2])
        contents.attempts.append(
            Attempt(
                student, [entry for _, entry, _ in several], accounts=(student, _after(student, lab.name)),
                renamed=names if is_renamed else {},
            )
        )  # fmt: skip
    return contents


def _without_number(name: str) -> str:
    return _NUMBER.sub("", without_copy_number(name))


def _main_file(lab: Lab, entry: Entry) -> str:
    """Return the name of the lab's main file for a file like ada.cu."""
    is_like = not entry.is_folder and PurePosixPath(entry.name).suffix == PurePosixPath(lab.main_file).suffix
    return lab.main_file if is_like else ""


def _before(stem: str, name: str) -> str:
    """Return what stands before a name and a separator, or nothing."""
    if stem.casefold().endswith(name.casefold()) and len(stem) > len(name) + 1 and stem[-len(name) - 1] in _SEPARATORS:
        return stem[: -len(name) - 1]
    return ""


def _after(stem: str, name: str) -> str:
    return stem[len(name) + 1 :] if stem.casefold().startswith(f"{name.casefold()}-") else stem


def _split(lab: Lab, name: str) -> tuple[str, str] | None:
    """Return the student and the lab's file of ada_matmul.cu."""
    for file in lab.file.lab.files:
        if not any(char in file for char in "*?[") and (student := _before(without_copy_number(name), file)):
            return student, file
    return None


def _known_student(lab: Lab, entry: Entry, groups: Container[str]) -> tuple[str, str] | None:
    """Return the student, of those who are known, and the name under which the lab takes a file like ada_tile.cuh."""
    if _main_file(lab, entry):
        return None  # ada_l.cu is of ada_l
    for at in range(len(entry.name) - 1, 0, -1):
        student, rest = entry.name[:at], entry.name[at + 1 :]
        if entry.name[at] in _SEPARATORS and student.casefold() in groups:
            name = choose_lab_name(lab, [rest, without_copy_number(rest)])
            if name:
                return student, name
    return None


ADAPTER = Adapter(export=Export(lambda entry: False, _read, certainty=0, share=-1))
