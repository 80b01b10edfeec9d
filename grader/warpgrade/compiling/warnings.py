"""What the compilers warn of in a student's own files, out of what they say of a program that they accept.

nvcc's front end reads each file twice, for the host and for the device, and the host compiler reads it once more: the
same warning comes up to three times, in two forms.
"""

import contextlib
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec

from warpgrade.compiling import empty_bodies
from warpgrade.machine.text import bounded, clean, one_line

_MOST = 50
_TEXT_WIDTH, _LINE_WIDTH = 300, 200
_FILE = "warnings.json"
_FRONT_END = re.compile(
    r"^(?P<file>[^\s(:][^(:\n]*)\((?P<line>\d{1,9})\): warning(?: #(?P<number>\d+)(?:-D)?)?: (?P<text>[^\n]+)$",
    re.MULTILINE,
)
_HOST = re.compile(
    r"^(?P<file>[^\s(:][^(:\n]*):(?P<line>\d{1,9}):(?:\d{1,9}:)? warning: (?P<text>[^\n]+?)(?: \[-W[\w+=-]+\])?$",
    re.MULTILINE,
)
_REMARK = re.compile(r'^Remark: The warnings can be suppressed with "-diag-suppress <warning-number>"\n+', re.MULTILINE)
# Declared and never used: of all warnings the least telling.
_MINOR = {"177", "550"}
# What makes results wrong wherever it runs.
_MISTAKE = re.compile(
    r'^use of "=" where "==" may have been intended|'
    r"is used before its value is set|cannot be directly (?:read|written) in a host function|is used uninitialized"
)
# A part before a comma that is lost: dim3 grid = (a, b), or [y, x].
_NO_EFFECT = re.compile(r"^expression has no effect")
_UNSET = re.compile(r'^variable "(?P<name>\w+)" is used before its value is set$')
# What the words leave open, by the line.
_DIM3 = re.compile(r"\bdim3\s+(?P<name>\w+)\s*=\s*\((?P<all>[^;]*,(?P<last>[^;,]*))\)\s*;")
_INDICES = re.compile(r"(?P<name>\w+)\s*\[(?P<lost>[^\[\],]*),(?P<last>[^\[\],]*)\]")
_NOT_CALLED = re.compile(r"^\s*(?P<name>__sync\w+|cuda[A-Z]\w+)\s*;")
_LOST = re.compile(r"\bdim3\s+\w+\s*=\s*\([^;]*,|\w\s*\[[^\[\]]*,[^\[\]]*\]")


class CompilerWarning(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A warning about a line of the submission's own files; `source` is that line."""

    file: str
    line: int
    text: str
    source: str = ""

    @property
    def place(self) -> str:
        """Return `matmul.cu:41`."""
        return f"{self.file}:{self.line}"

    @property
    def is_mistake(self) -> bool:
        """Tell whether what it warns of hardly ever gives a right result."""
        if _NO_EFFECT.search(self.text):
            return _LOST.search(self.source) is not None
        return _MISTAKE.search(self.text) is not None or self.text in empty_bodies.TEXTS


def find(words: Iterable[str], files: Mapping[str, bytes]) -> list[CompilerWarning]:
    """Return each warning once, by file and line, the least telling ones last; `words` name files as students do."""
    found: dict[tuple[str, int, str], bool] = {}
    for text in words:
        told = set()
        for match in _FRONT_END.finditer(text):
            place = (match["file"], int(match["line"]))
            told.add(place)
            found.setdefault((*place, one_line(match["text"], _TEXT_WIDTH)), match["number"] in _MINOR)
        for match in _HOST.finditer(text):
            # What the front end has said of a line, the host compiler says in other words.
            if (place := (match["file"], int(match["line"]))) not in told:
                found.setdefault((*place, one_line(match["text"], _TEXT_WIDTH)), False)
    for file, content in files.items():
        for line, told_of in empty_bodies.find(clean(content)):
            found.setdefault((file, line, told_of), False)
    order = {name: number for number, name in enumerate(files)}
    own = sorted(
        (minor, order[file], line, number, file, text)
        for number, ((file, line, text), minor) in enumerate(found.items())
        if file in order
    )
    lines = {name: clean(content).expandtabs(4).split("\n") for name, content in files.items()} if own else {}
    return [_warning(file, line, text, _line(lines[file], line)) for _, _, line, _, file, text in own[:_MOST]]


def _warning(file: str, line: int, text: str, source: str) -> CompilerWarning:
    """Return a warning that says what to write, where the line shows that."""
    more = _what_to_write(text, source)
    return CompilerWarning(file, line, one_line(f"{text}: {more}" if more else text, _TEXT_WIDTH), source)


def _what_to_write(text: str, source: str) -> str:
    if unset := _UNSET.search(text):
        call = re.search(rf"\b(cuda(?:Malloc|HostAlloc)\w*)\(\s*(?:\([^()]*\)\s*)?{unset['name']}\s*[,)]", source)
        return f"put & before it, {call[1]}(&{unset['name']}, …), for the call sets the pointer" if call else ""
    if not _NO_EFFECT.search(text):
        return ""
    if dim3 := _DIM3.search(source):
        values, last = dim3["all"].strip(), dim3["last"].strip()
        is_whole = last.count("(") == last.count(")")
        told = f"({values}) is {last} alone" if is_whole else "of values in ( ) only the last one counts"
        return f"{told}. Write dim3 {dim3['name']}({values})"
    if indices := _INDICES.search(source):
        name, lost, last = indices["name"], indices["lost"].strip(), indices["last"].strip()
        return f"{name}[{lost}, {last}] is {name}[{last}]. Write {name}[{lost}][{last}]"
    if name := _NOT_CALLED.search(source):
        return f"without () nothing is called. Write {name['name']}()"
    return ""


def errors_first(words: str) -> str:
    """Return what a compiler says of a program that it refuses with the front end's warnings last, each once."""
    parts = list(dict.fromkeys(_REMARK.sub("", words).strip("\n").split("\n\n")))
    return "\n\n".join(sorted(parts, key=lambda part: _FRONT_END.match(part) is not None))


def _line(lines: list[str], number: int) -> str:
    return bounded(lines[number - 1].rstrip(), lines=1, width=_LINE_WIDTH) if 0 < number <= len(lines) else ""


def keep(folder: Path, warnings: list[CompilerWarning]) -> None:
    """Write them beside the object files that they belong to."""
    (folder / _FILE).write_bytes(msgspec.json.encode(warnings))


def together(folders: Iterable[Path]) -> list[CompilerWarning]:
    """Return those of folders of object files, what two of them say once; none where nothing was compiled."""
    found: dict[CompilerWarning, None] = {}
    for folder in folders:
        with contextlib.suppress(FileNotFoundError):
            kept = msgspec.json.decode((folder / _FILE).read_bytes(), type=list[CompilerWarning])
            found.update(dict.fromkeys(kept))
    return list(found)[:_MOST]
