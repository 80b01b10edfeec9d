"""`check --watch`: with a judge that follows a script, and once for real."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from stand_ins import Script, case, end, run, speed, start

from warpgrade.compiling import build
from warpgrade.compiling.failure import BuildFailure
from warpgrade.grading import result
from warpgrade.machine import saves
from warpgrade.machine.paths import Layout, find_layout

Install = Callable[[Script], Path]
Step = Callable[[], object]
LAYOUT = find_layout()


def counted(status: str, sectors: int, **more: Any) -> dict[str, Any]:
    launches = [{"name": "add", "counters": {"global_load_sectors": sectors, "barriers": 4}}] * 2
    return {**dict(case("adds", status, **more)), "tags": ["counter", "public"], "launches": launches}  # type: ignore[arg-type]


@pytest.fixture
def edits(submission: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Do one of these steps, each followed by rest, whenever the watch sleeps; at their end, Ctrl-C."""
    monkeypatch.chdir(submission)

    def install(*steps: str | Step) -> None:
        waiting = iter(steps)
        turn = 0

        def pause(seconds: float) -> None:
            nonlocal turn
            turn += 1
            if turn % 20 != 1:
                return
            step = next(waiting, None)
            if step is None:
                raise KeyboardInterrupt
            if isinstance(step, str):
                (submission / "toy.cu").write_text(step, encoding="utf-8")
            else:
                step()

        monkeypatch.setattr(saves, "pause", pause)

    return install


