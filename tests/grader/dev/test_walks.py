"""The walks of CONTRIBUTING.md: what they name is all that there is to do."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from warpgrade.machine.paths import find_layout

ROOT = find_layout().root
FORMAT = '''"""Stripes."""

from warpgrade.report.format import file_format

FORMAT = file_format("result", "--zebra", "Write stripes.", lambda report: b"|")
'''


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of all files that git knows."""
    copy = tmp_path_factory.mktemp("checkout")
    names = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout.decode()
    for name in filter(None, names.split("\0")):
        if (ROOT / name).is_file():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, copy / name)
    return copy


def run(checkout: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(checkout / "grader"), "PYTHONDONTWRITEBYTECODE": "1"}
    environment.pop("PYTEST_XDIST_WORKER", None)
    return subprocess.run(
        [sys.executable, "-m", *words], cwd=checkout, env=environment, capture_output=True, text=True, check=False
    )


def test_a_lab_is_its_three_folders(checkout: Path) -> None:
    """No table of the course, of the texts or of attacks must name it, nor any page."""
    made = run(checkout, "warpgrade", "new", "lab", "zebra")
    assert made.returncode == 0, made.stdout + made.stderr
    tests = ["tests/grader/dev/test_course.py", "tests/grader/dev/test_seeds.py", "tests/grader/dev/test_docs.py",
             "tests/grader/lab/test_sheets.py", "tests/adversarial/test_table.py"]  # fmt: skip
    quiet = ["-q", "-x", "-p", "no:cacheprovider", "-p", "no:xdist", "-k", "not of_what_is_supported"]
    tested = run(checkout, "pytest", *quiet, *tests)
    assert tested.returncode == 0, tested.stdout[-3000:]
    assert "zebra" in run(checkout, "warpgrade", "list").stdout


def test_a_report_format_is_one_file(checkout: Path) -> None:
    (checkout / "grader" / "warpgrade" / "report" / "formats" / "zebra.py").write_text(FORMAT, encoding="utf-8")
    for command in "grade", "check":
        assert "--zebra" in run(checkout, "warpgrade", command, "--help").stdout


def test_a_platform_is_one_folder(checkout: Path) -> None:
    platforms = checkout / "grader" / "warpgrade" / "platforms"
    shutil.copytree(platforms / "moodle", platforms / "zebra", ignore=shutil.ignore_patterns("__pycache__"))
    assert "moodle|zebra" in run(checkout, "warpgrade", "gradebook", "--help").stdout
