"""Grades one job: what each engine calls, here or on another machine."""

import dataclasses
import functools
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import msgspec

from warpgrade.course import course as courses
from warpgrade.course.course import Course
from warpgrade.engine.job import Job, Outcome
from warpgrade.grading import course_points, grade, identity
from warpgrade.grading.recall import Identity, Recall
from warpgrade.lab import labs
from warpgrade.lab.labs import Lab
from warpgrade.machine import disk_space
from warpgrade.machine.disk_space import NoSpace
from warpgrade.machine.errors import BadInput, WarpgradeError
from warpgrade.machine.paths import Layout, find_layout
from warpgrade.machine.text import one_line, printable_name

Say = Callable[[str], None]


class Grader:
    """Grades jobs of one lab, from many threads at a time; what is the same for all of them is found out once."""

    def __init__(self, layout: Layout, lab: Lab, course: Course | None, verdicts: Path | None = None) -> None:
        self._layout = layout
        self._plain, self._course, self._verdicts = lab, course, verdicts
        self._lock = threading.Lock()
        self._identities: dict[grade.Options, Identity] = {}

    def __call__(self, job: Job, say: Say = lambda text: None) -> Outcome:
        """Return what becomes of a job; the machine's trouble is an outcome, too."""
        started = time.monotonic()
        lab, options = course_points.apply_course(self._course, self._plain, job.options)
        try:
            recall = Recall(self._verdicts, self.identity(options)) if self._verdicts else None
            result = grade.grade(self._layout, lab, job.submission, options, say, recall=recall)
        except (BadInput, NoSpace):
            raise  # of what is the same for all: they all would fail
        except WarpgradeError as error:
            return _troubled(job, "\n".join(filter(None, (error.message, error.detail))), started)
        except OSError as error:
            if isinstance(known := disk_space.trouble(error), NoSpace):
                raise known from None
            return _troubled(job, f"{error.strerror}: {printable_name(str(error.filename))}", started)
        except Exception as error:
            return _troubled(job, f"unexpected {type(error).__name__}: {one_line(str(error), 200)}", started)
        result = course_points.annotate_result(self._course, result)
        return Outcome(job.key, result, seconds=round(time.monotonic() - started, 3))

    def forget(self, options: grade.Options, submitted: Mapping[str, bytes], tests: Iterable[str]) -> None:
        """Let these tests of a submission run again, although nothing has changed."""
        if self._verdicts:
            Recall(self._verdicts, self.identity(options)).forget(submitted, tests)

    def identity(self, options: grade.Options) -> Identity:
        """Return what results with these options depend on."""
        lab, options = course_points.apply_course(self._course, self._plain, options)
        same = dataclasses.replace(options, seed=0, threads=None)
        with self._lock:
            if same not in self._identities:
                self._identities[same] = identity.find(self._layout, lab, same, self._course)
        return dataclasses.replace(self._identities[same], seed=options.seed or 0)


def _troubled(job: Job, text: str, started: float) -> Outcome:
    return Outcome(job.key, trouble=text, seconds=round(time.monotonic() - started, 3))


def trouble_of(outcome: Outcome) -> str:
    """Return in a few words why an outcome is none, or nothing."""
    if outcome.trouble:
        return outcome.trouble
    if outcome.result is not None and outcome.result.status == "error":
        failed = next((test for test in outcome.result.tests if test.status == "error"), None)
        problem = outcome.result.problem
        return problem.message if problem else f"{failed.name}: {failed.message}" if failed else "not all was judged"
    return ""


def grade_bytes(payload: bytes) -> bytes:
    """Grade an encoded job in the labs around us; return its encoded outcome. What other machines are sent to call."""
    job = msgspec.msgpack.decode(payload, type=Job)
    try:
        return msgspec.msgpack.encode(_grader_of_run(job.lab, job.verdicts)(job))
    except WarpgradeError as error:
        return msgspec.msgpack.encode(Outcome(job.key, trouble=error.message))


@functools.cache  # a worker lives no longer than the run of a class
def _grader_of_run(lab: str, verdicts: str) -> Grader:
    layout = find_layout()
    return Grader(layout, labs.find(layout, lab), courses.find_course(layout), Path(verdicts) if verdicts else None)
