"""Links the student's objects with ours into a worker program, in the sandbox: a linker reads what a stranger made."""

import functools
import os
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ParamSpec, TypeVar

from warpgrade.compiling import link_errors, reading
from warpgrade.compiling.elf_object import ObjectFile
from warpgrade.compiling.failure import BuildFailure
from warpgrade.compiling.link_errors import LinkProblem
from warpgrade.compiling.toolchain import Compilers
from warpgrade.lab.budget import Budget
from warpgrade.lab.labs import Lab
from warpgrade.machine import disk_space
from warpgrade.machine.confined import Allowance
from warpgrade.machine.errors import GraderError
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
from warpgrade.machine.text import bounded, clean

P = ParamSpec("P")
R = TypeVar("R")

# Of an object as of the program, which is copied into the worker's sandbox for each test.
MOST_BYTES = 64 << 20
_LIMITS = Limits(seconds=60, cpu_seconds=60, memory_mib=4096, file_size_mib=MOST_BYTES >> 20, processes=32, tmp_mib=256)
_DEMANGLE_LIMITS = Limits(seconds=5, cpu_seconds=5, memory_mib=256, file_size_mib=1, processes=8, tmp_mib=1)
SUBMISSION_FOLDER = "/submission"  # in which the compiler ran
_OBJECTS, _LIBRARIES, _OUTPUT = "/objects", "/libraries", "/output"
_PROGRAM = "worker"
# No plug-in reads the objects, so that nothing in them starts another program. Names stay as they are: writing them
# out can take more memory than linking, and is done for those few that a message shows.
FLAGS = ("-static", "-fno-lto", "-fno-use-linker-plugin", "-Wl,--no-demangle", "-Wl,-z,noexecstack")
_GOLD = ("-fuse-ld=gold", "-Wl,--fatal-warnings")  # takes half of the time
_MANGLED = re.compile(r"\b_Z[A-Za-z0-9_]+")
_MOST_NAMES, _LONGEST_NAME = 64, 512
_SAYS = re.compile(rb"^\S{0,300}/ld(?:\.\w{1,20})?: ", re.MULTILINE)
# Where the compiler ran, without a sandbox.
_SCRATCH = re.compile(rb"(?<![^\s(])/[^\s:]{0,300}" + re.escape(SUBMISSION_FOLDER.encode()) + rb"/")


def read_object(path: Path, source: str, allowance: Allowance) -> ObjectFile:
    """Check what the compiler made of `source`; raises BuildFailure for what no linker is shown."""
    found, refused = reading.within(
        allowance, "link", f"to read the object file of {source}", reading.read_object, path
    )  # fmt: skip
    if refused:
        raise BuildFailure(
            "link",
            f"{source} puts something into the program that no lab needs: {refused}",
            hint="remove the asm statement, attribute or pragma that creates it",
            review=[f"refused {refused} in {source}"],
        )
    return found


def flags(compilers: Compilers) -> tuple[str, ...]:
    """Return the options of the linker that is tried first."""
    return (*FLAGS, *_GOLD) if compilers.has_gold else FLAGS


