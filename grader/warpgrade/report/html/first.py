"""The first screen: points, notes on the submission, and what to fix first."""

from collections.abc import Container, Sequence

from warpgrade.grading.result import Result, TestResult
from warpgrade.machine.text import one_line
from warpgrade.report import export
from warpgrade.report.findings import Finding
from warpgrade.report.html.elements import Markup, render
from warpgrade.report.html.parts import WIDTH, show_finding
from warpgrade.report.html.tests import numbers, split_hints


def section(result: Result) -> Markup:
    """Return the head of a result's page."""
    name = one_line(result.submission.name, WIDTH)
    return render("first.html", title=export.headline(result), name=name, notes=export.notes(result))


def card(test: TestResult, row: export.Row, findings: Sequence[Finding], files: Container[str]) -> Markup:
    """Return the failure to begin with, and the finding that explains it."""
    mine = [one for one in findings if test.name in one.tests and one.diagnostic.severity == "error"]
    message, _, more = row.text.partition("\n\n")
    hints = split_hints(more).hints
    found = [show_finding(one, files) for one in mine[:1]]
    told = split_hints(message)
    return render("card.html", name=row.name, begun=test.begun, found=found, text=told.text,
                  hints=[*told.hints, *hints], more=more, numbers=numbers(test))  # fmt: skip
