"""Builds a submission into a worker program: nvcc in the sandbox, then our own link. Both are cached by content.

The student's files are alone in the folder in which nvcc runs, so that its messages name them as the student does. Of
the lab they can include what is given with it, its contract and the course's headers, and nothing else. The command
line is ours alone; the environment is empty.
"""

import concurrent.futures
import functools
import os
import shutil
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from warpgrade.compiling import head_start, link, reading, warnings
from warpgrade.compiling.failure import BuildFailure
from warpgrade.compiling.nvcc import Nvcc
from warpgrade.compiling.toolchain import HOST_LINES, Compilers
from warpgrade.compiling.warnings import CompilerWarning
from warpgrade.lab.budget import Budget
from warpgrade.lab.labs import Lab
from warpgrade.machine import cache, disk_space
from warpgrade.machine.confined import Allowance
from warpgrade.machine.errors import GraderError
from warpgrade.machine.paths import COMMAND, Layout
from warpgrade.machine.sandbox import (
    COULD_NOT_START,
    CPU_LIMIT,
    FILE_SIZE_LIMIT,
    KILLED,
    OUT_OF_TIME,
    TOOLS_ENVIRONMENT,
    Done,
    Limits,
    Run,
    Sandbox,
)
from warpgrade.machine.text import bounded

SUBMISSION_FOLDER = link.SUBMISSION_FOLDER
# Of host code only: ptxas optimizes kernels as ever. No lab times host code, and -O3 takes g++ twice as long.
_HOST_OPTIMIZATION = "-O1"
# The front end warns by itself. Of signs it would warn in each loop over a vector.
_HOST_WARNINGS = ("-Xcompiler", "-Wall,-Wno-sign-compare")
_TIME = 1_700_000_000  # of all source files
_MOST_FILE_MIB = 256  # of what nvcc writes in between
_NO_SPACE = "No space left on device"


@dataclass(frozen=True)
class _Phase:
    """How far nvcc goes, and for which files: its option, the code that it makes and the name of what it writes."""

    option: str
    code: str
    suffix: str
    units: frozenset[str]


UNITS = frozenset({".cu", ".c", ".cc", ".cpp", ".cxx"})  # ends of the names of files that become objects
_OBJECT = _Phase("-c", "[compute_{arch},sm_{arch}]", ".o", UNITS)
_DEVICE_CODE = _Phase("-ptx", "compute_{arch}", ".ptx", frozenset({".cu"}))


