"""The image is built from a base made on the spot, without a registry, and grades in a container without namespaces."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from platform_machine import pack_needed

from warpgrade.dev import package
from warpgrade.handout import template
from warpgrade.lab import labs
from warpgrade.machine.paths import find_layout

LAYOUT = find_layout()
LAB = labs.find(LAYOUT, "reverse")
PACKAGES = "ca-certificates,python3,python3-venv,g++,libc6-dev,binutils,bubblewrap"

pytestmark = [
    pytest.mark.labs,
    pytest.mark.skipif(
        not all(map(shutil.which, ("buildah", "mmdebstrap"))), reason="./warpgrade test installs buildah and mmdebstrap"
    ),
]


def buildah(store: Path, *words: str) -> str:
    """Run buildah with a store of its own; return what it says."""
    done = subprocess.run(
        ["buildah", "--storage-driver", "vfs", "--root", str(store / "root"), "--runroot", str(store / "run"), *words],
        capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Return the store that holds the image `grader`."""
    folder = tmp_path_factory.mktemp("image")
    store, base, wheels = folder / "store", folder / "base.tar", folder / "wheels"
    made = subprocess.run(
        ["mmdebstrap", "--quiet", "--variant=minbase", f"--include={PACKAGES}", "bookworm", str(base)],
        check=False, capture_output=True, text=True, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    if made.returncode != 0:
        pytest.skip(f"mmdebstrap cannot make a base image on this machine: {made.stderr[-300:]}")
    wheels.mkdir()
    package.build(LAYOUT, wheels, levels=["x86-64-v3"])
    pack_needed(wheels)
    subprocess.run(  # the container has no nvcc
        [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--require-hashes", "-d", str(wheels), "-r",
         str(LAYOUT.root / "cuda.lock")],
        check=True,
    )  # fmt: skip
    context = folder / "context"
    carried = template.wheels(LAYOUT, [wheels])
    template.write(LAYOUT, template.find_platform("container"), LAB, context, carried, lambda text: None, "all")
    try:
        container = buildah(store, "from", "scratch").strip()
    except AssertionError as problem:
        pytest.skip(f"buildah does not work on this machine: {problem}")
    buildah(store, "add", "-q", container, str(base))
    buildah(store, "commit", "-q", container, "base")
    base.unlink()
    file = str(context / "Containerfile")
    arguments = ["--build-arg", "BASE=localhost/base", "--build-arg", "PIP_NO_INDEX=1"]
    buildah(store, "bud", "-q", "--isolation", "chroot", *arguments, "-t", "grader", "-f", file, str(context))
    yield store
    subprocess.run(["chmod", "-R", "u+rwX", str(store)], check=False)
    shutil.rmtree(store, ignore_errors=True)


def test_the_image_grades_without_namespaces(image: Path) -> None:
    container = buildah(image, "from", "grader").strip()

    def graded(folder: Path) -> str:
        command = ["warpgrade", "grade", "reverse", "/submission"]
        return buildah(
            image, "run", "--isolation", "chroot", "-v", f"{folder}:/submission:ro", container, "--", *command
        )

    said = graded(LAYOUT.references / "reverse")
    assert re.search(r"Total +100 / 100", said), said
    assert "plain sandbox" in said
    assert re.search(rf"Total +{LAB.file.baseline.points:g} / 100", graded(LAYOUT.starters / "reverse"))
    hidden = buildah(image, "run", "--isolation", "chroot", container, "--", "find", "/opt/course", "-name", "*.cpp")
    assert not [line for line in hidden.splitlines() if "hidden" in line]
