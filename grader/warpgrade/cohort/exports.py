"""What the platforms' exports look like: how each is recognised, and how its names say whose a file is."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from pathlib import PurePosixPath

from warpgrade.cohort.places import Item, Place
from warpgrade.grading import platform_names
from warpgrade.grading.submission import Submission
from warpgrade.intake import archives, intake
from warpgrade.lab.labs import Lab
from warpgrade.machine.errors import BadInput
from warpgrade.machine.text import listing, printable_name

_AGAIN = re.compile(r"(?P<stem>.+)-\d{1,3}", re.DOTALL)
_SEPARATORS = "_-. "


@dataclass(frozen=True)
class Found:
    """One submission as an export names it, before anybody looked into the roster.

    student: the identifier. identifiers: others. github: names of which one may be a GitHub user's. order: what is
    larger for what was handed in later, if names tell.
    """

    student: str
    name: str
    source: str
    read: Callable[[], Submission]
    identifiers: tuple[str, ...] = ()
    github: tuple[str, ...] = ()
    submitted: datetime | None = None
    late: bool = False
    order: int | None = None


@dataclass(frozen=True)
class Export:
    """What was found in one, and what belongs to nobody, each with why."""

    found: list[Found]
    others: list[str] = field(default_factory=list)


def share(place: Place, fits: Callable[[str], object]) -> float:
    """Return which part of what is at the top has such a name."""
    return sum(1 for item in place.items if fits(item.name)) / len(place.items) if place.items else 0.0


# --- Canvas ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Upload:
    item: Item
    file: int
    rest: str


def canvas(lab: Lab, place: Place) -> Export:
    """Read names as Canvas gives them; of a student who handed in again, each time is one submission."""
    uploads: dict[str, list[_Upload]] = {}
    names: dict[str, str] = {}
    late: set[str] = set()
    others: list[str] = []
    for item in place.items:
        parts = platform_names.canvas(item.name)
        if parts is None:
            typed = platform_names.is_typed_in_canvas(item.name)
            others.append(f"{item.shown}: " + ("typed in the browser" if typed else "not named as Canvas names files"))
            continue
        student = parts.user or f"anon_{parts.anonymous}"
        uploads.setdefault(student, []).append(_Upload(item, parts.file, parts.rest))
        names.setdefault(student, parts.name)
        if parts.late:
            late.add(student)
    found = []
    for student, several in uploads.items():
        for attempt in _attempts(lab, sorted(several, key=lambda upload: upload.file)):
            items = [upload.item for upload in attempt]
            order = max(upload.file for upload in attempt)
            found.append(
                Found(
                    student,
                    names[student],
                    source(items),
                    partial(read_items, lab, items),
                    order=order,
                    late=student in late,
                )
            )
    return Export(found, others)


def _attempts(lab: Lab, uploads: Sequence[_Upload]) -> list[list[_Upload]]:
    """Split a student's files by those that were handed in again, matmul.cu and matmul-1.cu."""
    versions: dict[str, list[_Upload]] = {}
    for upload in uploads:
        if key := _stands_for(lab, upload):
            versions.setdefault(key, []).append(upload)
    most = max(versions.values(), key=len, default=[])
    if len(most) < 2:
        return [list(uploads)]
    attempts = []
    for number in range(len(most)):
        end = most[number + 1].file if number + 1 < len(most) else None
        there = [upload for upload in uploads if end is None or upload.file < end]
        latest = {_stands_for(lab, upload) or str(upload.file): upload for upload in there}
        attempts.append(list(latest.values()))
    return attempts


def _stands_for(lab: Lab, upload: _Upload) -> str:
    """Return the name under which the lab takes a file, or an archive's name when it was first handed in."""
    if archives.is_archive(upload.rest):
        stem = archives.without_suffix(upload.rest)
        again = _AGAIN.fullmatch(stem)
        return f"archive {again['stem'] if again else stem}"
    return "" if upload.item.is_folder else intake.meant(lab, upload.item.name)


# --- Moodle ----------------------------------------------------------------------------------------------------------


def moodle(lab: Lab, place: Place) -> Export:
    """Read names as Moodle gives them, to folders or to files."""
    items: dict[str, list[Item]] = {}
    names: dict[str, str] = {}
    others: list[str] = []
    for item in place.items:
        parts = platform_names.moodle(item.name)
        if parts is None:
            others.append(f"{item.shown}: not named as Moodle names submissions")
        elif parts.typed:
            others.append(f"{item.shown}: typed in the browser")
        else:
            student = parts.participant or parts.name
            items.setdefault(student, []).append(item)
            names.setdefault(student, parts.name)
    return Export(
        [
            Found(
                student,
                names[student],
                source(several),
                partial(read_items, lab, several),
                identifiers=(f"Participant {student}",),
            )
            for student, several in items.items()
        ],
        others,
    )


