"""Points that a person gives beside the tests, by the rubric of the course, and comments at lines.

They belong to the submission that was read: when another one counts, it has not been read yet.
"""

from collections.abc import Iterable, Sequence

from warpgrade.cohort.row import Mark
from warpgrade.course.schema import RubricItem


def current_points(items: Iterable[RubricItem], marks: Sequence[Mark], digest: str) -> list[Mark]:
    """Return a mark for each item of the rubric, without points if they are not given yet.

    Points that were given of another maximum are not given: nobody knows what they would be now.
    """
    given = {mark.item: mark for mark in marks if mark.item and mark.digest == digest}
    current = []
    for item in items:
        mark = given.get(item.name)
        if mark is None or mark.max_points != item.points:
            mark = Mark("", "", digest, item.name, None, item.points)
        current.append(mark)
    return current


def line_comments(marks: Iterable[Mark], digest: str) -> list[Mark]:
    """Return the comments on a submission, by file and line."""
    comments: list[Mark] = []
    for mark in marks:
        if mark.place and mark.digest == digest:
            comments = [*comments, mark] if mark.text else [one for one in comments if one.place != mark.place]
    return sorted(comments, key=lambda one: split_place(one.place))


def split_place(place: str) -> tuple[str, int]:
    """Return file and line of `matmul.cu:12`; no line if there is none."""
    file, _, line = place.rpartition(":")
    return (file, int(line)) if file and line.isascii() and line.isdigit() and len(line) < 8 else (place, 0)
