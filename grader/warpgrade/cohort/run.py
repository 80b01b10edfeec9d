"""Grades the attempts of a class: an engine grades those without a result, and the store keeps the results."""

import dataclasses
import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

import msgspec

from warpgrade.cohort import answers_page, grade_history
from warpgrade.cohort.attempts import StudentAttempt, latest_attempts
from warpgrade.cohort.grade_history import Change
from warpgrade.cohort.row import Lost
from warpgrade.cohort.store import Head, Part, Record, Store
from warpgrade.compiling.failure import Problem
from warpgrade.engine.job import Engine, Job, Outcome
from warpgrade.engine.work import Grader, trouble_of
from warpgrade.grading import grade, review
from warpgrade.grading.grade import Options
from warpgrade.grading.result import Result, TestResult
from warpgrade.intake.intake import Leniency
from warpgrade.lab.labs import PRELAB, Lab
from warpgrade.machine.errors import BadInput
from warpgrade.machine.text import one_line, timestamp

_WIDTH = 200
_MAX_METRICS = 40
_ERROR = re.compile(r"^.*\berror\b.*$", re.MULTILINE)


@dataclass(frozen=True)
class RunOptions:
    """Which attempts to grade.

    latest: only the latest of each student. shard: (1, 8) is the first of eight parts. regrade: also attempts whose
    results are of an earlier lab or grader; students: of these students only, if there are any; tests: and run these
    tests in any case, also where nothing has changed. dry: compare results, and change no student's record.
    """

    latest: bool = False
    shard: tuple[int, int] = (1, 1)
    regrade: bool = False
    dry: bool = False
    repair: bool = True
    students: frozenset[str] = frozenset()
    tests: tuple[str, ...] = ()

    def regrades(self, student: str) -> bool:
        """Tell whether attempts of a student are graded again."""
        return self.regrade and (not self.students or student in self.students)

    def includes(self, student: str) -> bool:
        """Tell whether a student is in this shard."""
        return Part(self.shard).has(student)


@dataclass
class Tally:
    """Counts of attempts.

    stale: with results of an earlier lab or grader. to_do, ended: different submissions to grade, and those graded;
    several attempts in `done` and `errors` may have the same submission.
    """

    kept: int = 0
    stale: int = 0
    refused: int = 0
    shared: int = 0
    to_do: int = 0
    ended: int = 0
    done: int = 0
    errors: int = 0
    changes: list[Change] = field(default_factory=list)


@dataclass(frozen=True)
class _Task:
    record: Record
    handed_in: StudentAttempt
    options: Options


