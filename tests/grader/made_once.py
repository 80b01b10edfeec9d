"""What takes long to make is made once: the first process of pytest that needs it does, and the others wait for it."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from warpgrade.dev import package
from warpgrade.machine import files
from warpgrade.machine.paths import find_layout


def folder(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], object]) -> Path:
    """Return the folder of that name that `make` fills, which belongs to all processes of this run of pytest."""
    home = factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        home = home.parent  # of all workers
    made = home / name
    whole = home / f"{name}.whole"
    with files.hold_lock(home / f"{name}.lock"):
        if not whole.exists():
            shutil.rmtree(made, ignore_errors=True)  # what another left half made
            made.mkdir()
            make(made)
            whole.touch()
    return made


def wheel(factory: pytest.TempPathFactory) -> Path:
    """Return a wheel of this checkout. WARPGRADE_TEST_WHEEL names one that is built already."""
    if given := os.environ.get("WARPGRADE_TEST_WHEEL"):
        return Path(given)
    # The level that the checkout has as well: its objects are compiled already.
    made = folder(factory, "wheel", lambda place: package.build(find_layout(), place, levels=["x86-64-v3"]))
    (found,) = made.glob("*.whl")
    return found
