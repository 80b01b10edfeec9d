"""The engine of this machine."""

import os
import subprocess
import sys
import threading
import time

import pytest

from warpgrade.engine.job import Job, Outcome
from warpgrade.engine.local import LocalEngine
from warpgrade.engine.work import Say
from warpgrade.grading.grade import Options


def jobs(count: int) -> list[Job]:
    return [Job(f"k{number}", "toy", "a", {}, Options()) for number in range(count)]


def test_each_job_has_one_outcome_and_threads_share_them() -> None:
    both = threading.Barrier(2, timeout=20)

    def work(job: Job, say: Say) -> Outcome:
        if job.key in ("k0", "k1"):
            both.wait()
        assert job.options.threads == 1
        return Outcome(job.key, trouble="none")

    seen: list[str] = []
    LocalEngine(work, 2).run(iter(jobs(30)), lambda outcome: seen.append(outcome.key), lambda: False)
    assert sorted(seen) == sorted(job.key for job in jobs(30))


def test_trouble_is_tried_again() -> None:
    tries: dict[str, int] = {}

    def work(job: Job, say: Say) -> Outcome:
        tries[job.key] = tries.get(job.key, 0) + 1
        return Outcome(job.key, trouble="lost")

    seen: list[Outcome] = []
    LocalEngine(work, 1).run(jobs(2), seen.append, lambda: False)
    assert tries == {"k0": 2, "k1": 2}
    assert [outcome.tries for outcome in seen] == [2, 2]


def test_a_stop_ends_what_runs_and_begins_nothing() -> None:
    stop, begun = threading.Event(), []

    def work(job: Job, say: Say) -> Outcome:
        begun.append(job.key)
        stop.set()
        for _ in range(1000):
            say("still here")
            time.sleep(0.01)
        raise AssertionError("it was not ended")

    seen: list[Outcome] = []
    LocalEngine(work, 1).run(jobs(5), seen.append, stop.is_set)
    assert (begun, seen) == (["k0"], [])


def test_what_nobody_expected_ends_the_run_and_is_raised() -> None:
    def work(job: Job, say: Say) -> Outcome:
        raise ZeroDivisionError(job.key)

    with pytest.raises(ZeroDivisionError, match="k0"):
        LocalEngine(work, 1).run(jobs(5), lambda outcome: None, lambda: False)


def test_a_failure_to_keep_an_outcome_ends_the_run() -> None:
    begun = []

    def work(job: Job, say: Say) -> Outcome:
        begun.append(job.key)
        return Outcome(job.key, trouble="x")

    def full(outcome: Outcome) -> None:
        raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space"):
        LocalEngine(work, 1).run(iter(jobs(10_000)), full, lambda: False)
    assert len(begun) < 10_000


@pytest.mark.parametrize("more", [0, 1])
def test_threads_keep_what_they_start_on_a_core_where_each_has_its_own(more: int) -> None:
    cores = os.sched_getaffinity(0)
    count = len(cores) + more
    all_run = threading.Barrier(count, timeout=20)
    seen: list[set[int]] = []

    def work(job: Job, say: Say) -> Outcome:
        all_run.wait()
        told = subprocess.run(
            [sys.executable, "-c", "import os; print(*os.sched_getaffinity(0))"], capture_output=True, check=True
        )
        seen.append({int(word) for word in told.stdout.split()})
        return Outcome(job.key, trouble="none")

    LocalEngine(work, count).run(jobs(count)[:count], lambda outcome: None, lambda: False)
    started = [set(each) for each in {tuple(sorted(each)) for each in seen}]
    assert sorted(map(len, started)) == ([len(cores)] if more else [1] * len(cores))
    assert os.sched_getaffinity(0) == cores  # of ours nothing has changed
