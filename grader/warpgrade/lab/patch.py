"""Small diffs of one file, made and applied strictly: the hunks of unified ones, below `--- FILE` or nothing.

Nothing is guessed where a patch is applied: the old lines of each hunk stand in the text exactly once, wherever that
is, or the patch does not fit. What `@@` says of line numbers is for the reader. So a hunk is made with as few lines
around the change as say where it is.
"""

import difflib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

_HEAD = re.compile(r"@@ -(?P<at>\d+)(?:,(?P<old>\d+))? \+\d+(?:,(?P<new>\d+))? @@.*")
_FILE = re.compile(r"--- (\S+)")
_DEFINITION = re.compile(r"[A-Za-z_]")  # what begins a line that says in which function a hunk is, as in git
_HEADING_WIDTH = 100


@dataclass(frozen=True)
class Hunk:
    """One change with the lines around it."""

    line: int  # of the patch, where it begins
    at: int  # where it stood in the text when it was made, from 0
    old: list[str]
    new: list[str]


@dataclass(frozen=True)
class Patch:
    """The file that is changed, or "" where the patch does not say it, and how."""

    file: str
    hunks: list[Hunk]


class _Group(NamedTuple):
    """Changes of the lines from `start` to `stop`: each takes the place of lines from, to."""

    start: int
    stop: int
    changes: list[tuple[int, int, Sequence[str]]]

    def body(self, old: Sequence[str]) -> list[str]:
        """Return the lines of the hunk."""
        lines: list[str] = []
        at = self.start
        for first, end, text in self.changes:
            lines += [
                *_context(old[at:first]),
                *(f"-{line}" for line in old[first:end]),
                *(f"+{line}" for line in text),
            ]
            at = end
        return [*lines, *_context(old[at : self.stop])]


class Malformed(Exception):  # noqa: N818 - reads as what it is
    """What is no patch, with the number of the line."""

    def __init__(self, line: int, what: str) -> None:
        super().__init__(what)
        self.line = line


class Misfit(Exception):  # noqa: N818
    """A hunk that does not fit: `places` are those where all of it stands; lines of the text count from 0."""

    def __init__(self, number: int, hunk: Hunk, places: list[int], line: int, expected: str) -> None:
        super().__init__(f"hunk {number} does not fit")
        self.number, self.hunk, self.places = number, hunk, places
        self.line, self.expected = line, expected  # where it comes closest: the line in the way, and what is expected


def parse(lines: Sequence[str], first: int = 1) -> Patch:
    """Read a patch whose first line has the number `first`; raises Malformed."""
    changed = _FILE.fullmatch(lines[0]) if lines else None
    hunks: list[Hunk] = []
    at = 1 if changed else 0
    while at < len(lines):
        head = _HEAD.fullmatch(lines[at])
        if head is None:
            raise Malformed(first + at, "expected @@ -LINE,COUNT +LINE,COUNT @@")
        hunk = Hunk(first + at, int(head["at"]) - 1, [], [])
        at += 1
        while at < len(lines) and not lines[at].startswith("@@"):
            kind, text = lines[at][:1], lines[at][1:]
            if kind not in ("", " ", "-", "+"):
                raise Malformed(first + at, "expected a line that begins with a space, - or +")
            if kind != "+":
                hunk.old.append(text)
            if kind != "-":
                hunk.new.append(text)
            at += 1
        counts = tuple(int(head[side] or 1) for side in ("old", "new"))
        if counts != (len(hunk.old), len(hunk.new)):
            raise Malformed(
                hunk.line,
                f"@@ counts {counts[0]} old and {counts[1]} new lines; {len(hunk.old)} and {len(hunk.new)} follow",
            )
        hunks.append(hunk)
    if not hunks:
        raise Malformed(first + at, "there is no line with @@, so nothing is changed")
    return Patch(changed[1] if changed else "", hunks)


def apply(patch: Patch, text: Sequence[str]) -> list[str]:
    """Return the changed lines; raises Misfit."""
    result: list[str] = []
    done = 0
    for number, hunk in enumerate(patch.hunks, start=1):
        places = _places(hunk.old, text)
        if len(places) != 1 or places[0] < done:
            raise Misfit(number, hunk, places, *_nearest(hunk, text))
        result += [*text[done : places[0]], *hunk.new]
        done = places[0] + len(hunk.old)
    return [*result, *text[done:]]


def make(old: Sequence[str], new: Sequence[str], file: str = "") -> list[str]:
    """Return the lines of a patch that apply() takes; none when nothing changes."""
    groups: list[_Group] = []
    for kind, *change in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind == "equal":
            continue
        first, end, new_first, new_end = change
        group = _Group(*_unique_span(first, end, old), [(first, end, new[new_first:new_end])])
        while groups and group.start <= groups[-1].stop:
            before = groups.pop()
            group = _Group(
                min(before.start, group.start), max(before.stop, group.stop), [*before.changes, *group.changes]
            )
        groups.append(group)
    lines = [f"--- {file}"] if groups and file else []
    shift = 0
    for group in groups:
        body = group.body(old)
        growth = sum(len(text) - (end - first) for first, end, text in group.changes)
        count = group.stop - group.start
        lines.append(
            f"@@ -{group.start + 1},{count} +{group.start + 1 + shift},{count + growth} @@{_heading(old, group.start)}"
        )
        lines += body
        shift += growth
    return lines


def _places(block: Sequence[str], text: Sequence[str]) -> list[int]:
    return [at for at in range(len(text) - len(block) + 1) if list(text[at : at + len(block)]) == list(block)]


def _nearest(hunk: Hunk, text: Sequence[str]) -> tuple[int, str]:
    """Return the line of the text that is in the way where the hunk would fit best, and what the hunk has there."""

    def fit(at: int) -> tuple[int, int]:
        equal = sum(len(a.strip()) for a, b in zip(text[at:], hunk.old, strict=False) if a == b)
        return equal, -abs(at - hunk.at)

    at = max(range(len(text)), key=fit)
    wrong = (number for number, (a, b) in enumerate(zip(text[at:], hunk.old, strict=False)) if a != b)
    number = next(wrong, 0)
    return at + number, hunk.old[number]


def _unique_span(first: int, end: int, old: Sequence[str]) -> tuple[int, int]:
    """Widen a change until its lines stand nowhere else; by one line on each side at least."""
    for around in range(1, len(old) + 1):
        start, stop = max(first - around, 0), min(end + around, len(old))
        if len(_places(old[start:stop], old)) == 1:
            return start, stop
    return 0, len(old)


def _context(lines: Sequence[str]) -> list[str]:
    # A blank line stays empty: editors take blanks at the end of a line away.
    return [f" {line}" if line else "" for line in lines]


def _heading(old: Sequence[str], start: int) -> str:
    for line in reversed(old[:start]):
        if _DEFINITION.match(line):
            return f" {line}"[:_HEADING_WIDTH].rstrip()
    return ""
