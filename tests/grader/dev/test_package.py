"""A wheel holds nothing of a lab and nothing of this machine; what is installed needs no repository."""

import os
import shlex
import subprocess
import sys
import venv
import zipfile
from collections.abc import Callable
from pathlib import Path

import made_once
import pytest
from dev import walk

from warpgrade.cli.dev import package_command
from warpgrade.dev import package
from warpgrade.handout import make
from warpgrade.lab import labs
from warpgrade.machine import cpu
from warpgrade.machine.errors import GraderError
from warpgrade.machine.paths import Layout, find_layout

LAYOUT = find_layout()


def wheel(path: Path, **files: bytes) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in files.items():
            archive.writestr(name.replace("__", "/"), content)
    return path


@pytest.mark.parametrize(
    ("name", "content", "complaint"),
    [
        ("warpgrade__reference__matmul.cu", b"", "warpgrade/reference/matmul.cu: belongs to a lab"),
        ("warpgrade__lib.a", b"\0/home/me/course/grader/judge/main.cpp\0", "names /home/me/course"),
        ("warpgrade__lib.so", b"\x7fELF\0GLIBC_2.34\0GLIBC_2.38\0", "needs glibc 2.38"),
    ],
)
def test_what_must_not_be_in_a_wheel(tmp_path: Path, name: str, content: bytes, complaint: str) -> None:
    made = wheel(tmp_path / "one.whl", **{"warpgrade__cli.py": b"print()", name: content})
    (found,) = package.mistakes(made, ["/home/me/course", "/"])
    assert complaint in found


def test_nothing_to_find_in_what_is_fit(tmp_path: Path) -> None:
    made = wheel(tmp_path / "one.whl", **{"warpgrade__lib.so": b"\x7fELF\0GLIBC_2.35\0"})
    assert list(package.mistakes(made, ["/home/me"])) == []


def test_minutes_of_compiling_are_counted(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def build(layout: Layout, target: str, what: str, show: Callable[[int, int], None]) -> None:
        show(150, 150)
        raise GraderError("far enough")

    monkeypatch.setattr("warpgrade.machine.on_demand.build_target", build)
    monkeypatch.setattr(package, "_run", lambda *_: None)
    with pytest.raises(GraderError, match="far enough"):
        package_command.main(["--out", str(tmp_path)], standalone_mode=False)
    assert "150 of 150 steps" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("flags", "best"),
    [
        ("sse4_2 ssse3 popcnt cx16", "x86-64-v2"),
        ("sse4_2 ssse3 popcnt cx16 avx2 fma bmi2 f16c movbe", "x86-64-v3"),
        ("sse4_2 ssse3 popcnt cx16 avx2 fma bmi2 f16c movbe avx512f avx512bw avx512cd avx512dq avx512vl", "x86-64-v4"),
    ],
)
def test_the_best_level_of_a_processor(monkeypatch: pytest.MonkeyPatch, flags: str, best: str) -> None:
    monkeypatch.setattr(cpu, "_flags", lambda: frozenset(flags.split()))
    monkeypatch.delenv("WARPGRADE_CPU", raising=False)
    assert cpu.supported_levels()[0] == best
    assert cpu.supported_levels()[-1] == "x86-64-v2"
    monkeypatch.setenv("WARPGRADE_CPU", "x86-64-v2")
    assert cpu.supported_levels() == ["x86-64-v2"]
    monkeypatch.setenv("WARPGRADE_CPU", "pentium")
    with pytest.raises(GraderError, match="this processor has x86-64-v"):
        cpu.supported_levels()


def test_a_processor_that_is_too_old(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cpu, "_flags", lambda: frozenset({"sse2"}))
    with pytest.raises(GraderError, match="older than x86-64-v2"):
        cpu.supported_levels()


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a virtual environment that holds the wheel, and what it needs of ours."""
    folder = tmp_path_factory.mktemp("installed")
    made = made_once.wheel(tmp_path_factory)
    venv.create(folder / "venv", with_pip=False, symlinks=True)
    python = folder / "venv" / "bin" / "python"
    (site,) = (folder / "venv" / "lib").glob("python*/site-packages")
    subprocess.run(
        [sys.executable, "-m", "pip", "--python", str(python), "install", "-q", "--no-deps", "--no-index", str(made)],
        check=True,
    )
    (here,) = (LAYOUT.root / ".venv" / "lib").glob("python*/site-packages")
    (site / "needs.pth").write_text(f"{here}\n", encoding="utf-8")
    return folder


def call(installed: Path, home: Path, folder: Path, *words: str) -> str:
    """Call the installed command as a user whose home is `home`, in `folder`; return all that it says."""
    return shell(installed, home, folder, shlex.join(["warpgrade", *words]))


def shell(installed: Path, home: Path, folder: Path, words: str) -> str:
    """Run a line of a shell which finds the installed command."""
    keep = {"PATH": f"{installed}/venv/bin:/usr/local/cuda/bin:/usr/bin:/bin", "HOME": str(home)}
    keep |= {name: value for name, value in os.environ.items() if name in {"CUDA_HOME", "WARPGRADE_NVCC"}}
    done = subprocess.run(["bash", "-c", words], cwd=folder, env=keep, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{words}\n{done.stdout}{done.stderr}"
    return done.stdout + done.stderr


def follow(installed: Path, home: Path, folder: Path, step: walk.File | walk.Command) -> bool:
    """Do what a page says, and see what it says one will see."""
    if isinstance(step, walk.File):
        path = folder / step.name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(step.text, encoding="utf-8")
    else:
        said = shell(installed, home, folder, step.words)
        assert [line for line in step.output if line not in said] == [], f"{step.words}\n{said}"
    return True


@pytest.mark.labs
@pytest.mark.nightly
def test_the_guide_to_a_lab_of_ones_own_can_be_followed_with_the_installed_package(
    installed: Path, tmp_path: Path
) -> None:
    course, home = tmp_path / "course", tmp_path / "home"
    for folder in (course, home):
        folder.mkdir()
    assert "./warpgrade" not in call(installed, home, course, "doctor")
    assert "Race in shared memory" in call(installed, home, course, "explain", "racecheck/shared")
    done = [step for step in walk.steps(LAYOUT.root / "docs" / "first-lab.md") if follow(installed, home, course, step)]
    assert len(done) > 25
    assert (home / ".cache" / "warpgrade" / "cache").is_dir()


@pytest.mark.labs
def test_a_student_checks_a_handout_with_the_installed_package(installed: Path, tmp_path: Path) -> None:
    made = make.release(LAYOUT, labs.find(LAYOUT, "reverse"), tmp_path)
    assert f"Total   {made.points:g} / {made.max_points:g}" in call(installed, tmp_path, made.path, "check")
    for path in (LAYOUT.references / "reverse").iterdir():
        (made.path / path.name).write_bytes(path.read_bytes())
    said = call(installed, tmp_path, made.path, "check", "reverse", "--only", "dynamic_reverse")
    assert "100 %" in said
