"""`warpgrade release --solutions`: what students get of a lab when its time is over.

A folder with the reference as a student would have written it, and a page that discusses it: the author's words, other
right ways, mistakes and what they cost, and what the short answers should say. Hidden tests stay hidden, for the next
year's class.
"""

import re
import shutil
import tempfile
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

from warpgrade.course import late
from warpgrade.course.course import Course, format_time
from warpgrade.handout import instructions, sheet
from warpgrade.lab import agreement, own_files, right, starter, wrong
from warpgrade.lab.labs import Lab
from warpgrade.machine.errors import BadInput
from warpgrade.machine.files import unfinished_path

DISCUSSION, QUESTIONS = "discussion.md", "questions.md"
_HEADING = re.compile(r"^(#+) ", re.MULTILINE)


def release(lab: Lab, course: Course | None, out: Path, now: datetime) -> Path:
    """Write the solutions of a lab to the folder `out`/LAB-solutions; raises BadInput while work may be handed in."""
    agreement.require(lab)
    own_files.require(lab)
    if (end := _last_moment(course, lab.name)) and now < end:
        raise BadInput(
            f"lab {lab.name} can be handed in until {format_time(end)}: its solutions are not for students yet",
            hint=f"until then they are for you, in reference/{lab.name} and labs/{lab.name}",
        )
    target = out / f"{lab.name}-solutions"
    if target.exists():
        raise BadInput(f"{target} is already there", hint="remove it, or choose another --out")
    with tempfile.TemporaryDirectory(prefix="warpgrade-solutions-") as scratch:
        folder = Path(scratch)
        for path in starter.reference_files(lab):
            (folder / path.name).write_text(starter.solution_text(own_files.read_text(path), path.name), "utf-8")
        if (lab.folder / "figures").is_dir():
            shutil.copytree(lab.folder / "figures", folder / "figures")
        text = instructions.for_students(sheet.without_links_out(page(lab)))
        (folder / "SOLUTIONS.md").write_text(text, encoding="utf-8")
        (folder / "SOLUTIONS.html").write_text(sheet.page(text, folder), encoding="utf-8")
        with unfinished_path(target) as unfinished:
            shutil.copytree(folder, unfinished)
    return target


def _last_moment(course: Course | None, lab: str) -> datetime | None:
    """Return when the last student's time ends, late work included; None if a lab has no due date."""
    if course is None:
        return None
    students = ["", *(extension.student for extension in course.file.extension)]
    ends = [end for student in students if (end := late.deadline(course.file, lab, student))]
    days = 0 if course.file.late.hard else course.file.late.max_days or 0
    return max(ends) + timedelta(days=days, minutes=course.file.late.grace_minutes) if ends else None


def page(lab: Lab) -> str:
    """Return the discussion, in Markdown."""
    files = ", ".join(f"[`{path.name}`]({path.name})" for path in starter.reference_files(lab))
    parts = [f"# Lab {lab.name}: solutions\n\nOne right way is in {files}; it is not the only one.\n"]
    parts += [*_author(lab), *_right(lab), *_wrong(lab), *_questions(lab)]
    return "\n".join(parts)


def _author(lab: Lab) -> Iterator[str]:
    if (lab.folder / DISCUSSION).is_file():
        yield _below_title(own_files.read_text(lab.folder / DISCUSSION))


def _right(lab: Lab) -> Iterator[str]:
    found = [right.find(lab, name) for name in right.names(lab)]
    if found:
        yield "## Other right ways\n"
        for one in found:
            points = f" ({one.points:g} points)" if one.words["points"] else ""
            yield f"- {_sentence(one.description)}{points}"
        yield ""


def _wrong(lab: Lab) -> Iterator[str]:
    points = {item.name: item.points for item in lab.items}
    found = [wrong.find(lab, name) for name in wrong.names(lab)]
    if found:
        yield "## Mistakes\n\nEach in a solution that is right otherwise, and what it can cost at most.\n"
        yield "| mistake | points |\n|---|---:|"
        for one in sorted(found, key=lambda one: -sum(points.get(name, 0) for name in one.loses)):
            cost = sum(points.get(name, 0) for name in one.loses)
            yield f"| {_sentence(one.what)} | {cost:g} |"
        yield ""


def _questions(lab: Lab) -> Iterator[str]:
    if (lab.folder / QUESTIONS).is_file():
        yield "## Short answers\n\nThe questions, with what a full answer says.\n"
        yield _below_title(own_files.read_text(lab.folder / QUESTIONS))


def _below_title(text: str) -> str:
    """Return a page without its title and what precedes its first question or heading, one level further down."""
    body = re.sub(r"\A# .*\n(?:\n(?![#*]).+\n)*", "", text).strip()
    return f"{_HEADING.sub(lambda found: f'{found[1]}# ', body)}\n"


def _sentence(text: str) -> str:
    """Return a header's words as a sentence in a cell of a table."""
    words = " ".join(text.split()).replace("|", r"\|")
    return words[:1].upper() + words[1:] if re.match(r"[a-z]+ ", words) else words
