"""`override` and `accept`: what a person decides, gives and writes about a submission of a class."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import click

from warpgrade.cohort import class_folder, grades, outputs
from warpgrade.cohort.grades import Policies
from warpgrade.cohort.row import Decision, Mark, Row
from warpgrade.cohort.rubric import split_place
from warpgrade.cohort.store import Store
from warpgrade.course.schema import RubricItem
from warpgrade.machine import paths
from warpgrade.machine.errors import EXIT_DONE, BadInput
from warpgrade.machine.text import clean, listing, number, one_line, printable_name, timestamp
from warpgrade.report.stream import say

_DONE = "Exit status: 0 done, 2 wrong usage."
_WIDTH = 160
_CLASS = click.argument("folder", metavar="CLASS", type=click.Path(path_type=Path, exists=True, file_okay=False))
_STUDENT = click.argument("student", metavar="STUDENT")


@click.command("override", epilog=_DONE)
@_CLASS
@_STUDENT
@click.option("--points", type=click.FloatRange(0), help="The points that count, whatever the grader finds.")
@click.option(
    "--item", "items", multiple=True, metavar="NAME=POINTS",
    help="Points of an item of the course's rubric; without a number they are taken back.",
)  # fmt: skip
@click.option(
    "--comment", "comments", multiple=True, nargs=2, metavar="FILE:LINE TEXT",
    help="A comment at a line; an empty text takes those at the line back.",
)  # fmt: skip
@click.option("--reason", default="", help="Why; the student reads it.")
@click.option("--by", default="", help="Who decided; your user name otherwise.")
@click.option("--withdraw", is_flag=True, help="Take the last decision back: the grader's points count again.")
def override_command(
    folder: Path, student: str, points: float | None, items: tuple[str, ...], comments: tuple[tuple[str, str], ...],
    reason: str, by: str, *, withdraw: bool,
) -> int:  # fmt: skip
    """Decide a student's points, give those of the rubric, comment on lines.

    CLASS is the folder that `class` graded into. What you decide stays when the class is graded again; points of the
    rubric and comments belong to the submission that counts now. Without options, show all of it.
    """
    known = class_folder.load_class(paths.find_layout(), folder)
    student = known.store.find_student(student)
    person = _Person(clean(by).strip() or os.environ.get("USER", "") or "unknown", timestamp(datetime.now(UTC)))
    desk = _Desk(known.store, known.policies, student, person, clean(reason).strip(), known.lab.answers)
    if (points is not None) + bool(items or comments) + withdraw > 1:
        raise BadInput(
            "--points, --item and --withdraw exclude each other",
            hint="--points decides the whole grade, --item gives points beside those of the tests",
        )
    before = desk.row()
    if withdraw:
        desk.withdraw()
    elif points is not None:
        desk.decide(points)
    elif items or comments:
        desk.mark(items, comments)
    desk.show()
    if withdraw or points is not None or items or comments:
        outputs.write(known.store, known.policies, {}, None, known.lab)
        after = desk.row()
        told = ["–" if each.points is None else number(each.points, 2) for each in (before, after)]
        click.echo(f"{printable_name(student)}: {told[0]} → {told[1]} of {number(after.max_points)}")
    elif not desk.has_anything():
        earned = (
            "no points yet" if before.points is None else f"{number(before.points, 2)} of {number(before.max_points)}"
        )
        say(f"nothing was decided about {printable_name(student)}: {earned}")
    return EXIT_DONE


@dataclass(frozen=True)
class _Person:
    by: str
    at: str


@dataclass(frozen=True)
class _Desk:
    """One student's work before a person who decides about it."""

    store: Store
    policies: Policies
    student: str
    person: _Person
    reason: str
    answers: str  # the name of the lab's file of answers

    def row(self) -> Row:
        return grades.make_row(self.store, self.policies, self.student)

    def has_anything(self) -> bool:
        return bool(self.store.decisions(self.student) or self.store.marks(self.student) or self.row().answers)

    def withdraw(self) -> None:
        decisions = self.store.decisions(self.student)
        if not decisions:
            raise BadInput(f"nothing was decided about {printable_name(self.student)}")
        self.store.decide(self.student, decisions[:-1])

    def decide(self, points: float) -> None:
        if not self.reason:
            raise BadInput("--reason is missing", hint="say why in a sentence: the student reads it")
        most = self.row().max_points
        if points > most:
            raise BadInput(f"--points {number(points, 2)} is more than the {number(most)} that there are")
        decided = Decision(points, self.reason, self.person.by, self.person.at)
        self.store.decide(self.student, [*self.store.decisions(self.student), decided])

    def mark(self, items: Sequence[str], comments: Sequence[tuple[str, str]]) -> None:
        row = self.row()
        if not row.attempts:
            raise BadInput(f"{printable_name(self.student)} has handed in nothing that could be read")
        marks = [self._points(text, row.digest) for text in items]
        marks += [self._comment(place, text, row) for place, text in comments]
        self.store.save_marks(self.student, [*self.store.marks(self.student), *marks])

    def _points(self, text: str, digest: str) -> Mark:
        name, equals, value = text.rpartition("=")
        item = _find_item(self.policies.rubric, name.strip() if equals else text)
        try:
            points = float(value) if value.strip() else None
        except ValueError:
            points = -1.0
        if not equals or (points is not None and not 0 <= points <= item.points):
            raise BadInput(
                f"--item {printable_name(text)}: how many of {number(item.points)} points?",
                hint=f"write --item '{item.name}={number(item.points)}'",
            )
        return Mark(self.person.by, self.person.at, digest, item.name, points, item.points, text=self.reason)

    def _comment(self, place: str, text: str, row: Row) -> Mark:
        file, line = split_place(place)
        result = self.store.result_of(row)
        names = [each.name for each in result.submission.files] if result is not None else []
        names += [self.answers] if row.answers else []
        if not line or (names and file not in names):
            raise BadInput(
                f"--comment {printable_name(place)}: which line of which file?",
                hint=f"write --comment {names[0] if names else 'FILE.cu'}:12 'what you want to say'"
                + (f"; there are {listing(names, 6)}" if len(names) > 1 else ""),
            )
        return Mark(self.person.by, self.person.at, row.digest, place=place, text=clean(text).strip())

    def show(self) -> None:
        for decision in self.store.decisions(self.student):
            reason = one_line(decision.reason, _WIDTH)
            say(f"{_points_text(decision.points)}, by {decision.by} at {decision.at}: {reason}")
        row = self.row()
        for mark in row.rubric:
            about = f", by {mark.by} at {mark.at}" if mark.by else ""
            say(f"{item_text(mark)}{about}{f': {one_line(mark.text, _WIDTH)}' if mark.text else ''}")
        if row.answers:
            say(f"Answers:\n{row.answers}")
        for mark in row.comments:
            say(f"{mark.place}, by {mark.by} at {mark.at}: {one_line(mark.text, _WIDTH)}")


