"""A full disk, a folder that cannot be written: one sentence each, status 3, and nothing half written."""

import errno
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from stand_ins import run

from warpgrade.handout import make
from warpgrade.lab import labs
from warpgrade.machine import disk_space, files
from warpgrade.machine.errors import BadInput, GraderError
from warpgrade.machine.paths import Layout, find_layout

LAYOUT = find_layout()
# Each of them writes more than the disk holds; told: what was said, the status, and what is left on the disk.
WRITES = """
import contextlib, dataclasses, json, os, sys
from pathlib import Path
from warpgrade.cli import main
from warpgrade.lab import labs, new
from warpgrade.machine import cache, errors, files, paths
from warpgrade.handout import template

disk = Path(sys.argv[1])
large = disk.parent / "large"
large.mkdir()
(large / "file").write_bytes(os.urandom(1 << 20))
os.chdir(disk)
course = dataclasses.replace(paths.find_layout(), root=disk)

def into_cache():
    cache.cached(disk / "objects" / "key", lambda target: (target / "made").write_bytes(bytes(1 << 20)))

ways = {
    "a file": lambda: files.write(str(disk / "result.json"), "--json", bytes(1 << 20)),
    "an archive": lambda: files.write_zip(disk / "lab.zip", [large / "file"], large),
    "the cache": into_cache,
    "a template": lambda: template._move(large, disk / "gradescope"),
    "a lab": lambda: new.create(course, "axpy"),
}
told = {}
for name, way in ways.items():
    main.main.main = lambda way=way, **_: way()
    with open(large / "said", "w+") as said, contextlib.redirect_stderr(said):
        status = main.run([])
        said.seek(0)
        told[name] = [status, said.read(), [str(path) for path in disk.rglob("*") if path.is_file()]]
print(json.dumps(told))
"""
# A grade whose cache and scratch are on the disk.
GRADES = """
import dataclasses, shutil, sys
from pathlib import Path
from warpgrade.cli import main
from warpgrade.machine import paths

layout = paths.find_layout()
if "state" in sys.argv[2]:
    shutil.copytree(layout.state / "setup", Path(sys.argv[1]) / "setup")
    layout = dataclasses.replace(layout, state_home=Path(sys.argv[1]))
paths.find_layout = lambda: layout
sys.exit(main.run(["grade", "reverse", sys.argv[3], "--quiet", "--only", "static_reverse"]))
"""


