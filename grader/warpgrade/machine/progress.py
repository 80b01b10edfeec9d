"""Progress on stderr: one changing line on a terminal, plain lines elsewhere, nothing with --quiet."""

from __future__ import annotations

from types import TracebackType

from rich.console import Console
from rich.markup import escape
from rich.status import Status


class Progress:
    """Shows what is being done. Use as a context manager; `say` may be called from any thread."""

    def __init__(self, console: Console, *, quiet: bool = False) -> None:
        self._console = console
        self._quiet = quiet
        self._status: Status | None = None
        self._last = ""

    def __enter__(self) -> Progress:
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