def _points_text(points: float) -> str:
    return f"{number(points, 2)} point{'' if points == 1 else 's'}"


def item_text(mark: Mark) -> str:
    """Return `readability: 8 of 10 points`."""
    if mark.points is None:
        return f"{mark.item}: not given yet, of {_points_text(mark.max_points)}"
    return f"{mark.item}: {number(mark.points, 2)} of {_points_text(mark.max_points)}"


def _find_item(rubric: Sequence[RubricItem], name: str) -> RubricItem:
    found = next((item for item in rubric if item.name.casefold() == name.casefold()), None)
    if found is None:
        there = (
            f"there are {listing([item.name for item in rubric], 8)}"
            if rubric
            else ('course.toml names them: rubric = [{ name = "readability", points = 10 }] in the [[lab]]')
        )
        raise BadInput(f"the lab's rubric has no item “{printable_name(name)}”", hint=there)
    return found


@click.command("accept", epilog=_DONE)
@_CLASS
@_STUDENT
@click.option("--file", "file", required=True, metavar="NAME", help="Its name or path in what was handed in.")
def accept_command(folder: Path, student: str, file: str) -> int:
    """Accept one file of a refused hand-in as the one to grade.

    CLASS is the folder that `class` graded into. The same `class` command grades it then.
    """
    class_store = class_folder.load_class(paths.find_layout(), folder).store
    student = class_store.find_student(student)
    class_store.accept(student, file)
    click.echo(f"{printable_name(student)}: {printable_name(file)} is the file to grade; run the class command again")
    return EXIT_DONE
