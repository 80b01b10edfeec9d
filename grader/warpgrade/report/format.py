"""What a format of reports is: an option of the command line, and what writes it. All are in formats/."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import click

from warpgrade.compiling.ptx_lines import PtxLines
from warpgrade.course.course import Course
from warpgrade.findings.accesses import TracedLaunch
from warpgrade.grading.result import Result
from warpgrade.machine.files import check_writable, write
from warpgrade.report.findings import Finding
from warpgrade.running.profile import Profile

# A result comes from `grade` and `check`, a profile from `run`, findings from all of them.
Reads = Literal["result", "profile", "findings"]


@dataclass(frozen=True)
class Report:
    """What there is to hand on; `folder` is where the files lie that the findings name.

    earlier: a result of the same student, for formats that tell what has changed since.
    ptx: the instructions of each source line, by file, for formats that show them.
    traces: accesses that were recorded, with the user's own lines; None where nobody asked for them.
    leaderboard: whether the course wants speed-ups on the platform's leaderboard.
    """

    findings: Sequence[Finding] = ()
    folder: Path | None = None
    result: Result | None = None
    profile: Profile | None = None
    earlier: Result | None = None
    ptx: PtxLines = field(default_factory=dict)
    traces: Sequence[TracedLaunch] | None = None
    leaderboard: bool = False

    @cached_property
    def prefix(self) -> str:
        """`hand-ins/jane/`: the folder from the repository of the workflow, or from here; nothing outside of it."""
        if self.folder is None:
            return ""
        given = os.environ.get("GITHUB_WORKSPACE") or os.environ.get("CI_PROJECT_DIR")  # GitHub's, GitLab's
        root = Path(given or Path.cwd()).resolve()
        place = self.folder.resolve()
        if place == root or not place.is_relative_to(root):
            return ""
        return f"{place.relative_to(root).as_posix()}/"


def _any(value: Any) -> None:
    """Nothing is known to be wrong before the work."""


def _nothing_instead(value: Any, course: Course) -> str:
    return ""


@dataclass(frozen=True)
class Format:
    """One format: what it reads, its option, and what writes it.

    `write` gets what the option says, None if nothing. `check` gets the same before the work, and raises BadInput.
    `whole`: it gets the result with all of hidden tests, for files that whoever grades keeps; every other format gets
    what students may see. `by_line`: it shows a program's counters by source line. `traced`: it shows
    accesses that the device records for it. `write_instead`, before the work,
    writes what the platform is to show where the course does not let a submission be graded, and returns why; "" if it
    is graded.
    """

    reads: Reads
    option: click.Option
    write: Callable[[Any, Report], None]
    check: Callable[[Any], None] = _any
    whole: bool = False
    by_line: bool = False
    traced: bool = False
    write_instead: Callable[[Any, Course], str] = _nothing_instead


def file_format(
    reads: Reads, option: str, help_text: str, encode: Callable[[Report], bytes], *, whole: bool = False,
    by_line: bool = False, traced: bool = False,
) -> Format:  # fmt: skip
    """Return a format whose option names the file to write; - is stdout."""

    def check(name: str | None) -> None:
        if name is not None:
            check_writable(option, name)

    def write_file(name: str | None, report: Report) -> None:
        if name is not None:
            write(name, option, encode(report))

    return Format(
        reads, click.Option([option], metavar="FILE", help=help_text), write_file, check, whole, by_line, traced
    )
