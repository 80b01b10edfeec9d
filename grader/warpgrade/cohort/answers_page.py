"""The page on which a person reads what students answered to a lab's short questions, all of a class in turn.

No test looks at answers: the course's rubric has points for them, which `override` gives.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from warpgrade.cohort.gradebook import rubric_text
from warpgrade.cohort.row import Row
from warpgrade.intake import answers
from warpgrade.lab.labs import Lab
from warpgrade.machine.text import one_line
from warpgrade.report.html.elements import page, render

PAGE: Final = "answers.html"
_WIDTH = 160


def questions(lab: Lab) -> str:
    """Return the file of questions as students got it; "" if the lab has none."""
    path: Path = lab.folder / lab.answers
    return answers.read(path.read_bytes()) if lab.answers and path.is_file() else ""


def written(text: str, asked: str) -> str:
    """Return a student's answers; "" of a file that is still as it was handed out."""
    return "" if "".join(text.split()) == "".join(asked.split()) else text


def make(title: str, asked: str, rows: Iterable[Row]) -> bytes:
    """Return the page: who has answered, with the text as it was written, and who has not."""
    there: Sequence[Row] = [row for row in rows if row.attempts]
    shown = [
        {
            "name": one_line(row.name or row.student, _WIDTH), "student": one_line(row.student, _WIDTH),
            "rubric": "; ".join(map(rubric_text, row.rubric)), "text": row.answers,
        }
        for row in there
        if row.answers
    ]  # fmt: skip
    without = [one_line(row.name or row.student, _WIDTH) for row in there if not row.answers]
    body = render("answers.html", title=title, asked=asked, shown=shown, without=without)
    return page(f"{title}: answers", [body], width="wide")
