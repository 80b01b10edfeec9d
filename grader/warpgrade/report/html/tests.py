"""The tests: outcome, points, and what is told of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from warpgrade.report import export
from warpgrade.report.html.elements import Markup, render

_MARKS = {"pass": "✓", "partial": "◐", "slow": "○", "fail": "✗", "error": "!", "pending": "…"}
_CLASSES = {"pass": "good", "partial": "part", "slow": "part", "fail": "bad"}


@dataclass(frozen=True)
class Told:
    """What is said of a test: its messages, its hints, and the line that it folds to; none if it is short."""

    text: str = ""
    hints: Sequence[str] = ()
    summary: str = ""


def split_hints(text: str) -> Told:
    """Return messages and hints apart."""
    lines = text.split("\n")
    hints = [line for line in lines if line.startswith("hint: ")]
    return Told("\n".join(line for line in lines if not line.startswith("hint: ")), hints)


def section(rows: Sequence[export.Row], first: str, *, folded: bool = False) -> Markup:
    """Return the table of tests; `first` is the name of the one to begin with.

    folded: what is told of a test unfolds from its first line, there are buttons that filter, and what is told of the
    test to begin with stands above the table.
    """
    lost = sum(row.outcome != "pass" for row in rows)
    choices = {"lost": f"with points to gain {lost}"} if lost else {}
    choices |= {"all": f"all {len(rows)}", "kept": f"passed {len(rows) - lost}"}
    shown = [
        {
            "row": row, "mark": _MARKS[row.outcome], "style": _CLASSES.get(row.outcome, "dim"),
            "first": row.name == first, "told": _tell(row, first, folded=folded),
        }
        for row in rows
    ]  # fmt: skip
    return render("tests.html", rows=shown, choices=choices if folded else {})


def _tell(row: export.Row, first: str, *, folded: bool) -> Told:
    if not row.text or row.outcome == "pass" or (folded and row.name == first):
        return Told()
    told = split_hints(row.text)
    return Told(told.text, told.hints, row.text.partition("\n")[0] if folded and "\n" in row.text else "")
