"""Levels of speed tests on a real GPU, from what solutions reached there."""

import tomllib

import pytest

from warpgrade.dev import calibrate
from warpgrade.dev.calibrate import Levels, Reached
from warpgrade.lab import labs
from warpgrade.lab.labs import SpeedItem
from warpgrade.machine.errors import GraderError
from warpgrade.machine.paths import find_layout

LAYOUT = find_layout()
ITEM = SpeedItem("speed", 8.0, gpu=[(1.0, 0.0), (2.0, 8.0)])


def reached(solution: str, *speedups: float, noise: float = 1.0) -> Reached:
    at_most = [one * noise for one in speedups]
    return Reached(solution, "speed", solution.startswith("r"), list(speedups), at_most, [0.0] * len(speedups))


def test_the_level_lies_between_right_and_wrong() -> None:
    found = calibrate.find_levels(ITEM, [reached("reference", 4.0, 4.2), reached("wrong", 3.4, 3.6)])
    assert found == Levels([(1.0, 0.0), (1.95, 4.0), (3.79, 8.0)], 0.0)
    far = calibrate.find_levels(ITEM, [reached("reference", 4.0), reached("starter", 1.0)])
    assert far is not None
    assert far.curve is not None
    assert far.curve[-1] == (3.2, 8.0)  # no more room than noise needs


def test_who_is_as_fast_as_what_is_right_moves_no_level_and_is_named() -> None:
    found = calibrate.find_levels(
        ITEM, [reached("reference", 2.0, 2.4), reached("wrong slow", 1.9), reached("wrong fast", 2.3)]
    )
    assert found == Levels([(1.0, 0.0), (1.4, 4.0), (1.95, 8.0)], 0.0, ("wrong fast",))
    noisy = calibrate.find_levels(ITEM, [reached("reference", 2.0, 2.4), reached("wrong", 1.0, 1.9, noise=1.04)])
    assert noisy is not None
    assert noisy.curve is not None
    assert noisy.curve[-1][0] == 1.99  # above the bound of the wrong one, 1.98


def test_a_device_without_gain_and_a_test_that_nothing_right_passed() -> None:
    assert calibrate.find_levels(ITEM, [reached("reference", 1.02)]) == Levels(None, 0)
    assert calibrate.find_levels(ITEM, [reached("starter", 1.0)]) is None
    assert calibrate.find_levels(ITEM, []) is None


@pytest.mark.parametrize("lab", labs.discover(LAYOUT), ids=lambda lab: lab.name)
def test_levels_are_written_into_each_labs_file_and_nothing_else_changes(lab: labs.Lab) -> None:
    text = (lab.folder / "lab.toml").read_text(encoding="utf-8")
    levels = {item.name: Levels([(1.0, 0.0), (1.5, item.points)], 0) for item in lab.file.speed}
    before, after = tomllib.loads(text), tomllib.loads(calibrate.edit(text, levels))
    for row in after.get("speed", []):
        assert row["gpu"] == [[1, 0], [1.5, row["points"]]]
    without = calibrate.edit(text, {name: Levels(None, 0) for name in levels})
    assert all("gpu" not in row for row in tomllib.loads(without).get("speed", []))
    assert tomllib.loads(calibrate.edit(without, levels)) == after
    for document in before, after:
        for row in document.get("speed", []):
            row.pop("gpu", None)
    assert before == after


def test_a_table_in_another_order_is_named() -> None:
    with pytest.raises(GraderError, match="“speed”"):
        calibrate.edit('[[speed]]\npoints = 8\nname = "speed"\n', {"speed": Levels(None, 0)})


@pytest.mark.labs
def test_solutions_are_measured_on_the_device_that_times() -> None:
    lab = labs.find(LAYOUT, "transpose")
    found = calibrate.measure(LAYOUT, lab, "vgpu:h100:1", 1, only="unpadded")
    rows = {row.solution: row for row in found}
    assert list(rows) == ["reference", "starter", "wrong unpadded"]
    assert rows["reference"].is_right
    assert not rows["wrong unpadded"].is_right
    assert rows["reference"].speedups[0] > rows["wrong unpadded"].speedups[0] > 1
    assert all(row.at_most == row.speedups for row in found)  # these times do not vary