class ClassRun:
    """One call of `warpgrade class`."""

    def __init__(
        self, lab: Lab, store: Store, head: Head, grader: Grader, options: Options, wanted: RunOptions,
        on_step: Callable[[Tally], None] = lambda tally: None,
    ) -> None:  # fmt: skip
        self._lab, self._store, self._head, self._grader = lab, store, head, grader
        self._options, self._wanted, self._on_step = options, wanted, on_step
        self._asked = answers_page.questions(lab)
        self._now = timestamp(datetime.now(UTC))
        self._waiting: dict[str, list[Record]] = {}  # by key: copies are graded once
        self._before: dict[tuple[str, str], Record] = {}  # by student and digest: what grading again is compared with
        self.tally = Tally()

    def run(self, engine: Engine, handed_in: Iterable[StudentAttempt], stopped: Callable[[], bool]) -> Tally:
        """Grade what is left to do.

        All that was handed in is taken down first, also when it is to end: who handed in is not missing.
        """
        tasks = [task for each in self._chosen(handed_in) if (task := self._task(each))]
        self.tally.to_do = len(tasks)
        self._on_step(self.tally)
        if tasks:
            engine.run(self._jobs(tasks), self._done, stopped)
        return self.tally

    # --- before ------------------------------------------------------------------------------------------------------

    def _chosen(self, handed_in: Iterable[StudentAttempt]) -> list[StudentAttempt]:
        mine = [each for each in handed_in if self._wanted.includes(each.student)]
        return latest_attempts(mine) if self._wanted.latest else mine

    def _task(self, handed_in: StudentAttempt) -> _Task | None:
        """Return the task of grading an attempt; None if its result is known or another attempt has the same task."""
        record = Record(
            handed_in.student, handed_in.name, handed_in.source, self._now, handed_in.number,
            handed_in.submitted.isoformat() if handed_in.submitted else "", handed_in.late, list(handed_in.identifiers),
            max_points=self._lab.max_points,
        )  # fmt: skip
        options = dataclasses.replace(self._options, seed=self._head.seed_of(handed_in.student))
        try:
            submission = handed_in.read(self._how(handed_in))
        except BadInput as problem:
            self._refuse(record, problem, options)
            return None
        record = msgspec.structs.replace(
            record,
            digest=submission.digest,
            notes=submission.notes,
            repairs=submission.repairs,
            ignored=submission.ignored,
            answers=answers_page.written(submission.answers, self._asked),
        )
        if not self._wanted.dry:
            self._store.forget(Record(record.student, record.name, record.source, record.seen, record.number))
        identity = self._grader.identity(options)
        key = identity.result_key(submission.files)
        regrade = self._wanted.regrades(record.student)
        again = regrade and bool(self._wanted.tests)
        before = next((one for one in self._store.records(record.student) if one.digest == record.digest), None)
        if before is not None:
            record = msgspec.structs.replace(
                record, seen=before.seen, number=before.number, submitted=record.submitted or before.submitted
            )
            if before.submitted != record.submitted and not self._wanted.dry:
                before = msgspec.structs.replace(before, submitted=record.submitted)
                self._store.save(before)
            if before.is_done and not (regrade and (again or before.key != key)):
                self.tally.kept += 1
                self.tally.stale += before.key != key
                return None
            self._before[record.student, record.digest] = before
        record = msgspec.structs.replace(record, key=key)
        known = self._store.result(key)
        if known is not None and known.status != "error" and not again:
            self.tally.shared += 1
            self._keep(record_result(record, known), known)
            return None
        if again and key not in self._waiting:
            self._grader.forget(options, submission.files, self._wanted.tests)
        if before is None and not self._wanted.dry:
            self._store.save(msgspec.structs.replace(record, key=""))
        self._waiting.setdefault(key, []).append(record)
        return _Task(record, handed_in, options) if len(self._waiting[key]) == 1 else None

    def _how(self, handed_in: StudentAttempt) -> Leniency:
        return Leniency(self._wanted.repair, self._store.accepted(handed_in.student))

    def _refuse(self, record: Record, problem: BadInput, options: Options) -> None:
        refused = grade.rejected_result(self._lab, record.source, problem, options)
        identity = "\0".join((problem.message, problem.hint, record.source, record.student))
        key = f"refused-{hashlib.sha256(identity.encode('utf-8', 'surrogatepass')).hexdigest()[:32]}"
        self.tally.refused += 1
        before = next((one for one in self._store.records(record.student) if one.key == key), None)
        if before is not None and before.number == record.number and not self._wanted.regrades(record.student):
            return  # with the points that the lab had
        record = msgspec.structs.replace(
            record_result(msgspec.structs.replace(record, key=key), refused), status="refused"
        )
        if not self._wanted.dry:
            self._store.save_result(key, refused)
            self._store.save(record)

    def _jobs(self, tasks: Sequence[_Task]) -> Iterator[Job]:
        for task in tasks:
            try:
                submission = task.handed_in.read(self._how(task.handed_in))
            except BadInput:
                submission = None
            if submission is None or submission.digest != task.record.digest:
                self.tally.ended += 1
                self._fail(task.record.key, "it has changed while the class was graded", 1)
                continue
            # The job names no student, because other students may have handed in the same.
            yield Job(task.record.key, self._lab.name, self._lab.main_file, submission.files, task.options)

    # --- after -------------------------------------------------------------------------------------------------------

    def _done(self, outcome: Outcome) -> None:
        self.tally.ended += 1
        result = outcome.result
        if result is None or not outcome.is_final:
            self._fail(outcome.key, trouble_of(outcome), outcome.tries)
            return
        records = [
            record_result(msgspec.structs.replace(record, seconds=outcome.seconds, tries=outcome.tries), result)
            for record in self._waiting.pop(outcome.key)
        ]
        self.tally.done += len(records)
        for record in records:
            self._compare(record, result)  # before the result of the same name that it is compared with is replaced
        if not self._wanted.dry or self._store.result(outcome.key) is None:
            self._store.save_result(outcome.key, result)
        self._save(records)
        self._on_step(self.tally)

    def _fail(self, key: str, trouble: str, tries: int) -> None:
        for record in self._waiting.pop(key, []):
            self.tally.errors += 1
            before = self._before.get((record.student, record.digest))
            if before is not None and before.is_done:
                continue  # a grade that is there is not lost to the machine's trouble
            text = one_line(trouble, _WIDTH)
            self._keep(msgspec.structs.replace(record, key="", status="error", problem=text, tries=tries), None)
        self._on_step(self.tally)

    def _keep(self, record: Record, result: Result | None) -> None:
        self._compare(record, result)
        self._save([record])

    def _save(self, records: Iterable[Record]) -> None:
        for record in records if not self._wanted.dry else ():
            self._store.save(record)

    def _compare(self, record: Record, result: Result | None) -> None:
        before = self._before.get((record.student, record.digest))
        compared = before or Record(record.student, record.name, record.source, record.seen)
        change = grade_history.compare_records(self._store, compared, record, result)
        if change is not None and ((before is not None and before.is_done) or self._wanted.dry):
            self.tally.changes.append(change)


def record_result(record: Record, result: Result) -> Record:
    """Return the record with the points, problem and notes of its result."""
    problem = result.problem
    return msgspec.structs.replace(
        record,
        status="rejected" if result.status == "rejected" else "graded",
        points=result.score.points,
        max_points=result.score.max_points,
        prelab_points=round(sum(test.points for test in result.tests if test.name.startswith(PRELAB)), 2),
        problem=one_line(_describe_problem(problem), _WIDTH) if problem else "",
        lost=[_lost_points(test) for test in result.tests if test.points < test.max_points] if problem is None else [],
        review=_review_notes(result),
        metrics=dict(list(_metrics(result))[:_MAX_METRICS]),
    )


def _describe_problem(problem: Problem) -> str:
    """Return the problem for the instructor, with the compiler's first error in place of the hint for the student."""
    error = _ERROR.search(problem.detail)
    more = error[0] if error else problem.hint
    return f"{problem.message}: {more}" if more else problem.message


def _review_notes(result: Result) -> list[str]:
    """Return the notes for review: each cause once, with the test or the number of tests."""
    told = []
    for cause, tests in review.group_by_cause(result).items():
        where = f" (in {len(tests)} tests)" if len(tests) > 1 else f" (in “{tests[0]}”)" if tests[0] else ""
        told.append(f"{cause}{where}")
    return told


def _lost_points(test: TestResult) -> Lost:
    why = one_line(test.message.split("\n")[0], _WIDTH)
    return Lost(test.name, round(test.max_points - test.points, 2), why, test.hidden)


def _metrics(result: Result) -> Iterator[tuple[str, float]]:
    for test in result.tests:
        if test.kind == "speed" and not test.hidden:  # a leaderboard tells of nothing hidden
            for measured in test.measurements:
                yield one_line(f"{test.name}: {measured.name}", _WIDTH), round(measured.value, 4)
