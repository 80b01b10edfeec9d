"""`platform` and `gradebook`: what plugs grading into the platform that a course uses already."""

import dataclasses
from pathlib import Path

import click

from warpgrade.cli.console import console
from warpgrade.cohort import class_folder, grades, outputs
from warpgrade.cohort.gradebook import platform_grades
from warpgrade.cohort.store import HEAD
from warpgrade.course import course as courses
from warpgrade.handout import template
from warpgrade.lab import agreement
from warpgrade.machine import paths
from warpgrade.machine.errors import EXIT_BELOW_THRESHOLD, EXIT_DONE, BadInput
from warpgrade.machine.files import check_writable, write
from warpgrade.machine.progress import Progress
from warpgrade.platforms import gradebook
from warpgrade.platforms.registry import SHEETS
from warpgrade.report import hidden
from warpgrade.report.stream import say


@click.command("platform")
@click.argument("name", metavar="[PLATFORM]", required=False)
@click.argument("lab_name", metavar="[LAB]", required=False)
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), help="Folder to write it to.")
@click.option(
    "--wheel", "wheels", multiple=True, type=click.Path(path_type=Path),
    help="Wheel of Warpgrade, or folder of wheels, to carry; the newest in dist/ if not said otherwise.",
)  # fmt: skip
@click.option(
    "--tests", type=click.Choice(["all", "public"]),
    help="Which tests to put in; `public` is the default where students could read the files.",
)  # fmt: skip
def platform_command(
    name: str | None, lab_name: str | None, out: Path | None, wheels: tuple[Path, ...], tests: template.Tests | None
) -> int:
    """Write what a platform needs to grade a lab, ready to upload.

    Without PLATFORM, list the platforms. docs/platforms.md has a few lines on each.
    """
    if name is None:
        for each in template.list_platforms():
            click.echo(f"{each.name:14}{each.about.title}")
        return EXIT_DONE
    platform = template.find_platform(name)
    if lab_name is None or out is None:
        raise click.UsageError("LAB and --out are needed: a template is for one lab.")
    layout = paths.find_layout()
    lab, course = agreement.find_own(layout, lab_name), courses.find_course(layout)
    lab = course.applied(lab) if course else lab
    carried = template.wheels(layout, wheels) if platform.about.install else []
    with Progress(console(stderr=True)) as progress:
        kind = tests if tests and platform.about.tests != "none" else platform.about.tests
        written = template.write(layout, platform, lab, out, carried, progress.say, kind)
    click.echo(f"{platform.about.title}: {len(written)} file{'s' if len(written) > 1 else ''} in {out}")
    click.echo(template.next_steps(platform, lab))
    return EXIT_DONE


def _class_grades(folder: Path) -> list[gradebook.Grade]:
    known = class_folder.load_class(paths.find_layout(), folder)
    until = outputs.hidden_until(known.policies)
    found = platform_grades(grades.make_rows(known.store, known.policies, known.store.people()))
    return [dataclasses.replace(grade, hidden_until=until) for grade in found]


@click.command("gradebook", epilog="Exit status: 0 done, 1 a result found no place, 2 wrong usage.")
@click.argument("platform", metavar="|".join(SHEETS), type=click.Choice(list(SHEETS)))
@click.argument("export", metavar="EXPORT.csv", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.argument(
    "results", metavar="CLASS|RESULT.json…", nargs=-1, required=True, type=click.Path(path_type=Path, exists=True)
)  # fmt: skip
@click.option("--assignment", default="", metavar="NAME", help="The column; a sheet of one assignment needs none.")
@click.option("--out", required=True, metavar="FILE", help="The filled file, to import; - is stdout.")
@click.option("--points", type=click.FloatRange(0, min_open=True), help="What all points of the lab are worth there.")
@click.option("--overwrite", is_flag=True, help="Replace grades that are there and differ.")
@click.option("--show-hidden", is_flag=True, help="Also before the course shows points of hidden tests.")
def gradebook_command(
    platform: str, export: Path, results: tuple[Path, ...], assignment: str, out: str, points: float | None, *,
    overwrite: bool, show_hidden: bool,
) -> int:  # fmt: skip
    """Fill one column of a gradebook that you exported, from a class or from results.

    CLASS is the folder that `class` graded into; results are what `grade --json` writes.

    The rest of the file stays as it is. Students are found by id, login or e-mail address.
    """
    check_writable("--out", out)
    if out != "-" and Path(out).exists() and Path(out).samefile(export):
        raise BadInput("--out is the export itself", hint="name another file, and keep the export")
    is_class = len(results) == 1 and (results[0] / HEAD).is_file()
    graded = _class_grades(results[0]) if is_class else gradebook.read_results(results)
    if not show_hidden:
        hidden.refuse_early(max(grade.hidden_until for grade in graded) if graded else "", "this lab")
    filled = gradebook.fill(SHEETS[platform], export.read_bytes(), graded, assignment, points, overwrite=overwrite)
    write(out, "--out", filled.content)
    for rows, what in (
        (filled.unmatched, "of no student there, or of several"),
        (
            filled.not_final,
            "no grade yet; grades.csv says why" if is_class else "no grade, as not everything could be judged",
        ),
        (filled.kept, "left as it is there"),
        (filled.without, "without a result"),
        (filled.formulas, "with a cell that a spreadsheet takes for a formula; open the file with care"),
    ):
        if rows:
            say(f"{what} ({len(rows)}):", err=True)
            say("\n".join(f"    {row}" for row in rows), err=True)
    click.echo(f"{filled.written} grade{'' if filled.written == 1 else 's'} written", err=True)
    return EXIT_BELOW_THRESHOLD if filled.unmatched or filled.not_final or filled.kept else EXIT_DONE
