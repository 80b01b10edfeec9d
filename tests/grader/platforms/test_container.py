"""The image is built from a base made on the spot, without a registry, and grades in a container without namespaces.

In the base itself a student follows a handout, word by word.
"""

import contextlib
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import made_once
import pytest
from platform_machine import pack_needed

from warpgrade.handout import instructions, make, template
from warpgrade.lab import labs
from warpgrade.machine.paths import find_layout

LAYOUT = find_layout()
LAB = labs.find(LAYOUT, "reverse")
PACKAGES = ",".join(("ca-certificates", *instructions.PACKAGES))  # no more than a handout tells students to install
# What no program needs, and waiting for the disk.
LESS = [
    "--dpkgopt=force-unsafe-io",
    *(f"--dpkgopt=path-exclude=/usr/share/{name}/*" for name in ("doc", "locale", "man")),
]

pytestmark = [
    pytest.mark.labs,
    pytest.mark.nightly,
    pytest.mark.skipif(
        not all(map(shutil.which, ("buildah", "mmdebstrap"))), reason="./warpgrade test installs buildah and mmdebstrap"
    ),
]


@dataclass(frozen=True)
class Store:
    """A store of buildah's own for images, in a folder of the folder in which `wheels` is."""

    folder: Path
    driver: str

    def run(self, *words: str) -> str:
        """Run buildah; return what it says."""
        done = subprocess.run(
            ["buildah", "--storage-driver", self.driver, "--root", str(self.folder / "root"),
             "--runroot", str(self.folder / "run"), *words],
            capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    @contextlib.contextmanager
    def mounted_empty(self) -> Iterator[tuple[str, Path]]:
        """Yield a container without files, and where they will be."""
        container = self.run("from", "scratch").strip()
        try:
            yield container, Path(self.run("mount", container).strip())
        finally:
            self.run("umount", container)


def usable_store(folder: Path) -> Store:
    """Return a store for images; skips where buildah does not work."""
    said = ""
    for driver in ("overlay", "vfs"):  # the latter copies all files for each layer, and works everywhere
        store = Store(folder / driver, driver)
        try:
            with store.mounted_empty() as (_, place):
                (place / "file").touch()
        except (AssertionError, OSError) as problem:
            said = str(problem)
        else:
            return store
    pytest.skip(f"buildah does not work on this machine: {said}")


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """Return the store that holds the image `grader`."""
    folder = tmp_path_factory.mktemp("image")
    store, wheels = usable_store(folder), folder / "wheels"
    with store.mounted_empty() as (base, place):
        made = subprocess.run(
            ["mmdebstrap", "--quiet", "--variant=minbase", f"--include={PACKAGES}", *LESS, "bookworm", str(place)],
            check=False, capture_output=True, text=True, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        if made.returncode != 0:
            pytest.skip(f"mmdebstrap cannot make a base image on this machine: {made.stderr[-300:]}")
    store.run("commit", "-q", "--rm", base, "base")
    wheels.mkdir()
    shutil.copy(made_once.wheel(tmp_path_factory), wheels)
    pack_needed(wheels)
    subprocess.run(  # the container has no nvcc
        [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--require-hashes", "-d", str(wheels), "-r",
         str(LAYOUT.root / "cuda.lock")],
        check=True,
    )  # fmt: skip
    context = folder / "context"
    carried = template.wheels(LAYOUT, [wheels])
    template.write(LAYOUT, template.find_platform("container"), LAB, context, carried, lambda text: None, "all")
    file = str(context / "Containerfile")
    arguments = ["--build-arg", "BASE=localhost/base", "--build-arg", "PIP_NO_INDEX=1"]
    store.run("bud", "-q", "--isolation", "chroot", *arguments, "-t", "grader", "-f", file, str(context))
    yield store
    store.run("rm", "--all")
    subprocess.run(["chmod", "-R", "u+rwX", str(store.folder)], check=False)
    shutil.rmtree(folder, ignore_errors=True)


def test_the_image_grades_without_namespaces(image: Store) -> None:
    container = image.run("from", "grader").strip()

    def graded(folder: Path) -> str:
        command = ["warpgrade", "grade", "reverse", "/submission"]
        return image.run("run", "--isolation", "chroot", "-v", f"{folder}:/submission:ro", container, "--", *command)

    said = graded(LAYOUT.references / "reverse")
    assert re.search(r"Total +100 / 100", said), said
    assert "plain sandbox" in said
    assert re.search(rf"Total +{LAB.file.baseline.points:g} / 100", graded(LAYOUT.starters / "reverse"))
    hidden = image.run("run", "--isolation", "chroot", container, "--", "find", "/opt/course", "-name", "*.cpp")
    assert not [line for line in hidden.splitlines() if "hidden" in line]


def indented(page: Path) -> list[str]:
    return re.findall(r"^    (\S.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)


def test_a_student_follows_a_handout_in_a_bare_container(image: Store, tmp_path: Path) -> None:
    """All that CHECK.md and the sheet print, as printed; wheels in a folder stand in for the index, and for apt-get."""
    wheels, index = image.folder.parent / "wheels", tmp_path / "index"
    (own,) = wheels.glob("warpgrade-*.whl")
    index.mkdir()
    for wheel in set(wheels.iterdir()) - {own}:  # no index has Warpgrade
        (index / wheel.name).hardlink_to(wheel)
    handout = make.release(LAYOUT, LAB, tmp_path / "out", wheel=instructions.find_wheel(str(own))).path
    for name in LAB.file.lab.files:
        shutil.copy(LAB.reference_folder / name, handout)
    *before, remove = indented(handout / "CHECK.md")
    sheet = [line for line in indented(handout / "README.md") if line.startswith("warpgrade ")]
    assert before[0].startswith("sudo apt-get install ")
    assert "warpgrade check" in before
    assert sheet
    script = ["set -euo pipefail", "cd /handout", 'sudo() { dpkg --status "${@:3}" >/dev/null; }', *before, *sheet]
    script += [
        "test -d ~/.cache/warpgrade",
        remove,
        "test ! -e ~/warpgrade -a ! -e ~/.cache/warpgrade",
        "! ls -A /tmp | grep warpgrade",
    ]
    container = image.run("from", "localhost/base").strip()
    said = image.run(
        "run", "--isolation", "chroot", "-v", f"{handout}:/handout", "-v", f"{index}:/index:ro", container, "--",
        "env", "HOME=/root", "PIP_NO_INDEX=1", "PIP_FIND_LINKS=/index", "PIP_NO_COMPILE=1", "bash", "-c",
        "\n".join(script),
    )  # fmt: skip
    assert len(re.findall(r"Total +(\S+) / \1\b", said)) == 2, said
    assert "ran on the virtual GPU" in said
