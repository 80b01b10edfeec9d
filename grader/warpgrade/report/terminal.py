"""The score table on a terminal, readable from 50 columns up, with or without colour and Unicode.

A table with a line or two for each test, then the one failure to begin with, whole; --full shows all of them so.
"""

import re
import textwrap
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from rich import box
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from warpgrade.compiling.failure import Problem
from warpgrade.grading import review
from warpgrade.grading.result import Measurement, Result, TestResult
from warpgrade.machine import text as gate
from warpgrade.machine.paths import COMMAND
from warpgrade.machine.text import bounded, listing, number
from warpgrade.report import any_data, compiler, costs, diagnosis, failures, findings, hidden, launches, profile
from warpgrade.report.findings import Finding
from warpgrade.running.profile import Kernel

OTHER_CHECKS = "(--full shows the other checks of this test that failed)"
_MAX_WIDTH = 140
_ROW_WIDTH = 240  # of what a row says of its test
_ELEMENT = re.compile(r" *\[[^\]]+\] expected ")  # of a list of wrong elements
_MAX_ELEMENTS = 2  # where a finding explains them
_PRINTED_LINES = 8  # of a program's output, below a failure; a row shows the last


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


def show(
    console: Console, result: Result, *, show_hidden: bool = False, advice: bool = False, full: bool = False
) -> None:
    """Print the result; of hidden tests as much as students may see, or all. `full`: each failure whole."""
    shown = result if show_hidden else hidden.for_students(result)
    width = min(console.width, _MAX_WIDTH)
    title = Text.assemble((result.lab.title, "bold"), " · ", result.submission.name)
    console.print(title, width=width)
    for note in shown.submission.notes:
        console.print(Text(f"note: {note}", style="yellow"), width=width)
    told_below = {test.name for test in _tests_shown_in_full(shown, full=full)}
    if result.problem is None:
        console.print(_table(console, shown.tests, width, told_below))
    console.print()
    show_first(console, result, show_hidden=show_hidden, advice=advice, full=full)
    if result.problem is None and (full or not told_below) and (lines := any_data.summary(_kernels(shown))):
        for line in lines:
            console.print(Text(line, style="dim"), width=width)
        console.print()
    console.print(_summary(shown, _to_explain(result, show_hidden=show_hidden, advice=advice)), width=width)


def show_first(
    console: Console, result: Result, *, show_hidden: bool = False, advice: bool = False, full: bool = False,
    fell: Collection[str] = (),
) -> None:  # fmt: skip
    """Print the part below the table: the failure to fix first, compiler warnings and findings.

    fell: tests that had more points before the last change.
    """
    found = findings.result_findings(result, show_hidden=show_hidden)
    result = result if show_hidden else hidden.for_students(result)
    width = min(console.width, _MAX_WIDTH)
    if result.problem is not None:
        _show_problem(console, result.problem, width, rejected=result.status == "rejected")
        compiler.show(console, result, width)
        return
    whole = _tests_shown_in_full(result, full=full, fell=fell)
    compiler.show(console, result, width)
    for test in whole:
        _show_failure(console, test, width, full=full)
    found = _findings_of_first(found, whole, advice=advice)
    diagnosis.show(console, found, advice=advice, whole=1 if whole and not full else diagnosis.WHOLE)
    if advice:
        _show_costs(console, result, width)


def _kernels(result: Result) -> list[Kernel]:
    """Return the kernels with all launches of the tests whose numbers may be shown."""
    return launches.collect(launch for test in result.tests for launch in test.launches).kernels


def _show_costs(console: Console, result: Result, width: int) -> None:
    """Print what each cause costs each kernel."""
    counted = _kernels(result)
    rows = [(kernel, found) for kernel in counted if (found := costs.shares(kernel))]
    if not rows:
        return
    console.print(Text("What each cause costs", style="bold"), width=width)
    for kernel, found in rows:
        line = f"{profile.short_name(kernel.name)}, {profile.time(kernel.total_ns)}: without {costs.line(found)}"
        for row in textwrap.wrap(line, width, initial_indent="  ", subsequent_indent="    ", break_on_hyphens=False):
            console.print(Text(row), soft_wrap=True)
    console.print()


def _to_explain(result: Result, *, show_hidden: bool, advice: bool) -> str:
    """Return the rule of the first finding that is shown."""
    if result.problem is not None:
        return ""
    shown = result if show_hidden else hidden.for_students(result)
    found = findings.result_findings(result, show_hidden=show_hidden)
    rows = _findings_of_first(found, _tests_shown_in_full(shown, full=False), advice=advice)
    return next((one.diagnostic.rule for one in rows if advice or not one.settled), "")


