"""A lab's judge is built when it is first needed, once a process, and only where that is allowed and possible."""

import os
from pathlib import Path

import pytest
from stand_ins import write_program

from warpgrade.machine import on_demand
from warpgrade.machine.errors import GraderError
from warpgrade.machine.paths import Layout

CMAKE = """#!/bin/sh
echo "$@" >>{calls}
echo "[1/2] Building CXX object hidden.cpp.o"
echo "hidden.cpp:3:1: error: no"
exit {status}
"""


@pytest.fixture
def calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cmake that notes how it is called; fails while the folder holds `broken`."""
    path = tmp_path / "calls"
    write_program(
        tmp_path / "bin" / "cmake", CMAKE.format(calls=path, status=f"$(test ! -e {tmp_path}/broken; echo $?)")
    )
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    monkeypatch.setenv(on_demand.ALLOWED, "1")
    return path


def test_a_judge_is_built_once_and_progress_is_said(layout: Layout, calls: Path) -> None:
    said: list[str] = []
    on_demand.require_lab(layout, "toy", said.append)
    on_demand.require_lab(layout, "toy", said.append)
    assert calls.read_text() == f"--build {layout.build} --target lab-toy\n"
    assert said == ["building the judge of lab toy, step 1/2"]


def test_a_judge_that_does_not_build_is_the_graders_error(layout: Layout, calls: Path, tmp_path: Path) -> None:
    (tmp_path / "broken").touch()
    with pytest.raises(GraderError, match="the judge of lab toy does not build") as raised:
        on_demand.require_lab(layout, "toy")
    assert raised.value.detail == "hidden.cpp:3:1: error: no"
    assert "build-lab-toy.log" in raised.value.hint
    (tmp_path / "broken").unlink()
    on_demand.require_lab(layout, "toy")  # it is tried again
    assert len(calls.read_text().splitlines()) == 2


def test_nothing_is_built_without_the_launchers_word_or_in_a_folder_that_is_read_only(
    layout: Layout, calls: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(os, "access", lambda path, mode: False)
        on_demand.require_lab(layout, "toy")
    monkeypatch.delenv(on_demand.ALLOWED)
    on_demand.require_lab(layout, "toy")
    assert not calls.exists()
