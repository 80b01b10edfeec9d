"""The command line: its commands, exit statuses, and what is said when something ends early."""

import importlib
import io
import os
import sys
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import click

from warpgrade import __version__
from warpgrade.cli.options import EXIT_STATUSES
from warpgrade.machine import disk_space, paths
from warpgrade.machine.errors import EXIT_BAD_INPUT, EXIT_DONE, EXIT_GRADER_ERROR, EXIT_INTERRUPTED, WarpgradeError
from warpgrade.report.stream import say

# Each command: its module in this folder, which is imported when the command is used, and its line in the list.
COMMANDS = {
    "build": (
        "native",
        "Build your functions into an ordinary program, for cuda-gdb, ncu and nsys on a machine with a GPU.",
    ),
    "check": ("grading", "Check your own work in the folder you are in: public tests and hints."),
    "class": ("cohort", "Grade a class: every submission in a folder or in what a platform exported."),
    "course": ("course", "Look at course.toml: labs, points, due dates, late work."),
    "doctor": ("dev", "Say what this machine has, what is missing and how to get it."),
    "explain": (
        "explain",
        "Explain a rule of the checks, a counter, a function of the CUDA runtime, a test of a lab or a word.",
    ),
    "grade": ("grading", "Grade one submission: a folder, an archive or a file."),
    "gradebook": ("platforms", "Fill one column of a gradebook that you exported, from a class or from results."),
    "leaderboard": ("cohort", "Show who is best in a class, of those who want to be on it."),
    "list": ("labs", "List the labs."),
    "merge": ("cohort", "Bring together what parts of a class were graded into."),
    "new": ("authors", "Create something new: a lab."),
    "accept": ("decisions", "Accept one file of a refused hand-in as the one to grade."),
    "override": ("decisions", "Decide a student's points, give those of the rubric, comment on lines."),
    "package": ("dev", "Build the wheel that other machines install."),
    "platform": ("platforms", "Write what a platform needs to grade a lab, ready to upload."),
    "calibrate": ("authors", "Find the levels of a lab's speed tests on a real GPU."),
    "prove": ("authors", "Prove that a lab's solutions score what they claim."),
    "release": ("handouts", "Make what students get of a lab: sheet, starter, public tests; nothing hidden."),
    "report": ("report", "Show a stored result again, or write it in other formats."),
    "run": ("running", "Compile and run any CUDA program on the virtual GPU, and profile it."),
    "similarity": ("cohort_reports", "Compare a class's submissions, and show the pairs to look at."),
    "starter": ("labs", "Make the starters from the references."),
    "submit": ("submit", "Hand in the lab in the folder you are in: commit its files and push them."),
    "test": ("dev", "Run the project's own tests."),
    "wrong": ("authors", "List a lab's wrong solutions, print one, or write its patch again."),
    "right": ("authors", "List a lab's other right solutions, print one, or keep a file as one."),
}


# What students call, in the order in which they need it; the list begins with it.
_OWN_WORK = ("check", "run", "explain", "doctor")


class _Commands(click.Group):
    """A group whose list of commands appears at once, students' first."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"warpgrade.cli.{COMMANDS[cmd_name][0]}")
        command: click.Command = getattr(module, f"{cmd_name}_command")
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        others = [name for name in self.list_commands(ctx) if name not in _OWN_WORK]
        for title, names in (("Your own work", _OWN_WORK), ("Grading, courses and labs", others)):
            with formatter.section(title):
                formatter.write_dl([(name, COMMANDS[name][1]) for name in names])


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]}, epilog=EXIT_STATUSES)
@click.version_option(__version__, message="warpgrade %(version)s")
def main() -> None:
    """Check and grade CUDA course labs, without a GPU."""


def run(arguments: list[str]) -> int:
    """Run the command line and return the exit status; never a stack trace."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # as stderr is: what the terminal lacks is no reason to end
    try:
        status = main.main(args=arguments, prog_name="warpgrade", standalone_mode=False)
        sys.stdout.flush()  # here, where a full disk can still be told
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
        _silence()  # the reader of stdout has gone (`| head`)
        return EXIT_DONE
    except Exception as error:  # the last resort: keeps the trace for us, off the user's screen
        if known := disk_space.trouble(error, _written_to()):
            _complain(known)
            try:
                sys.stdout.flush()
            except OSError:
                _silence()
            return known.exit_status
        click.echo(f"warpgrade: unexpected error: {error!r}; the details are in {_write_crash_log(error)}", err=True)
        return EXIT_GRADER_ERROR
    return status if isinstance(status, int) else EXIT_DONE


def _silence() -> None:
    """Close stdout, whose reader is gone: flushing it at exit would fail and change the exit status."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def _written_to() -> list[Path]:
    with suppress(WarpgradeError, OSError):
        return [paths.find_layout().state, Path.cwd()]
    return []


def _complain(problem: WarpgradeError) -> None:
    say(f"warpgrade: {problem.message}", err=True)
    if problem.detail:
        say("\n".join(f"    {line}" for line in problem.detail.splitlines()), err=True)
    if problem.hint:
        say(f"warpgrade: {problem.hint}", err=True)


def _write_crash_log(error: BaseException) -> str:
    import traceback  # noqa: PLC0415 - takes time that every command would pay

    text = "".join(traceback.format_exception(error))
    logs = paths.find_layout().logs
    try:
        logs.mkdir(parents=True, exist_ok=True)
        path = logs / f"crash-{datetime.now(UTC):%Y%m%d-%H%M%S}.log"
        path.write_text(text, encoding="utf-8")
    except OSError:
        return "no log, for it cannot be written:\n" + text
    return str(path)
