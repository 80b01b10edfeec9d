"""Makes grades from attempts: which attempt counts, the deduction for lateness, and decisions of instructors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

import msgspec

from warpgrade.cohort import rubric
from warpgrade.cohort.row import Row, State
from warpgrade.cohort.store import Part, Record, Store, is_missing, max_points
from warpgrade.course import late
from warpgrade.course.course import Course, format_time
from warpgrade.course.late import Penalty
from warpgrade.course.schema import Policy, RubricItem

_LATE = "the platform says that it came late, but not when: no deduction was made"

Attempts = Literal["best", "latest"]


@dataclass(frozen=True)
class Policies:
    """The course's policies for a lab. `attempts`, if given, overrides the course's; `max_points`: of its tests."""

    lab: str
    max_points: float
    course: Course | None = None
    attempts: Attempts | None = None

    @property
    def which(self) -> Attempts:
        """Which of a student's submissions counts."""
        policy = self.course.file.policy if self.course is not None else Policy()
        return self.attempts or policy.attempts

    @property
    def repairs(self) -> bool:
        """Whether a hand-in is taken that is not as the lab asks, and can be meant in one way only."""
        return self.course is None or self.course.file.policy.repair == "take"

    @property
    def rubric(self) -> list[RubricItem]:
        """What a person gives points for, beside the tests."""
        entry = self.course.entry(self.lab) if self.course is not None else None
        return entry.rubric if entry is not None else []

    @property
    def rubric_points(self) -> float:
        """How many points the rubric has."""
        return sum(item.points for item in self.rubric)

    def due(self, student: str) -> datetime | None:
        """Return when the student's time ends."""
        return late.deadline(self.course.file, self.lab, student) if self.course is not None else None

    def penalty(self, record: Record) -> Penalty:
        """Return the deduction for lateness; none if the time of the attempt is unknown."""
        if self.course is None or not record.submitted:
            return Penalty()
        return late.penalty(self.course.file.late, self.due(record.student), datetime.fromisoformat(record.submitted))

    def counting(self, records: Sequence[Record]) -> Record:
        """Return the attempt that counts, from the attempts of one student, oldest first.

        An attempt that came too late to be accepted counts only if no other was accepted.
        """
        accepted = [one for one in records if self.penalty(one).accepted] or records
        if self.which == "latest":
            return accepted[-1]
        done = [one for one in accepted if one.is_done]
        # An attempt that waits or ended with an error may turn out to be the best.
        open_ = [one for one in accepted if not one.is_done]
        if open_ and (not done or max(map(self.earned, done)) < self.max_points):
            return open_[-1]
        return max(done, key=self.earned)  # of two equally good ones the earlier

    def earned(self, record: Record, given: float = 0.0) -> float:
        """Return a submission's points after lateness, and after what it loses for not being as the lab asks.

        given: points of the rubric, which lose as much.
        """
        share = 1 - self.repair_percent(record) / 100
        return round(self.penalty(record).applied(record.points + given) * share, 2)

    def repair_percent(self, record: Record) -> float:
        """Return what a submission loses that was not handed in as the lab asks."""
        if not record.repairs or self.course is None:
            return 0.0
        return min(max(self.course.file.policy.repair_percent, 0.0), 100.0)


def make_row(
    store: Store, policies: Policies, student: str, name: str = "", parts: Sequence[Part] | None = None
) -> Row:
    """Return a student's grade. parts: those of the store, for callers that have read them."""
    records = store.records(student)
    decisions = store.decisions(student)
    decision = decisions[-1] if decisions else None
    if not records:
        parts = store.parts() if parts is None else parts
        most = (max_points(parts, student) or policies.max_points) + policies.rubric_points
        empty = Row(student, name, policies.lab, "missing", 0.0, most, decision=decision)
        if not is_missing(parts, student):
            empty = msgspec.structs.replace(empty, state="waiting", points=None)
        return msgspec.structs.replace(empty, points=decision.points) if decision else empty
    record = policies.counting(records)
    penalty = policies.penalty(record)
    marks = store.marks(student)
    state: State = record.status
    row = Row(
        student=student,
        name=name or record.name,
        lab=policies.lab,
        state=state,
        points=None,
        max_points=(record.max_points or policies.max_points) + policies.rubric_points,
        earned=record.points,
        late="; ".join(filter(None, [_lateness(policies, record, penalty), _repair_text(policies, record)])),
        problem=record.problem,
        decision=decision,
        source=record.source,
        submitted=record.submitted,
        attempts=len(records),
        result=f"results/{record.key}.json" if record.key else "",
        digest=record.digest,
        lost=record.lost,
        review=[*record.review, *([_LATE] if record.late and not record.submitted else [])],
        identifiers=record.identifiers,
        repairs=record.repairs,
        metrics=record.metrics,
        rubric=rubric.current_points(policies.rubric, marks, record.digest),
        comments=rubric.line_comments(marks, record.digest),
    )
    if decision is not None:
        return msgspec.structs.replace(row, points=decision.points)
    is_final = record.is_done and not (penalty.accepted and row.open_items)
    return msgspec.structs.replace(row, points=policies.earned(record, row.given)) if is_final else row


def make_rows(store: Store, policies: Policies, people: Mapping[str, str]) -> Iterator[Row]:
    """Yield the grades of all who are in `people` (student: name) or have handed in, by identifier."""
    parts = store.parts()
    for student in sorted({*people, *store.students()}):
        yield make_row(store, policies, student, people.get(student, ""), parts)


def _repair_text(policies: Policies, record: Record) -> str:
    percent = policies.repair_percent(record)
    return f"not handed in as asked: −{percent:g} %" if percent else ""


def _lateness(policies: Policies, record: Record, penalty: Penalty) -> str:
    due = policies.due(record.student)
    return f"{penalty.text} (due {format_time(due)})" if penalty.text and due else ""
