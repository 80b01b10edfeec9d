"""Grades on a device that tells no counters, findings or origins: what it cannot tell is pending, and passes never."""

import pytest

from warpgrade.grading import grade
from warpgrade.grading.result import Result
from warpgrade.intake import intake
from warpgrade.lab import labs
from warpgrade.lab.labs import Lab
from warpgrade.machine import device
from warpgrade.machine.errors import BadInput
from warpgrade.machine.paths import find_layout
from warpgrade.running import run

pytestmark = pytest.mark.labs

LAYOUT = find_layout()
LABS = labs.discover(LAYOUT)
by_name = pytest.mark.parametrize("lab", LABS, ids=lambda lab: lab.name)


def on_plain(lab: Lab, *, starter: bool = False) -> Result:
    folder = LAYOUT.starters if starter else LAYOUT.references
    options = grade.Options(device="plain", threads=1, seed=5)
    return grade.grade(LAYOUT, lab, intake.read(lab, folder / lab.name), options)


@by_name
def test_right_work_neither_fails_nor_passes_where_the_device_does_not_tell_that_it_did_it(lab: Lab) -> None:
    result = on_plain(lab)
    assert result.status == "graded"
    assert result.device.kind == "plain"
    assert {test.status for test in result.tests} <= {"pass", "pending"}
    for test in result.tests:
        # What has passed is the host's own work: it has launched nothing that counts.
        assert test.status == "pending" or not test.launches, test.name
        assert test.status == "pass" or (test.points == 0 and "--device vgpu" in test.message), test.name
        assert all(launch["counters"] is None and launch["duration_ns"] is None for launch in test.launches)
    assert result.score.pending_points > 0
    assert result.score.points + result.score.pending_points == result.score.max_points


@by_name
def test_wrong_values_fail_there_as_well(lab: Lab) -> None:
    here, there = (
        {test.name: test for test in one.tests}
        for one in (on_plain(lab, starter=True), grade.grade(
            LAYOUT, lab, intake.read(lab, LAYOUT.starters / lab.name), grade.Options(threads=1, seed=5)
        ))
    )  # fmt: skip
    assert not [name for name in here if here[name].status == "fail" and there[name].status != "fail"]
    assert not [name for name in here if here[name].status == "pass" and there[name].status != "pass"]
    # A starter whose values are right fails because it counts what it always did, which is not told there.
    right = all("unbegun" in test.signs for test in there.values() if test.status == "fail" and test.kind != "speed")
    assert right or any(test.status == "fail" for test in here.values())


def test_one_device_may_look_and_another_one_time() -> None:
    lab = labs.find(LAYOUT, "matmul")
    speed = "matmul_tiled: speed on 256 × 256 matrices"

    def graded(timing_device: str) -> Result:
        options = grade.Options(timing_device=timing_device, threads=1, seed=5, only=(speed,))
        return grade.grade(LAYOUT, lab, intake.read(lab, LAYOUT.references / lab.name), options)

    (alone,), (timed,), (unknown,) = (graded(name).tests for name in ("", "vgpu:h100:1", "plain"))
    assert (alone.status, timed.status) == ("pass", "pass")
    assert [launch["counters"] for launch in timed.launches] == [launch["counters"] for launch in alone.launches]
    assert timed.launches[0]["duration_ns"] > 2 * alone.launches[0]["duration_ns"]  # one multiprocessor, not four
    assert unknown.status == "pending"  # it does not time single kernels
    assert "how long each kernel takes" in unknown.message


def test_the_device_says_what_it_can_tell_and_run_needs_more() -> None:
    vgpu, plain = (device.resolve(LAYOUT, name) for name in ("vgpu", "plain"))
    assert (vgpu.analysed, vgpu.repeatable) == (True, True)
    assert (plain.analysed, plain.repeatable) == (False, True)
    assert vgpu.properties == plain.properties
    with pytest.raises(BadInput, match="tells no counters"):
        run.run(LAYOUT, [LAYOUT.references / "first" / "first.cu"], [], run.Options(device="plain"))
