"""What a student reads first of each wrong solution: labs/<lab>/wrong/messages.txt, to be read through as one text.

It is what `check` prints below its table, so without hidden tests; where only hidden tests are lost, it is what the
report of the whole grade says of them. One wrong element stands for all that are shown, and what options would show is
not counted. Sections begin with `## NAME: what is wrong`; the lines before the first of them are the author's.
"""

import difflib
import io
import itertools
import re
import textwrap
import threading
from collections.abc import Callable, Iterable
from pathlib import Path

import msgspec
from rich.console import Console

from warpgrade.grading import score
from warpgrade.grading.result import Result
from warpgrade.lab import wrong
from warpgrade.lab.labs import Lab
from warpgrade.lab.wrong import Wrong
from warpgrade.machine.paths import COMMAND
from warpgrade.report import terminal

SEED = 1  # of the inputs: what differs is told with its values
_WIDTH = 100
_INDENT = " " * 4
_DIFF_LINES = 12
_LEFT_OUT = re.compile(
    rf"…|{re.escape(terminal.OTHER_CHECKS)}|\d+ (more )?pieces? of advice on speed: --advice shows (it|them)"
)
_ELEMENT = re.compile(r"\s*\[")  # begins the line of a wrong element
_HOST_ADDRESS = re.compile(r"\b0x[0-9a-f]{9,}\b|\b0x[0-9a-f]+(?=,\s+which is host)")  # another one each time
_HEADING = re.compile(r"^## (?P<name>\w+): .*$", re.MULTILINE)
_HEAD = """\
What a student reads first of each wrong solution of lab {lab}. Read it through after each change of the lab:
is the first thing that is told the right one? Written by ./warpgrade prove {lab} --write-messages
"""


def text(result: Result) -> str:
    """Return what `check` says first; what the report of the whole grade does, if only hidden tests are lost."""
    tests = [test for test in result.tests if not test.hidden]
    checked = msgspec.structs.replace(result, tests=tests, score=score.total(tests), scope="public")
    shown = _rendered(lambda console: terminal.show_first(console, checked))
    if result.problem is not None or any(test.points < test.max_points for test in tests):
        return shown
    rows = _rendered(lambda console: terminal.show_hidden_rows(console, result))
    found = _rendered(lambda console: terminal.show_first(console, result))
    return "\n\n".join(part for part in ["(all public tests pass; of the hidden tests:)", rows, found] if part)


def _rendered(show: Callable[[Console], None]) -> str:
    file = io.StringIO()
    show(Console(file=file, width=_WIDTH, highlight=False, color_system=None))
    text = _HOST_ADDRESS.sub("0x…", file.getvalue())
    return shorten(line.rstrip() for line in text.split("\n"))


def shorten(lines: Iterable[str]) -> str:
    """Leave out the wrong elements after the first one, and what says that an option shows more."""
    kept = [""]
    for line in lines:
        repeats = not line and not kept[-1]
        if not (repeats or _LEFT_OUT.fullmatch(line.strip()) or (_ELEMENT.match(line) and _ELEMENT.match(kept[-1]))):
            kept.append(line)
    return "\n".join(kept).strip("\n")


class Messages:
    """A lab's messages.txt: compared with what results say, or written anew. A lab may do without."""

    def __init__(self, lab: Lab, *, rewrite: bool = False) -> None:
        self._lab, self._rewrite = lab, rewrite
        self._head, self._sections = _read(path(lab), lab)
        self._lock = threading.Lock()  # proofs run side by side

    def what_differs(self, mistake: Wrong, result: Result) -> str:
        """Compare what a result says with the file, or keep it to be written; return how the two differ."""
        if result.device.kind != "vgpu" or not (self._rewrite or path(self._lab).exists()):
            return ""  # a real device counts and finds less
        told = f"## {mistake.name}: {mistake.what}\n{textwrap.indent(text(result), _INDENT)}\n"
        if self._rewrite:
            with self._lock:
                self._sections[mistake.name] = told
            return ""
        kept = self._sections.get(mistake.name, "")
        return "" if kept == told else f"{self._expected(mistake.name)}\n{_difference(kept, told)}"

    def _expected(self, name: str) -> str:
        known = "says otherwise" if name in self._sections else "has no section on it"
        again = f"{COMMAND} prove {self._lab.name} --only {name} --write-messages"
        return f"expected what students read to be in wrong/messages.txt, which {known}: run {again}, and read it"

    def stale(self) -> str:
        """Tell which sections are of no wrong solution."""
        gone = sorted(set(self._sections) - set(wrong.names(self._lab)))
        again = f"run {COMMAND} prove {self._lab.name} --write-messages"
        return f"expected sections on wrong solutions; there is no {', '.join(gone)}: {again}" if gone else ""

    def write(self) -> Path:
        """Write the file: sections that were told, and the others of wrong solutions as they were."""
        sections = [self._sections[name] for name in wrong.names(self._lab) if name in self._sections]
        target = path(self._lab)
        target.write_text("\n".join([self._head, *sections]), encoding="utf-8")
        return target


def path(lab: Lab) -> Path:
    """Return where a lab's texts are kept."""
    return lab.folder / "wrong" / "messages.txt"


def _read(file: Path, lab: Lab) -> tuple[str, dict[str, str]]:
    """Return what stands before the first section, and the sections by name."""
    if not file.exists():
        return _HEAD.format(lab=lab.name), {}
    whole = file.read_text(encoding="utf-8")
    headings = list(_HEADING.finditer(whole))
    starts = [*(heading.start() for heading in headings), len(whole)]
    sections = {
        heading["name"]: whole[start:end].rstrip("\n") + "\n"
        for heading, (start, end) in zip(headings, itertools.pairwise(starts), strict=True)
    }
    return whole[: starts[0]].rstrip("\n") + "\n", sections


def _difference(kept: str, told: str) -> str:
    rows = list(difflib.unified_diff(kept.splitlines(), told.splitlines(), "messages.txt", "now", n=0, lineterm=""))[2:]
    left = len(rows) - _DIFF_LINES
    return "\n".join([*rows[:_DIFF_LINES], *([f"… {left} more lines"] if left > 0 else [])])
