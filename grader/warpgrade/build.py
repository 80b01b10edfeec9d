"""Builds a submission into a worker program: nvcc in the sandbox, then our own link. Both are cached by content.

The student's files are alone in the folder in which nvcc runs, so that its messages name them as the student does and
nothing of the lab but its contract can be included. The command line is ours alone; the environment is empty.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from warpgrade import headers, link_errors
from warpgrade.errors import GraderError
from warpgrade.labs import Lab
from warpgrade.paths import Layout
from warpgrade.result import Problem
from warpgrade.sandbox import COULD_NOT_START, OUT_OF_TIME, Limits, Run, Sandbox
from warpgrade.text import bounded, clean
from warpgrade.toolchain import HOST_LINES, Compilers

_TRANSLATION_UNITS = {".cu", ".c", ".cc", ".cpp", ".cxx"}
_MAX_OBJECT_BYTES = 256 << 20
_KEPT_CACHE_ENTRIES = 300
_LINK_SECONDS = 120
# Where the two folders lie in the sandbox; -lineinfo writes the first into the program.
SUBMISSION_FOLDER = "/submission"
_CONTRACT_FOLDER = "/contract"
# The whole of it; /tmp is a file system of the sandbox's own.
_ENVIRONMENT = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/tmp", "TMPDIR": "/tmp", "LC_ALL": "C.UTF-8"}  # noqa: S108
_KILLED_STATUS = 128 + 9
_CPU_LIMIT_STATUS = 128 + 24


class BuildFailure(Exception):  # noqa: N818 - a verdict on the submission, not a fault of the program
    """The submission does not compile or link; `unsupported` when it is Warpgrade that lacks something."""

    def __init__(self, problem: Problem, *, unsupported: bool = False) -> None:
        super().__init__(problem.message)
        self.problem = problem
        self.unsupported = unsupported


@dataclass(frozen=True)
class _Phase:
    """How far nvcc goes: its option for that, the code that it makes, and the name of what it writes."""

    option: str
    code: str
    suffix: str


_OBJECT = _Phase("-c", "[compute_{arch},sm_{arch}]", ".o")
_DEVICE_CODE = _Phase("-ptx", "compute_{arch}", ".ptx")


@dataclass(frozen=True)
class Builder:
    """All that a build depends on besides the sources."""

    layout: Layout
    lab: Lab
    compilers: Compilers
    sandbox: Sandbox
    architecture: int

    def build(self, files: Mapping[str, bytes]) -> Path:
        """Return the worker program of these files; raises BuildFailure or GraderError."""
        flags = self._flags()
        # Where the compiler ran is in the line information, so that an unconfined build is another one.
        place = SUBMISSION_FOLDER if self.sandbox.confined else "unconfined"
        refused = self.lab.refused_headers
        object_key = _key(
            [self.compilers.identity, place, *flags, *refused], {**files, self.lab.header.name: self._contract()}
        )
        objects = _cached(self.layout.cache / "objects" / object_key, lambda folder: self._compile(files, folder))
        libraries = [
            self.layout.library(name) for name in (f"binding-{self.lab.name}", "warpgrade_worker", "warpgrade_cudart")
        ]
        worker_key = _key([object_key, self.compilers.identity], {path.name: _read_library(path) for path in libraries})
        worker = _cached(
            self.layout.cache / "workers" / worker_key, lambda folder: self._link(objects, libraries, folder)
        )
        return worker / "worker"

    def device_code(self, files: Mapping[str, bytes]) -> str:
        """Return the PTX that nvcc makes of these files' kernels; raises BuildFailure or GraderError."""
        with tempfile.TemporaryDirectory(prefix="warpgrade-ptx-") as scratch:
            self._compile(files, Path(scratch), _DEVICE_CODE)
            return "\n".join(path.read_text(errors="replace") for path in sorted(Path(scratch).iterdir()))

    def _flags(self, phase: _Phase = _OBJECT) -> list[str]:
        arch = self.architecture
        return [
            "-std=c++17", "-O3", "-lineinfo", *HOST_LINES, "-cudart", "none",
            "-gencode", f"arch=compute_{arch},code=" + phase.code.format(arch=arch), phase.option,
        ]  # fmt: skip

    def _contract(self) -> bytes:
        return self.lab.header.read_bytes()

    # --- compile -------------------------------------------------------------------------------------------------

    def _compile(self, files: Mapping[str, bytes], target: Path, phase: _Phase = _OBJECT) -> None:
        """Compile each translation unit into `target`."""
        with tempfile.TemporaryDirectory(prefix="warpgrade-compile-") as scratch:
            sources, contract = Path(scratch, "submission"), Path(scratch, "contract")
            sources.mkdir()
            contract.mkdir()
            for name, content in files.items():
                (sources / name).write_bytes(content)
            (contract / self.lab.header.name).write_bytes(self._contract())
            deadline = time.monotonic() + self.lab.file.limits.compile_seconds
            units = [name for name in files if PurePosixPath(name).suffix.lower() in _TRANSLATION_UNITS]
            for number, unit in enumerate(units):
                output = f"unit{number}{phase.suffix}"
                self._compile_unit(unit, output, sources, contract, deadline, phase)
                _take_object(sources / output, target / output)

    def _compile_unit(
        self, unit: str, output: str, sources: Path, contract: Path, deadline: float, phase: _Phase
    ) -> None:
        confined = self.sandbox.confined
        folder = SUBMISSION_FOLDER if confined else str(sources)
        include = _CONTRACT_FOLDER if confined else str(contract)
        record = f"{output}.headers"
        command = [
            str(self.compilers.nvcc.resolve()), *self._flags(phase), "-ccbin", str(self.compilers.host),
            "-I", include, unit, "-o", output,
        ]  # fmt: skip
        run = Run(
            command=command,
            limits=self._compile_limits(deadline),
            directory=folder,
            read_only={_CONTRACT_FOLDER: contract, **{str(home): home for home in self.compilers.folders}},
            writable={SUBMISSION_FOLDER: sources},
            environment={**_ENVIRONMENT, headers.RECORD_VARIABLE: f"{folder}/{record}"},
        )
        with tempfile.TemporaryFile() as log:
            try:
                done = subprocess.run(
                    self.sandbox.command_line("compile", run), stdin=subprocess.DEVNULL, stdout=log,
                    stderr=subprocess.STDOUT, check=False, timeout=run.limits.seconds + 20,
                )  # fmt: skip
                status = done.returncode
            except subprocess.TimeoutExpired:
                status = OUT_OF_TIME
            log.seek(0)
            words = self._as_the_student_knows_it(clean(log.read(1 << 20)), include, folder)
        # Before what the compiler says: the mistake to mend first is the header.
        problem = headers.refused(
            sources / record, unit, self.lab.refused_headers, folder=folder, toolkits=self.compilers.folders,
            compiled=status == 0,
        )  # fmt: skip
        if problem is not None:
            raise BuildFailure(problem)
        if status != 0:
            self._refuse(unit, status, words)

    def _compile_limits(self, deadline: float) -> Limits:
        seconds = max(deadline - time.monotonic(), 1.0)
        return Limits(
            seconds=seconds, cpu_seconds=int(2 * seconds) + 1, memory_mib=8192, file_size_mib=256, processes=128,
            tmp_mib=1024,
        )  # fmt: skip

    def _as_the_student_knows_it(self, words: str, include: str, folder: str) -> str:
        return words.replace(f"{include}/", "").replace(f"{folder}/", "")

    def _refuse(self, unit: str, status: int, words: str) -> None:
        seconds = self.lab.file.limits.compile_seconds
        if status == COULD_NOT_START:
            raise GraderError("the sandbox could not start the compiler", detail=bounded(words, lines=8))
        if status in (OUT_OF_TIME, _CPU_LIMIT_STATUS):
            message, hint = f"{unit} took longer than {seconds:g} s to compile", "unroll less, or use fewer templates"
        elif status >= _KILLED_STATUS and not re.search(r"\berror\b", words):
            message, hint = (
                f"the compiler was ended by the system while it compiled {unit}",
                "it may need too much memory",
            )
        else:
            count = len(re.findall(r"(?:^|\s|:)(?:fatal )?error\b\s*(?:#\d+-?\w*)?:", words, re.MULTILINE))
            message = f"{unit} does not compile" + (f" ({count} errors)" if count > 1 else "")
            hint = "mend the first error first; later ones often follow from it"
        raise BuildFailure(Problem(stage="compile", message=message, detail=bounded(words.strip()), hint=hint))

    # --- link ----------------------------------------------------------------------------------------------------

    def _link(self, objects: Path, libraries: list[Path], target: Path) -> None:
        """Link the worker into `target`."""
        units = sorted(objects.glob("*.o"))
        functions = link_errors.defined_functions(units)
        problem = link_errors.missing_functions(self.lab, functions)
        words = ""
        if problem is None:
            binding, *others = map(str, libraries)
            command = [
                str(self.compilers.host), "-static", "-o", str(target / "worker"), *map(str, units),
                "-Wl,--whole-archive", binding, "-Wl,--no-whole-archive", *others, "-lpthread", "-ldl",
            ]  # fmt: skip
            environment = {"PATH": os.environ.get("PATH", "/usr/bin:/bin"), "LC_ALL": "C"}
            try:
                done = subprocess.run(
                    command, capture_output=True, check=False, timeout=_LINK_SECONDS, stdin=subprocess.DEVNULL,
                    env=environment,
                )  # fmt: skip
            except (OSError, subprocess.TimeoutExpired) as error:
                raise GraderError(f"the linker does not run: {error}") from None
            if done.returncode == 0:
                return
            words = self._without_our_paths(clean(done.stderr), [objects, target, *(path.parent for path in libraries)])
            problem = link_errors.explain_link(self.lab, words, functions)
        raise BuildFailure(
            Problem(stage="link", message=problem.message, detail=bounded(words.strip(), lines=20), hint=problem.hint),
            unsupported=problem.unsupported,
        )

    def _without_our_paths(self, words: str, folders: Iterable[Path]) -> str:
        for folder in folders:
            words = words.replace(f"{folder}/", "")
        return re.sub(r"^\S*/ld(?:\.\w+)?: ", "", words, flags=re.MULTILINE)


