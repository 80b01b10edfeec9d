"""A lab as a platform gets it: its tests compiled, so that no source of a hidden test and no reference leaves.

The folder is that of a handout (lab/labs.py), which grades wherever Warpgrade is installed. What it holds of hidden
tests is inside of the judge: with `public_only` not even that.
"""

from __future__ import annotations

import re
import shutil
import tomllib
from collections.abc import Callable
from pathlib import Path

from warpgrade.compiling import judges, toolchain
from warpgrade.lab.labs import HANDOUT, Lab
from warpgrade.machine.errors import BadInput
from warpgrade.machine.paths import Layout

_TABLE = re.compile(r"^(?=\[)", re.MULTILINE)
_POINTS = re.compile(r"^points\s*=.*\n", re.MULTILINE)


def write(layout: Layout, lab: Lab, folder: Path, say: Callable[[str], None], *, public_only: bool) -> None:
    """Write the lab into `folder`, which is not there yet."""
    compilers = toolchain.find(layout)
    programs = judges.build(layout, lab, compilers, say, public_only=public_only)
    inner = folder / HANDOUT
    (inner / "starter").mkdir(parents=True)
    shutil.copyfile(programs.judge, inner / "judge")
    (inner / "judge").chmod(0o755)
    shutil.copyfile(programs.binding, inner / "binding.o")
    for path in sorted(lab.starter_folder.iterdir()):
        if lab.allows(path.name):
            shutil.copyfile(path, inner / "starter" / path.name)
    for path in lab.given:
        shutil.copyfile(path, folder / path.name)
    toml = (lab.folder / "lab.toml").read_text(encoding="utf-8")
    (folder / "lab.toml").write_text(without_hidden(toml) if public_only else toml, encoding="utf-8")


def without_hidden(toml: str) -> str:
    """Return lab.toml without the entries of hidden tests, and without the sums that no longer hold."""
    kept = []
    for part in _TABLE.split(toml):
        head = part.partition("\n")[0].strip()
        if head.startswith("[["):
            (entries,) = tomllib.loads(part).values()
            if entries[0].get("hidden"):
                continue
        elif head.startswith("[lab]"):
            part = _POINTS.sub("", part)  # noqa: PLW2901
        elif head.startswith("[baseline]"):
            part = _POINTS.sub("points = 0\n", part)  # noqa: PLW2901
        kept.append(part)
    if not any(part.startswith("[[") for part in kept):
        raise BadInput("this lab has no public tests", hint="use --tests all where students cannot read the files")
    return "".join(kept)