@dataclass(frozen=True)
class Linker:
    """All that a link depends on besides its files."""

    lab: Lab
    compilers: Compilers
    sandbox: Sandbox
    own: Collection[str] = ()  # the files that messages may name
    budget: Budget | None = None

    @functools.cached_property
    def _allowance(self) -> Allowance:
        """For reading objects, and what the linker says."""
        return self.budget.analysis if self.budget else Allowance()

    def link(self, units: Sequence[Path], libraries: Sequence[Path], target: Path) -> None:
        """Link the worker into `target`, the first library whole; raises BuildFailure or GraderError."""
        objects = [read_object(unit, unit.name, self._allowance) for unit in units]
        self._check_memory(sum(each.memory for each in objects))
        functions = [function for each in objects for function in each.functions]
        if link_errors.lacks_functions(self.lab, functions):
            named = self._candidates(functions)
            if problem := self._read(reading.missing_functions, self.lab, named):
                raise _failure(problem, "")
        if self.compilers.has_gold and self._links_at_once(units, libraries, target):
            return
        done = self._run(units, libraries, target)
        if done is not None:
            named = self._candidates(functions)
            known = link_errors.cuda_functions(self.compilers)
            raise _failure(self._read(reading.explain_link, self.lab, done, named, sorted(known)), done)

    def _read(self, function: Callable[P, R], /, *arguments: P.args) -> R:  # type: ignore[valid-type]
        return reading.within(self._allowance, "link", "to read what the linker says", function, *arguments)

    def _check_memory(self, needed: int) -> None:
        allowed = self.lab.file.limits.memory_mib
        if needed > allowed << 20:
            size = f"{needed >> 20:,} MiB"
            raise BuildFailure(
                "link", f"the program's global variables take {size}, but a test has {allowed:,} MiB",
                hint="allocate large arrays while the program runs, and no more than you need",
                review=[f"global variables of {size}"],
            )  # fmt: skip

    def _links_at_once(self, units: Sequence[Path], libraries: Sequence[Path], target: Path) -> bool:
        """Try the faster linker; where it has anything to say, the usual one has the word, which students are shown."""
        done = self._execute(units, libraries, target, flags(self.compilers))
        program = target / _PROGRAM
        if done.status == 0 and not done.words and program.is_file() and not program.is_symlink():
            return True
        program.unlink(missing_ok=True)
        return False

    def _execute(self, units: Sequence[Path], libraries: Sequence[Path], target: Path, flags: Sequence[str]) -> Done:
        own_paths = self.sandbox.has_own_paths
        objects = [f"{_OBJECTS}/{unit.name}" if own_paths else str(unit) for unit in units]
        binding, *others = [f"{_LIBRARIES}/{path.name}" if own_paths else str(path) for path in libraries]
        output = _OUTPUT if own_paths else str(target)
        done = self.sandbox.execute(
            "compile",
            Run(
                command=[
                    str(self.compilers.host), *flags, "-o", f"{output}/{_PROGRAM}", *objects,
                    "-Wl,--whole-archive", binding, "-Wl,--no-whole-archive", *others, "-lpthread", "-ldl",
                ],
                limits=_LIMITS,
                directory=output,
                read_only={
                    **{f"{_OBJECTS}/{unit.name}": unit for unit in units},
                    **{f"{_LIBRARIES}/{path.name}": path for path in libraries},
                    **{str(home): home for home in self.compilers.folders},
                },
                writable={_OUTPUT: target},
                environment=TOOLS_ENVIRONMENT,
            ),
        )  # fmt: skip
        if self.budget:
            self.budget.add_tool(done)
        return done

    def _run(self, units: Sequence[Path], libraries: Sequence[Path], target: Path) -> str | None:
        """Return nothing when it is done, else what the linker says, with names as people write them."""
        done = self._execute(units, libraries, target, FLAGS)
        own = [*self.own, *(path.name for path in [*units, *libraries])]
        folders = [SUBMISSION_FOLDER, _OBJECTS, _LIBRARIES, _OUTPUT]
        said = _SAYS.sub(b"", done.words)
        if not self.sandbox.has_own_paths:
            folders = [str(target), *{str(path.parent) for path in [*units, *libraries]}]
            said = _SCRATCH.sub(b"", said)
        words = self._read(reading.read_linked, said, own, folders, self.compilers.header_folders)
        if done.status == 0:
            if not (target / _PROGRAM).is_file() or (target / _PROGRAM).is_symlink():
                raise GraderError("the linker reported no error, but wrote no program")
            return None
        # Asked of the machine: a name in the program could say anything in the linker's words.
        disk_space.require(target, "the linker")
        if done.status == COULD_NOT_START:
            raise GraderError("the linker does not run", detail=bounded(words, lines=8))
        self._refuse_bombs(done.status, words)
        return self._readable(words)

    def _refuse_bombs(self, status: int, words: str) -> None:
        if status in (OUT_OF_TIME, CPU_LIMIT):
            message = f"the program took longer than {_LIMITS.seconds:g} s to link"
        elif status == FILE_SIZE_LIMIT or "File too large" in words or "File size limit" in words:
            message = f"the program is larger than {_LIMITS.file_size_mib} MiB"
        elif status >= KILLED or re.search(r"memory exhausted|out of memory|terminated by signal", words):
            message = "the system killed the linker: it may need too much memory"
        else:
            return
        raise BuildFailure(
            "link", message, detail=bounded(words.strip(), lines=20), hint="make the program smaller",
            review=[message],
        )  # fmt: skip

    def _candidates(self, functions: Sequence[tuple[str, bool]]) -> list[tuple[str, bool]]:
        """Return functions as people write them, those first that have something of a contract's name in theirs."""
        wanted = [name.lower() for name in self.lab.file.lab.functions]

        def is_far(function: tuple[str, bool]) -> bool:
            name = function[0]
            return name != "main" and not any(word in name.lower() for word in wanted)

        near = sorted(functions, key=is_far)[:_MOST_NAMES]
        names = self._demangled(name for name, _ in near)
        return [(names.get(name, name), seen) for name, seen in near]

    def _readable(self, words: str) -> str:
        names = self._demangled(_MANGLED.findall(words))
        return _MANGLED.sub(lambda found: names.get(found[0], found[0]), words)

    def _demangled(self, symbols: Iterable[str]) -> Mapping[str, str]:
        """Return the names of C++ for linkers' names, of those that can be had at a small price."""
        asked = [name for name in dict.fromkeys(symbols) if name.startswith("_Z") and len(name) <= _LONGEST_NAME]
        asked = asked[:_MOST_NAMES]
        if not asked:
            return {}
        done = self.sandbox.execute(
            "compile",
            Run(command=["c++filt", *asked], limits=_DEMANGLE_LIMITS, directory="/tmp", environment=TOOLS_ENVIRONMENT),  # noqa: S108 - of the sandbox
            errors=False,
        )
        rows = clean(done.words).split("\n")
        if done.status != 0 or len(rows) != len(asked) + 1:
            return {}
        return {name: bounded(row, lines=1) for name, row in zip(asked, rows[:-1], strict=True)}


def take_object(path: Path) -> bytes:
    """Return what the compiler in the sandbox wrote; a link or a monster in its place is not followed."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError:
        raise GraderError("nvcc reported no error, but wrote no object file") from None
    with os.fdopen(descriptor, "rb") as file:
        content = file.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        message = f"the compiled program is larger than {MOST_BYTES >> 20} MiB"
        raise BuildFailure("link", message, hint="fill large arrays while the program runs", review=[message])
    return content


def _failure(problem: LinkProblem, words: str) -> BuildFailure:
    detail = bounded(words.strip(), lines=20)
    review = [problem.message] if problem.unsupported else []
    return BuildFailure(
        "link", problem.message, detail=detail, hint=problem.hint, review=review, unsupported=problem.unsupported
    )
