"""The result as Classroom 50's `result.json`: schema `classroom50/result/v1`.

Its scores are whole numbers. A test that is not passed in full never gets all of its points by rounding.
"""

import math
import os
from typing import Any

import msgspec

from warpgrade.grading.result import Result
from warpgrade.machine.errors import BadInput
from warpgrade.platforms.adapter import Adapter
from warpgrade.report import export
from warpgrade.report.format import Report

_NEEDED = {
    "classroom": "CLASSROOM",
    "assignment": "ASSIGNMENT",
    "submission": "SUBMISSION_TAG",
    "commit": "COMMIT_URL",
    "release": "RELEASE_URL",
}


def encode(report: Report) -> bytes | None:
    """Return the file; nothing for what is no grade, which Classroom 50's runner records as an error."""
    result = report.result
    if result is None or not export.is_final(result):
        return None
    tests = [_test(row) for row in export.rows(result)]
    document = {
        "schema": "classroom50/result/v1",
        **{key: os.environ.get(name, "") for key, name in _NEEDED.items()},
        "review": os.environ.get("REVIEW_URL") or os.environ.get("COMMIT_URL", ""),
        "datetime": _instant(result),
        "score": sum(test["score"] for test in tests),
        "max-score": sum(test["max-score"] for test in tests),
        "tests": tests,
    }
    return msgspec.json.format(msgspec.json.encode(document), indent=2) + b"\n"


def _instant(result: Result) -> str:
    return result.started_at.partition(".")[0].removesuffix("Z").partition("+")[0] + "Z"


def _test(row: export.Row) -> dict[str, Any]:
    most = math.ceil(row.max_points)
    score = min(math.floor(row.points + 0.5), most)
    if row.points < row.max_points:
        score = min(score, most - 1)
    return {
        "test-name": row.name,
        "passed": row.outcome == "pass",
        "score": max(score, 0) if row.points < row.max_points else most,
        "max-score": most,
    }


def _in_runner() -> None:
    missing = [name for name in _NEEDED.values() if not os.environ.get(name)]
    if missing:
        raise BadInput(
            f"--classroom50 needs {', '.join(missing)} in the environment",
            hint="Classroom 50's runner sets them for an autograder.py",
        )


_FORMAT = export.platform_format(
    "--classroom50", "Write Classroom 50's result.json, in its runner.", encode, _in_runner
)

ADAPTER = Adapter(formats=(_FORMAT,))
