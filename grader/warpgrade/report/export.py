"""The parts of a result that formats for platforms may write: plain text, and a grade only if it is final.

Students read whatever a platform shows, so these formats write nothing else of a result. Hidden tests are as
report/hidden.py leaves them.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from warpgrade.grading.result import Result, TestResult
from warpgrade.machine.files import check_writable, write
from warpgrade.machine.text import bounded, clean, number, one_line
from warpgrade.report import hidden
from warpgrade.report.findings import Finding, describe
from warpgrade.report.format import Format, Report
from warpgrade.report.stream import say

_LINES, _WIDTH = 40, 240  # of what is said of one test
_OUTPUT_LINES = 8
_FINDINGS = 8
NAME_WIDTH = 200
NOT_FINAL = (
    "Not everything could be judged, which is not your fault. This is no grade; your instructor can grade it again."
)


@dataclass(frozen=True)
class Row:
    """One test: `outcome` is pass, partial, slow, fail, error or pending; `text` says what is known of it."""

    name: str
    outcome: str
    points: float
    max_points: float
    hidden: bool
    seconds: float
    text: str

    @property
    def decided(self) -> bool:
        """Whether the points are known."""
        return self.outcome not in ("error", "pending")

    @property
    def points_text(self) -> str:
        """`8.3/15`, or `?/15` if the points are not known."""
        return f"{number(self.points) if self.decided else '?'}/{number(self.max_points)}"


def is_final(result: Result) -> bool:
    """Whether the points may become a grade: each test has its outcome, or the submission was rejected."""
    return result.status != "error" and not result.score.pending_points and not result.score.error_points


def fraction(result: Result) -> float:
    """Return the share of all points, between 0 and 1."""
    most = result.score.max_points
    return min(max(round(result.score.points / most, 6), 0.0), 1.0) if most > 0 else 0.0


def points(result: Result) -> float:
    """Return the points, at least 0 and at most the maximum."""
    return min(max(round(result.score.points, 2), 0.0), max(result.score.max_points, 0.0))


def rows(result: Result) -> list[Row]:
    """Return the tests in their order."""
    return [_row(test) for test in hidden.for_students(result).tests]


def _row(test: TestResult) -> Row:
    outcome: str = test.status
    # A speed test whose results are right but which is not fast enough has passed in part, or is worth nothing yet.
    if test.status == "pass" and test.points < test.max_points:
        outcome = "partial" if test.points else "slow"
    return Row(
        one_line(test.name, NAME_WIDTH), outcome, round(test.points, 2), test.max_points, test.hidden, test.seconds,
        "\n".join(_row_text(test)),
    )  # fmt: skip


def _row_text(test: TestResult) -> Iterator[str]:
    if test.message:
        yield bounded(clean(test.message), lines=_LINES, width=_WIDTH)
    if test.status == "pass" and test.points == test.max_points:
        return
    if test.hint:
        yield f"hint: {clean(test.hint)}"
    if test.output.strip():
        lines = [line for line in clean(test.output).split("\n") if line.strip()]
        yield "your program printed:"
        yield from (f"| {bounded(line, lines=1, width=_WIDTH)}" for line in lines[-_OUTPUT_LINES:])


def headline(result: Result) -> str:
    """Return `Matrix multiplication: 58.3 of 110 points`; of a result that is not final, that it is none."""
    title = one_line(result.lab.title, NAME_WIDTH)
    if result.status == "rejected":
        return f"{title}: this submission cannot be graded"
    if not is_final(result):
        return f"{title}: no grade yet"
    score = result.score
    scope = {"all": "", "public": " of the public tests", "chosen": " of the chosen tests"}[result.scope]
    return f"{title}: {number(points(result), 2)} of {number(score.max_points)} points{scope}"


def notes(result: Result) -> list[str]:
    """Return the paragraphs on the whole submission: why it was rejected, which files were graded."""
    told = []
    if result.problem is not None:
        parts = [result.problem.message, result.problem.detail.rstrip(), result.problem.hint]
        told.append("\n".join(bounded(clean(part), lines=_LINES, width=_WIDTH) for part in parts if part))
    if not is_final(result):
        told.append(NOT_FINAL)
    told += [bounded(clean(note), lines=2, width=_WIDTH) for note in result.submission.notes]
    if result.submission.ignored:
        told.append("not used by this lab: " + one_line(", ".join(result.submission.ignored), _WIDTH))
    told += [bounded(clean(note), lines=2, width=_WIDTH) for note in result.notes]
    return told


def mistakes(findings: Sequence[Finding]) -> list[str]:
    """Return the first mistakes that the checks found, a paragraph each, without advice."""
    found = [one for one in findings if one.diagnostic.severity != "advice"]
    told = []
    for finding in found[:_FINDINGS]:
        one = finding.diagnostic
        where = f" at {one_line(one.place.text, _WIDTH)}" if one.place.text else ""
        head = one_line(f"{one.severity}: {one.title} [{one.rule}]", _WIDTH)
        body = bounded(clean(describe(finding)), lines=12, width=_WIDTH)
        told.append(f"{head}{where}\n" + "\n".join(f"  {line}" for line in body.split("\n")))
    if left := len(found) - len(told):
        told.append(f"… and {left} more")
    return told


def text(report: Report) -> str:
    """Return all of it as one text, for platforms that show no more."""
    if report.result is None:
        return ""
    parts = [headline(report.result), *notes(report.result)]
    table = [
        f"{row.outcome:8}{row.points_text:>9}  {row.name}{'  (hidden)' if row.hidden else ''}"
        for row in rows(report.result)
    ]
    parts.append("\n".join(table))
    for row in rows(report.result):
        if row.text and row.outcome != "pass":
            parts.append(f"{row.name}\n" + "\n".join(f"  {line}" for line in row.text.split("\n")))
    return "\n\n".join(part for part in [*parts, *mistakes(report.findings)] if part)


def platform_format(
    option: str, help_text: str, encode: Callable[[Report], bytes | None], needs: Callable[[], None] = lambda: None
) -> Format:
    """Return a format whose file a platform reads as a grade.

    `encode` returns None if the result is not final and the platform cannot express that. Then a file of an earlier
    run is removed, so that the platform does not read it, and the exit status tells the rest. `needs` raises BadInput
    before the work if something is missing.
    """

    def check(name: str | None) -> None:
        if name is not None:
            check_writable(option, name)
            needs()

    def write_file(name: str | None, report: Report) -> None:
        if name is None or report.result is None:
            return
        content = encode(report)
        if content is not None:
            write(name, option, content)
            return
        if name != "-" and Path(name).is_file():
            Path(name).unlink()
        say(f"warpgrade: {option}: nothing was written, for this result is no grade", err=True)

    settings: dict[str, Any] = {"metavar": "FILE", "help": help_text}
    return Format("result", click.Option([option], **settings), write_file, check)
