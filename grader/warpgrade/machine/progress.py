"""Progress on stderr: one line that changes on a terminal, plain lines elsewhere, nothing with --quiet."""

import os
import time
from collections.abc import Callable
from types import TracebackType

from rich.console import Console
from rich.markup import escape
from rich.status import Status

_SECONDS_OF_A_LINE = 30


class Progress:
    """Shows what is being done. Use as a context manager; `say` may be called from any thread."""

    def __init__(self, console: Console, *, quiet: bool = False) -> None:
        self._console = console
        # Coloured output that nothing can be written over, as in a notebook, has no room for steps.
        self._quiet = quiet or (console.is_terminal and os.environ.get("TTY_INTERACTIVE") == "0")
        self._status: Status | None = None
        self._last = ""

    @property
    def is_live(self) -> bool:
        """Whether what is said replaces what was said before."""
        return self._status is not None

    def __enter__(self) -> "Progress":
        if not self._quiet and self._console.is_terminal:
            self._status = self._console.status("")
            self._status.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._status is not None:
            self._status.stop()
            self._status = None

    def say(self, text: str) -> None:
        """Show a step; the same step twice in a row is shown once."""
        if self._quiet or text == self._last:
            return
        self._last = text
        if self._status is not None:
            self._status.update(escape(text))
        else:
            self._console.print(f"warpgrade: {text}", markup=False, highlight=False, soft_wrap=True)


class Count:
    """Shows how many of all items are done and how long the rest will take, without printing a line for each."""

    def __init__(self, progress: Progress, what: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._progress, self._what, self._clock = progress, what, clock
        self._started = clock()
        self._told = 0.0
        self._done, self._total = 0, 0

    def show(self, done: int, total: int) -> None:
        """Show the count: on a terminal each time, elsewhere every half minute and at the end."""
        now = self._clock()
        self._done, self._total = done, total
        if not total or (not self._progress.is_live and 0 < done < total and now - self._told < _SECONDS_OF_A_LINE):
            return
        self._told = now
        left = f", about {duration((now - self._started) / done * (total - done))} left" if 0 < done < total else ""
        self._progress.say(f"{done} of {total} {self._what}{left}")

    def wait(self, what: str) -> None:
        """Show that all items wait for `what`, or with "" that they go on; the remaining time is estimated anew."""
        if not self._done:
            self._started = self._clock()
        self._progress.say(f"{self._done} of {self._total} {self._what}" + (f", waiting for {what}" if what else ""))


def duration(seconds: float) -> str:
    """Return `40 s`, `12 min`, `3 h 20 min`, `9 days` or `3,000 years`."""
    if seconds < 90:
        return f"{max(round(seconds), 1)} s"
    minutes = round(seconds / 60)
    if minutes < 90:
        return f"{minutes} min"
    days = seconds / 86400
    if days < 3:
        return f"{minutes // 60} h {minutes % 60} min"
    return f"{days:,.0f} days" if days < 730 else f"{days / 365.25:,.0f} years"
