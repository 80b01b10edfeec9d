"""Signals that end a command, and what it leaves."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from warpgrade.machine.paths import find_layout

# A command that has something in /tmp and takes long.
WAITING = """
import tempfile, time
from warpgrade import __main__
from warpgrade.cli import main

def wait(**_):
    with tempfile.TemporaryDirectory():
        print("waiting", flush=True)
        time.sleep(600)

main.main.main = wait
__main__.main()
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_what_is_interrupted_leaves_nothing(number: signal.Signals, tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", f"import signal; signal.signal(signal.SIGINT, signal.default_int_handler){WAITING}"],
        env={**os.environ, "TMPDIR": str(tmp_path), "PYTHONPATH": str(find_layout().root / "grader")},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        assert process.stdout.readline() == "waiting\n"
        assert len(list(tmp_path.iterdir())) == 1
        process.send_signal(number)
        _, err = process.communicate()
    assert (process.returncode, err) == (130, "warpgrade: interrupted\n")
    assert list(tmp_path.iterdir()) == []
