"""What has changed between two results of a student: points, outcomes, and numbers."""

from warpgrade.grading.result import Result
from warpgrade.machine.text import clean, number
from warpgrade.report import export, result_changes
from warpgrade.report.html.elements import Markup, render
from warpgrade.report.html.tests import CLASSES

_MAX_NUMBERS = 12  # of a test


def section(before: Result, after: Result) -> Markup:
    """Return a table of the tests that changed, those with the largest gain first."""
    outcomes = [{row.name: row.outcome for row in export.rows(result)} for result in (before, after)]
    rows = []
    for one in result_changes.compare_results(before, after):
        name = clean(one.after.name)
        was, now = (each.get(name, "") for each in outcomes)
        rows.append({
            "name": name, "outcome": was if was == now else f"{was} → {now}", "style": CLASSES.get(now, "dim"),
            "points": f"{number(one.before.points)} → {number(one.after.points)}" if one.gained else "",
            "numbers": [
                {"name": clean(what), "before": number(old, 2), "after": number(new, 2),
                 "change": f"{100 * (new - old) / old:+.0f} %" if old > 0 else ""}
                for what, (old, new) in list(one.numbers.items())[:_MAX_NUMBERS]
            ],
        })  # fmt: skip
    points = [number(result.score.points) for result in (before, after)]
    return render("changes.html", rows=rows, points=points)
