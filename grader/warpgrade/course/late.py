"""Late work: when a student's time for a lab ends, what a late submission loses, and which submission counts."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from warpgrade.course.schema import CourseFile, Late, Policy

_DAY = timedelta(days=1)


@dataclass(frozen=True)
class Penalty:
    """What a submission loses: `percent` of what it has earned, all of it where it is not accepted."""

    days: int = 0
    percent: float = 0.0
    accepted: bool = True

    def applied(self, points: float) -> float:
        """Return what is left of points."""
        return round(points * (1 - self.percent / 100), 2) if self.accepted else 0.0

    @property
    def text(self) -> str:
        """Say it in a few words; nothing of a submission in time."""
        if not self.days:
            return ""
        late = f"{self.days} day{'s' if self.days > 1 else ''} late"
        if not self.accepted:
            return f"{late}: not accepted"
        return f"{late}: −{self.percent:g} %" if self.percent else late


@dataclass(frozen=True)
class Attempt:
    """One submission: when it came, and what it earned before any deduction."""

    submitted: datetime
    points: float


def deadline(course: CourseFile, lab: str, student: str = "") -> datetime | None:
    """Return when a lab is due, for a student with extensions the latest that one of them gives; None if never."""
    due = next((entry.due for entry in course.lab if entry.name == lab), None)
    if due is None:
        return None
    ends = [due]
    for extension in course.extension:
        if extension.student != student or extension.lab not in ("", lab):
            continue
        if extension.until is not None:
            ends.append(extension.until)
        if extension.days is not None:
            ends.append(due + timedelta(days=extension.days))
    return max(ends)


def penalty(late: Late, due: datetime | None, submitted: datetime) -> Penalty:
    """Return what a submission of that moment loses; days count from the due date, also where there is a grace."""
    if due is None or submitted <= due + timedelta(minutes=late.grace_minutes):
        return Penalty()
    days = math.ceil((submitted - due) / _DAY)
    if late.hard or (late.max_days is not None and days > late.max_days):
        return Penalty(days, 100.0, accepted=False)
    return Penalty(days, min(100.0, late.percent_per_day * days))


def counting(policy: Policy, late: Late, due: datetime | None, attempts: Iterable[Attempt]) -> Attempt | None:
    """Return the submission that counts, of those that are accepted; of two equally good ones the earlier."""
    accepted = [one for one in attempts if penalty(late, due, one.submitted).accepted]
    if not accepted:
        return None
    if policy.attempts == "latest":
        return max(accepted, key=lambda one: one.submitted)
    return min(
        accepted, key=lambda one: (-penalty(late, due, one.submitted).applied(one.points), one.submitted)
    )  # fmt: skip


def grade(course: CourseFile, percents: dict[str, float]) -> float:
    """Return the percent of the whole course: each lab's by its weight, and 0 where there is none."""
    weights = sum(entry.weight for entry in course.lab)
    earned = sum(entry.weight * percents.get(entry.name, 0.0) for entry in course.lab)
    return round(earned / weights, 2) if weights else 0.0
