"""The tests: outcome, points, and what is told of each."""

from collections.abc import Container, Sequence
from dataclasses import dataclass
from typing import Any

from warpgrade.grading.result import TestResult
from warpgrade.machine.text import clean
from warpgrade.report import checks, export, failures
from warpgrade.report.findings import Finding
from warpgrade.report.html.elements import Markup, render
from warpgrade.report.html.parts import Found, show_finding

_MARKS = {"pass": "✓", "partial": "◐", "slow": "○", "fail": "✗", "error": "!", "pending": "…"}
_OUTCOMES = {"pass": "pass", "part": "partial", "fail": "fail"}
_MAX_NUMBERS = 24
_MAX_LINKS = 4
CLASSES = {"pass": "good", "partial": "part", "slow": "part", "fail": "bad"}


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


def section(
    rows: Sequence[export.Row], first: str, results: Sequence[TestResult] = (), *, folded: bool = False,
    findings: Sequence[Finding] = (), files: Container[str] = (),
) -> Markup:  # fmt: skip
    """Return the table of tests; `first` is the name of the one to begin with. `results` have the numbers of the rows.

    folded: what is told of a test unfolds from its first line, there are buttons that filter, and what is told of the
    test to begin with stands above the table. `findings` are linked from their tests where the page has their `files`.
    """
    lost = sum(row.outcome != "pass" for row in rows)
    choices = {"lost": f"with points to gain {lost}"} if lost else {}
    choices |= {"all": f"all {len(rows)}", "kept": f"passed {len(rows) - lost}"}
    shown: list[dict[str, Any]] = [
        {
            "row": row, "mark": _MARKS[row.outcome], "style": CLASSES.get(row.outcome, "dim"),
            "first": row.name == first, "begun": not results or results[place].begun,
            "told": _tell(row, first, folded=folded),
            "found": _links(results[place], findings, files) if row.outcome != "pass" and results else [],
            "numbers": numbers(results[place]) if results else {"lost": [], "kept": []},
        }
        for place, row in enumerate(rows)
    ]  # fmt: skip
    return render("tests.html", rows=shown, choices=choices if folded else {})


def numbers(test: TestResult) -> dict[str, list[dict[str, str]]]:
    """Return what a test holds against limits, `lost` and `kept`; what failed first, each number once."""
    order = ("fail", "part", "pass")
    rows = [
        {"name": clean(one.name), "words": clean(one.words), "now": now, "limit": limit,
         "good": limit.removeprefix(checks.SIGNS["is"]) if one.relation == "is" else good,
         "outcome": one.outcome, "style": CLASSES[_OUTCOMES[one.outcome]]}
        for one in sorted(test.checks, key=lambda one: order.index(one.outcome))
        for now, good, limit in [checks.numbers(one, checks.SIGNS)]
    ]  # fmt: skip
    once = [row for place, row in enumerate(rows) if row not in rows[:place]]
    lost = [row for row in once if row["outcome"] != "pass"]
    return {"lost": lost[:_MAX_NUMBERS], "kept": once[len(lost) :][:_MAX_NUMBERS]}


def _links(test: TestResult, findings: Sequence[Finding], files: Container[str]) -> list[Found]:
    """Return what was found in a test, each place once; advice where only its numbers are not as they should be."""
    mine = [show_finding(one, files) for one in findings if test.name in one.tests]
    mine = [one for one in mine if not one.advice or not failures.is_wrong(test)]
    mine = [one for one in mine if not one.advice] or mine
    return list({(one.title, one.place): one for one in mine if one.anchor}.values())[:_MAX_LINKS]


def _tell(row: export.Row, first: str, *, folded: bool) -> Told:
    if not row.text or row.outcome == "pass" or (folded and row.name == first):
        return Told()
    told = split_hints(row.text)
    return Told(told.text, told.hints, row.text.partition("\n")[0] if folded and "\n" in row.text else "")
