"""`new`, `prove`, `calibrate`, `wrong` and `right`: for those who write labs."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import click
from rich.padding import Padding
from rich.text import Text

from warpgrade.cli.console import console
from warpgrade.dev import calibrate, prove
from warpgrade.dev.first_messages import Messages
from warpgrade.lab import agreement, new, right, variant, wrong
from warpgrade.lab.labs import Lab
from warpgrade.lab.variant import Variant
from warpgrade.machine import paths
from warpgrade.machine.errors import EXIT_BELOW_THRESHOLD, EXIT_DONE
from warpgrade.machine.progress import Progress
from warpgrade.report.stream import no_commands, say

_NEXT = """\
labs/{name}, reference/{name} and starter/{name} written: a whole lab, with wrong and right solutions.
Next:
  edit labs/{name}/{header}, lab.toml, tests/, README.md, and reference/{name}/{main}
  {COMMAND} starter {name}     makes the starter again from the reference
  {COMMAND} prove {name}       builds the lab's tests, then proves it
  {COMMAND} prove {name} --write-messages     keeps what students read of each wrong solution
docs/labs.md of Warpgrade's repository explains each file.
"""


@click.group("new")
def new_command() -> None:
    """Create something new: a lab."""


@new_command.command("lab")
@click.argument("name", metavar="NAME")
def new_lab_command(name: str) -> int:
    """Write a small lab that passes its own proof, for you to change.

    NAME is lower-case letters, digits and _; it becomes part of the names of files, programs and functions.
    """
    lab = new.create(paths.find_layout(), name)
    click.echo(_NEXT.format(COMMAND=paths.COMMAND, name=name, header=lab.header.name, main=lab.main_file), nl=False)
    return EXIT_DONE


@click.command("prove", epilog="Exit status: 0 all proofs hold, 1 one does not, 2 wrong usage, 3 grader error.")
@click.argument("lab_name", metavar="LAB")
@click.option("--only", default="", metavar="NAME", help="Only the proofs whose names contain NAME.")
@click.option(
    "--write-messages", is_flag=True,
    help="Write wrong/messages.txt anew: what students read of each wrong solution. With --only, those sections.",
)  # fmt: skip
@click.option("--write-good", is_flag=True, help="Write tests/good.json anew: what the reference counts in each test.")
@click.option("-v", "--verbose", is_flag=True, help="For each proof that fails, show why points are missing.")
@click.option("-q", "--quiet", is_flag=True, help="No progress.")
def prove_command(
    lab_name: str, only: str, write_messages: bool, write_good: bool, verbose: bool, quiet: bool
) -> int:  # fmt: skip
    """Prove that a lab's solutions score what they claim.

    The starter is what the reference gives. The reference gets all points, and the starter its baseline. Each wrong
    solution loses exactly the tests that it names, and tells the student what wrong/messages.txt says, if the lab has
    that file. Each right one gets its points. The device's checks find no mistakes in what is right.
    """
    layout = paths.find_layout()
    lab = agreement.find_own(layout, lab_name)
    messages = Messages(lab, rewrite=write_messages)
    chosen = prove.chosen(lab, prove.proofs(layout, lab, messages), only)
    started = time.monotonic()
    with Progress(console(stderr=True), quiet=quiet) as progress:
        if write_good:
            progress.say("counting what the reference does")
            prove.write_good_numbers(layout, lab)
        failed = prove.run(layout, lab, chosen, progress.say)
    if write_messages:
        click.echo(f"{messages.write().relative_to(layout.root)} written: read what changed in it")
    for name, what in failed.items():
        first, *rest = what.splitlines()
        say(f"FAILED {name}: {first}")
        if verbose and rest:
            say("\n".join(f"    {line}" for line in rest))
    outcome = f"{len(failed)} of {len(chosen)} proofs failed" if failed else f"all {len(chosen)} proofs hold"
    click.echo(f"{lab.name}: {outcome} ({time.monotonic() - started:.0f} s)")
    return EXIT_BELOW_THRESHOLD if failed else EXIT_DONE


@click.command("calibrate")
@click.argument("lab_name", metavar="LAB")
@click.option("--time-on", default="gpu", metavar="gpu[:N]", help="The GPU to time on.", show_default=True)
@click.option("--times", default=5, type=click.IntRange(1, 1000), help="Runs of each solution.", show_default=True)
@click.option("--all", "all_right", is_flag=True, help="Other right solutions too.")
@click.option("--only", default="", metavar="NAME", help="Of the others only those whose names contain NAME.")
@click.option("--write", is_flag=True, help="Write the levels into lab.toml.")
@click.option("-q", "--quiet", is_flag=True, help="No progress.")
def calibrate_command(
    lab_name: str, time_on: str, times: int, all_right: bool, only: str, write: bool, quiet: bool
) -> int:
    """Find the levels of a lab's speed tests on a real GPU.

    The reference, the starter and the wrong solutions that lose speed are graded several times, with other inputs each
    time. Prints how far their speed-ups vary, levels that tell right from wrong, and how often these would be wrong.
    """
    layout = paths.find_layout()
    lab = agreement.find_own(layout, lab_name)
    with Progress(console(stderr=True), quiet=quiet) as progress:
        reached = calibrate.measure(layout, lab, time_on, times, all_right=all_right, only=only, say=progress.say)
    levels: dict[str, calibrate.Levels] = {}
    for item in lab.file.speed:
        say(item.name)
        for row in (row for row in reached if row.test == item.name):
            low, high = (f"{bound:.3g}" for bound in (min(row.speedups), max(row.speedups)))
            points = " to ".join(f"{one:g}" for one in sorted({min(row.points), max(row.points)}))
            say(f"  {row.solution}: {low} to {high} times as fast ({100 * row.spread:.1f} %), {points} points now")
        found = calibrate.find_levels(item, reached)
        if found is None:
            say("  no right solution was measured: levels stay")
            continue
        levels[item.name] = found
        if found.curve is None:
            say("  nothing is gained on this device: no points for it there")
        else:
            pairs = ", ".join(f"{points:g} at {at:g}" for at, points in found.curve)
            say(f"  levels: {pairs}; right runs that miss the last: {100 * found.false_fails:.0f} %")
        if found.as_fast:
            say(f"  as fast as right ones, and wrong for other reasons: {', '.join(found.as_fast)}")
    if write:
        calibrate.write(lab, levels)
        click.echo(f"labs/{lab.name}/lab.toml written: prove the lab again")
    return EXIT_DONE


_BASE = click.option(
    "--base", metavar="RIGHT", default="", help="With --update: a patch of this right solution, not of the reference."
)


@click.command("wrong")
@click.argument("lab_name", metavar="LAB")
@click.argument("name", metavar="[NAME]", required=False)
@click.option(
    "--update", "edited", metavar="FILE.cu", type=click.Path(path_type=Path),
    help="Write the patch NAME from a whole file: the reference with the mistake.",
)  # fmt: skip
@_BASE
def wrong_command(lab_name: str, name: str | None, edited: Path | None, base: str) -> int:
    """List a lab's wrong solutions, print one, or write its patch again.

    With NAME, the whole file goes to stdout: ./warpgrade wrong LAB NAME > FILE.cu
    """

    def all_of(lab: Lab) -> Iterator[tuple[Variant, str]]:
        for mistake in (wrong.find(lab, each) for each in wrong.names(lab)):
            yield mistake, "loses " + ", ".join(f"“{test}”" for test in mistake.loses)

    return _solutions(wrong.KIND, lab_name, name, edited, base, all_of)


@click.command("right")
@click.argument("lab_name", metavar="LAB")
@click.argument("name", metavar="[NAME]", required=False)
@click.option(
    "--update", "edited", metavar="FILE.cu", type=click.Path(path_type=Path),
    help="Keep a whole file as the solution NAME: as a patch, if that is shorter.",
)  # fmt: skip
@_BASE
def right_command(lab_name: str, name: str | None, edited: Path | None, base: str) -> int:
    """List a lab's other right solutions, print one, or keep a file as one.

    With NAME, the whole file goes to stdout: ./warpgrade right LAB NAME > FILE.cu
    """

    def all_of(lab: Lab) -> Iterator[tuple[Variant, str]]:
        for way in (right.find(lab, each) for each in right.names(lab)):
            yield way, f"{way.points:g} of {lab.max_points:g} points"

    return _solutions(right.KIND, lab_name, name, edited, base, all_of)


def _solutions(
    kind: variant.Kind, lab_name: str, name: str | None, edited: Path | None, base: str,
    all_of: Callable[[Lab], Iterator[tuple[Variant, str]]],
) -> int:  # fmt: skip
    """Keep a file as a solution, print one, or list all, each with what it gets."""
    layout = paths.find_layout()
    lab = agreement.find_own(layout, lab_name)
    if edited is not None:
        if name is None:
            raise click.UsageError(f"--update needs the NAME of the {kind.folder} solution.")
        click.echo(f"{variant.update(lab, kind, name, edited, base).relative_to(layout.root)} written")
    elif name is not None:
        solution = variant.find(lab, kind, name)
        click.echo(variant.files(lab, solution)[variant.changed_file(lab, solution)], nl=False)
    else:
        for solution, gets in all_of(lab):
            _list(solution, gets)
    return EXIT_DONE


def _list(solution: Variant, gets: str) -> None:
    terminal = console()
    with no_commands():
        terminal.print(Text(solution.name, "bold"))
        terminal.print(Padding(Text.assemble(solution.what, "\n", (gets, "dim")), (0, 0, 0, 4), expand=False))