@dataclass(frozen=True)
class Builder:
    """All that a build depends on besides the sources."""

    layout: Layout
    lab: Lab
    compilers: Compilers
    sandbox: Sandbox
    architecture: int
    binding: Path  # how the worker calls the lab's functions
    budget: Budget | None = None  # of the submission; none where it is not one that is compiled

    def build(self, files: Mapping[str, bytes]) -> Path:
        """Return the worker program of these files; raises BuildFailure or GraderError."""
        folders = self._compile_units({**self._given_sources(), **files})
        libraries = [self.binding, *(self.layout.library(name) for name in ("warpgrade_worker", "warpgrade_cudart"))]
        worker_key = cache.key(
            [*(folder.name for folder in folders), self.compilers.identity, *link.flags(self.compilers)],
            {path.name: _read_library(path) for path in libraries},
        )
        linker = link.Linker(self.lab, self.compilers, self.sandbox, [*files, *self._given], self.budget)
        worker = cache.cached(
            self.layout.cache / "workers" / worker_key,
            lambda target: linker.link([next(folder.glob("*.o")) for folder in folders], libraries, target),
        )
        program = worker / "worker"
        if self.budget:
            self.budget.add_made(program.stat().st_size + sum(map(len, files.values())))
            self._require_budget(self.lab.main_file)
        return program

    @functools.cached_property
    def _allowance(self) -> Allowance:
        return self.budget.analysis if self.budget else Allowance()

    def _require_budget(self, unit: str) -> None:
        """Raise BuildFailure where the submission is over its budget."""
        if self.budget and (problem := self.budget.exceeded):
            raise BuildFailure(
                "compile", problem, hint=f"what {unit} makes of the compiler is too much", review=[problem]
            )

    def warnings(self, files: Mapping[str, bytes]) -> list[CompilerWarning]:
        """Return what the compilers warned of when they compiled these files; nothing where they refused them."""
        return warnings.together([self._objects(unit, files) for unit in _units(files, _OBJECT)])

    def device_code(self, files: Mapping[str, bytes]) -> bytes:
        """Return the PTX that nvcc makes of these files' kernels; raises BuildFailure or GraderError."""
        with tempfile.TemporaryDirectory(prefix="warpgrade-ptx-") as scratch:
            files = {**self._given_sources(), **files}
            for unit in _units(files, _DEVICE_CODE):
                self._compile(unit, files, Path(scratch), self._deadline(), _DEVICE_CODE)
            return b"\n".join(path.read_bytes() for path in sorted(Path(scratch).iterdir()))

    def _objects(self, unit: str, files: Mapping[str, bytes]) -> Path:
        """Return where a translation unit's object file is kept."""
        # Where the compiler ran is in the line information, so that an unconfined build is another one.
        place = SUBMISSION_FOLDER if self.sandbox.has_own_paths else self.sandbox.kind
        key = cache.key(
            [self.compilers.identity, place, *self._flags(), *self.lab.refused_headers],
            {**_seen_by(unit, files), **self._given},
        )
        return self.layout.cache / "objects" / key

    def _deadline(self) -> float:
        return time.monotonic() + self.lab.file.limits.compile_seconds

    def _flags(self, phase: _Phase = _OBJECT) -> list[str]:
        arch = self.architecture
        return [
            "-std=c++17", _HOST_OPTIMIZATION, *self.compilers.initialization, "-lineinfo", *HOST_LINES,
            *_HOST_WARNINGS, "-cudart", "none",
            "-gencode", f"arch=compute_{arch},code=" + phase.code.format(arch=arch), phase.option,
        ]  # fmt: skip

    @functools.cached_property
    def _given(self) -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in self.lab.given}

    def _given_sources(self) -> dict[str, bytes]:
        """Return what is given and compiled with each submission."""
        return {name: self._given[name] for name in _units(self._given, _OBJECT)}

    # --- compile -------------------------------------------------------------------------------------------------

    def _compile_units(self, files: Mapping[str, bytes]) -> list[Path]:
        """Compile what has changed, several at a time, and together no longer than the lab allows."""
        deadline = self._deadline()

        def folder_of(unit: str) -> Path:
            make = functools.partial(self._compile, unit, files)
            return cache.cached(self._objects(unit, files), lambda target: make(target, deadline))

        with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
            return list(pool.map(folder_of, _units(files, _OBJECT)))

    def _compile(
        self, unit: str, files: Mapping[str, bytes], target: Path, deadline: float, phase: _Phase = _OBJECT
    ) -> None:
        """Compile a translation unit into `target`; of the other files it sees those that are none."""
        with tempfile.TemporaryDirectory(prefix="warpgrade-compile-") as scratch:
            sources, given = Path(scratch, "submission"), Path(scratch, "given")
            _put(sources, _seen_by(unit, files))
            _put(given, self._given)
            output = f"{unit}{phase.suffix}"
            found = self._compile_unit(unit, files, sources, given, deadline, phase)
            (target / output).write_bytes(link.take_object(sources / output))
            if phase is _OBJECT:
                link.read_object(target / output, unit, self._allowance)  # here, where the file's name is known
                warnings.keep(target, found)

    def _compile_unit(
        self, unit: str, files: Mapping[str, bytes], sources: Path, given: Path, deadline: float, phase: _Phase
    ) -> list[CompilerWarning]:
        """Return what the compilers warn of in a unit that they accept."""
        output = f"{unit}{phase.suffix}"
        nvcc = self._nvcc(unit, output, sources, given, phase)
        start = self._head_start(unit) if phase is _OBJECT else None
        done = self._compile_alone(nvcc, deadline) if phase is _OBJECT else None
        if done is None:
            with cache.held(*([start] if start else [])):
                done = nvcc.run(self._compile_limits(deadline), start)
            self._charge(done)
        said = reading.within(
            self._allowance, "compile", f"to read what the compiler says of {unit}", reading.read_compiled,
            reading.Compiled(
                unit, done.status, done.words, nvcc.record, self.lab.refused_headers, nvcc.folder,
                self.compilers.folders, [path.name for path in (*sources.iterdir(), *given.iterdir())],
                [nvcc.include, nvcc.folder], self.compilers.header_folders, dict(files),
            ),
        )  # fmt: skip
        # Before what the compiler says: the mistake to fix first is the header.
        if said.problem is not None:
            raise BuildFailure("compile", said.problem.message, hint=said.problem.hint)
        if done.status != 0:
            if _NO_SPACE in said.words:  # or so a file says
                disk_space.require(sources, "the compiler")
            if done.status == CPU_LIMIT:
                self._require_budget(unit)
            self._refuse(unit, done.status, said)
        self._require_budget(unit)
        return said.warnings

    def _nvcc(self, unit: str, output: str, sources: Path, given: Path, phase: _Phase = _OBJECT) -> Nvcc:
        return Nvcc(self.compilers, self.sandbox, self._flags(phase), unit, output, sources, given)

    def _compile_alone(self, nvcc: Nvcc, deadline: float) -> Done | None:
        """Have the host compiler compile a unit without kernels as nvcc would; what it has a word to say of is nvcc's.

        nvcc takes half as long as the compiler to find out how it is to be called.
        """
        words = head_start.host_words(self._head_start_folder, nvcc.unit) if self._may_have_head_start else []
        if not words:
            return None
        done = nvcc.run_host(self._compile_limits(deadline), words)
        self._charge(done)
        return done if done.status == 0 and not done.words else None

    def _charge(self, done: Done) -> None:
        if self.budget:
            self.budget.add_tool(done)

    # --- what all submissions of a lab have in common ------------------------------------------------------------

    def prepare(self) -> None:
        """Make the head start of this lab's submissions: it takes two seconds, once, and saves 0.2 of each."""
        if self._may_have_head_start:
            with tempfile.TemporaryDirectory(prefix="warpgrade-head-start-") as scratch:
                cache.cached(self._head_start_folder, lambda target: self._make_head_start(target, Path(scratch)))

    def _head_start(self, unit: str) -> Path | None:
        if unit != self.lab.main_file or not self._may_have_head_start:
            return None
        try:
            os.utime(self._head_start_folder)  # the latest use: it is not forgotten now
        except FileNotFoundError:
            if not head_start.is_worth_while(self._head_start_folder):
                return None
            self.prepare()
        return self._head_start_folder

    @functools.cached_property
    def _may_have_head_start(self) -> bool:
        """Texts that are the same in each submission are so where folders have the same names; clang is not asked."""
        is_cuda = PurePosixPath(self.lab.main_file).suffix == ".cu"
        return is_cuda and self.sandbox.has_own_paths and self.compilers.is_gcc

    @functools.cached_property
    def _head_start_folder(self) -> Path:
        starter = (self.lab.starter_folder / self.lab.main_file).read_bytes()
        words = [self.compilers.identity, *self.lab.file.lab.files, *self._flags()]
        return self.layout.cache / "head-starts" / head_start.key(words, self._given, starter)

    def _make_head_start(self, target: Path, scratch: Path) -> None:
        """Make it of a file with nothing in it and of the starter; what cannot be made is left out."""
        head_start.put_script(target, self.compilers.host)
        unit = self.lab.main_file
        found: list[head_start.Beginning] = []
        starter = (self.lab.starter_folder / unit).read_bytes()
        for name, content in (("empty", b""), ("starter", starter)):
            sources, given = scratch / name, scratch / f"{name}-given"
            _put(sources, {unit: content})
            _put(given, self._given)
            recorded = sources / "recorded"
            (recorded / head_start.HOST).mkdir(parents=True)
            if not content:
                (recorded / head_start.PREPROCESS).mkdir()
            nvcc = self._nvcc(unit, f"{unit}.o", sources, given)
            nvcc.run(self._compile_limits(self._deadline()), target, recorded)
            if not content:
                head_start.keep_preprocessed(recorded, target)
            found += head_start.beginnings(recorded, unit)
        for unit in {*self.lab.file.lab.files, *self._given}:
            if PurePosixPath(unit).suffix in UNITS - {".cu"}:
                nvcc = self._nvcc(unit, f"{unit}.o", scratch / "empty", scratch / "empty-given")
                said = nvcc.ask_for_steps(self._compile_limits(self._deadline()))
                head_start.keep_host_words(target, unit, nvcc.output, said.words.decode(errors="replace"))
        for number, beginning in enumerate(sorted(found, key=lambda each: -len(each.text))):
            self._precompile(beginning, target / f"{head_start.HOST}.{number}")

    def _precompile(self, beginning: head_start.Beginning, folder: Path) -> None:
        folder.mkdir()
        run = Run(
            command=[str(self.compilers.host), *head_start.keep_beginning(folder, beginning)],
            limits=self._compile_limits(self._deadline()),
            directory=SUBMISSION_FOLDER,
            read_only={str(home): home for home in self.compilers.folders},
            writable={SUBMISSION_FOLDER: folder},
            environment=TOOLS_ENVIRONMENT,
        )
        if self.sandbox.execute("compile", run).status != 0:
            shutil.rmtree(folder)

    def _compile_limits(self, deadline: float) -> Limits:
        seconds = max(deadline - time.monotonic(), 1.0)
        left = self.budget.seconds_left if self.budget else 2 * seconds
        return Limits(
            seconds=seconds, cpu_seconds=max(int(min(2 * seconds, left)) + 1, 1), memory_mib=8192,
            file_size_mib=_MOST_FILE_MIB, processes=128, tmp_mib=1024,
        )  # fmt: skip

    def _refuse(self, unit: str, status: int, said: reading.Said) -> None:
        seconds = self.lab.file.limits.compile_seconds
        if status == COULD_NOT_START:
            raise GraderError("the sandbox could not start the compiler", detail=bounded(said.words, lines=8))
        review = True
        if status in (OUT_OF_TIME, CPU_LIMIT):
            message, hint = f"{unit} took longer than {seconds:g} s to compile", "unroll less, or use fewer templates"
        elif status == FILE_SIZE_LIMIT or said.is_too_large:
            message = f"compiling {unit} makes a file of more than {_MOST_FILE_MIB} MiB"
            hint = "fill large arrays while the program runs"
        elif status >= KILLED and not said.has_error:
            message = f"the system killed the compiler while it compiled {unit}"
            hint = "it may need too much memory"
        else:
            message = f"{unit} does not compile" + (f" ({said.errors} errors)" if said.errors > 1 else "")
            hint = said.advice or (
                "fix the first error first; it often causes the later ones" if said.errors > 1 else ""
            )
            review = False
        raise BuildFailure(
            "compile", message, detail=bounded(said.words.strip()), hint=hint, review=[message] if review else []
        )


def _units(files: Mapping[str, bytes], phase: _Phase) -> list[str]:
    return [name for name in files if PurePosixPath(name).suffix.lower() in phase.units]


def _seen_by(unit: str, files: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return a translation unit and the files that are none: what it can be made of."""
    others = set(_units(files, _OBJECT)) - {unit}
    return {name: content for name, content in files.items() if name not in others}


def _put(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write files into a new folder; ptxas writes the time of a source file into the program."""
    folder.mkdir()
    for name, content in files.items():
        (folder / name).write_bytes(content)
        os.utime(folder / name, (_TIME, _TIME))


def _read_library(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise GraderError(
            f"{path.name} is not built", hint=f"run {COMMAND} doctor, which builds what is missing"
        ) from None
