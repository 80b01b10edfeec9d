"""A lab's judge, and its binding to workers: built by CMake in a checkout, handed out compiled, or built here.

Here: for labs outside of the checkout, with an installed package's headers and libraries and no more than the C++
compiler that nvcc needs anyway. The tests are their author's own code, so that this runs outside of the sandbox.
"""

import concurrent.futures
import os
import subprocess
import tempfile
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from warpgrade import __version__
from warpgrade.compiling.toolchain import Compilers
from warpgrade.lab.handout_note import HANDOUT
from warpgrade.lab.labs import Lab
from warpgrade.machine import cache, disk_space, files, on_demand
from warpgrade.machine.errors import GraderError
from warpgrade.machine.paths import Layout
from warpgrade.machine.text import bounded, clean

Say = Callable[[str], None]

_FLAGS = ("-std=c++20", "-O2", "-w", "-ffp-contract=off")
# In the order in which a linker needs them; where several define the same template, it takes the first, and those of
# wg_judge are not optimized (grader/judge/CMakeLists.txt).
# Catch2 is one from version 3 on.
_LIBRARIES = ("wg_judge_core", "wg_judge", "wg_judge_core", "Catch2", "wg_device", "wg_model", "wg_fmt")
_BINDING = """// Generated from lab.toml.
#include "{lab}.h"
#include "worker/bind.hpp"

extern const warpgrade::worker::Binding warpgrade_bindings[] = {{
{rows}    {{}},
}};
"""
_SECONDS = 600


@dataclass(frozen=True)
class LabPrograms:
    """What grading a lab needs besides the submission: its judge, and what a worker links to be called by it."""

    judge: Path
    binding: Path


def require(layout: Layout, lab: Lab, compilers: Compilers, say: Say = lambda text: None) -> LabPrograms:
    """Return a lab's programs, built or brought up to date where that is ours to do; raises GraderError."""
    if lab.is_handout:
        folder = lab.folder / HANDOUT
        programs = LabPrograms(folder / "judge", folder / "binding.o")
        missing = [path.name for path in (programs.judge, programs.binding) if not path.is_file()]
        if missing:
            raise GraderError(
                f"{HANDOUT}/{missing[0]} of lab {lab.name} is missing",
                hint="unpack the lab again, and copy your work into it",
            )
        if not os.access(programs.judge, os.X_OK):  # as many a tool unpacks archives
            with suppress(OSError):
                programs.judge.chmod(0o755)
        return programs
    if layout.native is None and lab.folder.parent == layout.labs:
        on_demand.require_lab(layout, lab.name, say)
        return LabPrograms(layout.program(f"judge-{lab.name}"), layout.library(f"binding-{lab.name}"))
    return build(layout, lab, compilers, say)


def build(
    layout: Layout, lab: Lab, compilers: Compilers, say: Say = lambda text: None, *, public_only: bool = False
) -> LabPrograms:
    """Build a lab's judge of its tests, or of the public ones alone; raises GraderError."""
    return _Kit(layout, compilers, on_demand.require_kit(layout, say)).build(lab, say, public_only=public_only)


def test_sources(lab: Lab, *, public_only: bool) -> list[Path]:
    """Return the files that hold a lab's tests: a file is public or hidden as a whole."""
    kinds = ("public",) if public_only else ("public", "hidden")
    return [path for kind in kinds for path in sorted((lab.folder / "tests").glob(f"{kind}*.cpp"))]


