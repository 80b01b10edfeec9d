"""The feedback that a student reads: how the grade is computed, and the tests as far as students may see them."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime

import msgspec

from warpgrade.cohort.row import Mark, Row
from warpgrade.grading.result import Result
from warpgrade.machine.text import bounded, clean, number, one_line
from warpgrade.report import export, failures, findings, hidden
from warpgrade.report.html import tests
from warpgrade.report.html.elements import page, render

_WIDTH = 300


@dataclass(frozen=True)
class Step:
    """One step of the computation of a grade."""

    what: str
    points: str = ""
    why: str = ""


@dataclass(frozen=True)
class Feedback:
    """The feedback for one student. `grade` is empty if there is none yet."""

    title: str
    who: str
    handed_in: str
    grade: str
    steps: list[Step] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    tests: list[export.Row] = field(default_factory=list)
    first: str = ""  # the test to begin with
    found: list[str] = field(default_factory=list)
    comments: list[Step] = field(default_factory=list)  # at lines


def make_feedback(
    row: Row, result: Result | None, now: datetime | None = None, alias: str = "", title: str = ""
) -> Feedback | None:
    """Make the feedback of a row; return None if nothing was handed in or graded, or the result is missing.

    Before `hidden_until` there is no grade, because its points would tell about hidden tests; what a person gave or
    wrote, who may have seen them, waits as well. alias: the student's name
    on the leaderboard. title: the lab's title, for rows without a result.
    """
    is_decided = row.decision is not None or row.state in ("rejected", "refused")
    if not is_decided and (result is None or row.state in ("missing", "waiting")):
        return None
    early = result is not None and hidden.is_too_early(result, now) and any(test.hidden for test in result.tests)
    # From here on the clock does not matter.
    shown = None if result is None else msgspec.structs.replace(hidden.for_students(result, now), hidden_until="")
    notes = list(_notes(row, shown))
    if alias:
        notes.append(f"On the leaderboard you are “{one_line(alias, _WIDTH)}”.")
    first = ""
    if shown and not shown.problem:
        first = next((test.name for test in failures.in_order(shown.tests) if test.begun), "")
    return Feedback(
        title=one_line(shown.lab.title if shown else title or row.lab, _WIDTH),
        who=_student_line(row),
        handed_in=one_line(_submission_line(row), _WIDTH),
        grade="" if early or row.points is None else _points_line(row.points, row.max_points),
        steps=_steps_until_shown(row, shown) if early and shown else list(_steps(row)),
        notes=notes,
        tests=_tests(shown, first) if shown else [],
        first=first,
        found=export.mistakes(findings.result_findings(shown)) if shown else [],
        comments=[] if early else [_comment(mark) for mark in row.comments],
    )


def _student_line(row: Row) -> str:
    name, student = one_line(row.name, _WIDTH), one_line(row.student, _WIDTH)
    return " · ".join(filter(None, (name, student if student.casefold() != name.casefold() else "")))


def _tests(shown: Result, first: str) -> list[export.Row]:
    """Return the tests, of one cause once; if none of them ran, without texts: the reason is told above them.

    first: the test to begin with, which is told whole.
    """
    if shown.problem:
        return [replace(row, text="") for row in export.rows(shown)]
    short = [
        msgspec.structs.replace(test, message=failures.message(test), output=failures.output(test))
        for test in shown.tests
    ]
    rows = export.rows(msgspec.structs.replace(shown, tests=short))
    said = {_gist(row): row.name for row in reversed(rows) if row.outcome != "pass"}
    said |= {_gist(row): row.name for row in rows if row.name == first}
    return [
        replace(row, text=f"the same as in “{said[_gist(row)]}”")
        if row.text and said.get(_gist(row), row.name) != row.name
        else row
        for row in rows
    ]


def _gist(row: export.Row) -> str:
    return row.text.split("\n", 1)[0]


def _points_line(points: float, most: float) -> str:
    share = f" ({number(100 * points / most)} %)" if most > 0 else ""
    return f"{number(points, 2)} of {number(most, 2)} points{share}"


def _submission_line(row: Row) -> str:
    parts = [f"handed in: {row.source}" if row.source else "", row.submitted[:16].replace("T", " ")]
    if row.attempts > 1:
        parts.append(f"one of {row.attempts} submissions")
    return ", ".join(filter(None, parts))


def _steps_until_shown(row: Row, shown: Result) -> list[Step]:
    score = shown.score
    steps = [Step("Public tests", f"{number(score.points, 2)} of {number(score.max_points, 2)}")]
    if row.late:
        steps.append(Step(one_line(row.late, _WIDTH)))
    return [*steps, Step("Grade", "", "follows when the hidden tests are shown")]


def _steps(row: Row) -> Iterator[Step]:
    if row.state in ("graded", "rejected", "refused"):
        most = row.max_points - sum(mark.max_points for mark in row.rubric)
        yield Step("Earned by the tests", f"{number(row.earned, 2)} of {number(most, 2)}")
        yield from (_rubric_step(mark) for mark in row.rubric if mark.points is not None or row.open_items)
        if row.late:
            change = "" if row.decision or row.points is None else _signed(row.points - row.earned - row.given)
            yield Step(one_line(row.late, _WIDTH), change)
    if (decision := row.decision) is not None:
        by = f"Decided by {one_line(decision.by, _WIDTH)}"
        day = f" on {one_line(decision.at, 40)[:10]}" if decision.at else ""
        yield Step(
            by + day, number(decision.points, 2), bounded(clean(decision.reason).strip(), lines=20, width=_WIDTH)
        )


def _rubric_step(mark: Mark) -> Step:
    points = "not given yet" if mark.points is None else f"{number(mark.points, 2)} of {number(mark.max_points, 2)}"
    return Step(one_line(mark.item, _WIDTH), points, bounded(clean(mark.text).strip(), lines=20, width=_WIDTH))


def _comment(mark: Mark) -> Step:
    return Step(one_line(mark.place, _WIDTH), why=bounded(clean(mark.text).strip(), lines=20, width=_WIDTH))


def _signed(points: float) -> str:
    return f"−{number(-points, 2)}" if points < 0 else f"+{number(points, 2)}" if points else "0"


def _notes(row: Row, shown: Result | None) -> Iterator[str]:
    if row.state == "missing":
        yield "Nothing was handed in."
    elif shown is None and row.problem:
        yield bounded(clean(row.problem), width=_WIDTH)
    elif row.state == "error" and row.decision is None and shown is not None and export.is_final(shown):
        yield export.NOT_FINAL
    if shown is not None:
        yield from export.notes(shown)


def render_text(feedback: Feedback) -> str:
    """Return it as plain text."""
    parts = [f"{feedback.title}\n{feedback.who}\n{feedback.handed_in}".rstrip()]
    steps = [
        ": ".join(filter(None, (step.what, step.points, step.why))).replace("\n", "\n  ") for step in feedback.steps
    ]
    parts.append("\n".join([*steps, f"Grade: {feedback.grade}" if feedback.grade else "No grade yet"]))
    parts += feedback.notes
    parts += [f"{each.what}\n" + "\n".join(f"  {line}" for line in each.why.split("\n")) for each in feedback.comments]
    parts.append("\n".join(f"{row.outcome:8}{row.points_text:>9}  {row.name}{_hidden(row)}" for row in feedback.tests))
    for row in feedback.tests:
        if row.text and row.outcome != "pass":
            first = "Fix this first: " if row.name == feedback.first else ""
            parts.append(f"{first}{row.name}\n" + "\n".join(f"  {line}" for line in row.text.split("\n")))
    return "\n\n".join(part for part in [*parts, *feedback.found] if part) + "\n"


def _hidden(row: export.Row) -> str:
    return "  (hidden)" if row.hidden else ""


def render_html(feedback: Feedback) -> bytes:
    """Return it as a page that stands alone."""
    table = tests.section(feedback.tests, feedback.first) if feedback.tests else ""
    body = render("feedback.html", feedback=feedback, tests=table)
    return page(f"{feedback.title}: {feedback.who}", [body])
