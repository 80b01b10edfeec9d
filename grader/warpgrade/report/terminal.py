"""The score table on a terminal, readable from 50 columns up, with or without colour and Unicode."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from warpgrade.grading.result import Result, TestResult
from warpgrade.machine import text as gate
from warpgrade.machine.text import bounded, listing, number
from warpgrade.report import compiler, diagnosis, findings, hidden

_MAX_WIDTH = 112
_MESSAGE_LINES = 5


@dataclass(frozen=True)
class _Mark:
    symbol: str
    ascii: str
    word: str
    style: str


_MARKS = {
    "pass": _Mark("✓", "+", "pass", "green"),
    "partial": _Mark("◐", "~", "partial", "yellow"),
    "slow": _Mark("○", "o", "slow", "yellow"),
    "fail": _Mark("✗", "x", "fail", "red"),
    "error": _Mark("!", "!", "error", "magenta"),
    "pending": _Mark("…", ".", "pending", "cyan"),
}


def show(console: Console, result: Result, *, show_hidden: bool = False, advice: bool = False) -> None:
    """Print the result; of hidden tests as much as students may see, or all."""
    found = findings.of_result(result, show_hidden=show_hidden)
    result = result if show_hidden else hidden.for_students(result)
    width = min(console.width, _MAX_WIDTH)
    title = Text.assemble((result.lab.title, "bold"), " · ", result.submission.name)
    console.print(title, width=width)
    if result.problem is not None:
        _show_problem(console, result, width)
    else:
        console.print(_table(console, result.tests, width))
        console.print()
    compiler.show(console, result, width)
    if result.problem is None:
        diagnosis.show(console, found, advice=advice)
    console.print(_summary(result), width=width)


def one_line(result: Result) -> str:
    """Return lab, submission and total on one line, for --quiet."""
    state = "" if result.status == "graded" else f" {result.status}"
    return f"{result.lab.name} {result.submission.name}: {_points(result)}{state}"


def _table(console: Console, tests: list[TestResult], width: int) -> Table:
    table = Table(box=box.SIMPLE_HEAD, width=width, pad_edge=False, padding=(0, 1), show_edge=False)
    table.add_column("result", no_wrap=True)
    table.add_column("test", ratio=1, overflow="fold")
    table.add_column("points", justify="right", no_wrap=True)
    for test in tests:
        mark = _MARKS[_kind(test)]
        symbol = mark.symbol if _can_show(console, mark.symbol) else mark.ascii
        table.add_row(
            Text(f"{symbol} {mark.word}", style=mark.style),
            _description(test),
            Text(f"{_earned(test)}/{number(test.max_points)}", style=mark.style),
        )
    return table


def _earned(test: TestResult) -> str:
    """Points that are not decided yet are no zero."""
    return "?" if test.status in ("error", "pending") else number(test.points)


def _kind(test: TestResult) -> str:
    # A speed test whose results are right but which is not fast enough has passed in part, or is worth nothing yet.
    if test.status == "pass" and test.points < test.max_points:
        return "partial" if test.points else "slow"
    return test.status


def _description(test: TestResult) -> Text:
    text = Text(test.name)
    if test.hidden:
        text.append("  hidden", style="dim")
    if test.status == "pass" and test.points == test.max_points:
        for measured in test.measurements[:1]:
            text.append(
                f"  {measured.name} {number(measured.value, 2)}{'×' if measured.unit == 'x' else ' ' + measured.unit}",
                style="dim",
            )
        return text
    if test.message:
        text.append("\n" + bounded(test.message, lines=_MESSAGE_LINES, width=300), style="default")
    if test.hint and test.status != "error":
        text.append("\nhint: ", style="cyan")
        text.append(test.hint)
    return text


def _show_problem(console: Console, result: Result, width: int) -> None:
    problem = result.problem
    if problem is None:
        return
    console.print()
    console.print(
        Text(problem.message, style="bold red" if result.status == "rejected" else "bold magenta"), width=width
    )
    if problem.detail:
        # The compiler's own lines: not wrapped, so that they can be read and clicked as they are.
        console.print(Text(textwrap.indent(problem.detail.rstrip(), "  ")), soft_wrap=True)
        console.print()
    if problem.hint:
        console.print(Text.assemble(("hint: ", "cyan"), problem.hint), width=width)
    console.print()


def _summary(result: Result) -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    table.add_row("Total", Text(_points(result), style="bold"))
    score = result.score
    if result.scope == "public":
        table.add_row("", "of the public tests; hidden tests count too when the work is graded")
    if score.error_points:
        table.add_row(
            "Error", f"{number(score.error_points)} points could not be judged: not your fault, and not counted as zero"
        )
    if score.pending_points:
        table.add_row("Pending", f"{number(score.pending_points)} points need a device that is not available here")
    name = result.device.properties.get("name")
    table.add_row("Device", Text(gate.one_line(str(name or result.device.requested), 200)))
    if result.seed is not None and result.problem is None:
        table.add_row("Seed", f"--seed {result.seed} replays these inputs")
    for note in result.submission.notes:
        table.add_row("Note", Text(note))
    if result.submission.ignored:
        table.add_row("Ignored", Text(f"{listing(result.submission.ignored)} (this lab does not use them)"))
    for note in _review(result):
        table.add_row("Review", Text(note))
    if not result.sandboxed:
        table.add_row("Warning", "ran without the sandbox")
    return table


def _review(result: Result) -> list[str]:
    """Return the notes for review; one that several tests have is said once."""
    tests: dict[str, list[str]] = {}
    for note in result.review:
        name = next((test.name for test in result.tests if note.startswith(f"{test.name}: ")), "")
        tests.setdefault(note.removeprefix(f"{name}: "), []).append(name)
    return [
        f"{reason} (in {len(names)} tests)" if len(names) > 1 else f"{names[0]}: {reason}" if names[0] else reason
        for reason, names in tests.items()
    ]


def _points(result: Result) -> str:
    score = result.score
    return f"{number(score.points)} / {number(score.max_points)}  ({number(score.percent)} %)"


def _can_show(console: Console, symbol: str) -> bool:
    try:
        symbol.encode(console.encoding)
    except (UnicodeEncodeError, LookupError):
        return False
    return True
