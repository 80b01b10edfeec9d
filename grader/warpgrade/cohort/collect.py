"""Collects the attempts of a class: finds them in the export and matches them with the roster.

A bad attempt never stops the others: its mistakes are reported when it is read.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import cast

from warpgrade.cohort import entries
from warpgrade.cohort import roster as rosters
from warpgrade.cohort.attempts import ClassAttempts, StudentAttempt
from warpgrade.cohort.entries import ExportFolder, Item
from warpgrade.cohort.names import identifier
from warpgrade.cohort.roster import Roster, Student
from warpgrade.grading.submission import Submission
from warpgrade.intake import intake
from warpgrade.intake.intake import Leniency, Reader
from warpgrade.lab.labs import Lab
from warpgrade.machine.errors import BadInput
from warpgrade.machine.text import listing, one_line, printable_name
from warpgrade.platforms.adapter import Attempt, Entry
from warpgrade.platforms.file_names import is_archive, is_source
from warpgrade.platforms.registry import ADAPTERS, EXPORTS, is_entry, recognise

_MAX_NAME_LENGTH = 120
_MAX_WRAPPINGS = 4


def collect(lab: Lab, path: Path, *, roster: Path | None = None, platform: str | None = None) -> ClassAttempts:
    """Find the attempts in a folder, or in the archive that the platform exported.

    roster: a CSV file with the students of the class. platform: the platform of the export, instead of guessing it.
    Raises BadInput if there is no attempt at all, or if the roster cannot be read.
    """
    known = rosters.read(roster) if roster else None
    place = entries.open_export(lab, path)
    for _ in range(_MAX_WRAPPINGS):
        if not _is_wrapping(lab, place):
            break
        place = entries.open_only_folder(place)
    platform = platform or recognise(place.items)
    contents = EXPORTS[platform].read(lab, place.name, place.items)
    unclaimed = [f"{entry.shown}: {why}" for entry, why in contents.unclaimed if _may_be_work(entry)] + contents.lost
    others = [*place.others, *contents.others]
    others += [f"{entry.shown}: {why}" for entry, why in contents.unclaimed if not _may_be_work(entry)]
    if not contents.attempts:
        title = ADAPTERS[platform].title
        left = [*unclaimed, *others]
        some = "; ".join(printable_name(each, 160) for each in left[:2])
        more = f"; and {len(left) - 2} more" if len(left) > 2 else ""
        raise BadInput(
            f"{printable_name(str(path))} holds no submission{f' of {title}' if title else ''}"
            + (f": {some}{more}" if left else ", it is empty"),
            hint="give the platform's export, or a folder with a folder, an archive or a file of each student",
        )
    return replace(_match_roster(lab, contents.attempts, known), platform=platform, unclaimed=unclaimed, others=others)


def _is_wrapping(lab: Lab, place: ExportFolder) -> bool:
    """Whether the export has one folder around everything, which is no student's own."""
    if len(place.items) != 1 or not place.items[0].is_folder or is_entry(place.items[0]):
        return False
    inner = entries.open_only_folder(place).items
    return bool(inner) and not any(not each.is_folder and lab.allows(each.name) for each in inner)


def _may_be_work(entry: Entry) -> bool:
    return entry.is_folder or is_archive(entry.name) or is_source(entry.name)


# --- reading ---------------------------------------------------------------------------------------------------------


def _source(attempt: Attempt) -> str:
    """Return the names of the attempt's files or folders in the export."""
    first, *others = attempt.entries
    return listing([entry.name for entry in attempt.entries], 3) if others else first.shown


def _read(lab: Lab, attempt: Attempt, how: Leniency) -> Submission:
    """Read the submission of an attempt; raises BadInput if there is none."""
    items = cast("Sequence[Item]", attempt.entries)
    if attempt.renamed:
        return _read_renamed(lab, attempt, items, how)
    if len(items) == 1:
        return items[0].read(lab, how)
    sources = [item for item in items if not item.is_folder and is_source(item.name)]
    whole = [item for item in items if item.is_folder or is_archive(item.name)]
    if (whole and sources) or len(whole) > 1:
        raise BadInput(f"handed in as {listing([item.shown for item in items])}", hint="keep the one to grade")
    if whole:
        return whole[0].read(lab, how)
    return intake.read_members(lab, [item.as_file(item.name) for item in items], _source(attempt), how)


