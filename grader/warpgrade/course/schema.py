"""What course.toml may say: schema 1. docs/course.schema.json is generated from these structs."""

from datetime import datetime
from typing import Any, Final, Literal

import msgspec

from warpgrade.machine import schemas

SCHEMA: Final = 1


class CourseHead(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Table `[course]`.

    device: where submissions run when the command line does not say. compiler: the nvcc that submissions are to be
    graded with, such as 13.0 or 13.0.88. timezone: of all times that say none, such as Europe/Berlin.
    """

    title: str
    device: str = "auto"
    compiler: str = ""
    timezone: str = ""


class RubricItem(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """One of `rubric` in `[[lab]]`: points that a person gives, beside those of the tests, and what they are for."""

    name: str
    points: float
    description: str = ""


class LabEntry(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Table `[[lab]]`: a lab of the course, in the order in which they are taught.

    weight: its share of the course's grade, relative to the other labs. points: of single tests, in place of those of
    lab.toml. due: the end of the time for it; a day without a time ends at midnight. prelab_due: that of its prelab,
    whose tests are late by themselves. hidden_until: until then nothing
    that hidden tests found is shown to students. rubric: what a person gives points for, beside the tests.
    """

    name: str
    weight: float = 1
    points: dict[str, float] = {}
    due: datetime | None = None
    prelab_due: datetime | None = None
    hidden_until: datetime | None = None
    rubric: list[RubricItem] = []


class Late(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Table `[late]`: what a submission loses that comes after its time; without this table nothing.

    grace_minutes: after the due date, in which a submission is not late yet. percent_per_day: of what the submission
    has earned, for each day that has begun since the due date. max_days: later than that counts nothing. hard: nothing
    that is late counts.
    """

    grace_minutes: float = 0
    percent_per_day: float = 0
    max_days: int | None = None
    hard: bool = False


class Policy(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Table `[policy]`.

    attempts: which of a student's submissions counts. repair: what becomes of a hand-in that is not as the lab asks and
    can be meant in one way only: it is taken, or refused. repair_percent: what it loses of its points if it is taken.
    max_attempts, cooldown_minutes: how many submissions of a student are graded, and how long after one the next, on
    platforms that leave this to the autograder. leaderboard: whether the platform's leaderboard gets the speed-ups.
    """

    attempts: Literal["best", "latest"] = "best"
    repair: Literal["take", "refuse"] = "take"
    repair_percent: float = 0
    max_attempts: int | None = None
    cooldown_minutes: float = 0
    leaderboard: bool = False


class Extension(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Table `[[extension]]`: more time for one student, until a date or by some days; without a lab, for all labs."""

    student: str
    lab: str = ""
    until: datetime | None = None
    days: float | None = None


class CourseFile(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """The whole of course.toml."""

    schema: int
    course: CourseHead
    lab: list[LabEntry] = []
    late: Late = Late()
    policy: Policy = Policy()
    extension: list[Extension] = []


def json_schema() -> bytes:
    """Return the JSON Schema of course.toml, which editors check it with, as docs/course.schema.json holds it."""
    document = schemas.schema("Warpgrade course, version 1", CourseFile)
    for definition in document["$defs"].values():
        for name, of_key in definition["properties"].items():
            definition["properties"][name] = _with_every_date(of_key)
    document["$defs"]["CourseFile"]["properties"]["schema"] = {"const": SCHEMA}
    return schemas.text(document).encode() + b"\n"


def _with_every_date(of_key: dict[str, Any]) -> dict[str, Any]:
    """TOML has four kinds of dates, three of which a course may use."""
    if {"type": "string", "format": "date-time"} not in of_key.get("anyOf", []):
        return of_key
    return {"type": "string", "anyOf": [{"format": name} for name in ("date-time", "date-time-local", "date")]}
