"""The result as Autolab reads it from an autograder: feedback, and a line of scores at its end.

An Autolab that finds no such line gives a zero. So there is always one; where there is no grade, its score is null,
which Autolab shows as not graded.
"""

import msgspec

from warpgrade.platforms.adapter import Adapter
from warpgrade.report import export
from warpgrade.report.format import Report


def encode(report: Report) -> bytes | None:
    """Return the feedback, each line of it indented, and the scores: one problem, which has the lab's name."""
    result = report.result
    if result is None:
        return None
    score = export.points(result) if export.is_final(result) else None
    feedback = "".join(f"  {line}\n" for line in export.text(report).split("\n"))
    return feedback.encode() + msgspec.json.encode({"scores": {result.lab.name: score}}) + b"\n"


_FORMAT = export.platform_format("--autolab", "Write Autolab's feedback, with the line of scores at its end.", encode)

ADAPTER = Adapter(formats=(_FORMAT,))
