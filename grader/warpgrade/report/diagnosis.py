"""What the checks found, on a terminal, as a good compiler would say it; readable from 50 columns up."""

import textwrap
from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from warpgrade.findings.diagnosis import Diagnostic, Place
from warpgrade.machine.text import bounded
from warpgrade.report.findings import Finding, same_cause

_MAX_WIDTH = 112
WHOLE = 8  # findings with all their lines; those after them take one
_ADVICE = 3
_TESTS = 2
_STYLES = {"error": "bold red", "warning": "bold yellow", "advice": "bold cyan"}
_INDENT = "  "


def show(console: Console, findings: Sequence[Finding], *, advice: bool = False, whole: int = WHOLE) -> None:
    """Print the findings: all mistakes, the first `whole` of them in full; the weightiest advice if there are none."""
    width = min(console.width, _MAX_WIDTH)
    mistakes = [one for one in findings if one.diagnostic.severity != "advice"]
    hints = [one for one in findings if one.diagnostic.severity == "advice"]
    lines: list[Text] = []
    for finding in mistakes[:whole]:
        lines += [*_whole(finding, width), Text()]
    if rest := mistakes[whole:]:
        for finding in rest:
            lines += _brief(finding.diagnostic, width)
        lines.append(Text())
    if advice:
        for finding in hints:
            lines += [*_whole(finding, width), Text()]
    elif hints:
        errors = any(one.diagnostic.severity == "error" for one in mistakes)
        shown = [] if errors else [one for one in hints if not one.settled][:_ADVICE]
        for finding in shown:
            lines += _brief(finding.diagnostic, width)
        if left := len(hints) - len(shown):
            more = f"{left} {'more ' if shown else ''}piece{'s' if left > 1 else ''} of advice on speed"
            lines.append(Text(f"{more}: --advice shows {'them' if left > 1 else 'it'}", style="dim"))
        lines.append(Text())
    for line in lines:
        console.print(line, soft_wrap=True)


def _whole(finding: Finding, width: int) -> list[Text]:
    one = finding.diagnostic
    number = max([one.place.line, *(other.place.line for other in one.related)])
    gutter = len(_INDENT) + len(str(number))
    lines = _heading(one, width)
    if where := _where(one):
        lines += _wrapped(f"{'-->':>{gutter}} {where}", width, gutter + 1, "dim")
    lines += _quote(one.place, gutter, width)
    facts = _facts(one)
    if facts:
        lines += _wrapped(" " * (gutter + 1) + facts, width, gutter + 1)
    for other in filter(lambda other: other.is_known, one.related):
        lines += _wrapped(" " * (gutter + 1) + _party(one, other.role, other.place, other.thread), width, gutter + 1)
        if other.place != one.place:
            lines += _quote(other.place, gutter, width)
    if others := same_cause(finding):
        lines += _wrapped(" " * (gutter + 1) + "same cause: " + "; ".join(others), width, gutter + 1)
    lines += _wrapped(" " * (gutter + 1) + f"help: {finding.help}", width, gutter + 1, "cyan")
    if finding.tests:
        lines += _wrapped(" " * (gutter + 1) + _found_in(finding.tests), width, gutter + 1, "dim")
    return lines


def _heading(one: Diagnostic, width: int) -> list[Text]:
    rows = _wrapped(f"{one.severity}: {one.title} [{one.rule}]", width, 4)
    for row in rows:
        row.stylize("bold")
        row.highlight_words([f"[{one.rule}]"], "dim")
    rows[0].stylize(_STYLES[one.severity], 0, len(one.severity))
    return rows


def _brief(one: Diagnostic, width: int) -> list[Text]:
    """Return one line, if it fits: severity, title, place and the fact."""
    where = f" at {one.place.text}" if one.place.text else ""
    text = f"{one.severity}: {one.title}{where}" + (f": {one.message}" if one.message else "")
    first, *more = _wrapped(text, width, 4)
    first.stylize(_STYLES[one.severity], 0, len(one.severity))
    return [first, *more]


def _where(one: Diagnostic) -> str:
    kernel = f"kernel {one.kernel}" if one.kernel else ""
    if one.place.text:
        return f"{one.place.text}, {kernel}" if kernel else one.place.text
    return kernel


def _facts(one: Diagnostic) -> str:
    times = f" ({one.count:,} times)" if one.count > 1 else ""
    if one.thread is None:
        return f"{one.message}{times}" if one.message else ""
    return f"{one.thread.text} {one.message}{times}".replace("  ", " ")


def _party(one: Diagnostic, role: str, place: Place, thread: object) -> str:
    who = f" {getattr(thread, 'text', '')}" if thread is not None else ""
    if place.file and place == one.place:
        return f"{role}{who} at the same line"
    return f"{role}{who}" + (f" at {place.text}:" if place.text else "")


def _quote(place: Place, gutter: int, width: int) -> list[Text]:
    if not place.source.strip():
        return []
    text = f"{place.line:>{gutter}} | {place.source.rstrip()}"
    return [Text(bounded(text, lines=1, width=width), style="bold")]


def _found_in(tests: Sequence[str]) -> str:
    more = len(tests) - _TESTS
    shown = "; ".join(tests[:_TESTS])
    return f"found in: {shown}" + (f"; and {more} more test{'s' if more > 1 else ''}" if more > 0 else "")


def _wrapped(text: str, width: int, indent: int, style: str = "") -> list[Text]:
    rows = textwrap.wrap(
        text, width, subsequent_indent=" " * indent, drop_whitespace=True, break_long_words=True,
        break_on_hyphens=False,
    )  # fmt: skip
    return [Text(row, style=style) for row in rows]