def calls(program: Path) -> list[list[str]]:
    lines = (program.parent / "calls.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


def named(call: Sequence[str]) -> list[str]:
    return [call[at + 1] for at, word in enumerate(call) if word == "--test"]


def test_what_failed_runs_first_and_what_changed_is_shown(
    script: Install, edits: Callable[..., None], capsys: pytest.CaptureFixture[str]
) -> None:
    program = script([
        [start(7), counted("fail", 100, message="sectors: 200, expected 20"), speed(9.0), end(2)],
        [start(7), counted("pass", 10), end(1)], [start(7), speed(2.0), end(1)],
        [start(7), speed(9.0), end(1)], [start(7), counted("pass", 10), end(1)],
        [start(7), counted("pass", 10), speed(9.0), end(2)],
    ])  # fmt: skip
    edits("// better\n", "// best\n", "// the same\n")
    status, out, _ = run(capsys, "check", "--watch")
    assert status == 0
    first, second, third, fourth = out.split("waiting for the next save; Ctrl-C ends")[:4]
    assert "Adding vectors" in first
    assert "Fix this first: adds" in first
    assert "what lost points before: 1 of 1 pass now; the others follow" in second
    assert "toy.cu" in second
    assert "fail → pass  adds  0 → 10 points" in second
    assert "global_load_sectors 200 → 20" in second
    assert "barriers" not in second
    assert "pass  speed  10 → 5 points" in second
    assert "speedup 9 → 2" in second
    assert "10 → 15 of 20 points" in second
    assert "Fix this first: speed" in second
    assert "15 → 20 of 20 points" in third
    assert "the results are the same as before" in fourth
    assert "20 of 20 points" in fourth
    assert out.rstrip().splitlines()[-1].startswith("4 checks in ")
    assert out.rstrip().endswith(": from 10 to 20 of 20 points")
    runs = calls(program)
    assert [named(call) for call in runs] == [[], ["adds"], ["speed"], ["speed"], ["adds"], []]
    # The inputs stay the same, so that only what the student changes makes a difference.
    assert "--seed" not in runs[0]
    assert all(call[call.index("--seed") + 1] == "7" for call in runs[1:])


def test_what_has_fallen_is_to_be_fixed_first(
    script: Install, edits: Callable[..., None], capsys: pytest.CaptureFixture[str]
) -> None:
    wrong = counted("fail", 10, message="no answer", signs=["wrong"])
    script([[start(7), wrong, speed(9.0), end(2)], [start(7), wrong, end(1)], [start(7), speed(2.0), end(1)]])
    edits("// slower\n")
    status, out, _ = run(capsys, "check", "--watch")
    assert status == 0
    first, second = out.split("waiting for the next save; Ctrl-C ends")[:2]
    assert "Fix this first: adds" in first
    assert "Fix this first: speed" in second


def test_what_cannot_be_graded_is_told_and_watching_goes_on(
    submission: Path, script: Install, edits: Callable[..., None], monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    def compile_(self: build.Builder, files: dict[str, bytes]) -> Path:
        if b"what?" in files["toy.cu"]:
            raise BuildFailure("compile", "toy.cu does not compile", detail="toy.cu(1): error: x\n")
        return Path("/worker")

    monkeypatch.setattr(build.Builder, "build", compile_)
    program = script([[start(), case("adds"), speed(1.0), end(2)], [start(), speed(9.0), end(1)],
                      [start(), case("adds"), end(1)]])  # fmt: skip
    file = submission / "toy.cu"
    edits("what?\n", "", file.unlink, "// good\n", lambda: os.utime(file, ns=(1, 1)))
    status, out, err = run(capsys, "check", "--watch", "--json", submission.parent / "r.json")
    assert status == 0
    assert "toy.cu does not compile" in out
    assert "toy.cu(1): error: x" in out
    assert "warpgrade: toy.cu is empty" in err
    assert "expected toy.cu, found " in err or "work is empty" in err
    assert "10 → 20 of 20 points" in out
    assert "toy.cu: saved, but nothing in it has changed" in out
    assert out.rstrip().endswith("from 10 to 20 of 20 points")
    assert [named(call) for call in calls(program)] == [[], ["speed"], ["adds"]]
    assert result.decode((submission.parent / "r.json").read_bytes()).score.points == 20


def test_trouble_of_the_grader_ends_the_first_check_only(
    in_project: Layout, script: Install, edits: Callable[..., None], capsys: pytest.CaptureFixture[str]
) -> None:
    script([[start(), case("adds"), speed(1.0), end(2)]])
    sandbox = in_project.program("warpgrade-sandbox")
    works = sandbox.read_text()

    def breaks() -> None:
        sandbox.write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")
        (Path.cwd() / "toy.cu").write_text("// x\n", encoding="utf-8")

    edits(breaks)
    status, out, err = run(capsys, "check", "--watch")
    assert status == 0
    assert "the sandbox does not work" in err
    assert "1 check in" in out
    assert run(capsys, "check", "--watch")[0] == 3
    sandbox.write_text(works, encoding="utf-8")


def test_one_line_a_check_and_wrong_usage(
    script: Install, edits: Callable[..., None], capsys: pytest.CaptureFixture[str]
) -> None:
    script([[start(), case("adds"), speed(3.0), end(2)]])
    edits("// again\n")
    out = run(capsys, "check", "--watch", "-q")[1]
    assert out.count("20 / 20") == 2
    assert len([line for line in out.splitlines() if line]) == 3
    status, _, err = run(capsys, "check", "--watch", "--json", "-")
    assert status == 2
    assert "--json FILE" in err
    assert run(capsys, "grade", "toy", ".", "--watch")[0] == 2


@pytest.mark.labs
def test_a_real_watch_of_matmul(tmp_path: Path) -> None:
    for name in ("matmul.cu", "prelab.cpp"):
        shutil.copyfile(LAYOUT.starters / "matmul" / name, tmp_path / name)
    log = tmp_path / "log.txt"
    with log.open("w") as out:
        watch = subprocess.Popen(
            [sys.executable, "-m", "warpgrade", "check", "--watch"], cwd=tmp_path, stdin=subprocess.DEVNULL,
            stdout=out, stderr=subprocess.STDOUT, start_new_session=True,
            # A shell that runs tests in the background has them ignore it.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509
            env={**os.environ, "PYTHONPATH": str(LAYOUT.root / "grader"), "WARPGRADE_PRESET": LAYOUT.preset},
        )  # fmt: skip

    def wait_for(words: str, times: int = 1) -> str:
        for _ in range(1200):
            text = log.read_text(encoding="utf-8")
            if text.count(words) >= times:
                return text
            assert watch.poll() is None, text
            time.sleep(0.1)
        raise AssertionError(log.read_text(encoding="utf-8"))

    try:
        wait_for("waiting for the next save", 1)
        file = tmp_path / "matmul.cu"
        source = file.read_text(encoding="utf-8")
        file.write_text("no C++\n" + source, encoding="utf-8")
        assert "matmul.cu does not compile" in wait_for("waiting for the next save", 2)
        new = tmp_path / "new"
        new.write_bytes((LAYOUT.references / "matmul" / "matmul.cu").read_bytes())
        new.rename(file)
        text = wait_for("waiting for the next save", 3)
        assert "fail → pass  matmul_columns loads neighbours" in text
        assert "what lost points before: " in text
        os.kill(watch.pid, signal.SIGINT)
        assert watch.wait(timeout=60) == 0
        assert "3 checks in " in log.read_text(encoding="utf-8").splitlines()[-1]
    finally:
        watch.kill()
        watch.wait()
