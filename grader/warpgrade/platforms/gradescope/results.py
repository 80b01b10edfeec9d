"""The result as Gradescope's `results.json`.

Hidden tests are visible there, with name and outcome: a test that Gradescope hides hides the total as well. All text
is declared to be plain text, so that nothing in it is markup.
"""

from __future__ import annotations

from typing import Any

import msgspec

from warpgrade.grading.result import Result
from warpgrade.report import export
from warpgrade.report.format import Report


def encode(report: Report) -> bytes | None:
    """Return the file; nothing for what is no grade, which Gradescope shows as a failed autograder."""
    result = report.result
    if result is None or not export.is_final(result):
        return None
    return msgspec.json.format(msgspec.json.encode(_document(result, report)), indent=1) + b"\n"


def _document(result: Result, report: Report) -> dict[str, Any]:
    return {
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


FORMAT = export.platform_format("--gradescope", "Write Gradescope's results.json.", encode)
