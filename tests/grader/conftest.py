"""Fixtures: a project with one toy lab and a judge whose behaviour each test chooses."""

from __future__ import annotations

import json
import stat
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from warpgrade import build, cli, labs
from warpgrade.labs import Lab
from warpgrade.paths import Layout
from warpgrade.toolchain import Compilers

TOY_LAB = """
[lab]
title = "Adding vectors"
order = 10
summary = "One thread an element."
files = ["toy.cu", "*.cuh"]
functions = ["toy"]
[limits]
seconds = 5
[baseline]
points = 10
[[test]]
name = "adds"
points = 10
hint = "Which element is this thread's?"
[[test]]
name = "adds odd sizes"
points = 20
hidden = true
hint = "Guard the last block."
[[speed]]
name = "speed"
points = 10
vgpu = [[1.0, 0], [3.0, 10]]
gpu = [[1.0, 0], [2.0, 10]]
hint = "Neighbouring threads, neighbouring elements."
"""

# Each list of lines is one call of the judge; the last list serves all later calls. A line is a verdict (a dict), raw
# text, or one of the words: die, hang.
FAKE_JUDGE = """#!{python}
import json, os, pathlib, sys, time
here = pathlib.Path(__file__).parent
script = json.loads((here / "script.json").read_text())
calls = here / "calls.jsonl"
number = len(calls.read_text().splitlines()) if calls.exists() else 0
with calls.open("a") as log:
    log.write(json.dumps(sys.argv[1:]) + "\\n")
verdict = open(sys.argv[sys.argv.index("--verdict") + 1], "a")
for step in script[min(number, len(script) - 1)]:
    if step == "die":
        print("judge: cannot go on", file=sys.stderr, flush=True)
        os.abort()
    if step == "hang":
        time.sleep(600)
    verdict.write(step if isinstance(step, str) else json.dumps(step) + "\\n")
    verdict.flush()
"""

FAKE_DEVICE = """#!{python}
import sys
spec = sys.argv[sys.argv.index("--device") + 1]
if spec != "vgpu:h100":
    sys.exit(f"no profile {{spec}}; there is h100")
print('{{"name": "toy GPU", "profile": "h100", "major": 9, "minor": 0, "multi_processor_count": 4}}')
"""

FAKE_SANDBOX = """#!{python}
import sys
sys.exit(0)
"""

Step = dict[str, Any] | str
Script = list[list[Step]]


def write_program(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text.replace("{python}", sys.executable).replace("{{", "{").replace("}}", "}"), encoding="utf-8")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def start(seed: int = 7) -> Step:
    return {"type": "start", "seed": seed, "device": {"name": "toy GPU"}}


def begin(name: str) -> Step:
    return {"type": "case_start", "name": name}


def case(name: str, status: str = "pass", message: str = "", **more: Any) -> Step:
    return {"type": "case", "name": name, "tags": [], "status": status, "seconds": 0.1, "message": message, **more}


def speed(value: float) -> Step:
    return case("speed", measurements=[{"name": "speedup", "value": value, "unit": "x"}])


def end(cases: int = 3) -> Step:
    return {"type": "end", "cases": cases}


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    root = tmp_path / "project"
    folder = root / "labs" / "toy"
    folder.mkdir(parents=True)
    (folder / "lab.toml").write_text(TOY_LAB, encoding="utf-8")
    (folder / "toy.h").write_text("void toy(float* a, int n);\n", encoding="utf-8")
    starter = root / "starter" / "toy"
    starter.mkdir(parents=True)
    (starter / "toy.cu").write_text("void toy(float*, int) {}\n", encoding="utf-8")
    layout = Layout(root)
    write_program(layout.program("warpgrade-device"), FAKE_DEVICE)
    write_program(layout.program("warpgrade-sandbox"), FAKE_SANDBOX)
    return layout


@pytest.fixture
def lab(layout: Layout) -> Lab:
    return labs.find(layout, "toy")


@pytest.fixture
def script(layout: Layout) -> Callable[[Script], Path]:
    """Install a judge that follows a script; returns its path."""

    def install(steps: Script) -> Path:
        program = write_program(layout.program("judge-toy"), FAKE_JUDGE)
        (program.parent / "script.json").write_text(json.dumps(steps), encoding="utf-8")
        return program

    return install


@pytest.fixture
def in_project(layout: Layout, monkeypatch: pytest.MonkeyPatch) -> Layout:
    """Let the command line work on the toy project."""
    monkeypatch.setattr(cli, "find_layout", lambda: layout)
    monkeypatch.setenv("COLUMNS", "80")
    return layout


@pytest.fixture
def submission(in_project: Layout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to hand in, in a project where every build succeeds."""
    compilers = Compilers(Path("/usr/bin/nvcc"), "13.0.88", Path("/usr/bin/g++"), "g++ 12.2.0")
    monkeypatch.setattr("warpgrade.toolchain.find", lambda layout: compilers)
    monkeypatch.setattr(build.Builder, "build", lambda self, files: in_project.root / "worker")
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "toy.cu").write_text("void toy(float*, int) {}\n", encoding="utf-8")
    return folder


def run(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> tuple[int, str, str]:
    capsys.readouterr()
    status = cli.run([str(argument) for argument in arguments])
    captured = capsys.readouterr()
    assert "Traceback" not in captured.out + captured.err
    return status, captured.out, captured.err
