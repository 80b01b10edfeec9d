"""The result as a custom validator of Submitty writes it: `validation_results.json`.

Scores below 0 or above 1 stop Submitty's grading, so they are kept within. What is no grade is a failure of the
validator, which Submitty shows as its own mistake and not the student's.
"""

from typing import Any

import msgspec

from warpgrade.platforms.adapter import Adapter
from warpgrade.report import export
from warpgrade.report.format import Report

_STATUS = {"pass": "success", "partial": "warning", "slow": "warning", "fail": "failure"}


def encode(report: Report) -> bytes | None:
    """Return the file."""
    result = report.result
    if result is None:
        return None
    document: dict[str, Any]
    if export.is_final(result):
        document = {"status": "success", "data": {"score": export.fraction(result), "message": _messages(report)}}
    else:
        document = {"status": "failure", "message": "\n".join([export.headline(result), *export.notes(result)])}
    return msgspec.json.format(msgspec.json.encode(document), indent=1) + b"\n"


def _messages(report: Report) -> list[dict[str, str]]:
    result = report.result
    if result is None:
        return []
    told = [("information", export.headline(result))]
    told += [("failure" if result.problem else "information", note) for note in export.notes(result)]
    for row in export.rows(result):
        head = f"{row.outcome} {row.points_text} {row.name}{' (hidden)' if row.hidden else ''}"
        told.append((_STATUS.get(row.outcome, "information"), f"{head}\n{row.text}" if row.text else head))
    told += [("warning", words) for words in export.mistakes(report.findings)]
    return [{"message": words, "status": status} for status, words in told]


_FORMAT = export.platform_format("--submitty", "Write Submitty's validation_results.json.", encode)

ADAPTER = Adapter(formats=(_FORMAT,))
