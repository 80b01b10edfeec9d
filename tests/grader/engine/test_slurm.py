"""A class on a real Slurm, of which a node is lost half-way: nothing is lost, and nothing is graded twice."""

import json
import os
import subprocess
import sys
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
from warpgrade.machine.paths import find_layout

HERE = Path(__file__).parents[1]
GRADER = HERE.parents[1] / "grader"
LAYOUT = find_layout()
LAB = "reverse"
SUBMISSIONS = 40
SHARDS = 4

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

    ParslEngine(settings(), tmp_path / "parsl", work=cheap_work.work).run(
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
    engine = ParslEngine(settings("nowhere"), tmp_path / "parsl", work=cheap_work.work)
    with pytest.raises(GraderError) as refused:
        engine.run([job("a")], lambda outcome: None, lambda: False)
    assert refused.value.message == "the cluster gives no workers"
    assert "invalid partition specified: nowhere" in refused.value.detail
    assert str(tmp_path / "parsl") in refused.value.hint
    assert not diary.exists()


MEMBER = """\
#!/bin/bash
echo "$SLURM_ARRAY_TASK_ID begins on $SLURMD_NODENAME" >> {folder}/where
exec {python} -m warpgrade class {lab} {folder}/in --out {folder}/parts/$SLURM_ARRAY_TASK_ID \\
    --shard $SLURM_ARRAY_TASK_ID/$SLURM_ARRAY_TASK_COUNT --seed 7 --jobs 1
"""


def results(folder: Path) -> dict[Path, int]:
    """Return the results that the parts of a class hold, and when each was written."""
    return {path: path.stat().st_mtime_ns for path in folder.glob("parts/*/results/*.json")}


def test_a_job_array_of_shards_of_which_some_are_lost(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(GRADER))
    students = [f"student{number:02}" for number in range(SUBMISSIONS)]
    texts = [(LAYOUT.references if number < 2 else LAYOUT.starters) / LAB / f"{LAB}.cu" for number in range(3)]
    for number, student in enumerate(students):
        place = tmp_path / "in" / student
        place.mkdir(parents=True)
        (place / f"{LAB}.cu").write_text(texts[number % 3].read_text() + f"// {number % 3} {tmp_path}\n")
    script = tmp_path / "member.sh"
    script.write_text(MEMBER.format(folder=tmp_path, python=sys.executable, lab=LAB))
    array = cluster.command(
        "sbatch", "--parsable", f"--array=1-{SHARDS}", f"--output={tmp_path}/member-%a.txt", "--open-mode=append",
        f"--chdir={LAYOUT.root}", "--requeue", str(script),
    )  # fmt: skip

    def on_two() -> set[str]:
        return {line.split()[0] for line in lines(tmp_path / "where") if line.endswith("two")}

    cluster.until(lambda: {path.parts[-3] for path in results(tmp_path)} & on_two())
    cluster.kill("two")
    lost = on_two()
    before = results(tmp_path)
    cluster.hurry(array)
    states = cluster.wait(array)
    told = "\n".join(path.read_text() for path in sorted(tmp_path.glob("member-*.txt")))
    assert states == ["COMPLETED"] * SHARDS, told
    begun = Counter(line.split()[0] for line in lines(tmp_path / "where"))
    assert {member for member, count in begun.items() if count == 2} == lost
    assert results(tmp_path).items() >= before.items()  # what was graded before the loss was not graded again

    merged = subprocess.run(
        [sys.executable, "-m", "warpgrade", "merge", *sorted(tmp_path.glob("parts/*")), "--out", tmp_path / "all"],
        capture_output=True, text=True, check=False, cwd=LAYOUT.root,
    )  # fmt: skip
    assert merged.returncode == 0, merged.stdout + merged.stderr
    assert f"{SUBMISSIONS} submissions of {SUBMISSIONS} students" in merged.stdout
    assert "several parts" not in merged.stderr
    rows = [json.loads(line) for line in lines(tmp_path / "all" / "grades.jsonl")]
    assert [row["student"] for row in rows] == students
    assert {row["state"] for row in rows} == {"graded"}
    points = [row["points"] for row in rows]
    assert all(points[number] == points[number % 3] for number in range(SUBMISSIONS))
    assert points[0] == points[1] > points[2]


def lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines() if path.exists() else []
