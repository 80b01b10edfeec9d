"""The command line: options, exit statuses, and what goes to stdout and stderr."""

from __future__ import annotations

import os
import sys
import traceback
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any, cast

import click
import msgspec
from rich.console import Console
from rich.table import Table
from rich.text import Text

from warpgrade import __version__, doctor, grade, intake, labs, publish, result, starter, testing
from warpgrade import run as run_program
from warpgrade.errors import (
    EXIT_BAD_INPUT,
    EXIT_BELOW_THRESHOLD,
    EXIT_DONE,
    EXIT_GRADER_ERROR,
    EXIT_INTERRUPTED,
    BadInput,
    WarpgradeError,
)
from warpgrade.files import check_writable, write
from warpgrade.labs import Lab
from warpgrade.paths import Layout, find_layout
from warpgrade.progress import Progress
from warpgrade.report import diagnosis as diagnosis_report
from warpgrade.report import findings, terminal
from warpgrade.report import profile as profile_report
from warpgrade.report.stream import Gated, no_commands, say
from warpgrade.text import printable_name

_EPILOG = (
    "Exit status: 0 done, 1 below --fail-under, 2 wrong usage or a submission that cannot be graded, 3 grader error."
)


def run(arguments: list[str]) -> int:
    """Run the command line and return the exit status; never a stack trace."""
    try:
        status = main.main(args=arguments, prog_name="warpgrade", standalone_mode=False)
    except WarpgradeError as problem:
        _complain(problem)
        return problem.exit_status
    except click.ClickException as problem:
        problem.show()
        return EXIT_BAD_INPUT
    except (click.Abort, KeyboardInterrupt):
        click.echo("warpgrade: interrupted", err=True)
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        # The reader of stdout has gone (`| head`); nothing more to say to it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return EXIT_DONE
    except Exception as error:  # the last resort: keeps the trace for us, off the user's screen
        click.echo(f"warpgrade: unexpected error: {error!r}; the details are in {_write_crash_log(error)}", err=True)
        return EXIT_GRADER_ERROR
    return status if isinstance(status, int) else EXIT_DONE


def _complain(problem: WarpgradeError) -> None:
    say(f"warpgrade: {problem.message}", err=True)
    if problem.detail:
        say("\n".join(f"    {line}" for line in problem.detail.splitlines()), err=True)
    if problem.hint:
        say(f"warpgrade: {problem.hint}", err=True)


def _write_crash_log(error: BaseException) -> str:
    text = "".join(traceback.format_exception(error))
    logs = find_layout().logs
    try:
        logs.mkdir(parents=True, exist_ok=True)
        path = logs / f"crash-{datetime.now(UTC):%Y%m%d-%H%M%S}.log"
        path.write_text(text, encoding="utf-8")
    except OSError:
        return "no log, for it cannot be written:\n" + text
    return str(path)


@click.group(context_settings={"help_option_names": ["-h", "--help"]}, epilog=_EPILOG)
@click.version_option(__version__, message="warpgrade %(version)s")
def main() -> None:
    """Grade CUDA course labs, without a GPU."""


def _run_options(command: Any) -> Any:
    """Add the options that `grade` and `check` share."""
    for option in reversed(
        [
            click.option("--device", default="auto", metavar="auto|vgpu[:PROFILE]|gpu[:N]", help="Where to run."),
            click.option("--seed", type=click.IntRange(0, 2**63 - 1), help="Replay the inputs of an earlier run."),
            click.option("--threads", type=click.IntRange(1, 1024), help="CPU threads of the virtual GPU."),
            click.option("--json", "json_file", metavar="FILE", help="Write the result as JSON; - is stdout."),
            click.option(
                "--fail-under", type=click.FloatRange(0, 100), metavar="PERCENT", help="Exit with 1 below that score."
            ),
            click.option("--no-sandbox", is_flag=True, help="Run without isolation: for your own code only."),
            click.option("-q", "--quiet", is_flag=True, help="No progress, and one line in place of the table."),
        ]
    ):
        command = option(command)
    return publish.options(command)


@main.command("grade", epilog=_EPILOG)
@click.argument("lab_name", metavar="LAB")
@click.argument("path", metavar="PATH", type=click.Path(path_type=Path))
@_run_options
@click.option("--show-hidden", is_flag=True, help="Show what hidden tests found, too; not for students' eyes.")
def grade_command(lab_name: str, path: Path, show_hidden: bool, **options: Any) -> int:
    """Grade one submission: a folder, a zip or a file."""
    layout = find_layout()
    return _grade(layout, labs.find(layout, lab_name), path, public_only=False, show_hidden=show_hidden, **options)


