"""The commands of those who write labs."""

from collections.abc import Callable
from pathlib import Path

import pytest
from stand_ins import REFERENCE, Script, case, end, run, speed, start

from warpgrade.lab import labs, variant, wrong
from warpgrade.machine.paths import Layout

Capture = pytest.CaptureFixture[str]


@pytest.mark.usefixtures("reference")
def test_wrong_solutions_are_listed_and_printed_whole(in_project: Layout, capsys: Capture) -> None:
    status, out, _ = run(capsys, "wrong", "toy")
    assert status == 0
    assert out.split() == ["no_guard", "no", "guard", "loses", "“adds”,", "“adds", "odd", "sizes”"]
    status, out, err = run(capsys, "wrong", "toy", "no_guard")
    lab = labs.find(in_project, "toy")
    assert (status, err) == (0, "")
    assert out == variant.files(lab, wrong.find(lab, "no_guard"))["toy.cu"]
    status, _, err = run(capsys, "wrong", "toy", "no_gaurd")
    assert (status, err.splitlines()[-1]) == (2, "warpgrade: did you mean no_guard?")


@pytest.mark.usefixtures("reference")
def test_a_wrong_solution_is_written_again(in_project: Layout, tmp_path: Path, capsys: Capture) -> None:
    edited = tmp_path / "edited.cu"
    edited.write_text(REFERENCE.replace("<", "<="), encoding="utf-8")
    status, out, _ = run(capsys, "wrong", "toy", "no_guard", "--update", edited)
    assert (status, out) == (0, "labs/toy/wrong/no_guard.patch written\n")
    assert "<= n" in run(capsys, "wrong", "toy", "no_guard")[1]
    status, _, err = run(capsys, "wrong", "toy", "no_guard", "--update", edited, "--base", "other")
    assert (status, err) == (2, "warpgrade: lab toy has no right solution “other”\nwarpgrade: there are: none\n")
    status, _, err = run(capsys, "wrong", "toy", "--update", edited)
    assert status == 2
    assert "--update needs the NAME" in err


@pytest.mark.usefixtures("submission", "reference")
def test_prove_tells_each_proof_that_fails(
    in_project: Layout, script: Callable[[Script], Path], capsys: Capture
) -> None:
    script([[start(), case("adds", "fail", "a[3] is 1"), case("adds odd sizes", "fail"), speed(9.0), end()]])
    assert run(capsys, "starter", "toy")[0] == 0
    status, out, err = run(capsys, "prove", "toy")
    assert status == 1
    assert out.splitlines()[0] == "FAILED reference: expected all 40 points; it got 10"
    assert out.splitlines()[1].startswith("toy: 1 of 5 proofs failed (")
    assert "proof 5 of 5: " in err
    assert "    fail 0/10 adds: a[3] is 1" in run(capsys, "prove", "toy", "--verbose")[1].splitlines()
    status, out, err = run(capsys, "prove", "toy", "--only", "guard", "-q")
    assert (status, err) == (0, "")
    assert out.startswith("toy: all 1 proofs hold (")
    assert run(capsys, "prove", "toy", "--only", "nothing")[0] == 2
    in_project.program("warpgrade-sandbox").unlink()
    assert run(capsys, "prove", "toy")[0] == 3


def test_a_new_lab_says_what_comes_next(in_project: Layout, capsys: Capture) -> None:
    status, out, _ = run(capsys, "new", "lab", "saxpy")
    assert status == 0
    assert "./warpgrade prove saxpy" in out
    assert "saxpy" in run(capsys, "list")[1]
    status, _, err = run(capsys, "new", "lab", "saxpy")
    assert status == 2
    assert "labs/saxpy is already there" in err
