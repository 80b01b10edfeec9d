"""Collects the attempts of a class in a confined process, and reads each of them in another.

Students chose the names and contents of an export, so both are hostile input.
"""

from collections.abc import Callable
from datetime import datetime
from functools import partial
from pathlib import Path

import msgspec

from warpgrade.cohort import collect
from warpgrade.cohort.attempts import ClassAttempts, StudentAttempt
from warpgrade.grading.submission import Submission
from warpgrade.intake import receive
from warpgrade.intake.intake import Leniency
from warpgrade.lab.labs import Lab
from warpgrade.machine.confined import Allowance, OverBudget, Session
from warpgrade.machine.errors import BadInput
from warpgrade.machine.text import printable_name

# Of names alone: 100,000 submissions take some ten seconds and a quarter of a gigabyte.
_LIST_SECONDS, _LIST_MIB, _LIST_OUTPUT_MIB = 600, 8192, 1024


class AttemptHeader(msgspec.Struct, array_like=True):
    """A StudentAttempt without the function that reads its files."""

    student: str
    name: str
    source: str
    submitted: datetime | None
    number: int
    late: bool
    identifiers: tuple[str, ...]


class ExportListing(msgspec.Struct):
    """A ClassAttempts without functions."""

    platform: str
    submissions: list[AttemptHeader]
    unclaimed: list[str]
    others: list[str]
    missing: list[tuple[str, str]]
    unknown: list[tuple[str, str]]


def read(lab: Lab, path: Path, *, roster: Path | None = None, platform: str | None = None) -> ClassAttempts:
    """Find the attempts as `collect.collect` does."""
    allowance = Allowance(_LIST_SECONDS, _LIST_MIB, _LIST_OUTPUT_MIB)
    try:
        session = Session(allowance, list_export, lab, path, roster, platform)
    except OverBudget as over:
        raise BadInput(f"{printable_name(str(path))}: listing the submissions {over}") from None
    made: ExportListing = session.made
    submissions = [
        StudentAttempt(
            each.student, each.name, each.source, partial(_read, session, lab, each.source, number), each.submitted,
            each.number, each.late, each.identifiers,
        )
        for number, each in enumerate(made.submissions)
    ]  # fmt: skip
    return ClassAttempts(made.platform, submissions, made.unclaimed, made.others, made.missing, made.unknown)


def _read(session: Session, lab: Lab, shown: str, number: int, how: Leniency) -> Submission:
    return receive.read_confined(lab, shown, lambda allowance: session.call(allowance, number, how))


def list_export(
    lab: Lab, path: Path, roster: Path | None, platform: str | None
) -> tuple[ExportListing, Callable[[int, Leniency], Submission]]:
    """List the attempts; also return a function that reads one by its index."""
    found = collect.collect(lab, path, roster=roster, platform=platform)

    def submission(number: int, how: Leniency) -> Submission:
        return found.submissions[number].read(how)

    listed = [
        AttemptHeader(each.student, each.name, each.source, each.submitted, each.number, each.late, each.identifiers)
        for each in found.submissions
    ]
    return ExportListing(
        found.platform, listed, found.unclaimed, found.others, found.missing, found.unknown
    ), submission
