"""Collects what a class handed in: finds the submissions, says whose each one is, and who is missing.

Nothing that one submission is or is called stops the others: what is wrong with it is said when it is read.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from warpgrade.cohort import checkouts, exports, gradescope, places
from warpgrade.cohort import roster as rosters
from warpgrade.cohort.exports import Export, Found
from warpgrade.cohort.handed_in import Collected, HandedIn, Platform
from warpgrade.cohort.names import identifier
from warpgrade.cohort.places import Place
from warpgrade.cohort.roster import Roster, Student
from warpgrade.grading import platform_names
from warpgrade.grading.submission import Submission
from warpgrade.lab.labs import Lab
from warpgrade.machine.errors import BadInput
from warpgrade.machine.text import listing, one_line, printable_name

_LONGEST_NAME = 120
_MOST_WRAPPINGS = 4
_READERS: dict[Platform, Callable[[Lab, Place], Export]] = {
    "canvas": exports.canvas,
    "moodle": exports.moodle,
    "gradescope": gradescope.gradescope,
    "github": checkouts.github,
    "plain": exports.plain,
}


def collect(lab: Lab, path: Path, *, roster: Path | None = None, platform: Platform | None = None) -> Collected:
    """Find the submissions in a folder, or in the archive that the platform gave.

    roster: a CSV file that says who is in the class. platform: what the export is of, if it should not be guessed.
    Raises BadInput if there is no submission at all, or if the roster cannot be read.
    """
    known = rosters.read(roster) if roster else None
    place = places.look(lab, path)
    for _ in range(_MOST_WRAPPINGS):
        if not _is_wrapping(lab, place):
            break
        place = places.inside(place)
    kind = platform or _recognised(place)
    if kind == "gradescope" and not _metadata(place):
        raise BadInput(
            f"{printable_name(str(path))} has no {gradescope.METADATA}",
            hint="in Gradescope: Review Grades, Export Submissions",
        )
    export = _READERS[kind](lab, place)
    others = place.others + export.others
    if not export.found:
        what = "" if kind == "plain" else f" of {kind.capitalize()}"
        some = "; ".join(printable_name(other, 160) for other in others[:2])
        more = f"; and {len(others) - 2} more" if len(others) > 2 else ""
        raise BadInput(
            f"{printable_name(str(path))} holds no submission{what}"
            + (f": {some}{more}" if others else ", it is empty"),
            hint="give the platform's export, or a folder with a folder, an archive or a file of each student",
        )
    return _matched(kind, export.found, others, known)


# --- what it is ------------------------------------------------------------------------------------------------------


def _metadata(place: Place) -> bool:
    return any(item.name == gradescope.METADATA and not item.is_folder for item in place.items)


def _is_wrapping(lab: Lab, place: Place) -> bool:
    """Whether all is in one folder, and that is not a student's."""
    if len(place.items) != 1 or not place.items[0].is_folder:
        return False
    (item,) = place.items
    if platform_names.canvas(item.name) or platform_names.moodle(item.name) or item.is_checkout:
        return False
    inner = places.inside(place).items
    return bool(inner) and not any(not each.is_folder and lab.allows(each.name) for each in inner)


def _recognised(place: Place) -> Platform:
    if _metadata(place):
        return "gradescope"
    if exports.share(place, platform_names.moodle) > 0.5:
        return "moodle"
    if exports.share(place, platform_names.canvas) > 0.5:
        return "canvas"
    return "github" if checkouts.looks_so(place) else "plain"


# --- whose it is -----------------------------------------------------------------------------------------------------


def _matched(kind: Platform, found: Sequence[Found], others: list[str], roster: Roster | None) -> Collected:
    by_student: dict[str, list[tuple[Found, Student | None]]] = {}
    for one in found:
        names = (one.student, *one.identifiers)
        student = roster.find(names, one.github, one.name or one.student) if roster else None
        key = f"on the roster {student.line}" if student else f"not {one.student.casefold()}"
        by_student.setdefault(key, []).append((one, student))
    submissions: list[HandedIn] = []
    unknown: list[tuple[str, str]] = []
    for several in by_student.values():
        handed_in = _of_one(several)
        submissions += handed_in
        if roster and several[0][1] is None:
            unknown.append((handed_in[0].student, handed_in[0].name))
    there = {student.line for several in by_student.values() for _, student in several if student}
    missing = (
        [(identifier(each.id), _name(each)) for each in roster.students if each.line not in there] if roster else []
    )
    submissions.sort(key=lambda each: (each.student, each.number))
    return Collected(kind, submissions, others, missing, unknown)


def _of_one(several: Sequence[tuple[Found, Student | None]]) -> list[HandedIn]:
    """Return what one student handed in, in the order of time; without an order, nobody can tell what counts."""
    found = [one for one, _ in several]
    orders: list[datetime | int | None] = [one.submitted or one.order for one in found]
    same_kind = len({type(order) for order in orders}) == 1 and orders[0] is not None
    if len(found) > 1 and not (same_kind and len({one.student for one in found}) == 1):
        first, student = several[0]
        reader = partial(_ambiguous, [one.source for one in found])
        return [_handed_in(first, student, 1, reader, listing([one.source for one in found], 3))]
    ranked = sorted(zip(orders, several, strict=True), key=lambda pair: _comparable(pair[0]))
    return [
        _handed_in(one, student, number, one.read, one.source) for number, (_, (one, student)) in enumerate(ranked, 1)
    ]


def _comparable(order: datetime | int | None) -> float:
    if isinstance(order, datetime):
        return (order if order.tzinfo else order.replace(tzinfo=UTC)).timestamp()
    return float(order or 0)


def _handed_in(
    one: Found, student: Student | None, number: int, reader: Callable[[], Submission], source: str
) -> HandedIn:
    who = student.id if student else one.student
    words = dict.fromkeys([who, *(student.identifiers if student else ()), one.student, *one.identifiers])
    return HandedIn(
        student=identifier(who),
        name=(_name(student) if student else "") or one_line(one.name or one.student, _LONGEST_NAME) or identifier(who),
        source=source,
        read=reader,
        submitted=one.submitted,
        number=number,
        late=one.late,
        identifiers=tuple(identifier(word) for word in words),
    )


def _name(student: Student) -> str:
    return one_line(student.name, _LONGEST_NAME)


def _ambiguous(sources: Sequence[str]) -> Submission:
    raise BadInput(
        f"handed in more than once, and nothing says which counts: {listing(list(sources))}",
        hint="keep the one to grade",
    )
