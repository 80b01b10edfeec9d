"""What the compilers warn of in a submission's own files: on a terminal as they say it, and as findings."""

import textwrap

from rich.console import Console
from rich.text import Text

from warpgrade.compiling.warnings import CompilerWarning
from warpgrade.findings.diagnosis import Diagnostic, Place
from warpgrade.grading.result import Result
from warpgrade.machine.text import bounded
from warpgrade.report.findings import Finding

_SHOWN = 5
_INDENT = 4


def show(console: Console, result: Result, width: int) -> None:
    """Print the first warnings, each with its line; nothing where there are none."""
    if not result.warnings:
        return
    for warning in result.warnings[:_SHOWN]:
        for row in _rows(warning, width):
            console.print(row, soft_wrap=True)
    left = len(result.warnings) - _SHOWN
    if left > 0:
        console.print(Text(f"{left} more compiler warning{'s' if left > 1 else ''}", style="dim"))
    console.print()


def findings(result: Result) -> list[Finding]:
    """Return the warnings in the form of the checks' findings, as reports for other programs write them."""
    return [Finding(_diagnostic(warning)) for warning in result.warnings]


def _rows(warning: CompilerWarning, width: int) -> list[Text]:
    head = textwrap.wrap(
        f"{warning.place}: warning: {warning.text}", width, subsequent_indent=" " * _INDENT, break_on_hyphens=False
    )
    rows = [Text(row) for row in head]
    rows[0].highlight_words(["warning:"], "bold yellow")
    if source := warning.source.strip():
        rows.append(Text(bounded(" " * _INDENT + source, lines=1, width=width), style="bold"))
    return rows


def _diagnostic(warning: CompilerWarning) -> Diagnostic:
    return Diagnostic(
        rule="compiler/warning", severity="warning", title="compiler warning",
        help="Read the line again: compiler warnings often point to a mistake.",
        message=warning.text, kernel="", place=Place(warning.file, warning.line, source=warning.source),
        thread=None, related=[], memory=None, count=1, weight=0,
    )  # fmt: skip
