"""The engine of this machine: a thread for each core, each with one submission at a time.

Threads do: compilers, workers and judges are programs of their own. One at a time runs on a real GPU, whose times
would suffer from company. Where there is a thread for each core, all that a thread starts stays on its core: judge,
worker and device server of a submission wait for each other all the time, and to wake one up on another core that has
gone to sleep takes longer than most of what they ask of each other.
"""

import contextlib
import os
import queue
import threading
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import msgspec

from warpgrade.engine.job import Job, Outcome, on_one_core
from warpgrade.engine.work import Say

TRIES = 2  # of what the machine's trouble has stopped

Work = Callable[[Job, Say], Outcome]


class _Stopped(BaseException):
    """Ends a submission that runs, at its next step."""


class LocalEngine:
    """Grades `jobs` at a time; see `warpgrade.engine.job.Engine`."""

    def __init__(self, work: Work, jobs: int | None = None) -> None:
        self._work = work
        self._count = jobs or len(os.sched_getaffinity(0))

    def run(self, jobs: Iterable[Job], done: Callable[[Outcome], Any], stopped: Callable[[], bool]) -> None:
        """Grade the jobs."""
        source, lock = iter(jobs), threading.Lock()
        finished: queue.SimpleQueue[Outcome | BaseException | None] = queue.SimpleQueue()
        halt = threading.Event()

        def ended() -> bool:
            return halt.is_set() or stopped()

        def work(core: int | None) -> None:
            if core is not None:
                with contextlib.suppress(OSError):  # it may have been taken away since
                    os.sched_setaffinity(0, {core})  # of this thread, and of what it starts
            try:
                for job in _taken(source, lock, ended):
                    finished.put(self._graded(job, ended))
            except _Stopped:
                pass
            except BaseException as error:
                finished.put(error)
            finally:
                finished.put(None)

        cores: list[int | None] = sorted(os.sched_getaffinity(0))  # type: ignore[assignment]
        if len(cores) != self._count:  # others may have them
            cores = [None] * self._count
        threads = [
            threading.Thread(target=work, args=[core], name=f"grading-{number}") for number, core in enumerate(cores)
        ]
        for thread in threads:
            thread.start()
        left, trouble = len(threads), None
        try:
            while left:
                match finished.get():
                    case None:
                        left -= 1
                    case Outcome() as outcome:
                        if trouble is None:
                            done(outcome)
                    case error:
                        trouble = trouble or error
                        halt.set()
        finally:
            halt.set()
            for thread in threads:
                thread.join()
        if trouble is not None:
            raise trouble

    def _graded(self, job: Job, ended: Callable[[], bool]) -> Outcome:
        def say(text: str) -> None:
            if ended():
                raise _Stopped

        job = on_one_core(job)
        outcome = self._work(job, say)
        for tried in range(2, TRIES + 1):
            # What the device cannot do it cannot do tomorrow; the judge has tried tests again by itself.
            if outcome.is_final or (outcome.result is not None and outcome.result.problem is not None):
                break
            say("once more")
            outcome = msgspec.structs.replace(self._work(job, say), tries=tried)
        return outcome


def _taken(source: Iterator[Job], lock: threading.Lock, ended: Callable[[], bool]) -> Iterator[Job]:
    while not ended():
        with lock:
            job = next(source, None)
        if job is None:
            return
        yield job
