"""`warpgrade class` as it is called: a real lab, real submissions, and what ends it half-way."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from warpgrade.machine.paths import find_layout

LAYOUT = find_layout()
LAB = "reverse"
CHANGED_LAB = "debug"  # its judge is built twice: it has the fewest files of tests
pytestmark = pytest.mark.labs


ENVIRONMENT = {**os.environ, "PYTHONPATH": str(LAYOUT.root / "grader")}


def command(*words: str | Path) -> list[str]:
    return [sys.executable, "-m", "warpgrade", *map(str, words)]


def call(*words: str | Path, status: int = 0) -> str:
    done = subprocess.run(
        command(*words), capture_output=True, text=True, check=False, cwd=LAYOUT.root, stdin=subprocess.DEVNULL,
        env=ENVIRONMENT,
    )  # fmt: skip
    assert done.returncode == status, done.stdout + done.stderr
    return done.stdout + done.stderr


def hand_in(folder: Path, students: list[str], reference: bool = True, lab: str = LAB) -> Path:
    """Lay down a submission of each student, all different and of the same worth."""
    for student in students:
        place = folder / student
        shutil.copytree(LAYOUT.references / lab if reference else LAYOUT.starters / lab, place)
        with (place / f"{lab}.cu").open("a") as file:
            file.write(f"// {student} {folder.name}\n")
    return folder


def grades(out: Path) -> dict[str, float | None]:
    rows = [json.loads(line) for line in (out / "grades.jsonl").read_text().splitlines()]
    return {row["student"]: row["points"] for row in rows}


@pytest.mark.parametrize("word", [signal.SIGKILL, signal.SIGINT])
def test_a_class_that_is_ended_half_way_goes_on(tmp_path: Path, word: signal.Signals) -> None:
    students = ["ada", "bob", "cyd", "dan"]
    handed_in, out = hand_in(tmp_path / f"in-{word.name}", students), tmp_path / "grades"
    running = subprocess.Popen(
        command("class", LAB, handed_in, "--out", out, "--jobs", "1"), cwd=LAYOUT.root, env=ENVIRONMENT, text=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
    )  # fmt: skip
    results = out / "results"
    while not (results.is_dir() and any(results.glob("*.json"))):
        assert running.poll() is None, running.communicate()
        time.sleep(0.05)
    running.send_signal(word)
    _, said = running.communicate(timeout=60)
    done = {path.name: path.stat().st_mtime_ns for path in results.glob("*.json")}
    assert 1 <= len(done) < 4
    if word == signal.SIGINT:
        assert running.returncode == 130
        assert "interrupted with" in said
        assert sorted(grades(out)) == students
        assert None in grades(out).values()
    said = call("class", LAB, handed_in, "--out", out)
    assert grades(out) == dict.fromkeys(students, 100.0)
    assert f"{len(done)} graded before" in said or f"{len(done)} with a known result" in said
    assert all((results / name).stat().st_mtime_ns == when for name, when in done.items())


def test_a_changed_test_runs_alone_and_tells_what_it_changes(tmp_path: Path) -> None:
    lab = tmp_path / "labs" / CHANGED_LAB
    shutil.copytree(LAYOUT.labs / CHANGED_LAB, lab)
    shutil.copytree(LAYOUT.labs / "common", tmp_path / "labs" / "common")
    for kind in (LAYOUT.starters, LAYOUT.references):
        shutil.copytree(kind / CHANGED_LAB, tmp_path / kind.name / CHANGED_LAB)
    handed_in, out = hand_in(tmp_path / "in", ["ada"], lab=CHANGED_LAB), tmp_path / "grades"
    hand_in(tmp_path / "in", ["bob"], reference=False, lab=CHANGED_LAB)
    call("class", lab, handed_in, "--out", out, "--seed", "3")
    before = grades(out)
    call("override", out, "bob", "--points", "20", "--reason", "=1+1 was shown", "--by", "prof")

    tests = lab / "tests" / "hidden.cpp"
    name = "1 brighten: other sizes"
    head = f'TEST_CASE("{name}", "[hidden][checks]") {{'
    assert head in tests.read_text()
    tests.write_text(tests.read_text().replace(head, f'{head}\n    FAIL("a new requirement");'))
    said = call("class", lab, handed_in, "--out", out)
    assert "2 results are of an earlier lab or warpgrade and were kept" in said
    assert grades(out) == {**before, "bob": 20.0}

    dry = call("class", lab, handed_in, "--out", out, "--regrade", "--dry-run")
    assert "ada: 100 → 96" in dry
    assert f"4/4 → 0/4: {name}: a new requirement" in dry
    assert "bob" not in dry
    assert grades(out)["ada"] == 100
    call("class", lab, handed_in, "--out", out, "--regrade")
    assert grades(out) == {"ada": 96.0, "bob": 20.0}
    (record,) = (json.loads(path.read_text()) for path in (out / "submissions" / "ada").iterdir())
    result = json.loads((out / "results" / f"{record['key']}.json").read_text())
    old = next(
        path for path in (out / "results").glob("*.json") if json.loads(path.read_text())["score"]["points"] == 100
    )
    # Verdicts that were known keep even the time that the test took: they did not run.
    times = {test["name"]: test["seconds"] for test in json.loads(old.read_text())["tests"]}
    assert {test["name"] for test in result["tests"] if test["seconds"] != times[test["name"]]} <= {name}


def test_a_class_is_not_graded_into_what_it_handed_in(tmp_path: Path) -> None:
    handed_in = hand_in(tmp_path / "in", ["ada"])
    said = call("class", LAB, handed_in, "--out", handed_in / "grades", status=2)
    assert "--out lies in the folder of the submissions" in said
    assert not (handed_in / "grades").exists()


def test_a_terminal_without_unicode_is_no_reason_to_end(tmp_path: Path) -> None:
    handed_in = hand_in(tmp_path / "in", ["ada", "bob"])
    plain = {**ENVIRONMENT, "LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    done = subprocess.run(
        command("similarity", LAB, handed_in), capture_output=True, text=True, check=False, cwd=LAYOUT.root, env=plain
    )
    assert done.returncode == 0, done.stderr
    assert "\\u2013" in done.stdout  # a dash between two lines' numbers
