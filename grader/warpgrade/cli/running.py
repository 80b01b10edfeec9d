"""`run`: any CUDA program on the virtual GPU."""

import functools
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click

from warpgrade.cli.console import console
from warpgrade.cli.options import CHECKING, THREADS, no_sandbox, take, together
from warpgrade.cli.outlets import Outlets, with_formats
from warpgrade.machine import paths
from warpgrade.report import diagnosis, findings
from warpgrade.report import profile as profile_report
from warpgrade.report.findings import Finding
from warpgrade.report.format import Report
from warpgrade.report.stream import no_commands
from warpgrade.running import run, time_budget
from warpgrade.running.profile import Profile


class _ProgramCommand(click.Command):
    """A command whose words behind `--` belong to somebody else's program, options and all."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        at = args.index("--") if "--" in args else len(args)
        ctx.meta["program_arguments"] = args[at + 1 :]
        return super().parse_args(ctx, args[:at])


@dataclass(frozen=True)
class _Compiling:
    """Words for nvcc."""

    includes: Sequence[str]
    defines: Sequence[str]
    words: Sequence[str]

    @property
    def nvcc(self) -> tuple[str, ...]:
        return (*(f"-I{folder}" for folder in self.includes), *(f"-D{macro}" for macro in self.defines), *self.words)


@dataclass(frozen=True)
class _Display:
    """What the command shows on the terminal, and what it makes of the findings."""

    quiet: bool
    advice: bool
    fail_on: str | None

    def status(self, program: int, found: Sequence[Finding]) -> int:
        """Return the exit status: the program's own, or 1 for findings that must not be there."""
        unwanted = {None: (), "error": ("error",), "warning": ("error", "warning")}[self.fail_on]
        return program or int(any(one.diagnostic.severity in unwanted for one in found))


_OPTIONS = together(
    click.option(
        "--device", default="auto", metavar="auto|vgpu[:PROFILE[:SMS]]|gpu[:N]",
        help="Where to run: the whole device. A real GPU tells times only.",
    ),
    click.option("--lines", is_flag=True, help="Show the counters by source line as well."),
    click.option("-I", "includes", multiple=True, metavar="DIR", help="A folder of headers."),
    click.option("-D", "defines", multiple=True, metavar="NAME[=VALUE]", help="A macro."),
    click.option(
        "-X", "--nvcc", "words", multiple=True, metavar="WORD", help="An argument for nvcc, e.g. -X -O3 -X --std=c++20."
    ),
    THREADS,
    click.option(
        "--instructions", type=click.IntRange(0), default=run.MAX_INSTRUCTIONS, show_default=True, metavar="N",
        help="Stop a launch after N warp instructions; 0: never.",
    ),
    click.option(
        "--budget", type=click.FloatRange(0, min_open=True), metavar="SECONDS",
        help="Stop the program after that time, say how far it is and what would make it fit, and exit with 124.",
    ),
    click.option(
        "--sample", type=click.IntRange(0), default=0, metavar="BLOCKS",
        help="Run only BLOCKS blocks of a larger launch and scale what is counted; results are incomplete. 0: all.",
    ),
    CHECKING,
    click.option(
        "--order", type=click.Choice(["forward", "reverse", "interleaved", "ahead"]), default="forward",
        show_default=True, help="In which order blocks and warps run. A right program gives the same in each.",
    ),
    no_sandbox("Do not confine the virtual GPU."),
    click.option(
        "--fail-on", type=click.Choice(["error", "warning"]),
        help="Exit with 1 if the checks find an error, or an error or a warning; for CI.",
    ),
    click.option("-q", "--quiet", is_flag=True, help="Print nothing but what the program prints."),
)  # fmt: skip


@functools.partial(with_formats, "profile")
@click.command(
    "run",
    cls=_ProgramCommand,
    epilog="Exit status: the program's own; 1 with --fail-on and such findings; 2 when it does not compile; 124 after "
    "--budget.",
)
@click.argument("files", metavar="FILE… [-- ARGUMENT…]", nargs=-1, required=True, type=click.Path(path_type=Path))
@_OPTIONS
@click.pass_context
def run_command(context: click.Context, /, files: tuple[Path, ...], **given: Any) -> int:
    """Compile and run any CUDA program on the virtual GPU, and profile it.

    The program runs as it would without Warpgrade: in this folder, with your rights. The profile goes to stderr.
    """
    options = take(run.Options, given, nvcc=take(_Compiling, given).nvcc)
    outlets = Outlets.take("profile", given)
    display = _Display(**given)
    outlets.check()
    traces = outlets.new_traces()
    with no_commands(err=True):
        live = sys.stderr.isatty() and not display.quiet
        counted = replace(options, lines=options.lines or outlets.by_line, tell=_tell if live else None)
        profile = run.run(paths.find_layout(), files, context.meta["program_arguments"], counted, traces)
    found = findings.program_findings(profile.diagnostics)
    outlets.publish(Report(found, Path.cwd(), profile=profile, traces=traces.kept if traces else None))
    if not display.quiet:
        _print(profile, found, lines=options.lines, advice=display.advice)
    if stopped := profile.stopped:
        how_far = time_budget.describe(stopped, stopped.launch_seconds)
        _tell(f"stopped after {stopped.budget_seconds:g} s (--budget): {how_far}\n{time_budget.advise(stopped)}")
    elif how := run.describe_exit(profile.exit_status):
        click.echo(f"warpgrade: {how}", err=True)
    return display.status(profile.exit_status, found)


def _tell(text: str) -> None:
    click.echo(f"warpgrade: {text}", err=True)


def _print(profile: Profile, found: Sequence[Finding], *, lines: bool, advice: bool) -> None:
    with no_commands(err=True):
        profile_report.show(console(stderr=True), profile, lines=lines)
        if found:
            click.echo(err=True)
        diagnosis.show(console(stderr=True), found, advice=advice)
