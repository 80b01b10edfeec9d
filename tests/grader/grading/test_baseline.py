"""What judges keep of the starter: the same results, whoever grades first and however many do at a time."""

import dataclasses
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec
import pytest

from warpgrade.grading import baseline, grade
from warpgrade.grading.result import Result, Seconds
from warpgrade.intake import intake
from warpgrade.lab import labs
from warpgrade.machine.device import Device
from warpgrade.machine.paths import Layout, find_layout

SHARED = find_layout()
LAB = labs.find(SHARED, "reduction")


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    """A checkout that has compiled everything, and knows nothing of starters."""
    (tmp_path / "setup").symlink_to(SHARED.state / "setup")
    (tmp_path / "cache").mkdir()
    for kind in ("objects", "workers"):
        folder = SHARED.cache / kind
        folder.mkdir(parents=True, exist_ok=True)
        (tmp_path / "cache" / kind).symlink_to(folder)
    return dataclasses.replace(SHARED, state_home=tmp_path)


@pytest.fixture
def bare(tmp_path: Path) -> Layout:
    """A checkout in which nothing is built but a device server, of a kind."""
    layout = Layout(tmp_path / "bare")
    layout.device_server.parent.mkdir(parents=True)
    layout.device_server.write_bytes(b"a server")
    return layout


def graded(layout: Layout, path: Path, seed: int | None) -> Result:
    found = grade.grade(layout, LAB, intake.read(LAB, path), grade.Options(threads=1, seed=seed))
    tests = [msgspec.structs.replace(test, seconds=0) for test in found.tests]
    return msgspec.structs.replace(found, started_at="", seconds=Seconds(build=0, judge=0), tests=tests, used=None)


def kept(layout: Layout) -> list[Path]:
    return sorted((layout.cache / "baselines").glob("*"))


@pytest.mark.labs
def test_a_class_gets_what_each_would_get_alone(layout: Layout) -> None:
    paths = [LAB.reference_folder, LAB.starter_folder] * 2
    alone = [graded(layout, path, 5) for path in paths[:2]]
    for file in kept(layout):
        file.unlink()
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda path: graded(layout, path, 5), paths))
    assert together == alone * 2
    (file,) = kept(layout)
    before = file.read_bytes()
    assert [graded(layout, path, 5) for path in paths[:2]] == alone
    assert kept(layout) == [file]
    assert file.read_bytes() == before
    graded(layout, paths[0], 6)
    assert len(kept(layout)) == 2
    graded(layout, paths[0], None)
    assert len(kept(layout)) == 2


def test_whatever_makes_a_difference_begins_another_file(bare: Layout, tmp_path: Path) -> None:
    judge, starter = (tmp_path / name for name in ("judge", "starter"))
    judge.write_bytes(b"a judge")
    virtual = Device("vgpu", "vgpu:h100", "vgpu", {})

    def name(
        target: Device = virtual, starter: Path = starter / "worker", seed: int | None = 1, checks: str = "all"
    ) -> Path | None:
        return baseline.cache_file(bare, LAB, target, judge, starter, seed, checks)

    first = name()
    assert first == name()
    assert first is not None
    other = dataclasses.replace(virtual, spec="vgpu:t4")
    names = {
        first,
        name(target=other),
        name(starter=tmp_path / "another" / "worker"),
        name(seed=2),
        name(checks="none"),
    }
    judge.write_bytes(b"a judge that was built again")
    assert len({*names, name()}) == 6
    assert name(seed=None) is None
    assert name(target=dataclasses.replace(virtual, kind="gpu", spec="gpu:0")) is None


def test_files_of_old_classes_are_forgotten(bare: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(baseline, "_MAX_FILES", 3)
    virtual = Device("vgpu", "vgpu:h100", "vgpu", {})
    for seed in range(6):
        file = baseline.cache_file(bare, LAB, virtual, bare.device_server, Path("starter/worker"), seed, "all")
        assert file is not None
        file.write_bytes(b"kept")
    assert len(kept(bare)) == 3


def test_files_that_another_grader_forgets_at_the_same_time_are_no_trouble(
    bare: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(baseline, "_MAX_FILES", 1)
    folder = bare.cache / "baselines"
    folder.mkdir(parents=True)
    for name in "abc":
        (folder / name).write_bytes(b"kept")
    listed = Path.iterdir
    monkeypatch.setattr(Path, "iterdir", lambda path: [*listed(path), folder / "gone", *listed(path)])
    baseline._forget_oldest(folder)
    assert list(listed(folder)) == []
