"""`doctor` tries what a grade needs, and names what is in the way."""

import dataclasses
import os
import shutil
import subprocess
import sys
from collections import namedtuple
from pathlib import Path

import pytest

from warpgrade.compiling import toolchain
from warpgrade.dev import doctor
from warpgrade.dev.doctor import Finding
from warpgrade.machine.errors import GraderError
from warpgrade.machine.launch_progress import ProgressPage
from warpgrade.machine.paths import Layout, find_layout
from warpgrade.running import run, time_budget

LAYOUT = find_layout()


def program(path: Path, says: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\necho '{says}'\n", encoding="utf-8")
    path.chmod(0o755)
    return path


def test_an_nvcc_that_is_too_old_is_named(layout: Layout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    installed = dataclasses.replace(layout, native=tmp_path)
    old = program(tmp_path / "cuda-11.8" / "bin" / "nvcc", "Cuda compilation tools, release 11.8, V11.8.89")
    new = program(tmp_path / "cuda-13.0" / "bin" / "nvcc", "Cuda compilation tools, release 13.0, V13.0.88")
    monkeypatch.setattr("sysconfig.get_path", lambda name: str(tmp_path / "no wheels"))
    monkeypatch.setattr(shutil, "which", lambda name, **_: str(old) if name == "nvcc" else "/usr/bin/" + name)
    for name in ("CUDA_PATH", "WARPGRADE_NVCC"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("CUDA_HOME", str(new.parents[1]))
    assert toolchain.find(installed).nvcc == new
    monkeypatch.setenv("WARPGRADE_NVCC", str(old))
    with pytest.raises(GraderError, match=r"^WARPGRADE_NVCC names nvcc 11\.8 at "):
        toolchain.find(installed)
    monkeypatch.delenv("WARPGRADE_NVCC")
    monkeypatch.setenv("CUDA_HOME", str(old.parents[1]))
    if not os.access("/usr/local/cuda/bin/nvcc", os.X_OK):
        with pytest.raises(GraderError, match=r"no nvcc 12\.4 or newer was found; here is nvcc 11\.8 at "):
            toolchain.find(installed)


def test_a_disk_that_is_nearly_full_is_named(layout: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: usage(1 << 40, 0, 5 << 20))
    found = doctor.examine(layout)
    (disks,) = [finding for finding in found if finding.what == "disks"]
    assert not disks.good
    assert "nearly full (5 MiB left)" in disks.found
    assert not [finding for finding in found if finding.what == "trial"]  # it would fail of the same


def test_where_no_program_may_be_started(tmp_path: Path) -> None:
    class Server:
        client = sys.stdin

    compiled = tmp_path / "a.out"
    compiled.touch(mode=0o644)  # a disk without the right to execute gives the same error
    with (
        (tmp_path / "a.out").open() as client,
        pytest.raises(GraderError, match="no program may be started in") as caught,
    ):
        Server.client = client
        run._execute(LAYOUT, compiled, [], Server(), time_budget.Watch(ProgressPage(), None, None))  # type: ignore[arg-type]
    assert "TMPDIR" in caught.value.hint


@pytest.mark.labs
def test_the_trial_runs_a_program_and_tells_where_none_may_run(tmp_path: Path) -> None:
    assert doctor._trial(LAYOUT) == [Finding("trial", "a program was compiled, and ran on the virtual GPU")]
    mount = f"mount -t tmpfs -o noexec tmpfs {tmp_path}"
    if subprocess.run(["unshare", "-rm", "sh", "-c", mount], capture_output=True, check=False).returncode != 0:
        pytest.skip("no disk can be mounted here")
    words = "from warpgrade.dev import doctor; from warpgrade.machine import paths; "
    words += "print(doctor._guarded(doctor._trial, paths.find_layout()))"
    done = subprocess.run(
        ["unshare", "-rm", "sh", "-c", f'{mount} && exec "$@"', "sh", sys.executable, "-c", words],
        env={**os.environ, "TMPDIR": str(tmp_path), "PYTHONPATH": str(LAYOUT.root / "grader")},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert "no program may be started in" in done.stdout, done.stdout + done.stderr
    assert "good=False" in done.stdout