def _read_library(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise GraderError(
            f"{path.name} is not built", hint="run ./warpgrade doctor, which builds what is missing"
        ) from None


def _take_object(source: Path, target: Path) -> None:
    """Copy what the sandboxed compiler wrote; a link or a monster in its place is not followed."""
    try:
        descriptor = os.open(source, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError:
        raise GraderError("nvcc ended without an error, yet without an object file") from None
    with os.fdopen(descriptor, "rb") as file:
        content = file.read(_MAX_OBJECT_BYTES + 1)
    if len(content) > _MAX_OBJECT_BYTES:
        raise BuildFailure(Problem(stage="compile", message="the compiled program is larger than 256 MiB"))
    target.write_bytes(content)


# --- cache -----------------------------------------------------------------------------------------------------------


def _key(words: Iterable[str], contents: Mapping[str, bytes]) -> str:
    total = hashlib.sha256()
    for word in words:
        total.update(f"{len(word)}:{word}".encode())
    for name in sorted(contents):
        total.update(f"{name}\0{len(contents[name])}\0".encode())
        total.update(contents[name])
    return total.hexdigest()[:40]


def _cached(folder: Path, make: Callable[[Path], None]) -> Path:
    """Return the folder, made by `make` under another name first, so that it is whole or not there."""
    with contextlib.suppress(FileNotFoundError):
        os.utime(folder)  # the latest use: what is old goes first
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    _forget_oldest(folder.parent)
    scratch = Path(tempfile.mkdtemp(prefix=".new-", dir=folder.parent))
    try:
        make(scratch)
        try:
            scratch.rename(folder)
        except OSError:
            if not folder.is_dir():  # else another grader was faster
                raise
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    return folder


def _forget_oldest(folder: Path) -> None:
    """Other graders may do the same at the same time: an entry that is gone is no trouble."""
    entries: list[tuple[float, Path]] = []
    for entry in folder.iterdir():
        if not entry.name.startswith(".new-"):
            with contextlib.suppress(FileNotFoundError):
                entries.append((entry.stat().st_mtime, entry))
    for _, entry in sorted(entries)[: max(len(entries) - _KEPT_CACHE_ENTRIES, 0)]:
        shutil.rmtree(entry, ignore_errors=True)
