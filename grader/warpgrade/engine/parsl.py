"""The engine `parsl`: submissions are graded by workers on a cluster, in jobs that take one after the other.

What a machine does to a submission is tried again: a lost node, a worker that was killed, an outcome without a result.
What a submission does to itself is its result. An outcome is told once for each job, whatever was lost in between.
"""

import queue
import shutil
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import msgspec

from warpgrade import __version__
from warpgrade.engine import pilot
from warpgrade.engine.cluster_file import Settings
from warpgrade.engine.job import Job, Outcome, on_one_core
from warpgrade.engine.pilot import Pilot
from warpgrade.engine.work import grade_bytes
from warpgrade.machine.errors import BadInput
from warpgrade.machine.text import bounded, clean

_LOOK = 0.25  # seconds between two looks at whether to stop
_ASK = 2.0  # and between two questions whether there are workers
_WORKERS = 32  # of a node, where nobody has said how many it has: as many are sent ahead


@dataclass(frozen=True)
class _Sent:
    job: Job
    tries: int


class ParslEngine:
    """Grades on the workers that the settings describe; see `warpgrade.engine.job.Engine`.

    folder: for Parsl's own files; removed at the end unless something failed. verdicts: those of the class. The nodes
    see both. work: what a worker calls with an encoded job. waits: called with whether there is no node, when
    that changes.
    """

    def __init__(
        self, settings: Settings, folder: Path, verdicts: Path | None = None,
        work: Callable[[bytes], bytes] = grade_bytes, waits: Callable[[bool], object] = lambda waiting: None,
    ) -> None:  # fmt: skip
        self._settings, self._folder, self._work, self._waits = settings, folder.absolute(), work, waits
        self._verdicts = str(verdicts.absolute()) if verdicts else ""

    def run(self, jobs: Iterable[Job], done: Callable[[Outcome], Any], stopped: Callable[[], bool]) -> None:
        """Grade the jobs."""
        source = iter(jobs)
        first = next(source, None)
        if first is None or stopped():
            return
        gpus = wants_gpus(first.options.device, self._settings)
        with pilot.start(self._settings, self._folder, self._work, gpus=gpus) as workers:
            known = (msgspec.structs.replace(job, verdicts=self._verdicts) for job in chain([first], source))
            _Run(workers, self._settings, self._waits, gpus=gpus).all(known, done, stopped)
        shutil.rmtree(self._folder, ignore_errors=True)


def wants_gpus(device: str, settings: Settings) -> bool:
    """Tell whether submissions run on GPUs there, one worker each; raises BadInput where device and file disagree."""
    if device.startswith("gpu:"):
        raise BadInput(f"--device {device} names one GPU of one machine", hint="say gpu: each worker has its own")
    if device == "gpu" and not settings.gpus_per_node:
        raise BadInput("the file of --cluster does not say how many GPUs a node has", hint="add gpus_per_node = 4")
    return settings.gpus_per_node > 0 and not device.startswith("vgpu")


class _Run:
    """What is under way, and what becomes of it."""

    def __init__(self, workers: Pilot, settings: Settings, waits: Callable[[bool], object], *, gpus: bool) -> None:
        self._workers, self._tries, self._gpus, self._waits = workers, settings.tries, gpus, waits
        self._asked, self._is_waiting = 0.0, False
        self._room = 2 * settings.nodes * (settings.workers(gpus=gpus) or _WORKERS)
        self._under_way: dict[Future[bytes], _Sent] = {}
        self._ended: queue.SimpleQueue[Future[bytes]] = queue.SimpleQueue()

    def all(self, jobs: Iterator[Job], done: Callable[[Outcome], Any], stopped: Callable[[], bool]) -> None:
        """Grade all jobs, or those that end before it is to stop."""
        more = True
        while not stopped():
            while more and len(self._under_way) < self._room and not stopped():
                job = next(jobs, None)
                more = job is not None
                if job is not None:
                    self._send(_Sent(job if self._gpus else on_one_core(job), 1))
            if not self._under_way:
                return
            try:
                future = self._ended.get(timeout=_LOOK)
            except queue.Empty:
                self._workers.require_alive()
                self._tell_if_waiting()
                continue
            sent = self._under_way.pop(future)
            outcome = self._outcome(sent, future)
            if outcome.result is None and sent.tries < self._tries:
                self._send(_Sent(sent.job, sent.tries + 1))
            else:
                done(outcome)

    def _tell_if_waiting(self) -> None:
        if time.monotonic() - self._asked < _ASK:
            return
        self._asked = time.monotonic()
        waiting = not self._workers.has_workers()
        if waiting != self._is_waiting:
            self._is_waiting = waiting
            self._waits(waiting)

    def _send(self, sent: _Sent) -> None:
        future = self._workers.submit(msgspec.msgpack.encode(sent.job))
        self._under_way[future] = sent
        future.add_done_callback(self._ended.put)

    def _outcome(self, sent: _Sent, future: Future[bytes]) -> Outcome:
        """Return what a worker answered; where none did, why."""
        trouble = ""
        error = future.exception()
        if error is not None:
            self._workers.require_alive()
            trouble = _told(error)
        else:
            try:
                outcome = msgspec.msgpack.decode(future.result(), type=Outcome)
            except msgspec.MsgspecError as mistake:
                trouble = f"a worker's answer cannot be read ({clean(str(mistake))}): has it another Warpgrade?"
            else:
                trouble = _strange(outcome, sent.job)
                if not trouble:
                    return msgspec.structs.replace(outcome, tries=sent.tries)
        return Outcome(sent.job.key, trouble=trouble, tries=sent.tries)


def _strange(outcome: Outcome, job: Job) -> str:
    """Say why an answer is none of ours; nothing where it is."""
    if outcome.key != job.key:
        return "a worker answered to something else"
    if outcome.result is not None and outcome.result.warpgrade != __version__:
        return f"a worker has Warpgrade {clean(outcome.result.warpgrade)}, and this is {__version__}"
    return ""


def _told(error: BaseException) -> str:
    """Say what became of a worker that did not answer."""
    host = clean(str(getattr(error, "hostname", "")))
    match type(error).__name__:
        case "ManagerLost":
            return f"node {host} was lost"
        case "WorkerLost":
            return f"a worker on node {host} was killed: out of memory?"
        case name:
            return f"a worker failed: {name}: {bounded(clean(str(error)), lines=3)}"
