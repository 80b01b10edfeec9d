"""The course's limits of attempts on Gradescope, which leaves them to the autograder.

As Gradescope advises, a submission beyond the limits gets the results of the one that counts, with a message above
them: the student keeps that score. It goes by when a submission came, so that a rerun decides the same.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from warpgrade.course import attempt_limits
from warpgrade.course.course import Course, format_time
from warpgrade.machine.errors import GraderError
from warpgrade.machine.text import number

METADATA = "submission_metadata.json"
UNCOUNTED = "not_graded"  # a key of extra_data: this submission cost no attempt
_MAX_BYTES = 64 << 20  # it holds the results of all earlier submissions


@dataclass(frozen=True)
class _Earlier:
    submitted: datetime
    score: float
    results: dict[str, Any]


def results_instead(results_file: Path, course: Course) -> tuple[str, bytes] | None:
    """Return why a submission is not graded, and the results.json that it gets instead; None if it is graded.

    Raises GraderError if the course has limits and Gradescope's metadata cannot be read.
    """
    policy = course.file.policy
    metadata = results_file.absolute().parent.parent / METADATA
    if (policy.max_attempts is None and not policy.cooldown_minutes) or not metadata.is_file():
        return None
    document = _read(metadata)
    earlier = sorted(_graded(document), key=lambda one: one.submitted)
    now = _moment(document.get("created_at")) or datetime.now(UTC)
    why = attempt_limits.refusal(course, now, [one.submitted for one in earlier])
    if not why:
        return None
    kept = max(earlier, key=lambda one: one.score) if policy.attempts == "best" else earlier[-1]
    when = format_time(kept.submitted.astimezone(course.zone or now.tzinfo))
    told = f"{why} Your score stays {number(kept.score, 2)}, which the submission of {when} got; its results follow."
    results = {
        **kept.results,
        "score": kept.score,
        "output": "\n\n".join(filter(None, [told, _text(kept.results.get("output"))])),
        "extra_data": {**_table(kept.results.get("extra_data")), UNCOUNTED: True},
    }
    return told, msgspec.json.format(msgspec.json.encode(results), indent=1) + b"\n"


def _read(path: Path) -> dict[str, Any]:
    try:
        with path.open("rb") as file:
            raw = file.read(_MAX_BYTES + 1)
        document = msgspec.json.decode(raw) if len(raw) <= _MAX_BYTES else None
    except (OSError, msgspec.DecodeError, RecursionError):
        document = None
    if not isinstance(document, dict):
        raise GraderError(
            f"Gradescope's {METADATA} cannot be read, so the course's limits of attempts cannot be applied",
            hint="rerun the autograder; or remove max_attempts and cooldown_minutes from course.toml",
        )
    return document


def _graded(document: dict[str, Any]) -> Iterator[_Earlier]:
    """Yield the earlier submissions that were graded: not what the autograder failed on, or did not grade."""
    previous = document.get("previous_submissions")
    for entry in previous if isinstance(previous, list) else []:
        results = _table(entry.get("results")) if isinstance(entry, dict) else {}
        submitted = _moment(entry.get("submission_time")) if results else None
        score = results.get("score")
        counted = not _table(results.get("extra_data")).get(UNCOUNTED)
        if counted and submitted is not None and isinstance(score, int | float) and not isinstance(score, bool):
            yield _Earlier(submitted, float(score), results)


def _moment(value: Any) -> datetime | None:
    try:
        moment = datetime.fromisoformat(value)
    except (TypeError, ValueError):
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _table(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
