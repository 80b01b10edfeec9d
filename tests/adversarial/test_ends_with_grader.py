"""A grader that is killed leaves nothing running: neither judge nor device nor the submission's program."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from warpgrade.machine.paths import find_layout

pytestmark = pytest.mark.labs

LAYOUT = find_layout()
FUNCTION = "void {}(const float*, const float*, float*, int, int, int) {{ for (volatile int i = 0; i == 0;) {{}} }}\n"
NAMES = ("matmul_rows", "matmul_columns", "matmul_one_block", "matmul_tiled", "matmul_registers")
PATIENCE_SECONDS = 60


def parents() -> dict[int, tuple[int, str]]:
    """Return for each process its parent and its command line."""
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            state = (folder / "stat").read_text().rpartition(")")[2].split()
            words = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if state[0] != "Z":
            found[int(folder.name)] = (int(state[1]), words)
    return found


def descendants(of: int) -> dict[int, str]:
    known = parents()
    found: dict[int, str] = {}
    around = [of]
    while around:
        children = [pid for pid, (parent, _) in known.items() if parent in around and pid not in found]
        found.update({pid: known[pid][1] for pid in children})
        around = children
    return found


def wait_until(what: object, seconds: float = PATIENCE_SECONDS) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if what():  # type: ignore[operator]
            return True
        time.sleep(0.05)
    return False


@pytest.mark.parametrize("sandbox", ["namespaces", "plain"])
def test_all_that_a_killed_grader_started_ends(sandbox: str, tmp_path: Path) -> None:
    (tmp_path / "matmul.cu").write_text("".join(FUNCTION.format(name) for name in NAMES))
    environment = {**os.environ, "PYTHONPATH": str(LAYOUT.root / "grader"), "WARPGRADE_SANDBOX": sandbox}
    grader = subprocess.Popen(
        [sys.executable, "-m", "warpgrade", "grade", "matmul", str(tmp_path), "--quiet"],
        env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
    )  # fmt: skip
    try:
        running = wait_until(lambda: any(words.startswith("/worker") for words in descendants(grader.pid).values()))
        assert running, descendants(grader.pid)
        started = descendants(grader.pid)
        assert any("judge-matmul" in words for words in started.values()), started
    finally:
        os.kill(grader.pid, signal.SIGKILL)
        grader.wait()
    assert wait_until(lambda: not any(parents().get(pid, (0, None))[1] == words for pid, words in started.items()))
