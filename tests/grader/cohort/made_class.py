"""A class of the toy lab, graded by a stand-in that reads the points out of the submission: `// points: 12`."""

import dataclasses
import functools
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from warpgrade.cohort.attempts import StudentAttempt
from warpgrade.cohort.row import Row
from warpgrade.cohort.run import ClassRun, RunOptions, Tally
from warpgrade.cohort.store import Head, Record, Store
from warpgrade.engine.job import Job, Outcome
from warpgrade.engine.local import LocalEngine
from warpgrade.engine.work import Say
from warpgrade.grading import score
from warpgrade.grading.grade import Options
from warpgrade.grading.recall import Identity
from warpgrade.grading.result import DeviceInfo, LabInfo, Result, Seconds, SubmissionInfo, TestResult
from warpgrade.intake import intake
from warpgrade.lab.labs import Lab
from warpgrade.machine.paths import Layout


@dataclass
class Stub:
    """Stands for the grader: what it was asked for, and what each submission makes of it."""

    lab: Lab
    graded: list[str] = field(default_factory=list)
    version: str = "1"
    worth: dict[str, float] = field(default_factory=dict)  # in place of what a submission says
    during: Callable[[Job, Say], None] = lambda job, say: None

    forgot: list[tuple[str, ...]] = field(default_factory=list)

    def forget(self, options: Options, submitted: Mapping[str, bytes], tests: Sequence[str]) -> None:
        self.forgot.append(tuple(tests))

    def identity(self, options: Options) -> Identity:
        return Identity("same", {"adds": self.version}, "made with", options.seed or 0)

    def __call__(self, job: Job, say: Say = lambda text: None) -> Outcome:
        text = job.files["toy.cu"].decode()
        self.graded.append(text)
        self.during(job, say)
        if "machine fails" in text:
            return Outcome(job.key, trouble="the device server died")
        found = re.search(r"points: ([\d.]+)", text)
        points = self.worth.get(text, float(found[1]) if found else 0.0)
        test = TestResult("adds", "test", "pass" if points else "fail", points, 40, hidden=False, message="C[0] is 0")
        return Outcome(job.key, Result(
            lab=LabInfo("toy", "Adding vectors"), submission=SubmissionInfo(job.name), status="graded",
            score=score.total([test]), tests=[test], device=DeviceInfo("auto", "vgpu"), started_at="",
            seed=job.options.seed, seconds=Seconds(0, 0), review=["looks odd"] if "odd" in text else [],
        ))  # fmt: skip


@dataclass
class MadeClass:
    """A class's folder, and what its students hand in."""

    layout: Layout
    lab: Lab
    stub: Stub
    folder: Path
    handed_in: list[StudentAttempt] = field(default_factory=list)

    @property
    def store(self) -> Store:
        return Store(self.folder / "grades")

    def add(self, student: str, text: str | bytes, submitted: str = "", number: int = 1) -> None:
        path = self.folder / "in" / f"{len(self.handed_in)}"
        path.mkdir(parents=True)
        (path / "toy.cu").write_bytes(text if isinstance(text, bytes) else text.encode())
        self.handed_in.append(StudentAttempt(
            student, student.title(), path.name, functools.partial(intake.read, self.lab, path, ""),
            datetime.fromisoformat(submitted) if submitted else None, number,
        ))  # fmt: skip

    def run(
        self, wanted: RunOptions | None = None, stopped: Callable[[], bool] = lambda: False, jobs: int = 1
    ) -> Tally:
        head = self.store.begin(Head("toy", 5))
        run = ClassRun(self.lab, self.store, head, self.stub, Options(), wanted or RunOptions())  # type: ignore[arg-type]
        return run.run(LocalEngine(self.stub, jobs), self.handed_in, stopped)

    def regrade(self, **more: object) -> Tally:
        return self.run(dataclasses.replace(RunOptions(), regrade=True, **more))  # type: ignore[arg-type]

    def record(self, student: str) -> Record:
        (record,) = self.store.records(student)
        return record


def states(rows: Sequence[Row]) -> dict[str, tuple[str, float | None]]:
    return {row.student: (row.state, row.points) for row in rows}
