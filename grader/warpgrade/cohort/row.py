"""One line of a class's grades: a student, what was handed in, and what it is worth; what gradebook, feedback and
summary are made of."""

from __future__ import annotations

from typing import Literal

import msgspec

State = Literal["graded", "rejected", "refused", "error", "waiting", "missing"]


class Decision(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a person decided instead of the grader: these points, why, who and when (ISO 8601)."""

    points: float
    reason: str
    by: str
    at: str


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
    earned: by the tests alone. late: in a few words. source: where it was; submitted: when (ISO 8601), where
    the platform says it. attempts: how many there were. result: the file of the whole result, below the folder of the
    class. review: what a person should look at. metrics: numbers that tests measured, by `test: name`.
    identifiers: all that the student is called by platform and roster. repairs: what was not handed in as the lab asks,
    and was taken all the same.
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
