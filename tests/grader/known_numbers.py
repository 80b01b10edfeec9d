"""What a run counted, kept as a line: the same on every machine, and after each change that should not touch it.

A file of tests/known has a line for each run: its name, a few numbers for readers, and a digest of all that was counted
and modelled. nvcc decides what runs, so each file holds for the version in its first line. WARPGRADE_UPDATE_GOLDEN=1
writes the lines of the tests that run anew; what exactly has changed, tests/stored_results.py tells.
"""

import fcntl
import hashlib
import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest

from warpgrade.compiling import toolchain
from warpgrade.machine.paths import find_layout

_HOST_ADDRESS = re.compile(r"\b0x[0-9a-f]+\b")  # in messages: another one each time
_NOT_COUNTED = {"costs", "fidelity", "sampled", "sampled_blocks", "stopped", "sample"}
HOME = find_layout().root / "tests" / "known"


def digest(*numbers: object) -> str:
    """Return a short digest, which no bit of any number leaves as it is."""
    text = json.dumps(_counted(msgspec.to_builtins(numbers)), sort_keys=True).replace(str(find_layout().root), "")
    text = _HOST_ADDRESS.sub("0x…", text)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _counted(value: Any) -> Any:
    """Leave out what is computed from the counters that are here, and what only samples and stopped programs have."""
    if isinstance(value, dict):
        return {key: _counted(each) for key, each in value.items() if key not in _NOT_COUNTED}
    return [_counted(each) for each in value] if isinstance(value, list | tuple) else value


def check(file: str, lines: Mapping[str, str]) -> None:
    """Compare lines with the kept ones, or keep them; skips where nvcc is another than the one they were kept with."""
    path = HOME / file
    version = f"# nvcc {toolchain.find(find_layout()).nvcc_version}"
    if os.environ.get("WARPGRADE_UPDATE_GOLDEN"):
        _keep(path, version, lines)
        return
    head, kept = _read(path)
    if head != version:
        pytest.skip(f"{path.name} was kept with {head.strip('# ')}; here is {version.strip('# ')}")
    assert lines == {name: kept.get(name) for name in lines}, (
        f"other numbers than {path.name} says. If this was meant, WARPGRADE_UPDATE_GOLDEN=1 keeps them; "
        "tests/stored_results.py tells what differs"
    )


def _read(path: Path) -> tuple[str, dict[str, str]]:
    head, *lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else [""]
    return head, dict(line.split("\t", 1) for line in lines)


def _keep(path: Path, version: str, new: Mapping[str, str]) -> None:
    with (find_layout().state / "known.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # several tests run at a time
        lines = {**_read(path)[1], **new}
        text = "".join(f"{key}\t{lines[key]}\n" for key in sorted(lines))
        path.write_text(f"{version}\n{text}", encoding="utf-8")
