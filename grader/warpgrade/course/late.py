"""Late work: when a student's time for a lab ends, and what a late submission loses."""

import math
from dataclasses import dataclass
from datetime import datetime, timedelta

from warpgrade.course.schema import CourseFile, Late

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


def deadline(course: CourseFile, lab: str, student: str = "", *, prelab: bool = False) -> datetime | None:
    """Return when a lab or its prelab is due, for a student the latest that an extension gives; None if never.

    Extensions by days are for both, those until a date for the lab alone.
    """
    entry = next((entry for entry in course.lab if entry.name == lab), None)
    due = (entry.prelab_due if prelab else entry.due) if entry is not None else None
    if due is None:
        return None
    ends = [due]
    for extension in course.extension:
        if extension.student != student or extension.lab not in ("", lab):
            continue
        if extension.until is not None and not prelab:
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


def describe(late: Late) -> str:
    """Say in sentences what late work loses, as students read it."""
    if late.hard or late.max_days == 0:
        rule = "Nothing is accepted after that."
    elif late.percent_per_day or late.max_days is not None:
        parts = [f"loses {late.percent_per_day:g} % for each day begun"] if late.percent_per_day else []
        if late.max_days is not None:
            days = f"{late.max_days} day{'s' if late.max_days > 1 else ''}"
            parts.append(f"is not accepted after {days}")
        rule = f"Later work {' and '.join(parts)}."
    else:
        return "Later work loses nothing."
    grace = f" {late.grace_minutes:g} minutes more are allowed." if late.grace_minutes else ""
    return rule + grace
