"""The engine `parsl`: what it does with lost workers, here with a pilot that a test makes and with Parsl itself."""

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import cheap_work
import msgspec
import pytest
from cheap_work import job

from warpgrade import __version__
from warpgrade.engine import pilot
from warpgrade.engine.cluster_file import Settings
from warpgrade.engine.job import Job, Outcome
from warpgrade.engine.parsl import ParslEngine
from warpgrade.machine.errors import GraderError

HERE = Path(__file__).parents[1]
GRADER = HERE.parents[1] / "grader"


class WorkerLost(Exception):  # noqa: N818 - as Parsl calls it
    hostname = "far"


class Workers:
    """A pilot whose workers answer at once; `answer` may raise."""

    def __init__(self, answer: Callable[[Job], Outcome]) -> None:
        self.answer, self.sent = answer, list[Job]()
        self.is_dead = False

    def submit(self, payload: bytes) -> Future[bytes]:
        self.sent.append(msgspec.msgpack.decode(payload, type=Job))
        future: Future[bytes] = Future()
        try:
            future.set_result(msgspec.msgpack.encode(self.answer(self.sent[-1])))
        except Exception as error:
            future.set_exception(error)
        return future

    def has_workers(self) -> bool:
        return False

    def require_alive(self) -> None:
        if self.is_dead:
            raise GraderError("the cluster gives no workers")


@pytest.fixture
def graded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[Outcome]]:
    """Grade jobs with workers of the test's own."""

    def run(workers: Workers, jobs: Iterator[Job], stop_after: int = 10**6, **settings: Any) -> list[Outcome]:
        @contextlib.contextmanager
        def start(*_: object, **__: object) -> Iterator[Workers]:
            yield workers

        monkeypatch.setattr(pilot, "start", start)
        outcomes: list[Outcome] = []
        engine = ParslEngine(Settings("local", **settings), tmp_path / "parsl")
        engine.run(jobs, outcomes.append, lambda: len(outcomes) >= stop_after)
        return outcomes

    return run


def fine(one: Job) -> Outcome:
    return Outcome(one.key, cheap_work.result(one))


Graded = Callable[..., list[Outcome]]


def test_each_job_ends_once_and_on_one_core(graded: Graded) -> None:
    workers = Workers(fine)
    outcomes = graded(workers, iter([job("a"), job("b", threads=3), job("c")]))
    assert [outcome.key for outcome in outcomes] == ["a", "b", "c"]
    assert [sent.options.threads for sent in workers.sent] == [1, 3, 1]
    assert workers.sent[0].files == {"toy.cu": b"a"}


def test_jobs_are_taken_when_there_is_room(graded: Graded) -> None:
    taken = 0

    def jobs() -> Iterator[Job]:
        nonlocal taken
        for number in range(1000):
            taken += 1
            yield job(str(number))

    assert len(graded(Workers(fine), jobs(), stop_after=1, workers_per_node=2)) == 1
    assert taken < 10


@pytest.mark.parametrize("status", ["rejected", "error", "graded"])
def test_a_result_is_final_whatever_it_says(graded: Graded, status: str) -> None:
    workers = Workers(lambda one: Outcome(one.key, cheap_work.result(one, status)))
    (outcome,) = graded(workers, iter([job("a")]))
    assert outcome.result is not None
    assert (outcome.result.status, outcome.tries, len(workers.sent)) == (status, 1, 1)


def test_only_what_machines_do_is_tried_again(graded: Graded) -> None:
    def answer(one: Job) -> Outcome:
        if one.name == "lost" and len([sent for sent in workers.sent if sent.key == one.key]) < 2:
            raise WorkerLost
        if one.name == "full":
            return Outcome(one.key, trouble="the disk is full")
        return fine(one) if one.name != "stranger" else fine(job("other"))

    workers = Workers(answer)
    names = ["fine", "lost", "full", "stranger", "old"]
    outcomes = {outcome.key: outcome for outcome in graded(workers, iter(job(name, name) for name in names))}
    assert {key: outcome.tries for key, outcome in outcomes.items()} == {
        "fine": 1, "lost": 2, "full": 3, "stranger": 3, "old": 3,
    }  # fmt: skip
    assert {key: outcome.trouble for key, outcome in outcomes.items() if outcome.trouble} == {
        "full": "the disk is full",
        "stranger": "a worker answered to something else",
        "old": f"a worker has Warpgrade 0.0.1, and this is {__version__}",
    }


