"""`check --watch`: checks again after each save, runs failed tests first, and shows what has changed."""

import dataclasses
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

import click
from rich.text import Text

from warpgrade.cli.console import console
from warpgrade.grading import judge
from warpgrade.grading.grade import OnFirst, Options
from warpgrade.grading.result import Result
from warpgrade.grading.submission import Submission
from warpgrade.lab.labs import Lab
from warpgrade.machine.errors import EXIT_DONE, BadInput, WarpgradeError
from warpgrade.machine.saves import Saves
from warpgrade.machine.text import number, printable_name
from warpgrade.report import result_changes, terminal
from warpgrade.report.stream import no_commands, say

_SOURCES = (".cu", ".cuh", ".h", ".hpp", ".cpp")

Read = Callable[[], Submission]
Grade = Callable[[Submission, Options, OnFirst], Result]


@dataclass
class Watch:
    """One session: from its first check to the interrupt.

    read, grade: how the submission is read, and graded and published. The inputs are the same in all checks, so that
    only what the student changes makes a difference. prepare: what makes later checks faster, while nobody waits.
    """

    lab: Lab
    folder: Path
    options: Options
    read: Read
    grade: Grade
    prepare: Callable[[], None] = lambda: None
    advice: bool = False
    full: bool = False
    quiet: bool = False
    checks: int = 0
    first: Result | None = None
    last: Result | None = None  # the last one that was graded: others have nothing to compare
    _digest: str = field(default="", init=False)

    def run(self) -> int:
        """Check at once and after each save, until Ctrl-C."""
        started = time.monotonic()
        saves = Saves(self.folder, self._is_of_submission)
        try:
            self._check()
            threading.Thread(target=self.prepare, name="head start").start()
            while True:
                if not self.quiet:
                    say("waiting for the next save; Ctrl-C ends")
                names = saves.wait()
                try:
                    self._check(names)
                except WarpgradeError as problem:
                    _tell(problem)
        except KeyboardInterrupt:
            click.echo()
            click.echo(self._summary(time.monotonic() - started))
        return EXIT_DONE

    def _is_of_submission(self, name: str) -> bool:
        return not name.startswith(".") and (self.lab.allows(name) or Path(name).suffix in _SOURCES)

    def _check(self, names: list[str] | None = None) -> None:
        try:
            submission = self.read()
        except BadInput as problem:
            # A file that is being written, or was removed: the next save may put it right.
            _tell(problem)
            return
        if names is not None:
            saved = ", ".join(printable_name(name) for name in names)
            if submission.digest == self._digest:
                say(f"{saved}: saved, but nothing in it has changed")
                return
            if not self.quiet:
                console().rule(Text(f"{datetime.now():%H:%M:%S} {saved}"), align="left")
        result = self._graded(submission)
        self._digest = submission.digest
        self.checks += 1
        self._show(result)
        if result.problem is None:
            self.first = self.first or result
            self.last = result

    def _graded(self, submission: Submission) -> Result:
        lost = [test.name for test in self.last.tests if test.points < test.max_points] if self.last else []
        options = dataclasses.replace(self.options, first=tuple(lost))
        result = self.grade(submission, options, self._tell_first)
        if result.seed is not None:
            self.options = dataclasses.replace(self.options, seed=result.seed)
        return result

    def _tell_first(self, cases: Mapping[str, judge.Case]) -> None:
        """Print the tests that lost points before as soon as they have run; the other tests still run."""
        if self.quiet:
            return
        passed = [name for name, case in cases.items() if case.status == "pass"]
        say(f"what lost points before: {len(passed)} of {len(cases)} pass now; the others follow")

    def _show(self, result: Result) -> None:
        if self.quiet:
            say(terminal.one_line(result))
            return
        with no_commands():
            shown = console()
            if self.last is None:
                terminal.show(shown, result, advice=self.advice, full=self.full)
                return
            fell: list[str] = []
            if result.problem is None:
                result_changes.show(shown, self.last, result)
                fell = [one.after.name for one in result_changes.compare_results(self.last, result) if one.gained < 0]
            terminal.show_first(shown, result, advice=self.advice, full=self.full, fell=fell)

    def _summary(self, seconds: float) -> str:
        count = f"{self.checks} check{'' if self.checks == 1 else 's'} in {_duration(seconds)}"
        if self.first is None or self.last is None:
            return f"{count}; nothing was graded"
        old, new = self.first.score.points, self.last.score.points
        moved = f"from {number(old)} to {number(new)}" if old != new else number(new)
        return f"{count}: {moved} of {number(self.last.score.max_points)} points"


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"


def _tell(problem: WarpgradeError) -> None:
    for line in filter(None, (problem.message, problem.detail, problem.hint)):
        say(f"warpgrade: {line}", err=True)
