"""`warpgrade package`: the wheel that other machines install, built from a checkout.

It holds the command line, and of the C++ build what `cmake --install --component native` puts together: programs that
need no library of this machine, the libraries that programs of students and judges link, and the headers that tests
include. No lab and no reference.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from warpgrade.machine import cpu, disk_space, files, on_demand
from warpgrade.machine.errors import GraderError
from warpgrade.machine.paths import Layout
from warpgrade.machine.text import bounded, clean

Say = Callable[[str], None]

ALL_LEVELS = tuple(sorted(cpu.LEVELS))

# Of the machine that installs the wheel: Ubuntu 22.04, Debian 12 and what is newer.
_GLIBC = (2, 35)
_PLATFORM = f"manylinux_{_GLIBC[0]}_{_GLIBC[1]}_x86_64"
_VERSION_OF_SYMBOL = re.compile(rb"\bGLIBC_(\d+)\.(\d+)\b")
_NEVER = ("/reference/", "/starter/", "/hidden/", "/tests/", "/wrong/", "/right/")


def build(
    layout: Layout,
    out: Path,
    say: Say = lambda text: None,
    show: Callable[[int, int], None] = lambda done, total: None,
    *,
    levels: Sequence[str] = ALL_LEVELS,
) -> Path:
    """Build the wheel into `out` and return it; what the checkout has compiled already is not compiled again.

    show: gets the steps of the C++ build that are done, and all.
    levels: those of x86-64 to build device servers for.
    """
    if layout.native is not None:
        raise GraderError(
            "this is an installed package already", hint="a wheel is built from a checkout: ./warpgrade package"
        )
    out.mkdir(parents=True, exist_ok=True)
    definitions = {"WARPGRADE_CUDA_INCLUDE": _cuda_include(layout), "WARPGRADE_LEVELS": ";".join(levels)}
    say("building the programs and libraries for other machines")
    # pip would do both as well, without a word.
    _run(layout, "package", ["cmake", *(f"-D{name}={value}" for name, value in definitions.items()), str(layout.build)])
    on_demand.build_target(layout, "package-parts", "the programs and libraries", show)
    # The launcher's lock: one build at a time.
    lock = files.hold_lock(layout.state / "setup" / "lock")
    with lock, tempfile.TemporaryDirectory(prefix="warpgrade-package-") as folder:
        say("making the wheel")
        settings = {
            "build-dir": str(layout.build),
            **{f"cmake.define.{name}": value for name, value in definitions.items()},
        }
        _run(
            layout, "package",
            [sys.executable, "-m", "pip", "--disable-pip-version-check", "wheel", "--no-build-isolation", "--no-deps",
             "--wheel-dir", folder, *(f"--config-settings={key}={value}" for key, value in settings.items()), "."],
        )  # fmt: skip
        (made,) = Path(folder).glob("*.whl")
        say("looking through the wheel")
        problems = list(mistakes(made, [str(layout.root), str(Path.home())]))
        if problems:
            raise GraderError("the wheel is not fit for other machines", detail=bounded("\n".join(problems), lines=12))
        _run(
            layout,
            "package",
            [sys.executable, "-m", "wheel", "tags", "--remove", "--platform-tag", _PLATFORM, str(made)],
        )
        (tagged,) = Path(folder).glob("*.whl")
        wheel = out / tagged.name
        with files.unfinished_path(wheel) as unfinished:
            shutil.copyfile(tagged, unfinished)
    return wheel


def mistakes(wheel: Path, places: Iterable[str]) -> Iterable[str]:
    """Yield what must not be in a wheel: labs' solutions, names of `places`, needs of a newer C library."""
    words = [place.encode() for place in places if place not in ("", "/")]
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            if any(part in f"/{name}" for part in _NEVER) and "/template/" not in name:
                yield f"{name}: belongs to a lab"
            content = archive.read(name)
            for word in words:
                if word in content:
                    yield f"{name}: names {word.decode()}, a folder of this machine"
            if content.startswith(b"\x7fELF"):
                newest = max(((int(a), int(b)) for a, b in _VERSION_OF_SYMBOL.findall(content)), default=(0, 0))
                if newest > _GLIBC:
                    yield f"{name}: needs glibc {newest[0]}.{newest[1]}"


def _cuda_include(layout: Layout) -> str:
    record = (layout.state / "setup" / "toolchain").read_text(encoding="utf-8")
    return dict(line.split("=", 1) for line in record.splitlines() if "=" in line).get("include", "")


def _run(layout: Layout, what: str, command: list[str]) -> None:
    layout.logs.mkdir(parents=True, exist_ok=True)
    log = layout.logs / f"{what}.log"
    with log.open("ab") as words:
        done = subprocess.run(
            command, cwd=layout.root, stdin=subprocess.DEVNULL, stdout=words, stderr=subprocess.STDOUT, check=False,
            env={**os.environ, "PIP_NO_INDEX": "1"},
        )  # fmt: skip
    if done.returncode != 0:
        disk_space.require(layout.build, "the build")
        text = clean(log.read_bytes()[-20_000:])
        telling = [
            line for line in text.splitlines() if re.search(r"\berror\b|No module|not found", line, re.IGNORECASE)
        ]
        raise GraderError(
            "the wheel could not be built",
            detail=bounded("\n".join(telling[-8:]), lines=8),
            hint=f"the whole log is {log}",
        )
