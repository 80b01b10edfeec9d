"""The user's own source files, as diagnostics quote them: nothing else of the machine is ever read or named.

The names of files come out of a program that somebody else compiled: `#line` can put any path there.
"""

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from warpgrade.findings.barriers import Kernels
from warpgrade.machine.sandbox import TOOLS_ENVIRONMENT, Limits, Run, Sandbox
from warpgrade.machine.text import clean, printable_name

Frame = tuple[str, int]  # file and line

_SOURCE_SUFFIXES = {".cu", ".cuh", ".c", ".cc", ".cpp", ".cxx", ".h", ".hh", ".hpp", ".hxx", ".inl"}
_SYSTEM = (Path("/usr/include"), Path("/usr/lib"), Path("/usr/local/cuda"))
_MAX_FILE_BYTES = 4 << 20
_LINE_WIDTH = 200
_CALL_LINES = 3  # over which a call may go
_MAX_CALL_LENGTH = 400
_ALLOCATIONS = re.compile(r"\bcuda(?:Malloc\w*|HostAlloc)\s*(?:<[^<>]*>)?\s*\(\s*")
_CONSTANTS = re.compile(r"\b__constant__\b[^;]{0,400};")
_END_OF_STATEMENT = re.compile(r"[;{}]")
_CASTS = re.compile(r"(?:\(\s*void\s*\*\s*\*\s*\)|reinterpret_cast\s*<\s*void\s*\*\s*\*\s*>)\s*\(?\s*")
_POINTER = re.compile(r"&\s*\(?\s*((?:this->)?\*?[A-Za-z_]\w*(?:(?:\.|->)[A-Za-z_]\w*|\[\w*\])*)")

_ADDR2LINE_SECONDS = 20
_MAX_CODES = 512
_MAX_FRAMES_LENGTH = 4 << 20  # of all frames of all codes
_MAX_PROGRAM_MIB = 256  # of the program, which the sandbox copies; one linked statically has more than one
_IN_SANDBOX = "/program"
_MAX_DIGITS = 9
_COLUMN = re.compile(r" \(discriminator \d+\)$")


class Sources:
    """Maps the names that compilers wrote to the user's names of own files, and reads those."""

    def __init__(
        self,
        name_of: Callable[[str], str],
        read: Callable[[str], bytes],
        is_header: Callable[[str], bool] = lambda path: True,
        *,
        reads_kernels: bool = True,
    ) -> None:
        self._name_of, self._read, self._is_header = name_of, read, is_header
        self._reads_kernels = reads_kernels
        self._lines: dict[str, list[str]] = {}
        self._kernels: dict[str, Kernels] = {}

    def own_name(self, path: str) -> str:
        """Return the user's name of an own file, or nothing."""
        return self._name_of(path)

    def foreign_name(self, path: str) -> str:
        """Return `<cuda_fp16.hpp>`: a header of somebody else's, without its folders, or <elsewhere>."""
        if not self._is_header(path):
            return "<elsewhere>"
        return f"<{printable_name(PurePosixPath(path).name.strip('<>') or '?')}>"

    def line(self, name: str, number: int) -> str:
        """Return the text of a line of an own file, or nothing; `name` is one that own_name gave."""
        lines = self._all(name) if name else []
        text = lines[number - 1] if 0 < number <= len(lines) else ""
        return text if len(text) <= _LINE_WIDTH else text[: _LINE_WIDTH - 1] + "…"

    def allocated_variable(self, name: str, number: int) -> str:
        """Return `d_a` where the statement at that line has one allocation, `cudaMalloc(&d_a, …)`, else nothing."""
        lines = self._all(name) if name and not name.startswith("<") else []
        if not 0 < number <= len(lines):
            return ""
        # Cut to what a person would write in one line: the patterns look back and forth in it.
        texts = [line[:_MAX_CALL_LENGTH] for line in lines[number - 1 : number - 1 + _CALL_LINES]]
        text = "\n".join(texts)
        calls = list(_ALLOCATIONS.finditer(text))
        at_line = [call for call in calls if call.start() < len(texts[0])]
        # Compilers give a statement the line on which it begins.
        end = _END_OF_STATEMENT.search(text)
        calls = at_line or [call for call in calls if end is None or call.start() < end.start()]
        if len(calls) != 1:
            return ""
        at = calls[0].end()
        if cast := _CASTS.match(text, at):
            at = cast.end()
        pointer = _POINTER.match(text, at)
        return pointer[1] if pointer else ""

    def declares_without_value(self, name: str, constant: str) -> bool:
        """Tell whether an own file declares this __constant__ variable without an initial value.

        PTX does not tell `= 0` from none.
        """
        text = "\n".join(self._all(name)) if name and not name.startswith("<") else ""
        word = re.escape(constant.rpartition("::")[2])
        declared = [
            after["next"]
            for statement in _CONSTANTS.finditer(text)
            for after in re.finditer(rf"\b{word}\b\s*(?:\[[^\]]*\]\s*)*(?P<next>[=({{,;])", statement[0])
        ]
        return bool(declared) and all(after in ",;" for after in declared)

    def kernels(self, name: str) -> Kernels:
        """Return the functions of an own file that run on the device; `name` is one that own_name gave."""
        if name not in self._kernels:
            self._kernels[name] = Kernels("\n".join(self._all(name)) if self._reads_kernels else "")
        return self._kernels[name]

    def _all(self, name: str) -> list[str]:
        if name not in self._lines:
            self._lines[name] = clean(self._read(name)).expandtabs(4).split("\n")
        return self._lines[name]


