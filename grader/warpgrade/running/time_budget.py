"""Watches a program that runs: says how far it is, and ends it when its time is over."""

import subprocess
import threading
import time
from collections.abc import Callable
from types import TracebackType

import msgspec

from warpgrade.machine.launch_progress import LaunchProgress, ProgressPage
from warpgrade.machine.progress import duration
from warpgrade.machine.text import counted, number

EXIT_STATUS = 124  # as that of timeout(1)
_FIRST_NEWS_SECONDS = 10.0  # then after twice the time, again and again
_GRACE_SECONDS = 3.0  # for a program that looks at its errors


class Stopped(msgspec.Struct):
    """A program whose time was over, and how far it was."""

    budget_seconds: float
    launches: int  # begun
    running: bool  # whether one was running; then what follows is of this launch
    launch_seconds: float
    blocks: int
    blocks_done: int
    instructions: int  # warp instructions


def describe(progress: LaunchProgress | Stopped, seconds: float) -> str:
    """Tell how far a program is; `seconds` is for how long its last launch has run."""
    if not progress.launches:
        return "it has not launched a kernel yet"
    if not progress.running:
        return f"no kernel was running; it has made {counted(progress.launches, 'launch', 'launches')}"
    done, blocks = min(progress.blocks_done, progress.blocks), progress.blocks
    told = f"launch {progress.launches:,} has run {done:,} of {counted(blocks, 'block')} ({_percent(done, blocks)})"
    told += f" and {counted(progress.instructions, 'warp instruction')}"
    if not 0 < done < blocks:
        return told
    return f"{told}; the rest of this launch takes about {duration(seconds / done * (blocks - done))}"


def advise(stopped: Stopped) -> str:
    """Tell what makes the program fit."""
    if not stopped.running:
        return "its own code took the time, or it makes many launches: try a smaller problem or fewer iterations"
    if 2 * stopped.launch_seconds < stopped.budget_seconds:
        return "no single launch took most of the time: try a smaller problem or fewer iterations"
    if stopped.blocks_done < 2:
        return "a single block takes that long: try a smaller problem, and see whether its loops end"
    fits = int(stopped.blocks_done * stopped.budget_seconds / stopped.launch_seconds / 2) or 1
    fits = min(fits, stopped.blocks - 1)
    fits -= fits % 10 ** (len(str(fits)) - 1)
    return (
        f"try a smaller problem or fewer iterations, or --sample {fits}: so many blocks of each launch, spread evenly; "
        "what is counted is scaled then, and results are incomplete"
    )


def _percent(part: int, whole: int) -> str:
    share = 100 * part / max(whole, 1)
    return f"{number(share) if share >= 1 or not part else f'{share:.1g}'} %"


class Watch:
    """Use as a context manager around the program and its device server."""

    def __init__(self, page: ProgressPage, budget_seconds: float | None, tell: Callable[[str], None] | None) -> None:
        self.stopped: Stopped | None = None
        self._page, self._budget, self._tell = page, budget_seconds, tell
        self._program: subprocess.Popen[bytes] | None = None
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def ends(self, program: subprocess.Popen[bytes]) -> None:
        """Name the program that is to end when the time is over."""
        self._program = program

    def __enter__(self) -> "Watch":
        if self._budget is not None or self._tell is not None:
            self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        if self._thread.ident is not None:
            self._thread.join()

    def _watch(self) -> None:
        began = time.monotonic()
        news = _FIRST_NEWS_SECONDS if self._tell else float("inf")
        end = float("inf") if self._budget is None else self._budget
        while not self._over.wait(max(began + min(news, end) - time.monotonic(), 0)):
            if time.monotonic() - began >= end:
                self._stop()
                return
            progress = self._page.read()
            if self._tell:
                self._tell(f"after {duration(news)}: {describe(progress, _launch_seconds(progress))}")
            news *= 2

    def _stop(self) -> None:
        progress = self._page.read()
        program = self._program
        if not progress.running and (program is None or program.poll() is not None):
            return  # all is done but the report
        self.stopped = Stopped(
            budget_seconds=self._budget or 0, launches=progress.launches, running=bool(progress.running),
            launch_seconds=_launch_seconds(progress), blocks=progress.blocks, blocks_done=progress.blocks_done,
            instructions=progress.instructions,
        )  # fmt: skip
        self._page.stop()
        for end in (subprocess.Popen.terminate, subprocess.Popen.kill):
            if self._over.wait(_GRACE_SECONDS) or program is None:
                return
            end(program)


def _launch_seconds(progress: LaunchProgress) -> float:
    return max(time.monotonic_ns() - progress.began_ns, 1) / 1e9
