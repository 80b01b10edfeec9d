"""What a class's grades say together: how many got what, which tests are missed most, and who needs help."""

import re
import statistics
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Final, get_args

from warpgrade.cohort.gradebook import percent_of
from warpgrade.cohort.row import Row, State
from warpgrade.machine.text import one_line

STATES: Final[tuple[State, ...]] = get_args(State)
BINS: Final = 11  # tenths, and all points
LOW: Final = 50.0  # per cent, below which a student may need help
_WIDTH = 240
_WHERE = re.compile(r" \((in (?:\d+ tests|“.*”))\)$")  # behind a note for review
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


@dataclass
class Missed:
    """A test at which students lost points: how many, how many points together, and why.

    whys: each reason once, whatever the numbers in it are, with how often; examples: the first wording of each.
    """

    test: str
    hidden: bool = False
    students: int = 0
    points: float = 0.0
    whys: Counter[str] = field(default_factory=Counter)
    examples: dict[str, str] = field(default_factory=dict)

    @property
    def commonest(self) -> tuple[str, int]:
        """The reason that most students have, and how many these are."""
        for why, count in self.whys.most_common(1):
            return self.examples[why], count
        return "", 0


@dataclass(frozen=True)
class StudentNote:
    """A student in a list: the name, the percent if there is one, what about them, and the file of the result."""

    name: str
    percent: float | None = None
    about: str = ""
    result: str = ""


@dataclass
class Summary:
    """A class's grades. `handed_in` are the percents of those who handed in and have a grade.

    to_look_at: the causes of the notes for review, and the students that have each.
    """

    labs: list[str] = field(default_factory=list)
    states: Counter[State] = field(default_factory=Counter)
    handed_in: list[float] = field(default_factory=list)
    late: int = 0
    decided: int = 0
    unread: int = 0  # who waits for points of the rubric
    missed: dict[str, Missed] = field(default_factory=dict)
    lowest: list[StudentNote] = field(default_factory=list)
    missing: list[StudentNote] = field(default_factory=list)
    rejected: list[StudentNote] = field(default_factory=list)
    refused: list[StudentNote] = field(default_factory=list)
    errors: list[StudentNote] = field(default_factory=list)
    to_look_at: dict[str, list[StudentNote]] = field(default_factory=dict)

    @property
    def students(self) -> int:
        """How many rows there are."""
        return sum(self.states.values())

    @property
    def mean(self) -> float | None:
        """Of those who handed in, in per cent."""
        return statistics.fmean(self.handed_in) if self.handed_in else None

    @property
    def median(self) -> float | None:
        """Of those who handed in, in per cent."""
        return statistics.median(self.handed_in) if self.handed_in else None

    @property
    def histogram(self) -> list[int]:
        """How many have below 10 per cent, below 20, …, below 100, and all points."""
        bins = [0] * BINS
        for percent in self.handed_in:
            bins[min(max(int(percent // 10), 0), BINS - 1)] += 1
        return bins

    @property
    def most_missed(self) -> list[Missed]:
        """The tests at which the most students lost points, and of these the most points, first."""
        return sorted(self.missed.values(), key=lambda one: (-one.students, -one.points, one.test))


def summarize(rows: Iterable[Row]) -> Summary:
    """Return the summary of a class."""
    whole = Summary()
    for row in rows:
        _add(whole, row)
    whole.lowest.sort(key=lambda one: (one.percent, one.name))
    whole.labs.sort()
    return whole


def _add(whole: Summary, row: Row) -> None:
    percent = percent_of(row)
    problem = one_line(row.problem, _WIDTH)
    named = StudentNote(one_line(row.name or row.student, _WIDTH), percent, problem, one_line(row.result, _WIDTH))
    if (lab := one_line(row.lab, _WIDTH)) not in whole.labs:
        whole.labs.append(lab)
    whole.states[row.state] += 1
    whole.late += bool(row.late)
    whole.decided += row.decision is not None
    whole.unread += bool(row.open_items)
    if percent is not None and row.state != "missing":
        whole.handed_in.append(percent)
    if row.decision is None:
        lists = {"missing": whole.missing, "rejected": whole.rejected, "refused": whole.refused, "error": whole.errors}
        if row.state in lists:
            lists[row.state].append(named)
        elif percent is not None and percent < LOW:
            whole.lowest.append(named)
    for note in row.review if row.decision is None else ():
        where = _WHERE.search(note)
        cause = one_line(_WHERE.sub("", note), _WIDTH)
        about = replace(named, about=one_line(where[1], _WIDTH) if where else "")
        whole.to_look_at.setdefault(cause, []).append(about)
    for lost in row.lost:
        one = whole.missed.setdefault(lost.test, Missed(one_line(lost.test, _WIDTH), lost.hidden))
        one.students += 1
        one.points += lost.points
        if why := one_line(lost.why, _WIDTH):
            alike = _NUMBER.sub("#", why)
            one.whys[alike] += 1
            one.examples.setdefault(alike, why)
