"""Searches handouts, also inside archives, for what students must not get: hidden tests and solutions.

Text is compared without white space. A line of a solution is a secret if it is long enough to be telling, and students
do not have it already from the starter, the contract or the output of a test.
"""

import io
import re
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from warpgrade.compiling import judges
from warpgrade.lab import starter, variant, wrong
from warpgrade.lab.labs import Lab

_MIN_LINE_LENGTH = 24  # characters without white space; what is shorter stands in any program
_MIN_TEXT_LENGTH = 12
_MIN_NAME_LENGTH = 8
_STRING = re.compile(r'"((?:\\.|[^"\\\n])*)"')
_SPACE = re.compile(rb"\s+")
_MAX_DEPTH = 4


@dataclass(frozen=True)
class Secret:
    """A text that students must not get, without white space. what: its description."""

    what: str
    text: bytes


@dataclass(frozen=True)
class Leak:
    """A secret in a file of a handout."""

    file: str
    secret: Secret

    @property
    def message(self) -> str:
        """Return `matmul/README.md holds a line of the reference (matmul.cu:41): …`."""
        shown = self.secret.text[:60].decode("utf-8", "replace")
        return f"{self.file} holds {self.secret.what}: {shown}"


def secrets(lab: Lab, given: Iterable[bytes], places: Sequence[str]) -> list[Secret]:
    """Return all secrets of a lab. given: texts that students get on purpose. places: folders of this machine."""
    known = b"\0".join(_without_space(text) for text in given)
    taught = _without_space((lab.folder / "README.md").read_bytes())  # its snippets are also lines of other right ways
    found = [
        *_test_secrets(lab),
        *_reference_secrets(lab),
        *_data_secrets(lab),
        *(one for one in _variant_secrets(lab) if one.text not in taught),
        *(Secret("the name of a folder of this machine", place.encode()) for place in places if len(place) > 1),
    ]
    return [one for one in dict.fromkeys(found) if one.what.startswith("the name") or one.text not in known]


def student_names(names: Iterable[str]) -> Iterator[Secret]:
    """Yield names of students in course.toml, without short ones, which may be part of any word."""
    for name in sorted(names):
        if len(_without_space(name.encode())) >= _MIN_NAME_LENGTH:
            yield Secret("the name of a student with an extension", _without_space(name.encode()))


def _test_secrets(lab: Lab) -> Iterator[Secret]:
    for item in lab.items:
        if item.hidden:
            yield Secret("the name of a hidden test", _without_space(item.name.encode()))
            for hint in (item.hint, *item.hints.values()):
                if hint:
                    yield Secret(f"a hint of the hidden test “{item.name}”", _without_space(hint.encode()))
    public = {path.name for path in judges.test_sources(lab, public_only=True)}
    for path in judges.test_sources(lab, public_only=False):
        if path.name not in public:
            text = path.read_text(encoding="utf-8")
            yield from _line_secrets(f"a line of {path.name}", enumerate(text.splitlines(), start=1))
            for literal in _STRING.findall(re.sub(r"^#include.*$", "", text, flags=re.MULTILINE)):
                if len(_without_space(literal.encode())) >= _MIN_TEXT_LENGTH:
                    yield Secret(f"a text of {path.name}", _without_space(literal.encode()))


def _data_secrets(lab: Lab) -> Iterator[Secret]:
    for path in sorted(lab.data.glob("hidden*")):
        yield Secret(f"the name of the data file {path.name}", path.name.encode())
        content = path.read_bytes()
        if len(_without_space(content)) >= _MIN_TEXT_LENGTH:
            yield Secret(f"the data of {path.name}", content)


def _reference_secrets(lab: Lab) -> Iterator[Secret]:
    for path in starter.reference_files(lab):
        solution = starter.solution(path.read_text(encoding="utf-8"), path.name)
        yield from _line_secrets(f"a line of the reference ({path.name})", solution)


def _variant_secrets(lab: Lab) -> Iterator[Secret]:
    for kind in (wrong.KIND, variant.RIGHT):
        for solution in (variant.find(lab, kind, name) for name in variant.names(lab, kind)):
            lines = [solution.header, *solution.own_lines]
            yield from _line_secrets(f"a line of the {kind.folder} solution {solution.name}", enumerate(lines))


def _line_secrets(what: str, lines: Iterable[tuple[int, str]]) -> Iterator[Secret]:
    for _, line in lines:
        bare = _without_space(line.encode())
        if len(bare) >= _MIN_LINE_LENGTH and not bare.startswith(b"#include"):
            yield Secret(what, bare)


def find(files: Iterable[tuple[str, bytes]], secrets: Sequence[Secret]) -> Iterator[Leak]:
    """Yield each secret in the contents of these files."""
    for name, content in _unpacked(files):
        bare, raw = _without_space(content), content
        for secret in secrets:
            if secret.text in bare or secret.text in raw:
                yield Leak(name, secret)


def _unpacked(files: Iterable[tuple[str, bytes]], depth: int = 0) -> Iterator[tuple[str, bytes]]:
    for name, content in files:
        yield name, content
        yield f"{name} (its name)", name.encode()
        if content[:4] == b"PK\x03\x04" and depth < _MAX_DEPTH:
            with zipfile.ZipFile(io.BytesIO(content)) as archive:
                yield from _unpacked(((f"{name}/{one}", archive.read(one)) for one in archive.namelist()), depth + 1)


def read_folder(folder: Path) -> list[tuple[str, bytes]]:
    """Return the names and contents of a folder's files; links are followed, because handing out follows them."""
    return [
        (str(path.relative_to(folder.parent)), path.read_bytes())
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    ]


def _without_space(text: bytes) -> bytes:
    return _SPACE.sub(b"", text)