def test_a_worker_that_is_always_lost_is_trouble_and_no_result(graded: Graded) -> None:
    def lost(one: Job) -> Outcome:
        raise WorkerLost

    (outcome,) = graded(Workers(lost), iter([job("a")]), tries=2)
    assert (outcome.result, outcome.tries) == (None, 2)
    assert outcome.trouble == "a worker on node far was killed: out of memory?"


def test_a_cluster_that_gives_nothing_ends_the_class(graded: Graded) -> None:
    def lost(one: Job) -> Outcome:
        workers.is_dead = True
        raise WorkerLost

    workers = Workers(lost)
    with pytest.raises(GraderError, match="no workers"):
        graded(workers, iter([job("a"), job("b")]))


def test_who_waits_for_a_node_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    held: Future[bytes] = Future()
    workers, outcomes = Workers(fine), list[Outcome]()
    monkeypatch.setattr(workers, "submit", lambda payload: held)
    monkeypatch.setattr(pilot, "start", lambda *_, **__: contextlib.nullcontext(workers))
    told: list[bool] = []

    def waits(waiting: bool) -> None:
        told.append(waiting)
        held.set_result(msgspec.msgpack.encode(fine(job("a"))))  # a node has come

    ParslEngine(Settings("local"), tmp_path, waits=waits).run(iter([job("a")]), outcomes.append, lambda: False)
    assert (told, [outcome.key for outcome in outcomes]) == ([True], ["a"])


def test_nothing_is_started_where_nothing_is_to_do(graded: Graded) -> None:
    assert graded(Workers(fine), iter([])) == []
    assert graded(Workers(fine), iter([job("a")]), stop_after=0) == []


@pytest.mark.labs
def test_with_parsl_itself_lost_workers_and_a_lost_node(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("parsl")
    diary = tmp_path / "diary"
    monkeypatch.setenv(cheap_work.DIARY, str(diary))
    monkeypatch.setenv("PYTHONPATH", f"{GRADER}{os.pathsep}{HERE}")
    names = ["rejected", "kills once", "trouble once", "raises", "nonsense", *(f"slow 0.{digit}" for digit in range(8))]
    outcomes: list[Outcome] = []
    managers: list[int] = []

    def done(outcome: Outcome) -> None:
        outcomes.append(outcome)
        if len(outcomes) == 6:  # the only node
            found = subprocess.run(
                ["pgrep", "-f", f"process_worker_pool.*{tmp_path}"], capture_output=True, text=True, check=True
            )
            managers.extend(map(int, found.stdout.split()))
            for process in managers:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)

    settings = Settings("local", workers_per_node=2, lost_after=2)
    ParslEngine(settings, tmp_path / "parsl", work=cheap_work.work).run(
        (job(name, name) for name in names), done, lambda: False
    )
    assert managers
    assert sorted(outcome.key for outcome in outcomes) == sorted(names)
    troubles = {outcome.key: outcome.trouble for outcome in outcomes if outcome.trouble}
    assert troubles.keys() == {"raises", "nonsense"}
    assert "RuntimeError: a mistake of ours" in troubles["raises"]
    ended = {line.partition(" done")[0] for line in diary.read_text().splitlines() if " done on " in line}
    assert ended == set(names) - troubles.keys()
    assert not (tmp_path / "parsl").exists()


def test_parsl_is_not_imported_before_it_is_asked_for() -> None:
    code = "import sys, warpgrade.engine.parsl; sys.exit('parsl' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True, env={**os.environ, "PYTHONPATH": str(GRADER)})
