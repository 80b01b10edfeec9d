"""The compilers: nvcc as the launcher found it, and the host compiler that nvcc and the link use."""

import functools
import hashlib
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path

from warpgrade.machine import facts
from warpgrade.machine.errors import GraderError
from warpgrade.machine.paths import Layout
from warpgrade.machine.sandbox import TOOLS_ENVIRONMENT
from warpgrade.machine.text import listing

_OLDEST = (12, 4)  # the launcher knows it as minimum_nvcc
_OLDEST_TEXT = ".".join(map(str, _OLDEST))
# nvcc's options for lines of host code, where a call was made; one in the place of a return would leave none.
HOST_LINES = ("-Xcompiler", "-g1,-fno-optimize-sibling-calls")


@dataclass(frozen=True)
class Compilers:
    """nvcc and the host compiler, with their versions."""

    nvcc: Path
    nvcc_version: str
    host: Path
    host_version: str

    @functools.cached_property
    def folders(self) -> list[Path]:
        """Folders that the compilers need to see besides those of the system's own (grader/sandbox/bwrap.cpp)."""
        homes = {self.nvcc.resolve().parents[1], self.host.absolute().parents[1], self.host.resolve().parents[1]}
        return sorted(home for home in homes if home != Path("/usr") and home != Path("/") and not _is_system(home))

    @property
    def cuda_includes(self) -> list[Path]:
        """Where the toolkit's headers lie."""
        home = self.nvcc.resolve().parents[1]
        return [home / "include", *sorted(home.glob("targets/*/include")), Path("/usr/include")]

    @functools.cached_property
    def header_folders(self) -> list[Path]:
        """Where the toolkit's and the system's headers lie."""
        return [*self.folders, *self.cuda_includes, Path("/usr/lib/gcc"), Path("/usr/lib/llvm")]

    @property
    def is_gcc(self) -> bool:
        """Whether the host compiler is GCC."""
        return "clang" not in self.host_version

    @functools.cached_property
    def initialization(self) -> tuple[str, ...]:
        """Options with which local variables begin as zeros, and so does the padding between their fields.

        Otherwise it holds what lay on the stack, which a struct that goes to the device would bring along: another
        grade from run to run, and bytes that nobody can tell from results. g++ can do so from version 12 on.
        """
        version = re.search(r"(\d+)\.\d+\.\d+$", self.host_version)
        if not self.is_gcc or version is None or int(version[1]) < 12:
            return ()
        return ("-Xcompiler", "-ftrivial-auto-var-init=zero")

    @functools.cached_property
    def has_gold(self) -> bool:
        """Whether GNU gold is there, too, in a sandbox as here."""
        return self.is_gcc and shutil.which("ld.gold", path=TOOLS_ENVIRONMENT["PATH"]) is not None

    @functools.cached_property
    def identity(self) -> str:
        """A hash that changes whenever the compilers may produce something else."""
        stamp = (str(self.nvcc.resolve()), self.nvcc_version, str(self.host.resolve()), self.host_version)
        return hashlib.sha256("\0".join(stamp).encode()).hexdigest()


def _is_system(folder: Path) -> bool:
    return any(folder.is_relative_to(known) for known in ("/usr/bin", "/usr/lib", "/usr/lib64", "/usr/libexec"))


def find(layout: Layout) -> Compilers:
    """Return the compilers; raises GraderError with what to do when one is missing."""
    nvcc = _of_package() if layout.native else _of_checkout(layout)
    host = shutil.which(os.environ.get("CXX") or "g++") or shutil.which("c++")
    if host is None:
        raise GraderError("no C++ compiler was found", hint="install build-essential")
    nvcc_version = re.search(r"release [\d.]+, V([\d.]+)", _output([str(nvcc), "--version"]))
    return Compilers(
        nvcc=nvcc,
        nvcc_version=nvcc_version[1] if nvcc_version else "unknown",
        host=Path(host),
        host_version=_output([host, "--version"]).partition("\n")[0].strip(),
    )


def _of_checkout(layout: Layout) -> Path:
    """Return the nvcc that the launcher found."""
    record = layout.state / "setup" / "toolchain"
    try:
        entries = dict(line.split("=", 1) for line in record.read_text(encoding="utf-8").splitlines() if "=" in line)
    except FileNotFoundError:
        entries = {}
    nvcc = Path(entries.get("nvcc", ""))
    if not entries or not nvcc.is_file():
        raise GraderError(
            "nvcc has not been found yet",
            hint="set CUDA_HOME or WARPGRADE_NVCC, or run ./warpgrade, which installs it from the Python package index",
        )
    return nvcc


def _of_package() -> Path:
    """Return the machine's nvcc, or that of the Python packages that `pip install "warpgrade[cuda]"` brings."""
    wanted = os.environ.get("WARPGRADE_NVCC", "")
    if wanted and wanted != "wheels":
        if not os.access(wanted, os.X_OK):
            raise GraderError(f"WARPGRADE_NVCC names {wanted}, which is not a program")
        if old := _too_old(Path(wanted)):
            raise GraderError(f"WARPGRADE_NVCC names {old}", hint=f"name nvcc {_OLDEST_TEXT} or newer, or unset it")
        return Path(wanted)
    homes = [] if wanted else [Path(os.environ[name]) for name in ("CUDA_HOME", "CUDA_PATH") if os.environ.get(name)]
    on_path = None if wanted else shutil.which("nvcc")
    found = [Path(on_path)] if on_path else []
    found += [home / "bin" / "nvcc" for home in (*homes, *([] if wanted else [Path("/usr/local/cuda")]))]
    found += sorted(Path(sysconfig.get_path("purelib")).glob("nvidia/cu*/bin/nvcc"))
    passed_over = []
    for nvcc in filter(lambda path: os.access(path, os.X_OK), found):
        if old := _too_old(nvcc):
            passed_over.append(old)
        else:
            return nvcc
    seen = f"; here is {listing(list(dict.fromkeys(passed_over)))}" if passed_over else ""
    raise GraderError(
        f"no nvcc {_OLDEST_TEXT} or newer was found{seen}",
        hint=f'run: {sys.executable} -m pip install "warpgrade[cuda]" (about 300 MiB), or install the CUDA toolkit '
        "and set CUDA_HOME",
    )


def _too_old(nvcc: Path) -> str:
    """Return `nvcc 11.8 at PATH` of one that is too old; "" of a good one."""
    release = re.search(r"release (\d+)\.(\d+)", _output([str(nvcc), "--version"]))
    if release is not None and (int(release[1]), int(release[2])) >= _OLDEST:
        return ""
    return f"nvcc {f'{release[1]}.{release[2]}' if release else 'of an unknown version'} at {nvcc}"


def _output(command: list[str]) -> str:
    return facts.cached_answer(tuple(command), [Path(command[0])], lambda: _run(command))


def _run(command: list[str]) -> str:
    try:
        return subprocess.run(
            command, capture_output=True, text=True, timeout=60, check=True, stdin=subprocess.DEVNULL
        ).stdout
    except (OSError, subprocess.SubprocessError) as error:
        raise GraderError(f"{command[0]} does not run: {error}") from None
