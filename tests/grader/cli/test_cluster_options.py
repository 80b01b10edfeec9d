"""`class --engine parsl --cluster FILE`: what fits together, and a class that workers grade."""

import json
from pathlib import Path

import pytest
from stand_ins import run

from warpgrade.machine.paths import find_layout

LAYOUT = find_layout()
LAB = "reverse"


def hand_in(folder: Path) -> Path:
    """Lay down a good submission, one of nothing but the starter, and one that does not compile."""
    good = (LAYOUT.references / LAB / f"{LAB}.cu").read_text(encoding="utf-8")
    starter = (LAYOUT.starters / LAB / f"{LAB}.cu").read_text(encoding="utf-8")
    for student, text in (("ada", good), ("bob", starter), ("cyd", good.replace("{", "{{", 1))):
        place = folder / "in" / student
        place.mkdir(parents=True)
        (place / f"{LAB}.cu").write_text(text, encoding="utf-8")
    return folder / "in"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--cluster", "c.toml"], "--cluster is for --engine parsl"),
        (["--engine", "parsl"], "--engine parsl needs --cluster FILE"),
        (["--engine", "parsl", "--cluster", "c.toml", "--jobs", "4"], "--jobs is for this machine"),
        (["--engine", "parsl", "--cluster", "none.toml"], "none.toml cannot be read: No such file"),
        (["--engine", "parsl", "--cluster", "c.toml"], "c.toml:1: unknown key `provder`, did you mean `provider`?"),
    ],
)
def test_options_that_do_not_fit_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], words: list[str], told: str
) -> None:
    handed_in = hand_in(tmp_path)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "c.toml").write_text('provder = "slurm"\n', encoding="utf-8")
    status, _, err = run(capsys, "class", LAB, handed_in, "--out", tmp_path / "out", *words)
    assert (status, told in err) == (2, True), err
    assert not (tmp_path / "out").exists()


@pytest.mark.labs
def test_a_class_is_graded_by_workers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("parsl")
    handed_in, out = hand_in(tmp_path), tmp_path / "out"
    monkeypatch.setenv("PYTHONPATH", str(LAYOUT.root / "grader"))
    settings = tmp_path / "cluster.toml"
    settings.write_text('provider = "local"\nworkers_per_node = 2\n', encoding="utf-8")
    status, told, err = run(
        capsys, "class", LAB, handed_in, "--out", out, "--seed", "5", "--engine", "parsl", "--cluster", settings
    )
    assert status == 0, err
    assert "3 graded" in told
    rows = [json.loads(line) for line in (out / "grades.jsonl").read_text(encoding="utf-8").splitlines()]
    assert {row["student"]: row["state"] for row in rows} == {"ada": "graded", "bob": "graded", "cyd": "rejected"}
    points = {row["student"]: row["points"] for row in rows}
    assert points["ada"] > points["bob"]
    assert points["cyd"] == 0
    assert len(list(out.glob("verdicts/*/*.json.gz"))) == 2  # workers keep them as well, test by test
    assert not (out / "parsl").exists()

    status, told, err = run(capsys, "class", LAB, handed_in, "--out", out, "--jobs", "1")
    assert (status, "3 graded before" in told) == (0, True), told + err
