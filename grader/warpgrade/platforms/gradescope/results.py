"""The result as Gradescope's `results.json`.

Hidden tests are visible there, with name and outcome: a test that Gradescope hides hides the total as well. All text
is declared to be plain text, so that nothing in it is markup.
"""

import dataclasses
from pathlib import Path
from typing import Any

import msgspec

from warpgrade.course.course import Course
from warpgrade.grading.result import Result
from warpgrade.machine.files import write
from warpgrade.machine.text import one_line
from warpgrade.platforms.gradescope import attempts
from warpgrade.report import export, hidden
from warpgrade.report.format import Report


def encode(report: Report) -> bytes | None:
    """Return the file; nothing for what is no grade, which Gradescope shows as a failed autograder."""
    result = report.result
    if result is None or not export.is_final(result):
        return None
    return msgspec.json.format(msgspec.json.encode(_document(result, report)), indent=1) + b"\n"


def _document(result: Result, report: Report) -> dict[str, Any]:
    board = _leaderboard(result) if report.leaderboard else []
    return {
        **({"leaderboard": board} if board else {}),
        "score": export.points(result),
        "execution_time": round(result.seconds.build + result.seconds.judge),
        "output": "\n\n".join([export.headline(result), *export.notes(result), *export.mistakes(report.findings)]),
        "output_format": "text",
        "test_output_format": "text",
        "test_name_format": "text",
        "visibility": "visible",
        "stdout_visibility": "hidden",
        "extra_data": {"lab": result.lab.name, "warpgrade": result.warpgrade, "digest": result.submission.digest},
        "tests": [_test(number, row) for number, row in enumerate(export.rows(result), 1)],
    }


def _test(number: int, row: export.Row) -> dict[str, Any]:
    return {
        "name": row.name,
        "number": str(number),
        "status": "passed" if row.outcome == "pass" else "failed",
        "score": row.points,
        "max_score": row.max_points,
        "output": row.text,
        "tags": ["hidden"] if row.hidden else [],
        "visibility": "visible",
    }


def _leaderboard(result: Result) -> list[dict[str, Any]]:
    """Return the speed-ups of public tests, which Gradescope shows under a name that the student chooses."""
    return [
        {"name": one_line(test.name, export.NAME_WIDTH), "value": round(measured.value, 2)}
        for test in hidden.for_students(result).tests
        for measured in test.measurements
        if test.kind == "speed" and measured.name == "speedup"
    ]


def _write_instead(name: Any, course: Course) -> str:
    found = attempts.results_instead(Path(name), course) if name not in (None, "-") else None
    if found is None:
        return ""
    why, content = found
    write(name, "--gradescope", content)
    return why


FORMAT = dataclasses.replace(
    export.platform_format("--gradescope", "Write Gradescope's results.json.", encode), write_instead=_write_instead
)