@main.command("check", epilog=_EPILOG)
@click.argument("lab_name", metavar="[LAB]", required=False)
@_run_options
def check_command(lab_name: str | None, **options: Any) -> int:
    """Check your own work in the folder you are in: public tests and hints."""
    layout = find_layout()
    lab = labs.find(layout, lab_name) if lab_name else _lab_of_folder(layout, Path.cwd())
    return _grade(layout, lab, Path.cwd(), public_only=True, show_hidden=False, **options)


class _ProgramCommand(click.Command):
    """A command whose words behind `--` belong to somebody else's program, options and all."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        own, theirs = _split(args, "--")
        ctx.meta["program_arguments"] = theirs
        return super().parse_args(ctx, own)


def _split(words: list[str], separator: str) -> tuple[list[str], list[str]]:
    at = words.index(separator) if separator in words else len(words)
    return words[:at], words[at + 1 :]


@main.command("run", cls=_ProgramCommand, epilog="Exit status: the program's own; 2 when it does not compile.")
@click.argument("files", metavar="FILE… [-- ARGUMENT…]", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--device", default="auto", metavar="auto|vgpu[:PROFILE[:SMS]]", help="Where to run: the whole device.")
@click.option("--lines", is_flag=True, help="Show the counters by source line as well.")
@click.option("--json", "json_file", metavar="FILE", help="Write the profile as JSON; - is stdout.")
@click.option("--trace", "trace_file", metavar="FILE", help="Write the timeline for a trace viewer (Chrome, Perfetto).")
@click.option("-I", "includes", multiple=True, metavar="DIR", help="A folder of headers.")
@click.option("-D", "defines", multiple=True, metavar="NAME[=VALUE]", help="A macro.")
@click.option("-X", "--nvcc", "words", multiple=True, metavar="WORD", help="A word for nvcc, as -X -O3 -X --std=c++20.")
@click.option("--threads", type=click.IntRange(1, 1024), help="CPU threads of the virtual GPU.")
@click.option(
    "--instructions", type=click.IntRange(0), default=run_program.MOST_INSTRUCTIONS, show_default=True, metavar="N",
    help="Stop a launch after N warp instructions; 0: never.",
)  # fmt: skip
@publish.options
@click.option("--no-sandbox", is_flag=True, help="Do not confine the virtual GPU.")
@click.option("-q", "--quiet", is_flag=True, help="Print nothing but what the program prints.")
@click.pass_context
def run_command(
    context: click.Context,
    files: tuple[Path, ...],
    device: str,
    lines: bool,
    json_file: str | None,
    trace_file: str | None,
    includes: tuple[str, ...],
    defines: tuple[str, ...],
    words: tuple[str, ...],
    threads: int | None,
    instructions: int,
    checks: str,
    advice: bool,
    sarif_file: str | None,
    annotations: str | None,
    no_sandbox: bool,
    quiet: bool,
) -> int:
    """Compile and run any CUDA program on the virtual GPU, and profile it.

    The program runs as it would without Warpgrade: in this folder, with your rights. The profile goes to stderr.
    """
    for name, path in (("--json", json_file), ("--trace", trace_file)):
        if path is not None:
            check_writable(name, path)
    outlets = publish.Outlets(sarif_file, annotations)
    outlets.check()
    options = run_program.Options(
        device=device,
        threads=threads,
        instructions=instructions,
        confined=not no_sandbox,
        lines=lines,
        checks=checks,
        nvcc=(*(f"-I{folder}" for folder in includes), *(f"-D{macro}" for macro in defines), *words),
    )
    with no_commands(err=True):
        profile = run_program.run(find_layout(), files, context.meta["program_arguments"], options)
    write(json_file, "--json", msgspec.json.format(msgspec.json.encode(profile), indent=1) + b"\n")
    write(trace_file, "--trace", profile_report.trace(profile))
    found = findings.of_program(profile.diagnostics)
    outlets.publish(found, Path.cwd())
    if not quiet:
        with no_commands(err=True):
            profile_report.show(_console(stderr=True), profile, lines=lines)
            if found:
                click.echo(err=True)
            diagnosis_report.show(_console(stderr=True), found, advice=advice)
    if how := run_program.how_it_ended(profile.exit_status):
        click.echo(f"warpgrade: {how}", err=True)
    return profile.exit_status


@main.command("list")
def list_command() -> int:
    """List the labs."""
    table = Table.grid(padding=(0, 2))
    table.add_column(style="bold", no_wrap=True)
    table.add_column(ratio=1, overflow="fold")
    table.add_column(justify="right", no_wrap=True)
    for lab in labs.discover(find_layout()):
        text = Text.assemble(lab.title, "\n", (lab.file.lab.summary, "dim"))
        table.add_row(lab.name, text, f"{lab.max_points:g} points")
    _console().print(table)
    return EXIT_DONE


@main.command("doctor")
def doctor_command() -> int:
    """Say what this machine has, what is missing and how to get it."""
    findings = doctor.examine(find_layout())
    doctor.show(_console(), findings)
    return EXIT_DONE if all(finding.good for finding in findings) else EXIT_GRADER_ERROR


@main.command("starter")
@click.argument("lab_name", metavar="[LAB]", required=False)
@click.option("--check", "check_only", is_flag=True, help="Write nothing; fail when a starter has drifted.")
def starter_command(lab_name: str | None, check_only: bool) -> int:
    """Make the starters from the references."""
    layout = find_layout()
    drifted = []
    for lab in [labs.find(layout, lab_name)] if lab_name else labs.discover(layout):
        if check_only:
            difference = starter.drift(layout, lab)
            click.echo(difference or f"starter/{lab.name}: as its reference gives it", nl=not difference)
            drifted += [lab.name] if difference else []
        else:
            changed = starter.write(layout, lab)
            click.echo(f"starter/{lab.name}: {', '.join(changed) + ' written' if changed else 'up to date'}")
    if drifted:
        raise WarpgradeError(
            f"starters that differ from their references: {', '.join(drifted)}",
            hint="run ./warpgrade starter, and commit what it writes",
        )
    return EXIT_DONE


@main.command("test")
@click.option("--quick", is_flag=True, help="Leave out clang-tidy and the grading of real submissions.")
def test_command(quick: bool) -> int:
    """Run the project's own tests."""
    return testing.run(find_layout(), quick=quick)


