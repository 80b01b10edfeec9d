"""Grades one job: what each engine calls, here or on another machine."""

from __future__ import annotations

import time

import msgspec

from warpgrade.course import course as courses
from warpgrade.engine.job import Job, Outcome
from warpgrade.grading import grade, of_course
from warpgrade.lab import labs
from warpgrade.machine.errors import WarpgradeError
from warpgrade.machine.paths import Layout, find_layout


def grade_job(layout: Layout, job: Job) -> Outcome:
    """Return what becomes of a job; the machine's trouble is an outcome, too."""
    started = time.monotonic()
    try:
        course = courses.find(layout)
        lab, options = of_course.prepared(course, labs.find(layout, job.lab), job.options)
        result = of_course.marked(course, grade.grade(layout, lab, job.submission, options))
    except WarpgradeError as error:
        return Outcome(job.key, trouble=error.message, seconds=round(time.monotonic() - started, 3))
    return Outcome(job.key, result, seconds=round(time.monotonic() - started, 3))


def grade_bytes(payload: bytes) -> bytes:
    """Grade an encoded job in the labs around us; return its encoded outcome. What other machines are sent to call."""
    return msgspec.msgpack.encode(grade_job(find_layout(), msgspec.msgpack.decode(payload, type=Job)))
