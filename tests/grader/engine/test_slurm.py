"""A class on a real Slurm, of which a node is lost half-way: nothing is lost, and nothing is graded twice."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import cheap_work
import pytest
import slurm_cluster
from cheap_work import job
from slurm_cluster import Cluster

from warpgrade.engine.cluster_file import Settings
from warpgrade.engine.job import Outcome
from warpgrade.engine.parsl import ParslEngine
from warpgrade.machine.errors import GraderError

HERE = Path(__file__).parents[1]
GRADER = HERE.parents[1] / "grader"
SUBMISSIONS = 40

pytestmark = [
    pytest.mark.labs,
    pytest.mark.skipif(bool(slurm_cluster.why_not()), reason=slurm_cluster.why_not() or "there is a Slurm"),
]


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Iterator[Cluster]:
    with slurm_cluster.started() as one:
        for name in ("PATH", "SLURM_CONF"):
            monkeypatch.setenv(name, one.environment[name])
        yield one


@pytest.fixture
def diary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "diary"
    monkeypatch.setenv(cheap_work.DIARY, str(path))
    monkeypatch.setenv("PYTHONPATH", f"{GRADER}{os.pathsep}{HERE}")
    return path


def settings(partition: str = "class") -> Settings:
    return Settings(
        "slurm", nodes=2, cores_per_node=2, partition=partition, walltime="00:10:00", address="127.0.0.1", lost_after=3
    )


def test_pilot_jobs_of_which_one_is_lost_with_its_node(cluster: Cluster, diary: Path, tmp_path: Path) -> None:
    pytest.importorskip("parsl")
    outcomes: list[Outcome] = []
    killed: list[int] = []

    def where() -> Counter[str]:
        lines = diary.read_text().splitlines() if diary.exists() else []
        return Counter(line.rpartition(" on ")[2] for line in lines if " done on " in line)

    def done(outcome: Outcome) -> None:
        outcomes.append(outcome)
        if len(outcomes) >= SUBMISSIONS // 2 and not killed and where()["two"]:
            killed.append(cluster.kill("two"))

    ParslEngine(settings(), tmp_path / "parsl", cheap_work.work).run(
        (job(str(number), "slow 0.3") for number in range(SUBMISSIONS)), done, lambda: False
    )
    assert killed
    assert killed[0] >= 3  # the daemon, the job and its workers
    assert sorted(int(outcome.key) for outcome in outcomes) == list(range(SUBMISSIONS))  # each one, and once
    assert all(outcome.result is not None for outcome in outcomes)
    assert {outcome.tries for outcome in outcomes} == {1, 2}
    assert sum(outcome.tries for outcome in outcomes) <= SUBMISSIONS + 4  # what the node had in hand
    assert where().keys() == {"one", "two"}


def test_the_schedulers_refusal_is_told(cluster: Cluster, diary: Path, tmp_path: Path) -> None:
    pytest.importorskip("parsl")
    engine = ParslEngine(settings("nowhere"), tmp_path / "parsl", cheap_work.work)
    with pytest.raises(GraderError) as refused:
        engine.run([job("a")], lambda outcome: None, lambda: False)
    assert refused.value.message == "the cluster gives no workers"
    assert "invalid partition specified: nowhere" in refused.value.detail
    assert str(tmp_path / "parsl") in refused.value.hint
    assert not diary.exists()
