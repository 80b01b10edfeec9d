"""`build --native`: a submission as an ordinary program, for debuggers and profilers on a machine with a GPU."""

from pathlib import Path

import click

from warpgrade.cli.console import console
from warpgrade.cli.grading import lab_of_folder
from warpgrade.cli.options import EXIT_STATUSES
from warpgrade.compiling import judges, native, toolchain
from warpgrade.grading import grade
from warpgrade.intake import receive
from warpgrade.intake.intake import STRICT
from warpgrade.machine import device, paths
from warpgrade.machine.errors import EXIT_DONE, BadInput
from warpgrade.machine.progress import Progress
from warpgrade.report.stream import say

_DONE = """\
{program}: the functions of {lab}, linked with NVIDIA's own runtime, and what the public tests call them with.
It is for debuggers and profilers, and nothing that it does counts: `{COMMAND} grade` and `check` decide.
  {run} --list          the calls of the public tests
  {run} 3               makes the third one, and compares with the virtual GPU; all without a number
  cuda-gdb {run}        ncu {run} 3        nsys profile {run}
"""


@click.command("build", epilog=EXIT_STATUSES)
@click.argument("lab_name", metavar="LAB")
@click.argument("path", metavar="[PATH]", default=".", type=click.Path(path_type=Path))
@click.option("--native", "is_native", is_flag=True, help="An ordinary program, with NVIDIA's runtime and no sandbox.")
@click.option("--out", type=click.Path(path_type=Path), metavar="FILE", help="The program; LAB-native without it.")
@click.option("--debug", is_flag=True, help="Without optimization, for cuda-gdb.")
@click.option("-X", "--nvcc", "words", multiple=True, metavar="WORD", help="A further argument for nvcc.")
@click.option("-q", "--quiet", is_flag=True, help="No progress, and nothing about how to use it.")
def build_command(
    lab_name: str, path: Path, is_native: bool, out: Path | None, debug: bool, words: tuple[str, ...], quiet: bool
) -> int:
    """Build your functions into an ordinary program, for cuda-gdb, ncu and nsys on a machine with a GPU.

    The public tests run once on the virtual GPU, and the program makes their calls again. It does not count. Compiler
    and program run with your rights: use it for your own code only. PATH is a folder or a file, this folder if none is
    named.
    """
    if not is_native:
        raise click.UsageError(
            "what `grade` and `check` run they build themselves; --native builds an ordinary program"
        )
    layout = paths.find_layout()
    lab = lab_of_folder(layout, Path.cwd(), lab_name)
    target = out or Path(f"{lab.name}-native")
    if not target.absolute().parent.is_dir():
        raise BadInput(f"--out: there is no folder {target.parent}")
    submission = receive.read(lab, path, how=STRICT)
    calls = target.with_name(target.name + native.CALLS)
    calls.unlink(missing_ok=True)
    options = grade.Options(public_only=True, record_calls=str(calls.absolute()))
    with Progress(console(stderr=True), quiet=quiet) as progress:
        graded = grade.grade(layout, lab, submission, options, progress.say)
        if graded.problem is not None:
            raise BadInput(graded.problem.message, hint=graded.problem.hint, detail=graded.problem.detail)
        progress.say("building the program")
        compilers = toolchain.find(layout)
        files = grade.all_files(lab, submission)
        native.build(
            layout, lab, compilers, judges.require(layout, lab, compilers).binding, files, target,
            device.resolve(layout, "auto").architecture, debug=debug, words=words,
        )  # fmt: skip
    if not quiet:
        run = str(target) if "/" in str(target) else f"./{target}"
        say(_DONE.format(program=target, lab=lab.name, COMMAND=paths.COMMAND, run=run), err=True)
    return EXIT_DONE
