"""Honest submissions that do odd things: host code whose requests look like a cheat's, or differ from run to run."""

from __future__ import annotations

from pathlib import Path

import pytest
from table import HERE, LAYOUT

from warpgrade.grading import grade
from warpgrade.intake import intake
from warpgrade.lab import labs

pytestmark = pytest.mark.labs

# What a kernel is worth that multiplies as these do.
LEAST_POINTS = 8
# A clock among a kernel's arguments, addresses of the host, threads: the teacher is told, and nobody is accused.
DIFFERS_FROM_RUN_TO_RUN = {"clock_and_pointers", "two_threads"}


@pytest.mark.parametrize("name", sorted(path.stem for path in HERE.glob("odd/*.cu")))
def test_an_odd_way_keeps_its_points(name: str, tmp_path: Path) -> None:
    lab = labs.find(LAYOUT, "matmul")
    source = (HERE / "odd" / f"{name}.cu").read_text(encoding="utf-8")
    shared = (HERE / "honest.cuh").read_text(encoding="utf-8")
    (tmp_path / lab.main_file).write_text(source.replace('#include "honest.cuh"\n', shared), encoding="utf-8")
    result = grade.grade(LAYOUT, lab, intake.read(lab, tmp_path), grade.Options())
    story = "\n".join(f"{test.status} {test.points} {test.name}: {test.message}" for test in result.tests)
    assert result.score.points >= LEAST_POINTS, result.problem or story
    assert "host code" not in story
    assert not any("not computed by the device" in reason for reason in result.review), result.review
    if name not in DIFFERS_FROM_RUN_TO_RUN:
        assert not any("from run to run" in reason for reason in result.review), result.review
