"""What of the C++ build is made only when it is first needed: a lab's judge and its binding to workers.

The launcher builds what all commands need, and says in the environment that the rest may be built. Without its word,
and where the build folder is read-only, what is there is used as it is.
"""

import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

from warpgrade.machine import disk_space
from warpgrade.machine.errors import GraderError
from warpgrade.machine.files import hold_lock
from warpgrade.machine.paths import COMMAND, Layout
from warpgrade.machine.text import bounded, clean

ALLOWED = "WARPGRADE_BUILD_ON_DEMAND"
_up_to_date: set[tuple[Path, str]] = set()  # in this process: one look is enough
_STEP = re.compile(r"\[([1-9]\d*)/(\d+)\]")  # 0 only looks for new files
_WORDS_OF_FAILURE = re.compile(r"\berror\b|undefined reference|No space left|Killed", re.IGNORECASE)


def require_lab(layout: Layout, lab: str, say: Callable[[str], None] = lambda text: None) -> None:
    """Build what grading `lab` needs, or bring it up to date; raises GraderError."""
    wanted = (layout.build, lab)
    if wanted not in _up_to_date and os.environ.get(ALLOWED) and os.access(layout.build, os.W_OK):
        _build(layout, f"lab-{lab}", f"the judge of lab {lab}", say)
        _up_to_date.add(wanted)


def require_kit(layout: Layout, say: Callable[[str], None] = lambda text: None) -> Path:
    """Return the folder of headers and libraries that judges are built with: a package's, or made of the checkout's."""
    kit = layout.kit
    if layout.native is None and (layout.build, "") not in _up_to_date and os.access(layout.build, os.W_OK):
        _build(layout, "kit", "the libraries of judges", say)
        done = subprocess.run(
            ["cmake", "--install", str(layout.build), "--component", "native", "--prefix", str(kit)],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", check=False,
        )  # fmt: skip
        if done.returncode != 0:
            raise GraderError("the libraries of judges could not be put together", detail=bounded(clean(done.stderr)))
        _up_to_date.add((layout.build, ""))
    if not (kit / "include").is_dir():
        raise GraderError(f"{kit} is missing", hint=f"run {COMMAND} doctor, or install the package again")
    return kit


def _build(layout: Layout, target: str, what: str, say: Callable[[str], None]) -> None:
    build_target(layout, target, what, lambda done, total: say(f"building {what}, step {done}/{total}"))


def build_target(layout: Layout, target: str, what: str, show: Callable[[int, int], None]) -> None:
    """Bring a target of the C++ build up to date, with a call of `show` for each step; raises GraderError."""
    layout.logs.mkdir(parents=True, exist_ok=True)
    log = layout.logs / f"build-{target}.log"
    # The launcher's lock: one build at a time.
    with hold_lock(layout.state / "setup" / "lock"), log.open("w", encoding="utf-8") as written, subprocess.Popen(
        ["cmake", "--build", str(layout.build), "--target", target],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
    ) as building:  # fmt: skip
        for line in building.stdout or ():
            written.write(line)
            if step := _STEP.match(line):
                show(int(step[1]), int(step[2]))
    if building.returncode != 0:
        disk_space.require(layout.build, "the build")
        text = log.read_text(encoding="utf-8", errors="replace")
        telling = [line for line in text.splitlines() if _WORDS_OF_FAILURE.search(line)]
        raise GraderError(
            f"{what} does not build" if target.startswith("lab-") else f"{what} could not be built",
            detail=bounded(clean("\n".join(telling)), lines=8),
            hint=f"the whole log is {log}",
        )
