"""Fixtures: a project with one toy lab and a judge whose behaviour each test chooses."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from stand_ins import FAKE_DEVICE, FAKE_JUDGE, FAKE_SANDBOX, PATCH, REFERENCE, TOY_LAB, Script, write_program

from warpgrade.compiling import build
from warpgrade.compiling.toolchain import Compilers
from warpgrade.lab import labs
from warpgrade.lab.labs import Lab
from warpgrade.machine import paths
from warpgrade.machine.paths import Layout


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
def reference(layout: Layout, lab: Lab) -> Path:
    """The toy lab's reference and its one wrong solution."""
    path = layout.references / "toy" / "toy.cu"
    path.parent.mkdir(parents=True)
    path.write_text(REFERENCE, encoding="utf-8")
    (lab.folder / "wrong").mkdir()
    (lab.folder / "wrong" / "no_guard.patch").write_text(PATCH, encoding="utf-8")
    return path


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
    monkeypatch.setattr(paths, "find_layout", lambda: layout)
    monkeypatch.setenv("COLUMNS", "80")
    return layout


@pytest.fixture
def submission(in_project: Layout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to hand in, in a project where every build succeeds."""
    compilers = Compilers(Path("/usr/bin/nvcc"), "13.0.88", Path("/usr/bin/g++"), "g++ 12.2.0")
    monkeypatch.setattr("warpgrade.compiling.toolchain.find", lambda layout: compilers)
    monkeypatch.setattr(build.Builder, "build", lambda self, files: in_project.root / "worker")
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "toy.cu").write_text("void toy(float*, int) {}\n", encoding="utf-8")
    return folder