# --- plain -----------------------------------------------------------------------------------------------------------


def plain(lab: Lab, place: Place) -> Export:
    """Take folders, archives and files as named by their students: ada/, ada.zip, ada.cu, ada_matmul.cu."""
    groups: dict[str, list[tuple[str, Item, str]]] = {}
    others: list[str] = []
    later: list[Item] = []
    for item in place.items:
        if item.is_folder or archives.is_archive(item.name):
            stem = item.name if item.is_folder else archives.without_suffix(item.name)
            student = _before(stem, lab.name) or stem
        elif split := _split(lab, item.name):
            student, name = split
            groups.setdefault(student.casefold(), []).append((student, item, name))
            continue
        elif intake.is_source(item.name) and intake.meant(lab, item.name) not in lab.file.lab.files:
            later.append(item)
            continue
        else:
            why = "nothing says whose it is" if intake.is_source(item.name) else item.why_no_submission
            others.append(f"{item.shown}: {why}")
            continue
        groups.setdefault(student.casefold(), []).append((student, item, ""))
    for item in sorted(
        later, key=lambda each: not _main(lab, each)
    ):  # ada_tile.cuh belongs to ada if there is ada_matmul.cu
        student, name = _known(lab, item, groups) or (item.name.rpartition(".")[0], "")
        groups.setdefault(student.casefold(), []).append((student, item, name))
    found = []
    for several in groups.values():
        student = several[0][0]
        items = [item for _, item, _ in several]
        names = [name or _main(lab, item) for _, item, name in several]
        together = len(items) > 1 or several[0][2]
        reader = (
            partial(_read_renamed, lab, [*zip(items, names, strict=True)])
            if together and all(names)
            else partial(read_items, lab, items)
        )
        found.append(Found(student, "", source(items), reader, github=(student, _after(student, lab.name))))
    return Export(found, others)


def _main(lab: Lab, item: Item) -> str:
    """Return the name of the lab's main file for a file like ada.cu."""
    is_like = not item.is_folder and PurePosixPath(item.name).suffix == PurePosixPath(lab.main_file).suffix
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
    for possible in reversed(platform_names.possible(name)):
        for file in lab.file.lab.files:
            if not any(char in file for char in "*?[") and (student := _before(possible, file)):
                return student, file
    return None


def _known(lab: Lab, item: Item, groups: Container[str]) -> tuple[str, str] | None:
    """Return the student, of those who are known, and the name under which the lab takes a file like ada_tile.cuh."""
    if _main(lab, item):
        return None  # ada_l.cu is of ada_l
    for at in range(len(item.name) - 1, 0, -1):
        student, name = item.name[:at], item.name[at + 1 :]
        if item.name[at] in _SEPARATORS and student.casefold() in groups and intake.meant(lab, name):
            return student, name
    return None


# --- what they share -------------------------------------------------------------------------------------------------


def source(items: Sequence[Item]) -> str:
    """Return what was handed in, as it is called there."""
    return items[0].shown if len(items) == 1 else listing([item.name for item in items], 3)


def read_items(lab: Lab, items: Sequence[Item]) -> Submission:
    """Read the submission that these are together; raises BadInput if they are none."""
    if len(items) == 1:
        return items[0].read(lab)
    sources = [item for item in items if not item.is_folder and intake.is_source(item.name)]
    whole = [item for item in items if item.is_folder or archives.is_archive(item.name)]
    if (whole and sources) or len(whole) > 1:
        raise BadInput(f"handed in as {listing([item.shown for item in items])}", hint="keep the one to grade")
    if whole:
        return whole[0].read(lab)
    return intake.read_members(lab, [item.as_file(item.name) for item in items], source(items))


def _read_renamed(lab: Lab, items: Sequence[tuple[Item, str]]) -> Submission:
    members = [item.as_file(name) for item, name in items]
    taken = intake.read_members(lab, members, source([item for item, _ in items]))
    notes = [
        f"{printable_name(item.name)} is graded as {name}"
        for item, name in items
        if item.name != name and name in taken.files
    ]
    return replace(taken, notes=notes + taken.notes)
