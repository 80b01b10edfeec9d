"""Makes grades from attempts: which attempt counts, the deduction for lateness, and decisions of instructors."""

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

    def due(self, student: str, *, prelab: bool = False) -> datetime | None:
        """Return when the student's time ends, for the lab or for its prelab."""
        return late.deadline(self.course.file, self.lab, student, prelab=prelab) if self.course is not None else None

    def penalty(self, record: Record, *, prelab: bool = False) -> Penalty:
        """Return the deduction for lateness; none if the time of the attempt is unknown."""
        if self.course is None or not record.submitted:
            return Penalty()
        due = self.due(record.student, prelab=prelab)
        return late.penalty(self.course.file.late, due, datetime.fromisoformat(record.submitted))

    def counting(self, records: Sequence[Record]) -> "Counting":
        """Return what counts of the attempts of one student, oldest first.

        An attempt that came too late to be accepted counts only if no other was accepted.
        """
        prelab = self._prelab(records)
        accepted = [one for one in records if self.penalty(one).accepted] or records
        if self.which == "latest":
            return Counting(accepted[-1], prelab)

        def worth(one: Record) -> float:
            return self.earned(Counting(one, prelab))

        done = [one for one in accepted if one.is_done]
        # An attempt that waits or ended with an error may turn out to be the best.
        open_ = [one for one in accepted if not one.is_done]
        if open_ and (not done or max(map(worth, done)) < self.max_points):
            return Counting(open_[-1], prelab)
        return Counting(max(done, key=worth), prelab)  # of two equally good ones the earlier

    def _prelab(self, records: Sequence[Record]) -> Record | None:
        """Return the attempt whose prelab counts, where that is due by itself; None where attempts count as a whole.

        Who hands in the prelab in time, and the lab with it again later, loses nothing.
        """
        done = [one for one in records if one.is_done]
        if not done or self.due(done[0].student, prelab=True) is None:
            return None
        if any(one.prelab_points is None for one in done):  # graded by a version that did not keep them
            return None
        if self.which == "latest":
            return next((one for one in reversed(done) if not self.penalty(one, prelab=True).days), done[-1])
        return max(done, key=self._prelab_earned)

    def earned(self, counting: "Counting", given: float = 0.0) -> float:
        """Return the points after lateness, and after what a submission loses for not being as the lab asks.

        given: points of the rubric, which lose as much as those of the lab.
        """
        prelab = self._prelab_earned(counting.prelab) if counting.prelab is not None else 0.0
        points = self.penalty(counting.record).applied(counting.points_of_lab + given)
        return round(points * self._share(counting.record) + prelab, 2)

    def _prelab_earned(self, record: Record) -> float:
        return self.penalty(record, prelab=True).applied(record.prelab_points or 0.0) * self._share(record)

    def _share(self, record: Record) -> float:
        return 1 - self.repair_percent(record) / 100

    def repair_percent(self, record: Record) -> float:
        """Return what a submission loses that was not handed in as the lab asks."""
        if not record.repairs or self.course is None:
            return 0.0
        return min(max(self.course.file.policy.repair_percent, 0.0), 100.0)


@dataclass(frozen=True)
class Counting:
    """The attempt that counts, and that whose prelab does, where the prelab has a due date of its own."""

    record: Record
    prelab: Record | None = None

    @property
    def points_of_lab(self) -> float:
        """What the tests gave, without the prelab's where these count by themselves."""
        return self.record.points - ((self.record.prelab_points or 0.0) if self.prelab is not None else 0.0)

    @property
    def points(self) -> float:
        """What the tests gave, before any deduction."""
        return round(self.points_of_lab + ((self.prelab.prelab_points or 0.0) if self.prelab is not None else 0.0), 2)


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
    counting = policies.counting(records)
    record = counting.record
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
        earned=counting.points,
        late="; ".join(filter(None, _deductions(policies, counting))),
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
        answers=record.answers,
        comments=rubric.line_comments(marks, record.digest),
    )
    if decision is not None:
        return msgspec.structs.replace(row, points=decision.points)
    is_final = record.is_done and not (penalty.accepted and row.open_items)
    return msgspec.structs.replace(row, points=policies.earned(counting, row.given)) if is_final else row


def make_rows(store: Store, policies: Policies, people: Mapping[str, str]) -> Iterator[Row]:
    """Yield the grades of all who are in `people` (student: name) or have handed in, by identifier."""
    parts = store.parts()
    for student in sorted({*people, *store.students()}):
        yield make_row(store, policies, student, people.get(student, ""), parts)


def _deductions(policies: Policies, counting: Counting) -> Iterator[str]:
    """Say what was taken off, and whether the prelab is that of another attempt."""
    record, prelab = counting.record, counting.prelab
    yield _lateness(policies, record)
    if prelab is not None:
        if prelab.number != record.number:
            yield f"the prelab counts as in submission {prelab.number}"
        if late_prelab := _lateness(policies, prelab, prelab=True):
            yield f"prelab {late_prelab}"
    percent = policies.repair_percent(record)
    yield f"not handed in as asked: −{percent:g} %" if percent else ""


def _lateness(policies: Policies, record: Record, *, prelab: bool = False) -> str:
    text, due = policies.penalty(record, prelab=prelab).text, policies.due(record.student, prelab=prelab)
    return f"{text} (due {format_time(due)})" if text and due else ""
