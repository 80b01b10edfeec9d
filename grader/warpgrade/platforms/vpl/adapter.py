"""The result as Moodle's VPL reads it from standard output: `Comment :=>>` lines and one `Grade :=>>`.

VPL acts on what stands at the start of a line. Each line here begins with our own mark, and VPL's marks inside of
other people's words are broken up. Without a grade there is no `Grade :=>>`, and VPL proposes none.
"""

import math
import os
import re

from warpgrade.grading.result import Result
from warpgrade.machine.errors import BadInput
from warpgrade.machine.text import number
from warpgrade.platforms.adapter import Adapter
from warpgrade.report import export
from warpgrade.report.format import Report

_MARKS = re.compile(r":(?==>>)|<(?=\|--)|--(?=\|>)")


def encode(report: Report) -> bytes | None:
    """Return the lines; the grade is on the activity's own scale, which VPL gives in the environment."""
    result = report.result
    if result is None:
        return None
    lines = [_title(export.headline(result))]
    for note in export.notes(result):
        lines += _plain(note)
    for row in export.rows(result):
        hidden = " (hidden)" if row.hidden else ""
        lines.append(_title(f"{row.outcome} {row.points_text} {row.name}{hidden}"))
        lines += _plain(row.text) if row.text else []
    for found in export.mistakes(report.findings):
        head, _, rest = found.partition("\n")
        lines += [_title(head), *_plain(rest)]
    if export.is_final(result):
        lines.append(f"Grade :=>> {_grade(result)}")
    return ("\n".join(lines) + "\n").encode()


def _title(words: str) -> str:
    return f"Comment :=>>-{_defused(words)}"


def _plain(words: str) -> list[str]:
    # > begins a line that is shown as it is.
    return [f"Comment :=>>>{_defused(line)}" for line in words.split("\n")]


def _defused(words: str) -> str:
    return _MARKS.sub(lambda mark: mark[0] + " ", words)


def _grade(result: Result) -> str:
    low, high = _scale()
    return number(low + (high - low) * export.fraction(result), 3)


def _scale() -> tuple[float, float]:
    words = os.environ.get("VPL_GRADEMIN") or "0", os.environ.get("VPL_GRADEMAX") or "100"
    try:
        low, high = float(words[0]), float(words[1])
    except ValueError:
        low = high = math.nan
    if not (math.isfinite(low) and math.isfinite(high) and low <= high):
        raise BadInput(
            "VPL_GRADEMIN and VPL_GRADEMAX are no scale of grades", hint="VPL sets both in vpl_environment.sh"
        )
    return low, high


def _check_scale() -> None:
    _scale()


_FORMAT = export.platform_format("--vpl", "Write what Moodle's VPL reads from standard output.", encode, _check_scale)

ADAPTER = Adapter(formats=(_FORMAT,))