@dataclass(frozen=True)
class _Kit:
    """What judges are built with."""

    layout: Layout
    compilers: Compilers
    folder: Path

    @property
    def _flags(self) -> list[str]:
        """The compiler's options; {fmt} is a library of the package, or headers alone."""
        has_fmt = (self.folder / "lib" / "libwg_fmt.a").is_file()
        return [*_FLAGS, *([] if has_fmt else ["-DFMT_HEADER_ONLY"])]

    def build(self, lab: Lab, say: Say, *, public_only: bool) -> LabPrograms:
        sources = test_sources(lab, public_only=public_only)
        if not sources:
            raise GraderError(
                f"lab {lab.name} has no tests", hint="its folder tests/ holds public*.cpp and hidden*.cpp"
            )
        seen = [*lab.folder.glob("*.h"), *lab.folder.glob("*.hpp"), *(lab.folder / "tests").glob("*.h*"), *sources]
        key = cache.key(
            [__version__, self._stamp(), self.compilers.host_version, *self._flags, *lab.file.lab.functions],
            {str(path.relative_to(lab.folder)): path.read_bytes() for path in seen},
        )
        folder = self.layout.cache / "judges" / key
        with files.hold_lock(self.layout.state / "locks" / f"judge-{key}"):
            cache.cached(folder, lambda target: self._make(lab, sources, target, say))
        return LabPrograms(folder / f"judge-{lab.name}", folder / "binding.o")

    def _stamp(self) -> str:
        """Return what changes when the package does; without reading it all."""
        files = sorted([*(self.folder / "lib").glob("*.a"), *(self.folder / "include" / "judge").glob("*.hpp")])
        return " ".join(f"{path.name}:{path.stat().st_size}:{path.stat().st_mtime_ns}" for path in files)

    def _make(self, lab: Lab, sources: list[Path], target: Path, say: Say) -> None:
        include = self.folder / "include"
        say(f"building the judge of lab {lab.name} (once)")
        headers = cache.cached(self._headers_folder(), self._precompile)
        binding = target / "binding.cpp"
        rows = "".join(f'    warpgrade::worker::bind<{name}>("{name}"),\n' for name in lab.file.lab.functions)
        binding.write_text(_BINDING.format(lab=lab.name, rows=rows), encoding="utf-8")
        # No file's name holds where it lies: a judge is handed out.
        places = [f"-ffile-prefix-map={folder}=." for folder in (lab.folder, target, include, headers)]
        common = [*places, "-I", str(lab.folder), "-I", str(lab.folder / "tests"), "-I", str(include)]
        jobs = [[*self._flags, "-c", str(binding), "-o", str(target / "binding.o"), *common]]
        tests = [*self._flags, "-I", str(headers), "-include", "judge.hpp"]
        jobs += [[*tests, "-c", str(path), "-o", str(target / f"{path.stem}.o"), *common] for path in sources]
        with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
            for _ in pool.map(lambda words: self._run(lab.name, words), jobs):
                pass
        objects = [str(target / f"{path.stem}.o") for path in sources]
        libraries = [str(path) for name in _LIBRARIES if (path := self.folder / "lib" / f"lib{name}.a").is_file()]
        self._run(
            lab.name, ["-static", "-s", "-o", str(target / f"judge-{lab.name}"), *objects, *libraries, "-pthread"]
        )
        for path in (*map(Path, objects), binding):
            path.unlink()

    def _headers_folder(self) -> Path:
        key = cache.key([self._stamp(), self.compilers.host_version, *self._flags], {})
        return self.layout.cache / "judge-headers" / key

    def _precompile(self, target: Path) -> None:
        """Precompile what every test includes: most of what a file of tests takes to compile."""
        header = target / "judge.hpp"
        header.write_text('#include "judge/judge.hpp"\n', encoding="utf-8")
        include = str(self.folder / "include")
        self._run("headers", [*self._flags, "-I", include, "-x", "c++-header", str(header), "-o", f"{header}.gch"])

    def _run(self, what: str, words: list[str]) -> None:
        try:
            done = subprocess.run(
                [str(self.compilers.host), *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT, timeout=_SECONDS, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            raise GraderError(f"the judge of lab {what} took more than {_SECONDS} s to compile") from None
        if done.returncode != 0:
            if b"No space left" in done.stdout:
                for folder in (self.layout.cache, Path(tempfile.gettempdir())):
                    disk_space.require(folder, "the compiler")
            raise GraderError(
                f"the judge of lab {what} does not build", detail=bounded(_telling(clean(done.stdout)), lines=8)
            )


def _telling(words: str) -> str:
    lines = words.splitlines()
    telling: Iterable[str] = [line for line in lines if "error" in line or "undefined reference" in line]
    return "\n".join(telling or lines)
