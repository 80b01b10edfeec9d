"""`release`: what students get."""

from datetime import UTC, datetime
from pathlib import Path

import click

from warpgrade.cli.console import console
from warpgrade.course import course as courses
from warpgrade.course import reader
from warpgrade.handout import instructions, make, solutions
from warpgrade.lab import agreement, labs
from warpgrade.lab.labs import Lab
from warpgrade.machine import paths
from warpgrade.machine.errors import EXIT_DONE, BadInput
from warpgrade.machine.paths import Layout
from warpgrade.machine.progress import Progress
from warpgrade.report.stream import say


def _course_labs(layout: Layout) -> list[Lab]:
    """Return the labs of course.toml with the course's points, or all where there is no such file."""
    known = labs.discover(layout)
    found = courses.find_course(layout)
    if found is None:
        return known
    reader.refuse(found.mistakes(layout))
    return found.in_order(known)


def _with_points(layout: Layout, name: str) -> Lab:
    lab, found = agreement.find_own(layout, name), courses.find_course(layout)
    return found.applied(lab) if found else lab


@click.command("release")
@click.argument("lab_names", metavar="LAB…", nargs=-1)
@click.option("--course", is_flag=True, help="All labs of the course.")
@click.option(
    "--out", type=click.Path(path_type=Path), default="handouts", metavar="DIR|ZIP",
    help="A new folder for each lab in DIR, or for one lab an archive.",
)  # fmt: skip
@click.option(
    "--wheel", default="", metavar="FILE|URL", help="Warpgrade for students: a wheel for each handout, or its address."
)
@click.option("--contact", default="", metavar="TEXT", help="Whom students ask, such as an address.")
@click.option(
    "--solutions", "with_solutions", is_flag=True,
    help="Instead: the reference and a discussion, when nothing can be handed in any more.",
)  # fmt: skip
def release_command(
    lab_names: tuple[str, ...], course: bool, out: Path, wheel: str, contact: str, with_solutions: bool
) -> int:
    """Make what students get of a lab: sheet, starter, public tests; nothing hidden."""
    layout = paths.find_layout()
    if course == bool(lab_names):
        raise BadInput(
            "nothing to release" if not course else "--course releases all labs", hint="name labs, or use --course"
        )
    chosen = _course_labs(layout) if course else [_with_points(layout, name) for name in lab_names]
    if with_solutions:
        found = courses.find_course(layout)
        for lab in chosen:
            click.echo(f"{solutions.release(lab, found, out, datetime.now(UTC))}: reference and discussion")
        return EXIT_DONE
    if out.suffix == ".zip" and len(chosen) != 1:
        raise BadInput("an archive holds one lab", hint="name one lab, or a folder for --out")
    given, asked = instructions.find_wheel(wheel), instructions.require_contact(contact)
    for lab in chosen:
        with Progress(console(stderr=True)) as progress:
            made = make.release(layout, lab, out, progress.say, wheel=given, contact=asked)
        score = f"{made.points:g} of {made.max_points:g} public points"
        click.echo(f"{made.path}: {len(made.files)} files, the starter has {score}")
    if not wheel:
        say(
            "warpgrade: CHECK.md asks students to get warpgrade-….whl from you; --wheel FILE or URL saves that",
            err=True,
        )
    return EXIT_DONE
