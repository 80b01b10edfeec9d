"""The result as JSON: schema `warpgrade/result/1`."""

from warpgrade.grading import result
from warpgrade.report.format import Report, file_format


def _encode(report: Report) -> bytes:
    return result.encode(report.result) if report.result else b""


FORMAT = file_format("result", "--json", "Write the result as JSON; - is stdout.", _encode, whole=True)