def submission_sources(
    files: Mapping[str, bytes], folder: re.Pattern[str], is_header: Callable[[str], bool], *, reads_kernels: bool = True
) -> Sources:
    """The files of a submission; `folder` matches the one in which they were compiled. No other file is named."""

    def name_of(path: str) -> str:
        name = os.path.normpath(folder.sub("", path, count=1))
        return name if name in files else ""

    return Sources(name_of, lambda name: files[name], is_header, reads_kernels=reads_kernels)


def folder_sources(folders: Sequence[Path], others: Sequence[Path] = ()) -> Sources:
    """The source files in the user's own folders, `others` in them left out; named from the working directory."""
    here = Path.cwd().resolve()
    roots = [folder.resolve() for folder in folders]
    strange = [folder.resolve() for folder in (*others, *_SYSTEM)]

    def name_of(path: str) -> str:
        if PurePosixPath(path).suffix.lower() not in _SOURCE_SUFFIXES:
            return ""
        try:
            file = Path(here, path).resolve()
            good = file.is_file() and any(file.is_relative_to(root) for root in roots)
            good = good and not any(file.is_relative_to(folder) for folder in strange)
        except (OSError, ValueError):
            return ""
        return os.path.relpath(file, here) if good else ""

    def read(name: str) -> bytes:
        try:
            with Path(here, name).open("rb") as file:
                return file.read(_MAX_FILE_BYTES)
        except OSError:
            return b""

    return Sources(name_of, read)


@dataclass(frozen=True)
class HostCode:
    """Finds the source lines of a compiled program's calls, with addr2line in the sandbox."""

    program: Path
    sandbox: Sandbox

    def __call__(self, codes: Sequence[int]) -> dict[int, list[Frame]]:
        """Return for each place of a call its file and line, innermost inlined function first; {} when it cannot."""
        return frames(codes, self.ask(codes))

    def ask(self, codes: Sequence[int]) -> bytes:
        """Return what addr2line says of places of calls; nothing when it cannot."""
        asked = _bounded(codes)
        if not asked:
            return b""
        inside = _IN_SANDBOX if self.sandbox.has_own_paths else str(self.program)
        # The address is where the call returns to: the byte before it is the call's.
        command = ["addr2line", "-e", inside, "-i", "-a", *(hex(code - 1) for code in asked)]
        run = Run(
            command=command,
            limits=Limits(
                seconds=_ADDR2LINE_SECONDS, cpu_seconds=_ADDR2LINE_SECONDS, memory_mib=4096,
                file_size_mib=_MAX_PROGRAM_MIB, processes=16, tmp_mib=16,
            ),
            directory="/tmp",  # noqa: S108 - of the sandbox
            files={inside: self.program},
            environment=TOOLS_ENVIRONMENT,
        )  # fmt: skip
        return self.sandbox.execute("compile", run, _MAX_FRAMES_LENGTH, errors=False).words


def _bounded(codes: Sequence[int]) -> list[int]:
    return [code for code in dict.fromkeys(codes) if 0 < code < 1 << 63][:_MAX_CODES]


def frames(codes: Sequence[int], words: bytes) -> dict[int, list[Frame]]:
    """Read what `addr2line -a -i` says: an address, then `file:line` for each frame, innermost function first."""
    by_address = {code - 1: code for code in _bounded(codes)}
    found: dict[int, list[Frame]] = {}
    current: list[Frame] = []
    for row in clean(words).splitlines():
        if row.startswith("0x") and ":" not in row:
            try:
                code = by_address.get(int(row, 16))
            except ValueError:
                code = None
            current = found.setdefault(code, []) if code is not None else []
            continue
        file, _, line = _COLUMN.sub("", row).rpartition(":")
        if line.isascii() and line.isdigit() and len(line) <= _MAX_DIGITS and file not in ("", "??"):
            current.append((file, int(line)))
    return found
