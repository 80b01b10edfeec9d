"""`test --changed`: what a change can break, and no less."""

import subprocess
from pathlib import Path

import pytest

from warpgrade.dev import changed
from warpgrade.machine.errors import BadInput
from warpgrade.machine.paths import find_layout

ROOT = find_layout().root


def of(*files: str) -> changed.Affected:
    return changed.affected_by(ROOT, files)


def test_a_change_runs_the_tests_of_its_folder_and_of_those_that_use_it() -> None:
    formats = of("grader/warpgrade/report/formats/sarif.py")
    assert "tests/grader/report" in formats.quick
    assert "tests/grader/cli" in formats.quick
    assert "tests/grader/grading" not in formats.quick
    assert not formats.programs
    assert "tests/grader/cohort" in of("grader/warpgrade/machine/text.py").quick
    assert "tests/browser" in of("grader/warpgrade/report/export.py").quick
    assert "tests/browser" not in of("grader/warpgrade/notebook/magics.py").quick


def test_cpp_runs_its_programs_and_whole_ones() -> None:
    ops = of("grader/vgpu/ops/float.cpp")
    assert {"vgpu", "server"} <= ops.programs
    assert "judge" not in ops.programs
    assert {changed._PROGRAMS, changed._GRADES} <= ops.whole
    assert {"judge", "server", "vgpu", "cudart"} <= of("grader/device/device.hpp").programs
    judge = of("grader/judge/pattern.cpp")
    assert judge.programs == {"judge"}
    assert judge.whole == {changed._GRADES}


def test_tests_labs_and_pages_run_themselves() -> None:
    assert of("tests/grader/report/test_sarif_of_old.py").quick == {"tests/grader/report"}  # it is gone
    assert of("tests/grader/dev/test_changed.py").quick == {"tests/grader/dev/test_changed.py"}
    assert of("tests/server/waits_test.cpp").programs == {"server"}
    assert of("tests/checks/memcheck/leak_ok.patch").whole == {changed._PROGRAMS}
    assert of("labs/scan/lab.toml", "reference/step/step.cu").labs == {"scan", "step"}
    assert of("tests/browser/test_pages.py").quick == {"tests/browser"}
    assert of("docs/labs.md").quick == {"tests/grader/dev", "tests/grader/report"}


@pytest.mark.parametrize("file", ["CMakeLists.txt", "warpgrade", "tests/grader/samples.py", "pyproject.toml", "new"])
def test_what_may_matter_to_all_runs_everything(file: str) -> None:
    assert of(file).everything


def test_files_come_from_git(tmp_path: Path) -> None:
    def git(*words: str) -> None:
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b.c", *words], cwd=tmp_path, check=True)

    git("init", "-q")
    (tmp_path / "kept").write_text("1")
    (tmp_path / "changed ä").write_text("1")
    git("add", ".")
    git("commit", "-qm", "first")
    (tmp_path / "changed ä").write_text("2")
    (tmp_path / "new").write_text("1")
    assert sorted(changed.files_since(tmp_path, "HEAD")) == ["changed ä", "new"]
    with pytest.raises(BadInput, match="git does not know nowhere"):
        changed.files_since(tmp_path, "nowhere")
