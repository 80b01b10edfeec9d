"""How `warpgrade test` does its steps: one after the other, and some beside them."""

import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from warpgrade.cli import dev
from warpgrade.dev import cxx, testing
from warpgrade.dev.testing import Found, Step
from warpgrade.machine.errors import EXIT_BELOW_THRESHOLD, EXIT_DONE, BadInput
from warpgrade.machine.paths import Layout, find_layout


def said(text: str) -> bool:
    click.echo(text)
    return True


@pytest.mark.parametrize(("good", "status"), [(True, EXIT_DONE), (False, EXIT_BELOW_THRESHOLD)])
def test_what_runs_beside_begins_at_once_and_is_told_in_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], good: bool, status: int
) -> None:
    begun = threading.Event()

    def beside(layout: Layout, name: str) -> Found:
        begun.set()
        return Found(good, f"{name} has found this\n", 1)

    monkeypatch.setattr(testing, "_beside", beside)
    steps = [
        Step("first", lambda layout: begun.wait(60) and said("one")),
        Step("clang-tidy", None),
        Step("last", lambda layout: said("two")),
    ]
    assert testing._run(Layout(tmp_path), steps) == status
    told = capsys.readouterr().out.splitlines()
    assert told[:6] == ["== first", "one", "== clang-tidy", "clang-tidy has found this", "== last", "two"]
    assert told[-1].startswith("warpgrade test: all 3" if good else "warpgrade test: FAILED in clang-tidy (")


@pytest.mark.parametrize("status", [0, 3])
def test_a_step_beside_the_others_is_a_process_that_gives_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    program = f"import os; print(os.nice(0)); raise SystemExit({status})"
    start = subprocess.run

    def run(command: list[str], **options: object) -> object:
        assert command[-4:] == [sys.executable, "-m", "warpgrade.dev.cxx", "clang-tidy"]
        return start([*command[:-3], "-c", program], **options)  # type: ignore[call-overload]

    monkeypatch.setattr(subprocess, "run", run)
    found = testing._beside(Layout(tmp_path), "clang-tidy")
    assert found.good is (status == 0)
    assert int(found.words) > 0


def test_each_step_without_an_action_is_one_that_can_run_beside(monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[Step] = []

    def run(layout: Layout, steps: list[Step]) -> int:
        done.extend(steps)
        return 0

    monkeypatch.setattr(testing, "_run", run)
    testing.run(Layout(Path("/nowhere")))
    assert {step.name for step in done if step.action is None} == set(cxx.BESIDE)
    done.clear()
    testing.run(Layout(Path("/nowhere")), quick=True)
    assert not {step.name for step in done} & set(cxx.BESIDE)


@pytest.mark.parametrize(
    ("words", "chosen"), [([], "not nightly"), (["--all"], None), (["--quick"], "not labs and not nightly")]
)
def test_only_the_night_runs_all_tests(
    in_project: Layout, monkeypatch: pytest.MonkeyPatch, words: list[str], chosen: str | None
) -> None:
    asked: list[list[str]] = []
    seeds: list[str] = []

    def call(layout: Layout, command: list[str], variables: Mapping[str, str] | None = None) -> bool:
        asked.append(command)
        seeds.extend((variables or {}).values())
        return True

    monkeypatch.setattr(testing, "_call", call)
    monkeypatch.setattr(testing, "_run", lambda layout, steps: [step.action(layout) for step in steps if step.action])
    CliRunner().invoke(dev.test_command, words)
    (command,) = [each for each in asked if each[1:3] == ["-m", "pytest"]]
    after = command[3:]
    assert (after[after.index("-m") + 1] if "-m" in after else None) == chosen
    assert seeds == (["random"] if chosen is None else [])


def test_what_needs_a_gpu_is_run_where_there_is_one(in_project: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[list[str]] = []

    def call(layout: Layout, command: list[str], variables: Mapping[str, str] | None = None) -> bool:
        asked.append(command)
        return True

    monkeypatch.setattr(testing, "_call", call)
    monkeypatch.setattr(testing, "machine_gpus", lambda: ["NVIDIA H100"])
    assert testing.run_gpu(in_project) == EXIT_DONE
    ctest, pytest_ = asked
    assert ctest[0] == "ctest"
    assert ctest[-2:] == ["-R", "^gpu$"]
    assert pytest_[1:] == ["-m", "pytest", "-m", "gpu", "-rA"]
    monkeypatch.setattr(testing, "machine_gpus", list)
    with pytest.raises(BadInput, match="there is no NVIDIA GPU in this machine"):
        CliRunner().invoke(dev.test_command, ["--gpu"], catch_exceptions=False)


def test_the_night_runs_all_tests() -> None:
    assert "./warpgrade test --all " in (find_layout().root / ".ci" / "nightly").read_text(encoding="utf-8")


def test_a_fuzz_target_that_is_not_built_fails_fuzzing(
    in_project: Layout, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(cxx, "_build_fuzz_targets", lambda layout: True)
    assert not cxx.fuzz(in_project)
    assert "fuzz-report: not built" in capsys.readouterr().out