def show_hidden_rows(console: Console, result: Result) -> None:
    """Print the row of each hidden test that lost points, as students see it."""
    for test in hidden.for_students(result).tests:
        if test.hidden and test.points < test.max_points:
            console.print(_description(test, set(), below=False), width=min(console.width, _MAX_WIDTH))


def _tests_shown_in_full(result: Result, *, full: bool, fell: Collection[str] = ()) -> list[TestResult]:
    return failures.in_order(result.tests, fell)[: None if full else 1]


def _findings_of_first(found: Sequence[Finding], failed: Sequence[TestResult], *, advice: bool) -> list[Finding]:
    """Return the findings of the failure to fix first, if it has any; advice on speed only if results are right."""
    if not failed:
        return list(found)
    name = failed[0].name
    wrong = failures.is_wrong(failed[0]) and not advice
    kept = [one for one in found if not (wrong and one.diagnostic.severity == "advice")]
    if len(failed) == 1 and any(one.diagnostic.severity == "error" and name in one.tests for one in kept):
        kept = [one for one in kept if name in one.tests or one.diagnostic.severity == "advice"]
    rows = [one if name in one.tests else replace(one, settled=True) for one in kept]
    return sorted(rows, key=lambda one: (one.diagnostic.severity != "error", name not in one.tests))


def one_line(result: Result) -> str:
    """Return lab, submission and total on one line, for --quiet."""
    state = "" if result.status == "graded" else f" {result.status}"
    return f"{result.lab.name} {result.submission.name}: {_points(result)}{state}"


