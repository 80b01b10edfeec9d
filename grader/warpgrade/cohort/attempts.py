"""What a class has handed in: the attempts of each student, in a folder or an archive."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, tzinfo

from warpgrade.intake.intake import Reader


@dataclass(frozen=True)
class StudentAttempt:
    """One attempt of a student.

    student: the identifier on the platform or the roster. name: the name to show. source: the name of the file or
    folder, safe to print. read: reads the files; raises BadInput if they are refused. submitted: the time, if the
    platform tells it. number: 1 for the student's first attempt. late: the platform calls it late. identifiers: all
    identifiers of the student on the platform and the roster.
    """

    student: str
    name: str
    source: str
    read: Reader
    submitted: datetime | None = None
    number: int = 1
    late: bool = False
    identifiers: tuple[str, ...] = ()

    @property
    def lacks_time_zone(self) -> bool:
        """Whether the time of the attempt is known, but for its zone."""
        return self.submitted is not None and self.submitted.tzinfo is None


def latest_attempts(submissions: Iterable[StudentAttempt]) -> list[StudentAttempt]:
    """Return the last attempt of each student."""
    last: dict[str, StudentAttempt] = {}
    for each in submissions:
        if each.student not in last or each.number >= last[each.student].number:
            last[each.student] = each
    return list(last.values())


@dataclass(frozen=True)
class ClassAttempts:
    """All attempts of a class.

    unclaimed: work whose student is unknown, or that is missing in the export, each with the reason. others: files and
    folders that are no submission, each with the reason. missing: students on the roster without an attempt, as
    (student, name). unknown: students with an attempt who are not on the roster.
    """

    platform: str
    submissions: Sequence[StudentAttempt]
    unclaimed: list[str] = field(default_factory=list)
    others: list[str] = field(default_factory=list)
    missing: list[tuple[str, str]] = field(default_factory=list)
    unknown: list[tuple[str, str]] = field(default_factory=list)


def with_time_zone(found: ClassAttempts, zone: tzinfo | None) -> ClassAttempts:
    """Return the attempts with times that say their zone; in no zone, times of a roster are not known."""
    moved = [
        replace(each, submitted=each.submitted.replace(tzinfo=zone) if each.submitted and zone else None)
        if each.lacks_time_zone
        else each
        for each in found.submissions
    ]
    return replace(found, submissions=moved)