def _lab_of_folder(layout: Layout, folder: Path) -> Lab:
    known = labs.discover(layout)
    fitting = [lab for lab in known if (folder / lab.main_file).is_file()]
    if len(fitting) == 1:
        return fitting[0]
    if fitting:
        names = " or ".join(f"`warpgrade check {lab.name}`" for lab in fitting)
        raise BadInput("the files here fit several labs", hint=f"say which: {names}")
    raise BadInput(
        f"no lab's file is in {printable_name(str(folder))}",
        hint="go to the folder with " + " or ".join(lab.main_file for lab in known) + ", or name the lab",
    )


def _grade(
    layout: Layout,
    lab: Lab,
    path: Path,
    *,
    device: str,
    seed: int | None,
    threads: int | None,
    json_file: str | None,
    fail_under: float | None,
    no_sandbox: bool,
    quiet: bool,
    public_only: bool,
    show_hidden: bool,
    checks: str,
    advice: bool,
    sarif_file: str | None,
    annotations: str | None,
) -> int:
    options = grade.Options(
        device=device, seed=seed, threads=threads, confined=not no_sandbox, public_only=public_only, checks=checks
    )
    outlets = publish.Outlets(sarif_file, annotations)
    outlets.check()
    if json_file is not None:
        check_writable("--json", json_file)
    try:
        submission = intake.read(lab, path)
    except BadInput as problem:
        _write_json(json_file, grade.rejected(lab, printable_name(str(path)), problem, options))
        raise
    with Progress(_console(stderr=True), quiet=quiet) as progress:
        graded = grade.grade(layout, lab, submission, options, progress.say)
    _write_json(json_file, graded)
    # Whoever reads these may be the student: of hidden tests they never tell more.
    outlets.publish(findings.of_result(graded), submission.folder)
    if quiet:
        if json_file != "-":
            say(terminal.one_line(graded))
        if graded.problem is not None:
            say(f"warpgrade: {graded.problem.message}", err=True)
    elif json_file != "-":
        with no_commands():
            terminal.show(_console(), graded, show_hidden=show_hidden, advice=advice)
    if graded.status == "error":
        click.echo("warpgrade: not everything could be judged; this score is not final", err=True)
        return EXIT_GRADER_ERROR
    if graded.status == "rejected":
        return EXIT_BAD_INPUT
    below = fail_under is not None and graded.score.percent < fail_under
    return EXIT_BELOW_THRESHOLD if below else EXIT_DONE


def _console(*, stderr: bool = False) -> Console:
    # No markup: what is printed holds other people's words.
    return Console(file=cast(IO[str], Gated(sys.stderr if stderr else sys.stdout)), highlight=False, markup=False)


def _write_json(json_file: str | None, graded: result.Result) -> None:
    if json_file is not None:
        write(json_file, "--json", result.encode(graded))
