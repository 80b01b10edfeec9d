"""`list` and `starter`: the labs, and what students begin with."""

import click
from rich.table import Table
from rich.text import Text

from warpgrade.cli.console import console
from warpgrade.course import course as courses
from warpgrade.lab import agreement, labs, starter
from warpgrade.machine import paths
from warpgrade.machine.errors import EXIT_DONE, WarpgradeError
from warpgrade.machine.paths import COMMAND


@click.command("list")
def list_command() -> int:
    """List the labs."""
    table = Table.grid(padding=(0, 2))
    table.add_column(style="bold", no_wrap=True)
    table.add_column(ratio=1, overflow="fold")
    table.add_column(justify="right", no_wrap=True)
    layout = paths.find_layout()
    course, known = courses.find_course(layout), labs.discover(layout)
    for lab in course.in_order(known) if course else known:
        text = Text.assemble(lab.title, "\n", (lab.file.lab.summary, "dim"))
        if lab.file.lab.hours:
            facts = [f"about {lab.file.lab.hours:g} hours", lab.file.lab.difficulty]
            text.append(f"\n{' · '.join(filter(None, facts))}", style="dim")
        if course:
            text.append(f"\n{course.facts(lab.name)}", style="cyan")
        table.add_row(lab.name, text, f"{lab.max_points:g} points")
    terminal = console()
    if course:
        terminal.print(Text(course.file.course.title, style="bold"))
    terminal.print(table)
    if others := course.others(known) if course else []:
        terminal.print(Text(f"not in course.toml: {', '.join(lab.name for lab in others)}", style="dim"))
    return EXIT_DONE


@click.command("starter")
@click.argument("lab_name", metavar="[LAB]", required=False)
@click.option(
    "--check", "check_only", is_flag=True, help="Write nothing; fail if a starter differs from its reference."
)
def starter_command(lab_name: str | None, check_only: bool) -> int:
    """Make the starters from the references."""
    layout = paths.find_layout()
    drifted = []
    for lab in [agreement.find_own(layout, lab_name)] if lab_name else labs.discover(layout):
        if check_only:
            difference = starter.drift(lab)
            click.echo(difference or f"starter/{lab.name}: matches its reference", nl=not difference)
            drifted += [lab.name] if difference else []
        else:
            changed = starter.write(lab)
            click.echo(f"starter/{lab.name}: {', '.join(changed) + ' written' if changed else 'up to date'}")
    if drifted:
        raise WarpgradeError(
            f"starters that differ from their references: {', '.join(drifted)}",
            hint=f"run {COMMAND} starter, and commit what it writes",
        )
    return EXIT_DONE
