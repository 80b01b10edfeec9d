"""`course`: what course.toml says, checked against the labs and this machine."""

import click
from rich.table import Table
from rich.text import Text

from warpgrade.cli.console import console
from warpgrade.compiling import toolchain
from warpgrade.course import course as courses
from warpgrade.course import reader
from warpgrade.course.course import Course
from warpgrade.course.schema import SCHEMA
from warpgrade.lab import labs
from warpgrade.machine import device, paths
from warpgrade.machine.errors import EXIT_DONE, BadInput, WarpgradeError
from warpgrade.machine.paths import Layout
from warpgrade.machine.text import number

_EXAMPLE = f"""\
schema = {SCHEMA}
[course]
title = "Parallel programming"
[[lab]]
name = "first"
"""


@click.group("course")
def course_command() -> None:
    """Look at course.toml: labs, points, due dates, late work."""


@course_command.command("check", epilog="Exit status: 0 it is sound, 2 it is not.")
def check_command() -> int:
    """Check course.toml against the labs and this machine, and show what it says."""
    layout = paths.find_layout()
    try:
        course = courses.find_course(layout)
        if course is None:
            raise BadInput(f"there is no {reader.NAME} in {layout.root}; begin with", detail=_EXAMPLE)
        reader.refuse(course.mistakes(layout))
    except reader.CourseMistake as mistake:
        # Whoever calls this has written the file.
        raise BadInput(mistake.message, mistake.hint, mistake.detail) from None
    _show(layout, course)
    return EXIT_DONE


def _show(layout: Layout, course: Course) -> None:
    terminal = console()
    terminal.print(Text(course.file.course.title, style="bold"))
    table = Table.grid(padding=(0, 2))
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    for lab in course.in_order(labs.discover(layout)):
        entry = course.entry(lab.name)
        changed = f" ({len(entry.points)} changed)" if entry and entry.points else ""
        table.add_row(lab.name, f"{number(lab.max_points)} points{changed} · {course.facts(lab.name)}")
    table.add_row("late work", _late(course))
    table.add_row("attempts", _attempts(course))
    if extensions := course.file.extension:
        table.add_row("extensions", ", ".join(f"{one.student} ({one.lab or 'all labs'})" for one in extensions))
    table.add_row("device", _device(layout, course.file.course.device))
    table.add_row("compiler", _compiler(layout, course))
    terminal.print(table)


def _attempts(course: Course) -> str:
    policy = course.file.policy
    limits = [f"at most {policy.max_attempts}"] if policy.max_attempts is not None else []
    limits += [f"one every {number(policy.cooldown_minutes)} minutes"] if policy.cooldown_minutes else []
    return f"the {policy.attempts} one counts" + (f"; on Gradescope {', '.join(limits)}" if limits else "")


def _late(course: Course) -> str:
    late = course.file.late
    grace = f"{number(late.grace_minutes)} minutes of grace; then " if late.grace_minutes else ""
    if late.hard:
        return f"{grace}nothing is accepted"
    most = f", and after {late.max_days} days nothing is accepted" if late.max_days is not None else ""
    if not late.percent_per_day:
        return f"{grace}costs nothing{most}"
    return f"{grace}−{number(late.percent_per_day, 2)} % for each day that has begun{most}"


def _device(layout: Layout, spec: str) -> str:
    try:
        return device.resolve(layout, spec).title
    except WarpgradeError as problem:
        return f"{spec}: {problem.message}"


def _compiler(layout: Layout, course: Course) -> str:
    pinned = course.file.course.compiler
    if not pinned:
        return "any nvcc; `compiler` in [course] names one, for others may give other counters"
    try:
        here = toolchain.find(layout).nvcc_version
    except WarpgradeError as problem:
        return f"nvcc {pinned}; here: {problem.message}"
    if course.is_pinned_compiler(here):
        return f"nvcc {pinned}; here {here}"
    return f"nvcc {pinned}, but here {here}: results say so"
