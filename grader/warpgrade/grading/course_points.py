"""Applies course.toml to grading: points and device before it, date and notes after it."""

import dataclasses

import msgspec

from warpgrade.course.course import Course
from warpgrade.grading.grade import Options
from warpgrade.grading.result import Result
from warpgrade.lab.labs import Lab
from warpgrade.machine.text import number


def apply_course(course: Course | None, lab: Lab, options: Options) -> tuple[Lab, Options]:
    """Return the lab with the course's points, and the options with its device where none was asked for."""
    if course is None:
        return lab, options
    if options.device == "auto":
        options = dataclasses.replace(options, device=course.file.course.device)
    return course.applied(lab), options


def annotate_single(course: Course | None, result: Result) -> Result:
    """Return the annotated result of a submission that is no part of a class, with a note on the course's rubric."""
    result = annotate_result(course, result)
    entry = course.entry(result.lab.name) if course is not None else None
    if entry is None or not entry.rubric:
        return result
    items = ", ".join(f"{item.name} ({number(item.points)})" for item in entry.rubric)
    return msgspec.structs.replace(result, notes=[*result.notes, f"a person gives more points beside these: {items}"])


def annotate_result(course: Course | None, result: Result) -> Result:
    """Return the result with the course's date for hidden tests, and a note if another compiler was used."""
    if course is None:
        return result
    entry = course.entry(result.lab.name)
    until = entry.hidden_until.isoformat() if entry is not None and entry.hidden_until is not None else ""
    notes = list(result.notes)
    used = result.toolchain.nvcc if result.toolchain is not None else ""
    if used and not course.is_pinned_compiler(used):
        pinned = course.file.course.compiler
        notes.append(
            f"compiled with nvcc {used}, but the course's is {pinned}: counters, modelled times and points can differ"
        )
    return msgspec.structs.replace(result, notes=notes, hidden_until=until)
