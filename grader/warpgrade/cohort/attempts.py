"""What a class has handed in: the submissions in a folder or archive, and whose each one is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from warpgrade.grading.submission import Submission


@dataclass(frozen=True)
class StudentAttempt:
    """One submission of a student. `read` returns its files, or raises BadInput with why they are refused.

    student: the identifier that the platform or the roster knows. name: for people. source: where it is, as it is
    called there, fit to be printed. submitted: when, where the platform says it. number: the student's first, second …
    late: the platform says that it was late, though it may not say when it came. identifiers: all that the platform and
    the roster call the student.
    """

    student: str
    name: str
    source: str
    read: Callable[[], Submission]
    submitted: datetime | None = None
    number: int = 1
    late: bool = False
    identifiers: tuple[str, ...] = ()


def latest_attempts(submissions: Iterable[StudentAttempt]) -> list[StudentAttempt]:
    """Return the last submission of each student."""
    last: dict[str, StudentAttempt] = {}
    for each in submissions:
        if each.student not in last or each.number >= last[each.student].number:
            last[each.student] = each
    return list(last.values())


@dataclass(frozen=True)
class ClassAttempts:
    """All that was handed in, and what of it belongs to nobody.

    unclaimed: what is somebody's work and nothing says whose, or is not there, each with why. others: files and folders
    that are no submission, each with why. missing: who is on the roster and handed in nothing, as (student, name).
    unknown: who is not on the roster, though something of theirs is in `submissions`.
    """

    platform: str
    submissions: Sequence[StudentAttempt]
    unclaimed: list[str] = field(default_factory=list)
    others: list[str] = field(default_factory=list)
    missing: list[tuple[str, str]] = field(default_factory=list)
    unknown: list[tuple[str, str]] = field(default_factory=list)