def _table(console: Console, tests: list[TestResult], width: int, below: Collection[str]) -> Table:
    """Return a row for each test; tests in `below` are explained below the table."""
    table = Table(box=box.SIMPLE_HEAD, width=width, pad_edge=False, padding=(0, 1), show_edge=False)
    table.add_column("result", no_wrap=True)
    table.add_column("test", ratio=1, overflow="fold")
    table.add_column("points", justify="right", no_wrap=True)
    said: set[str] = set()
    for test in tests:
        mark = _MARKS[_kind(test)]
        symbol = mark.symbol if can_show(console, mark.symbol) else mark.ascii
        table.add_row(
            Text(f"{symbol} {mark.word}", style=mark.style),
            _description(test, said, below=test.name in below),
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


def _description(test: TestResult, said: set[str], *, below: bool) -> Text:
    """Return the name, and in lines below it what happened; `said` has the lines of earlier rows."""
    text = Text(test.name)
    if test.hidden:
        text.append("  hidden", style="dim")
    if test.status == "pass" and test.points == test.max_points:
        text.append(_measured(test.measurements), style="dim")
    elif below:
        text.append("\nsee below", style="dim")
        return text
    elif gist := _first_line(test):
        text.append("\n" + ("the same as above" if gist in said else gist), style="dim" if gist in said else "default")
        said.add(gist)
    if printed := test.output.rsplit("\n", 1)[-1].strip():
        line = f"your program printed: {bounded(printed, lines=1, width=_ROW_WIDTH)}"
        if line not in said:
            text.append("\n" + line, style="dim")
        said.add(line)
    return text


def _measured(numbers: Sequence[Measurement]) -> str:
    """Return the first measurement; of a prediction with what was measured."""
    if not numbers:
        return ""
    first = numbers[0]
    unit = "×" if first.unit == "x" else f" {first.unit}" if first.unit else ""
    if len(numbers) > 1 and first.name.startswith("predicted "):
        return f"  predicted {number(first.value, 2)}, measured {number(numbers[1].value, 2)}{unit}"
    return f"  {first.name} {number(first.value, 2)}{unit}"


def _first_line(test: TestResult) -> str:
    """Return the first line of what is known; without a message, as students see hidden tests, the hint."""
    if test.message:
        return bounded(failures.message(test).split("\n", 1)[0], lines=1, width=_ROW_WIDTH)
    return f"hint: {test.hint}" if test.hint else ""


def _show_failure(console: Console, test: TestResult, width: int, *, full: bool) -> None:
    """Print what is known of one failure: what went wrong, the hint, what the program printed.

    `full`: all checks of the test that failed; else the first, which is more often than not why the others did.
    """
    heading = Text("", style="bold red")
    if not full:
        heading = Text("Fix this first: ", style="bold red") if test.begun else Text("Next: ", style="bold")
    console.print(heading.append(test.name, style="bold"), width=width)
    message, *more = [failures.message(test)] if full else failures.message(test).split("\n\n")
    lines = message.split("\n")
    if not full and any(one.severity == "error" and one.place.source for one in test.diagnostics):
        lines = _with_few_elements(lines)
    for line in lines:
        indent = len(line) - len(line.lstrip()) + 2
        rows = textwrap.wrap(line.strip(), width, initial_indent=" " * indent, subsequent_indent=" " * (indent + 2),
                             break_on_hyphens=False)  # fmt: skip
        for row in rows:
            console.print(Text(row), soft_wrap=True)
    if more:
        console.print(Text(f"  {OTHER_CHECKS}", style="dim"), width=width)
    if test.hint:
        console.print(Padding(Text.assemble(("hint: ", "cyan"), test.hint), (0, 0, 0, 2)), width=width)
    if lines := list(filter(None, failures.output(test).split("\n"))):
        left_out = f" (the last {_PRINTED_LINES} of {len(lines)} lines)" if len(lines) > _PRINTED_LINES else ""
        console.print(Text(f"  your program printed{left_out}:", style="dim"), width=width)
        for line in lines[-_PRINTED_LINES:]:
            console.print(Text.assemble(("  | ", "dim"), bounded(line, lines=1, width=width - 4)), soft_wrap=True)
    console.print()


def _with_few_elements(lines: Sequence[str]) -> list[str]:
    """Leave the first of the wrong elements: that the finding below is in the program's lines tells more than others.

    The judge writes a line for each element, and one with dots where there are more.
    """
    kept: list[str] = []
    listed = 0
    for line in lines:
        listed = listed + 1 if _ELEMENT.match(line) else 0
        if listed == _MAX_ELEMENTS + 1:
            kept.append(line[: len(line) - len(line.lstrip())] + "…")
        elif listed <= _MAX_ELEMENTS and line != (kept[-1] if kept else None):
            kept.append(line)
    return kept


def _show_problem(console: Console, problem: Problem, width: int, *, rejected: bool) -> None:
    console.print(Text(problem.message, style="bold red" if rejected else "bold magenta"), width=width)
    if problem.detail:
        # The compiler's own lines: not wrapped, so that they can be read and clicked as they are.
        console.print(Text(textwrap.indent(problem.detail.rstrip(), "  ")), soft_wrap=True)
        console.print()
    if problem.hint:
        console.print(Text.assemble(("hint: ", "cyan"), problem.hint), width=width)
    console.print()


def _summary(result: Result, rule: str = "") -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    table.add_row("Total", Text(_points(result), style="bold"))
    score = result.score
    if result.scope == "chosen":
        table.add_row("", "of the tests that --only chose")
    if result.scope == "public":
        table.add_row("", "of the public tests; hidden tests count too when the work is graded")
    if score.error_points:
        table.add_row(
            "Error", f"{number(score.error_points)} points could not be judged: not your fault, and not counted as zero"
        )
    if score.pending_points:
        table.add_row(
            "Pending", f"{number(score.pending_points)} points wait for a device that tells what their tests ask"
        )
    name = result.device.properties.get("name")
    table.add_row("Device", Text(gate.one_line(str(name or result.device.requested), 200)))
    if result.fidelity is not None and result.problem is None:
        table.add_row("", Text(gate.one_line(result.fidelity.line, 300), style="dim"))
    if result.seed is not None and result.problem is None:
        table.add_row("Seed", f"--seed {result.seed} replays these inputs")
    for note in result.notes:
        table.add_row("Note", Text(note))
    if result.submission.ignored:
        table.add_row("Ignored", Text(f"{listing(result.submission.ignored)} (this lab does not use them)"))
    for note in _review(result):
        table.add_row("Review", Text(note))
    if not result.sandboxed:
        table.add_row("Warning", "ran without the sandbox")
    if result.sandbox == "plain":
        table.add_row("Note", "ran in the plain sandbox, since user namespaces are not to be had here")
    if rule:
        table.add_row("More", f"{COMMAND} explain {rule}")
    return table


def _review(result: Result) -> list[str]:
    """Return the notes for review, each cause once."""
    return [
        f"{reason} (in {len(names)} tests)" if len(names) > 1 else f"{names[0]}: {reason}" if names[0] else reason
        for reason, names in review.group_by_cause(result).items()
    ]


def _points(result: Result) -> str:
    score = result.score
    return f"{number(score.points)} / {number(score.max_points)}  ({number(score.percent)} %)"


def can_show(console: Console, symbols: str) -> bool:
    """Tell whether a terminal has these symbols."""
    try:
        symbols.encode(console.encoding)
    except (UnicodeEncodeError, LookupError):
        return False
    return True
