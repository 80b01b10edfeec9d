"""`grade` and `check`: one submission, graded."""

import functools
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from warpgrade.cli import watch
from warpgrade.cli.console import console
from warpgrade.cli.options import CHECKING, EXIT_STATUSES, THREADS, no_sandbox, take, together
from warpgrade.cli.outlets import Outlets, with_formats
from warpgrade.compiling.ptx_lines import PtxLines
from warpgrade.course import course as courses
from warpgrade.course.course import Course
from warpgrade.findings.accesses import Traces
from warpgrade.grading import course_points, grade
from warpgrade.grading.result import Result
from warpgrade.grading.submission import Submission
from warpgrade.intake import receive
from warpgrade.intake.intake import LENIENT, STRICT
from warpgrade.lab import handout_note, labs
from warpgrade.lab.labs import Lab
from warpgrade.machine import paths
from warpgrade.machine.errors import (
    EXIT_BAD_INPUT,
    EXIT_BELOW_THRESHOLD,
    EXIT_DONE,
    EXIT_GRADER_ERROR,
    BadInput,
    WarpgradeError,
)
from warpgrade.machine.paths import Layout
from warpgrade.machine.progress import Progress
from warpgrade.machine.text import printable_name
from warpgrade.report import compiler, findings, hidden, terminal
from warpgrade.report.format import Report
from warpgrade.report.stream import no_commands, say


@dataclass(frozen=True)
class _Display:
    """What the command shows on the terminal, and what its exit status depends on."""

    quiet: bool
    advice: bool
    full: bool
    fail_under: float | None
    show_hidden: bool = False


_OPTIONS = together(
    click.option("--device", default="auto", metavar="auto|vgpu[:PROFILE]|gpu[:N]", help="Where to run."),
    click.option("--seed", type=click.IntRange(0, 2**63 - 1), help="Replay the inputs of an earlier run."),
    THREADS,
    CHECKING,
    click.option(
        "--only",
        multiple=True,
        metavar="TEXT",
        help="Run only the tests with that in their name, such as a function's.",
    ),
    click.option("--full", is_flag=True, help="Show every failure and finding whole, not only the first."),
    click.option(
        "--fail-under", type=click.FloatRange(0, 100), metavar="PERCENT", help="Exit with 1 below this score."
    ),
    no_sandbox("Run without isolation: for your own code only."),
    click.option("-q", "--quiet", is_flag=True, help="No progress, and one line instead of the table."),
)
_with_formats = functools.partial(with_formats, "result")


@_with_formats
@click.command("grade", epilog=EXIT_STATUSES)
@click.argument("lab_name", metavar="LAB")
@click.argument("path", metavar="PATH", type=click.Path(path_type=Path))
@_OPTIONS
@click.option("--public", is_flag=True, help="Run the public tests only, as `check` does.")
@click.option("--show-hidden", is_flag=True, help="Also show what hidden tests found; not for students' eyes.")
@click.option(
    "--time-on",
    "timing_device",
    default="",
    metavar="gpu[:N]",
    help="Time speed tests there; times vary from run to run.",
)
def grade_command(lab_name: str, path: Path, public: bool, **given: Any) -> int:
    """Grade one submission: a folder, an archive or a file."""
    layout = paths.find_layout()
    return _grade(layout, _lab_named(layout, Path.cwd(), lab_name), path, given, public_only=public)


@_with_formats
@click.command("check", epilog=EXIT_STATUSES)
@click.argument("lab_name", metavar="[LAB]", required=False)
@_OPTIONS
@click.option("--watch", is_flag=True, help="Check again at each save, and show what has changed; Ctrl-C ends.")
def check_command(lab_name: str | None, **given: Any) -> int:
    """Check your own work in the folder you are in: public tests and hints."""
    layout = paths.find_layout()
    lab = lab_of_folder(layout, Path.cwd(), lab_name)
    if given.pop("watch"):
        return _watch(layout, lab, Path.cwd(), given)
    return _grade(layout, lab, Path.cwd(), given, public_only=True)


def _lab_named(layout: Layout, folder: Path, name: str) -> Lab:
    """Return the lab of that name: the one that was handed out in this folder, or one of the course."""
    return lab_of_folder(layout, folder, name) if (folder / handout_note.HANDOUT).is_dir() else labs.find(layout, name)


def lab_of_folder(layout: Layout, folder: Path, name: str | None) -> Lab:
    """Return the lab of that name, or the one whose files lie in the folder."""
    if (folder / handout_note.HANDOUT).is_dir():
        lab = labs.load(folder)
        if name in (None, lab.name):
            return lab
    if name:
        return labs.find(layout, name)
    known = labs.discover(layout)
    if not known:
        raise BadInput(f"there is no lab in {printable_name(str(folder))}", hint="go to the folder of your lab")
    fitting = [lab for lab in known if (folder / lab.main_file).is_file()]
    if len(fitting) == 1:
        return fitting[0]
    if fitting:
        names = " or ".join(f"`warpgrade check {lab.name}`" for lab in fitting)
        raise BadInput("the files here match several labs", hint=f"name the lab: {names}")
    raise BadInput(
        f"no lab file found in {printable_name(str(folder))}",
        hint="go to the folder with " + " or ".join(lab.main_file for lab in known) + ", or name the lab",
    )