def on_small_disk(
    disk: Path, size: str, script: str, *words: str, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run a script on a disk of that size, which nobody else sees; skips the test where none can be made."""
    disk.mkdir()
    mount = f'mount -t tmpfs -o size={size} small "$1" || exit 77; shift; exec "$@"'
    user = [] if os.getuid() == 0 else ["--map-root-user"]
    done = subprocess.run(
        ["unshare", "--mount", *user, "bash", "-c", mount, "bash", str(disk), sys.executable, "-c", script, str(disk),
         *words],
        capture_output=True, text=True, check=False, cwd=disk.parent,
        env={**os.environ, "PYTHONPATH": str(LAYOUT.root / "grader"), **environment},
    )  # fmt: skip
    if done.returncode == 77 or done.stderr.startswith("unshare:"):
        pytest.skip("no disk of our own can be mounted here")
    return done


def test_nothing_half_written_is_left_on_a_full_disk(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    done = on_small_disk(disk, "16k", WRITES)
    told = json.loads(done.stdout)
    assert len(told) == 5
    for name, (status, said, left) in told.items():
        assert status == 3, name
        assert said.startswith(f"warpgrade: no space is left on the disk at {disk}"), (name, said)
        assert "free some space" in said
        assert left == [], name


@pytest.mark.labs
@pytest.mark.parametrize(("size", "what", "program"), [("24k", "scratch", "compiler"), ("480k", "state", "linker")])
def test_a_build_on_a_full_disk(tmp_path: Path, size: str, what: str, program: str) -> None:
    work = tmp_path / "reverse.cu"
    work.write_bytes((LAYOUT.starters / "reverse" / "reverse.cu").read_bytes() + f"// {tmp_path}\n".encode())
    disk = tmp_path / "disk"
    more = {"TMPDIR": str(disk)} if what == "scratch" else {}
    done = on_small_disk(disk, size, GRADES, what, str(work), **more)
    assert done.returncode == 3, done.stdout + done.stderr
    told = [f"the {program} has failed: the disk at {disk} is full"]
    if what == "scratch":  # where the starter is compiled beside it, their sources may fill it before the compiler does
        told.append(f"no space is left on the disk at {disk}")
    assert done.stderr.startswith(tuple(f"warpgrade: {words}" for words in told)), done.stderr


def test_a_full_standard_output(in_project: Layout) -> None:
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        done = subprocess.run(
            [sys.executable, "-m", "warpgrade", "list"], stdout=full, stderr=subprocess.PIPE, text=True, check=False,
            env={**os.environ, "PYTHONPATH": str(LAYOUT.root / "grader")}, cwd=in_project.root,
        )  # fmt: skip
    assert done.returncode == 3
    assert done.stderr.startswith("warpgrade: no space is left on the disk")
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), "no space is left on the disk"),
        (OSError(errno.EDQUOT, "Disk quota exceeded", "/"), "no space is left on the disk at /"),
        (shutil.Error([("a", "b", "[Errno 28] No space left on device: 'b'")]), "no space is left on the disk"),
        (PermissionError(errno.EACCES, "Permission denied", "/x\x1b[2J"), "/x cannot be read or written: Permission"),
        (OSError(errno.EROFS, "Read-only file system", "/x"), "/x cannot be read or written: Read-only file system"),
        (FileNotFoundError(errno.ENOENT, "No usable temporary directory found in ['/tmp']"), "no folder for temporary"),
        (shutil.Error([("a", "b", "[Errno 2] not there")]), None),
        (FileNotFoundError(errno.ENOENT, "No such file", "/x"), None),
        (ValueError("x"), None),
    ],
)  # fmt: skip
def test_errors_of_the_file_system(error: Exception, told: str | None) -> None:
    known = disk_space.trouble(error)
    assert (known is None) == (told is None)
    if known is not None and told is not None:
        assert known.message.startswith(told)
        assert known.hint
        assert known.exit_status == 3


def test_a_disk_with_room_is_no_reason(tmp_path: Path) -> None:
    disk_space.require(tmp_path, "the linker", 1)
    with pytest.raises(GraderError, match=r"the linker has failed: the disk at .* is full"):
        disk_space.require(tmp_path, "the linker", 1 << 60)


def test_a_release_that_fails_leaves_nothing(
    in_project: Layout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def copied(source: Path, target: Path) -> None:
        Path(target).mkdir()
        (Path(target) / "half").touch()
        raise shutil.Error([(source, target, "[Errno 28] No space left on device")])

    monkeypatch.setattr(make, "_fill", lambda layout, lab, folder, *_: folder.mkdir())
    monkeypatch.setattr(make, "_baseline", lambda layout, lab, folder: (1, 1))
    monkeypatch.setattr(make, "_look_through", lambda layout, lab, folder: None)
    monkeypatch.setattr("warpgrade.lab.agreement.require", lambda lab: None)
    monkeypatch.setattr("warpgrade.cli.handouts.agreement.find_own", labs.find)
    monkeypatch.setattr(shutil, "copytree", copied)
    status, out, err = run(capsys, "release", "toy", "--out", tmp_path / "out")
    assert (status, out) == (3, "")
    assert "warpgrade: no space is left on the disk" in err
    assert list((tmp_path / "out").iterdir()) == []


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
def test_a_report_that_does_not_fit_is_the_machines_trouble() -> None:
    with pytest.raises(GraderError, match="--json /dev/full cannot be written: No space left on device"):
        files.write("/dev/full", "--json", b"{}\n")
    with pytest.raises(BadInput, match="--json /proc/none cannot be written"):
        files.write("/proc/none", "--json", b"{}\n")
