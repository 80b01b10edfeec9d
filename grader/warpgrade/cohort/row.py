"""One line of a class's grades: a student, what was handed in, and what it is worth; what gradebook, feedback and
summary are made of."""

from typing import Literal

import msgspec

State = Literal["graded", "rejected", "refused", "error", "waiting", "missing"]


class Decision(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a person decided instead of the grader: these points, why, who and when (ISO 8601)."""

    points: float
    reason: str
    by: str
    at: str


class Mark(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a person who read a submission gave or wrote: points of a rubric's item, or a comment at a line.

    item, points, max_points: of the rubric; None takes points back. place: `matmul.cu:12`; an empty text there takes
    comments back. by, at: who and when (ISO 8601). digest: of the submission that was read.
    """

    by: str
    at: str
    digest: str = ""
    item: str = ""
    points: float | None = None
    max_points: float = 0.0
    place: str = ""
    text: str = ""


class Lost(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A test at which points were lost: its name, how many, and in a few words why."""

    test: str
    points: float
    why: str = ""
    hidden: bool = False


class Row(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A student's grade of one lab.

    student: the identifier that the roster or the platform knows. name: for people. state: `graded`; `rejected` (it
    could not be compiled: zero); `refused` (nothing of it could be read: zero); `error` (the machine failed, also after
    trying again: no grade); `waiting` (not graded yet, or perhaps in a part of the class that is not here: no grade);
    `missing` (on the roster, nothing handed in: zero).
    points: what counts, of max_points, after lateness and a person's decision; None where there is no grade yet.
    rubric: what a person gives beside the tests; an item without points has not been given yet. comments: at lines.
    earned: by the tests alone. late: in a few words. source: where it was; submitted: when (ISO 8601), where
    the platform says it. attempts: how many there were. result: the file of the whole result, below the folder of the
    class. review: what a person should look at. metrics: numbers that tests measured, by `test: name`.
    identifiers: all that the student is called by platform and roster. repairs: what was not handed in as the lab asks,
    and was taken all the same. answers: to the lab's short questions, which a person reads.
    """

    student: str
    name: str
    lab: str
    state: State
    points: float | None
    max_points: float
    earned: float = 0.0
    late: str = ""
    problem: str = ""
    decision: Decision | None = None
    source: str = ""
    submitted: str = ""
    attempts: int = 0
    result: str = ""
    digest: str = ""
    lost: list[Lost] = []
    review: list[str] = []
    metrics: dict[str, float] = {}
    identifiers: list[str] = []
    repairs: list[str] = []
    rubric: list[Mark] = []
    comments: list[Mark] = []
    answers: str = ""

    @property
    def given(self) -> float:
        """Points of the rubric that a person has given."""
        return sum(mark.points or 0.0 for mark in self.rubric)

    @property
    def open_items(self) -> list[str]:
        """The items of the rubric that the grade waits for."""
        return [mark.item for mark in self.rubric if mark.points is None] if self.points is None else []