def _read_renamed(lab: Lab, attempt: Attempt, items: Sequence[Item], how: Leniency) -> Submission:
    members = [item.as_file(attempt.renamed[item.name]) for item in items]
    taken = intake.read_members(lab, members, _source(attempt), how)
    notes = [
        f"{printable_name(given)} is graded as {name}"
        for given, name in attempt.renamed.items()
        if given != name and name in taken.files
    ]
    return replace(taken, notes=notes + taken.notes)


# --- whose it is -----------------------------------------------------------------------------------------------------


def _match_roster(lab: Lab, attempts: Sequence[Attempt], roster: Roster | None) -> ClassAttempts:
    by_student: dict[str, list[tuple[Attempt, Student | None]]] = {}
    for one in attempts:
        names = (one.student, *one.identifiers)
        student = roster.find(names, one.accounts, one.name or one.student) if roster else None
        key = f"on the roster {student.line}" if student else f"not {one.student.casefold()}"
        by_student.setdefault(key, []).append((one, student))
    submissions: list[StudentAttempt] = []
    unknown: list[tuple[str, str]] = []
    for several in by_student.values():
        handed_in = _number_attempts(lab, several)
        submissions += handed_in
        if roster and several[0][1] is None:
            unknown.append((handed_in[0].student, handed_in[0].name))
    there = {student.line for several in by_student.values() for _, student in several if student}
    missing = (
        [(identifier(each.id), _name(each)) for each in roster.students if each.line not in there] if roster else []
    )
    submissions.sort(key=lambda each: (each.student, each.number))
    return ClassAttempts("", submissions, missing=missing, unknown=unknown)


def _number_attempts(lab: Lab, several: Sequence[tuple[Attempt, Student | None]]) -> list[StudentAttempt]:
    """Number the attempts of one student by time; if their order is unknown, return one attempt that is refused."""
    found = [one for one, _ in several]
    orders: list[datetime | int | None] = [one.submitted or one.order for one in found]
    same_kind = len({type(order) for order in orders}) == 1 and orders[0] is not None
    if len(found) > 1 and not (same_kind and len({one.student for one in found}) == 1):
        first, student = several[0]
        reader = partial(_refuse_ambiguous, [_source(one) for one in found])
        return [_make_attempt(first, student, 1, reader, listing([_source(one) for one in found], 3))]
    ranked = sorted(zip(orders, several, strict=True), key=lambda pair: _comparable(pair[0]))
    made = [
        _make_attempt(one, student, number, partial(_read, lab, one), _source(one))
        for number, (_, (one, student)) in enumerate(ranked, 1)
    ]
    # A roster has one time of a student, which is that of the last attempt.
    student = several[0][1]
    if student is not None and made[-1].submitted is None:
        made[-1] = replace(made[-1], submitted=student.submitted)
    return made


def _comparable(order: datetime | int | None) -> float:
    if isinstance(order, datetime):
        return (order if order.tzinfo else order.replace(tzinfo=UTC)).timestamp()
    return float(order or 0)


def _make_attempt(one: Attempt, student: Student | None, number: int, reader: Reader, source: str) -> StudentAttempt:
    who = student.id if student else one.student
    words = dict.fromkeys([who, *(student.identifiers if student else ()), one.student, *one.identifiers])
    return StudentAttempt(
        student=identifier(who),
        name=(_name(student) if student else "")
        or one_line(one.name or one.student, _MAX_NAME_LENGTH)
        or identifier(who),
        source=source,
        read=reader,
        submitted=one.submitted,
        number=number,
        late=one.late,
        identifiers=tuple(identifier(word) for word in words),
    )


def _name(student: Student) -> str:
    return one_line(student.name, _MAX_NAME_LENGTH)


def _refuse_ambiguous(sources: Sequence[str], how: Leniency) -> Submission:
    raise BadInput(
        f"handed in more than once, and nothing says which counts: {listing(list(sources))}",
        hint="keep the one to grade",
    )
