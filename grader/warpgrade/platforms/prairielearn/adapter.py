"""The result as PrairieLearn's `results.json`.

`gradable: false` costs a student neither points nor an attempt. PrairieLearn has it for what does not compile, and
it is right for what we could not judge, too.
"""

import base64
from typing import Any

import msgspec

from warpgrade.grading.result import Result
from warpgrade.platforms.adapter import Adapter
from warpgrade.report import export, pictures
from warpgrade.report.format import Report

_MAX_BYTES = 1_000_000  # PrairieLearn drops what is larger


def encode(report: Report) -> bytes | None:
    """Return the file: in full, or where that is too large without the texts of the tests."""
    result = report.result
    if result is None:
        return None
    for full in (True, False):
        document = _document(result, report, full=full)
        raw = msgspec.json.format(msgspec.json.encode(document), indent=1) + b"\n"
        if len(raw) <= _MAX_BYTES:
            break
    return raw


def _document(result: Result, report: Report, *, full: bool) -> dict[str, Any]:
    if result.status == "rejected" or not export.is_final(result):
        return {"gradable": False, "message": export.headline(result), "format_errors": export.notes(result)}
    images = [_image(label, svg) for label, svg in pictures.draw_speed(result)] if full else []
    return {
        "gradable": True,
        "score": export.fraction(result),
        "message": export.headline(result),
        "output": "\n\n".join([*export.notes(result), *export.mistakes(report.findings)]) if full else "",
        "images": images,
        "tests": [_test(row, full=full) for row in export.rows(result)],
    }


def _test(row: export.Row, *, full: bool) -> dict[str, Any]:
    return {
        "name": row.name,
        "description": "hidden test" if row.hidden else "",
        "points": row.points,
        "max_points": row.max_points,
        "message": row.outcome,
        "output": row.text if full else "",
    }


def _image(label: str, svg: str) -> dict[str, str]:
    return {"label": label, "url": "data:image/svg+xml;base64," + base64.b64encode(svg.encode()).decode()}


_FORMAT = export.platform_format("--prairielearn", "Write PrairieLearn's results.json.", encode)

ADAPTER = Adapter(formats=(_FORMAT,))
