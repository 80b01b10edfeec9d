"""What an engine gets and gives: one submission as bytes that another machine understands, and what became of it."""

import dataclasses
from collections.abc import Callable, Iterable
from typing import Any, Protocol

import msgspec

from warpgrade.grading.grade import Options
from warpgrade.grading.result import Result
from warpgrade.grading.submission import Submission


class Job(msgspec.Struct, frozen=True):
    """One submission to grade. A machine that takes it has the same labs, course and Warpgrade.

    key: names the job and its outcome; no two jobs of a run have the same.
    verdicts: the folder of those of the class, where the machine sees it.
    """

    key: str
    lab: str
    name: str
    files: dict[str, bytes]
    options: Options
    ignored: list[str] = []
    notes: list[str] = []
    verdicts: str = ""

    @property
    def submission(self) -> Submission:
        """What is graded."""
        return Submission(self.name, self.files, self.ignored, None, self.notes)


def on_one_core(job: Job) -> Job:
    """Return the job for one of many workers: the virtual GPU would otherwise take all cores."""
    return msgspec.structs.replace(job, options=dataclasses.replace(job.options, threads=job.options.threads or 1))


class Outcome(msgspec.Struct, frozen=True):
    """What became of a job: a result, or the machine's trouble, which is no result and may be tried again.

    tries: how often it was tried. seconds: of the last one.
    """

    key: str
    result: Result | None = None
    trouble: str = ""
    tries: int = 1
    seconds: float = 0.0

    @property
    def is_final(self) -> bool:
        """Whether there is a result in which everything was judged."""
        return self.result is not None and self.result.status != "error"


class Engine(Protocol):
    """Grades jobs, many at a time."""

    def run(self, jobs: Iterable[Job], done: Callable[[Outcome], Any], stopped: Callable[[], bool]) -> None:
        """Grade the jobs; call `done` once for each, from one thread at a time, in the order in which they end.

        Jobs are taken one by one, when there is room for them. What failed for the machine's sake is tried again
        before `done` hears of it. When `stopped()` turns true, no job begins any more; those that run are ended, and
        `done` does not hear of them.
        """
