"""`report`: a result that was stored as JSON, in any format."""

import functools
from pathlib import Path
from typing import Any

import click
import msgspec

from warpgrade.cli.console import console
from warpgrade.cli.outlets import Outlets, with_formats
from warpgrade.grading import result
from warpgrade.grading.result import Result
from warpgrade.machine.errors import EXIT_DONE, BadInput
from warpgrade.machine.text import one_line, printable_name
from warpgrade.report import compiler, findings, hidden, result_changes, terminal
from warpgrade.report.format import Report
from warpgrade.report.stream import no_commands


@functools.partial(with_formats, "result")
@click.command("report")
@click.argument("file", metavar="RESULT.json", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.argument(
    "later", metavar="[LATER.json]", required=False, type=click.Path(path_type=Path, exists=True, dir_okay=False)
)
@click.option(
    "--sources", metavar="DIR", type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="Where the graded files are, for formats that show them.",
)  # fmt: skip
@click.option("--show-hidden", is_flag=True, help="Also show what hidden tests found; not for students' eyes.")
def report_command(file: Path, later: Path | None, sources: Path | None, show_hidden: bool, **given: Any) -> int:
    """Show a stored result again, or write it in other formats.

    RESULT.json is what `grade --json` wrote. With LATER.json, a later result of the same lab, it is this one that is
    shown, with what has changed since RESULT.json.
    """
    outlets = Outlets.take("result", given)
    outlets.check()
    stored, earlier = _read(file), None
    if later is not None:
        earlier, stored = stored, _read(later)
        if earlier.lab.name != stored.lab.name:
            raise BadInput(f"one result is of lab {earlier.lab.name}, the other of lab {stored.lab.name}")
    found = [*compiler.findings(stored), *findings.result_findings(stored)]
    outlets.publish(Report(found, sources, result=stored, earlier=earlier))
    if not outlets.on_stdout:
        with no_commands():
            if earlier is not None:
                shown = (earlier, stored) if show_hidden else map(hidden.for_students, (earlier, stored))
                result_changes.show(console(), *shown)
            terminal.show(console(), stored, show_hidden=show_hidden)
    return EXIT_DONE


def _read(file: Path) -> Result:
    name = printable_name(str(file))
    try:
        return result.decode(file.read_bytes())
    except OSError as error:
        raise BadInput(f"{name} cannot be read: {error.strerror}") from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadInput(
            f"{name} is no result of this version of Warpgrade: {one_line(str(error), 200)}",
            hint="`grade LAB PATH --json FILE` writes one",
        ) from None