def _grade(layout: Layout, lab: Lab, path: Path, given: dict[str, Any], *, public_only: bool) -> int:
    course = courses.find_course(layout)
    lab, options = course_points.apply_course(course, lab, take(grade.Options, given, public_only=public_only))
    outlets = Outlets.take("result", given)
    display = _Display(**given)
    outlets.check()
    if course is not None and (why := outlets.write_instead(course)):
        say(f"warpgrade: {why}", err=True)
        return EXIT_DONE
    try:
        # A student reads at once what the file must be called; what was handed in, only the teacher can take.
        lenient = not public_only and (course is None or course.file.policy.repair == "take")
        submission = receive.read(lab, path, how=LENIENT if lenient else STRICT)
    except BadInput as problem:
        refused = grade.rejected_result(lab, printable_name(str(path)), problem, options)
        outlets.publish(Report(result=course_points.annotate_single(course, refused)))
        raise
    traces = outlets.new_traces()
    with Progress(console(stderr=True), quiet=display.quiet) as progress:
        graded = grade.grade(layout, lab, submission, options, progress.say, traces=traces)
    graded = course_points.annotate_single(course, graded)
    read_ptx = functools.partial(grade.read_ptx, layout, lab, submission, options)
    _publish(outlets, submission, graded, course, read_ptx, traces)
    if not outlets.on_stdout:
        _print(graded, display)
    if display.quiet and graded.problem is not None:
        say(f"warpgrade: {graded.problem.message}", err=True)
    return _exit_status(graded, display.fail_under)


def _watch(layout: Layout, lab: Lab, folder: Path, given: dict[str, Any]) -> int:
    course = courses.find_course(layout)
    lab, options = course_points.apply_course(course, lab, take(grade.Options, given, public_only=True))
    outlets = Outlets.take("result", given)
    display = _Display(**given)
    if outlets.on_stdout:
        raise BadInput("--watch shows what has changed on stdout", hint="write reports to a file, such as --json FILE")
    outlets.check()

    def graded(submission: Submission, options: grade.Options, on_first: grade.OnFirst) -> Result:
        shown = console(stderr=True)
        traces = outlets.new_traces()
        # Where a line cannot change, one for each test at each save would bury what has changed.
        with Progress(shown, quiet=display.quiet or not shown.is_terminal) as progress:
            found = grade.grade(layout, lab, submission, options, progress.say, on_first, traces=traces)
        found = course_points.annotate_single(course, found)
        read_ptx = functools.partial(grade.read_ptx, layout, lab, submission, options)
        _publish(outlets, submission, found, course, read_ptx, traces)
        return found

    def prepare() -> None:
        with suppress(WarpgradeError, OSError):  # a check would tell
            grade.prepare(layout, lab, options)

    session = watch.Watch(
        lab, folder, options, lambda: receive.read(lab, folder, how=STRICT), graded, prepare,
        advice=display.advice, full=display.full, quiet=display.quiet,
    )  # fmt: skip
    return session.run()


def _publish(
    outlets: Outlets,
    submission: Submission,
    graded: Result,
    course: Course | None,
    read_ptx: Callable[[], PtxLines],
    traces: Traces | None,
) -> None:
    # Whoever reads these may be the student: of hidden tests findings never tell more.
    found = [*compiler.findings(graded), *findings.result_findings(graded)]
    leaderboard = course is not None and course.file.policy.leaderboard
    ptx = read_ptx() if outlets.by_line and graded.problem is None else {}
    recorded = traces.kept if traces else None
    outlets.publish(Report(found, submission.folder, result=graded, ptx=ptx, traces=recorded, leaderboard=leaderboard))


def _print(graded: Result, display: _Display) -> None:
    if display.quiet:
        say(terminal.one_line(graded if display.show_hidden else hidden.for_students(graded)))
        return
    with no_commands():
        terminal.show(console(), graded, show_hidden=display.show_hidden, advice=display.advice, full=display.full)


def _exit_status(graded: Result, fail_under: float | None) -> int:
    if graded.status == "error":
        click.echo("warpgrade: not everything could be judged; this score is not final", err=True)
        return EXIT_GRADER_ERROR
    if graded.status == "rejected":
        return EXIT_BAD_INPUT
    below = fail_under is not None and graded.score.percent < fail_under
    return EXIT_BELOW_THRESHOLD if below else EXIT_DONE
