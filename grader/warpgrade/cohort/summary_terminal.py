"""The summary of a class on a terminal, readable from 50 columns up, with or without colour and Unicode."""

from collections.abc import Sequence

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from warpgrade.cohort.summary import BINS, LOW, STATES, StudentNote, Summary
from warpgrade.machine.text import number
from warpgrade.report.terminal import can_show

_MAX_WIDTH = 120
_BAR = 40
_STYLES = {"graded": "green", "rejected": "red", "refused": "red", "error": "magenta", "waiting": "cyan",
           "missing": "yellow"}  # fmt: skip
_SAMPLE = 8  # times as many students on one line


def show(console: Console, whole: Summary, *, top: int = 5) -> None:
    """Print the summary; `top`: how many lines of each list."""
    width = min(console.width, _MAX_WIDTH)
    students = f"{whole.students} student{'' if whole.students == 1 else 's'}"
    heading = ": ".join(filter(None, (", ".join(whole.labs), students)))
    console.print(Text(heading, style="bold"), width=width)
    if not whole.students:
        return
    console.print(_states(whole), width=width)
    if whole.handed_in:
        console.print()
        _distribution(console, whole, width)
    if whole.missed:
        console.print()
        _missed(console, whole, top, width)
    _needs_help(console, whole, top, width)
    _to_look_at(console, whole, top, width)


def _states(whole: Summary) -> Text:
    parts = [Text(f"{whole.states[state]} {state}", style=_STYLES[state]) for state in STATES if whole.states[state]]
    extra = [
        (whole.late, "late"),
        (whole.decided, "decided by a person"),
        (whole.unread, "without all points of the rubric"),
    ]
    parts += [Text(f"{count} {what}") for count, what in extra if count]
    return Text(" · ").join(parts)


def _distribution(console: Console, whole: Summary, width: int) -> None:
    mean, median = whole.mean or 0.0, whole.median or 0.0
    of = f"of {len(whole.handed_in)} who handed in and have a grade"
    head = Text.assemble(("Points", "bold"), f"  mean {number(mean)} %, median {number(median)} % {of}")
    console.print(head, width=width)
    bins = whole.histogram
    digits = len(str(max(bins)))
    longest = min(_BAR, width - 14 - digits)
    full, half, to = ("█", "▌", "–") if can_show(console, "█▌–") else ("#", "#", "-")
    for place, many in enumerate(bins):
        label = "100 %" if place == BINS - 1 else f"{10 * place}{to}{10 * place + 9} %"
        halves = -(-2 * longest * many // max(bins))  # nobody is rounded away
        bar = full * (halves // 2) + half * (halves % 2)
        console.print(Text.assemble(f"  {label:>8} ", (f"{many:>{digits}} ", "dim"), (bar, "cyan")), soft_wrap=True)


def _missed(console: Console, whole: Summary, top: int, width: int) -> None:
    missed, graded = whole.most_missed, whole.states["graded"]
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(justify="right", no_wrap=True)
    table.add_column(ratio=1, overflow="fold")
    for one in missed[:top]:
        name = Text(one.test)
        if one.hidden:
            name.append("  hidden", style="dim")
        why, count = one.commonest
        if why:
            often = "" if count == one.students else f" ({count} of {one.students})"
            name.append(f"\n{why}{often}", style="dim")
        share = f"{number(100 * one.students / max(graded, 1), 0)} %"
        table.add_row(Text(f"{one.students} · {share}"), name)
    head = Text.assemble(("Tests most missed", "bold"), f"  of {graded} whose tests ran")
    console.print(head, width=width)
    console.print(Padding(table, (0, 0, 0, 2)), width=width)
    _more(console, len(missed) - top, "test", width)


def _needs_help(console: Console, whole: Summary, top: int, width: int) -> None:
    if not (whole.lowest or whole.missing or whole.rejected):
        return
    _title(console, "Who needs help", width)
    _students(console, f"below {number(LOW)} %", whole.lowest, top, width)
    if whole.missing:
        many = top * _SAMPLE
        head = Text.assemble(("missing", "bold"), f" ({len(whole.missing)}): ")
        _hanging(console, head.append(", ".join(each.name for each in whole.missing[:many])), width)
        _more(console, len(whole.missing) - many, "student", width)
    _students(console, "rejected", whole.rejected, top, width)


def _to_look_at(console: Console, whole: Summary, top: int, width: int) -> None:
    """Print each cause once, with the students that have it and where to read on; then what could not be graded."""
    if not (whole.to_look_at or whole.errors or whole.refused):
        return
    _title(console, "To look at", width)
    notes = sorted(whole.to_look_at.items(), key=lambda each: (-len(each[1]), each[0]))
    for note, named in notes[:top]:
        _hanging(console, Text(f"{note} ({len(named)})"), width)
        for each in named[:top]:
            about = "  ".join(filter(None, (each.about, each.result)))
            _hanging(console, Text.assemble(each.name, (f"  {about}", "dim")), width, indent=4)
        _more(console, len(named) - top, "student", width, indent=4)
    _more(console, len(notes) - top, "note", width)
    _students(console, "errors", whole.errors, top, width)
    _students(console, "refused", whole.refused, top, width)


def _title(console: Console, title: str, width: int) -> None:
    console.print()
    console.print(Text(title, style="bold"), width=width)


def _students(console: Console, what: str, named: Sequence[StudentNote], top: int, width: int) -> None:
    """Print a list of students, in a line each with what is known."""
    if not named:
        return
    _hanging(console, Text.assemble((what, "bold"), f" ({len(named)})"), width)
    for each in named[:top]:
        line = Text(each.name)
        if each.about:
            line.append(f"  {each.about}", style="dim")
        elif each.percent is not None:
            line.append(f"  {number(each.percent)} %")
        _hanging(console, line, width, indent=4)
    _more(console, len(named) - top, "student", width, indent=4)


def _hanging(console: Console, text: Text, width: int, indent: int = 2) -> None:
    console.print(Padding(text, (0, 0, 0, indent)), width=width)


def _more(console: Console, count: int, what: str, width: int, indent: int = 2) -> None:
    if count > 0:
        console.print(
            Text(f"{' ' * indent}and {count} more {what}{'s' if count > 1 else ''}", style="dim"), width=width
        )
