"""Labs: found by their folders, described by lab.toml."""

import difflib
import fnmatch
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import msgspec

from warpgrade.lab import handout_note
from warpgrade.lab.failure_tags import FAILURE_TAGS
from warpgrade.lab.handout_note import HANDOUT
from warpgrade.lab.speed_curve import Curve, curve_mistake
from warpgrade.lab.toml_lines import explain_error, find_line
from warpgrade.machine import device, toml_file
from warpgrade.machine.errors import BadInput, GraderError
from warpgrade.machine.paths import Layout
from warpgrade.machine.text import bounded, printable_name
from warpgrade.machine.toml_file import TomlMistake

_LAB_NAME = re.compile(r"[a-z][a-z0-9_]*")
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
# Also a pattern. It becomes part of command lines, pages and shell scripts.
_FILE = re.compile(r"[\w*?\[][\w.+*?\[\]! -]*")
PRELAB = "prelab: "  # begins the names of tests of questions asked before a lab; docs/labs.md
_ANSWERS = re.compile(r"[A-Za-z_][\w-]{0,40}\.(?:md|txt)", re.ASCII)
_MAX_NAME_LENGTH, _MAX_MISTAKE_LENGTH = 100, 1000
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
# A header, or a folder of headers with a slash at its end.
_HEADER = re.compile(r"[A-Za-z0-9_][\w.+-]*(?:/[A-Za-z0-9_][\w.+-]*)*/?")
# Libraries of headers that do what labs ask for. A lab that teaches them allows them.
USUALLY_REFUSED = ("cub/", "thrust/")
_MAX_LIMITS = {
    "seconds": 86_400, "memory_mib": 1 << 20, "instructions": 10**12, "compile_seconds": 86_400,
    "analysis_seconds": 86_400, "processor_seconds": 864_000, "made_mib": 1 << 20, "output_mib": 4096,
}  # fmt: skip
_MAX_POINTS = 1_000_000
_TABLES = ("lab", "limits", "headers", "baseline")  # those that are there once


class LabMistake(GraderError):  # noqa: N818 - reads as what it is
    """A mistake of a lab's author: no reason for a zero, and told with its file and line."""


@dataclass(frozen=True)
class Mistake:
    """One mistake in a lab: its file and line as the author knows them, 0 for no line, what is wrong and what to do."""

    file: str
    line: int
    text: str

    @property
    def message(self) -> str:
        """Return `labs/matmul/lab.toml:41: …`."""
        text = bounded(self.text, lines=1, width=_MAX_MISTAKE_LENGTH)
        return f"{self.file}:{self.line}: {text}" if self.line else f"{self.file}: {text}"


class LabHead(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Table `[lab]`.

    answers: the text file, of that name in the lab's folder, in which students answer short questions. A person reads
    it; no test does, and it is never compiled. points: what those of all tests add up to, if given. name: if it is not
    the folder's. hours: of a student's, without the lecture, as estimated by who teaches it.
    """

    title: str
    order: int
    summary: str
    files: list[str]
    functions: list[str]
    points: float | None = None
    name: str = ""
    hours: float = 0
    difficulty: Literal["", "easy", "medium", "hard"] = ""
    answers: str = ""


class Limits(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Table `[limits]`: of one test, the first three; of a submission, the others (lab/budget.py)."""

    seconds: float = 20
    memory_mib: int = 2048
    instructions: int = 2_000_000_000
    compile_seconds: float = 120
    analysis_seconds: float = 10
    processor_seconds: float = 60
    made_mib: int = 256
    output_mib: int = 256


class Headers(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Table `[headers]`: what a submission may not include beside cub/ and thrust/, and which of these it may."""

    refused: list[str] = []
    allowed: list[str] = []


class Baseline(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Table `[baseline]`: what the unmodified starter scores on the virtual GPU."""

    points: float


class TestItem(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Table `[[test]]`: a test case that gives all of its points or none, or a part where it has a band."""

    name: str
    points: float
    hidden: bool = False
    hint: str = ""
    hints: dict[str, str] = {}


class SpeedItem(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Table `[[speed]]`: points by speed-up over the starter, one curve for each kind of device.

    vgpu: linear between its points. gpu: each of its points is a level, since times vary on a real GPU. Without a curve
    for the kind of device that it is graded on, its points are pending.
    """

    name: str
    points: float
    vgpu: Curve | None = None
    gpu: Curve | None = None
    hidden: bool = False
    hint: str = ""
    hints: dict[str, str] = {}

    def curve(self, kind: device.Kind) -> Curve | None:
        """Return the curve for a kind of device, if there is one."""
        return self.gpu if kind == "gpu" else self.vgpu


class LabFile(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """The whole of lab.toml."""

    lab: LabHead
    baseline: Baseline
    limits: Limits = Limits()
    headers: Headers = Headers()
    test: list[TestItem] = []
    speed: list[SpeedItem] = []


@dataclass(frozen=True)
class Lab:
    """A lab: its folder and what its lab.toml says."""

    name: str
    folder: Path
    file: LabFile

    @property
    def title(self) -> str:
        """The lab's title."""
        return self.file.lab.title

    @property
    def header(self) -> Path:
        """The contract."""
        return self.folder / f"{self.name}.h"

    @property
    def given(self) -> list[Path]:
        """What a submission has beside its own files: the contract, the course's headers, and the lab's folder given/.

        Sources in given/ are compiled with each submission, such as a host program that calls the student's kernels.
        """
        common = self.folder if self.is_handout else self.folder.parent / "common"
        own = sorted(path for path in (self.folder / "given").glob("*") if path.is_file())
        return [self.header, *sorted(common.glob("*.cuh")), *own]

    @property
    def data(self) -> Path:
        """Files that tests read (data_file); those whose names begin with `hidden` are not handed out."""
        return self.folder / "data"

    @property
    def is_handout(self) -> bool:
        """Whether this is what students were given: the tests are compiled, and nothing is there that is hidden."""
        return (self.folder / HANDOUT).is_dir()

    @property
    def starter_folder(self) -> Path:
        """The unmodified starter."""
        if self.is_handout:
            return self.folder / HANDOUT / "starter"
        return self._beside("starter")

    @property
    def reference_folder(self) -> Path:
        """The hidden solution."""
        return self._beside("reference")

    def _beside(self, kind: str) -> Path:
        """Return a course's folder of that kind, or the lab's own where a lab stands alone."""
        alone = self.folder / kind
        return alone if alone.is_dir() else self.folder.parent.parent / kind / self.name

    @property
    def main_file(self) -> str:
        """The file that every submission must have."""
        return self.file.lab.files[0]

    @property
    def answers(self) -> str:
        """The file in which short questions are answered; "" if the lab asks none."""
        return self.file.lab.answers

    @property
    def items(self) -> list[TestItem | SpeedItem]:
        """All that gives points, in the order of lab.toml: tests, then speed."""
        return [*self.file.test, *self.file.speed]

    def chosen(self, *, public_only: bool = False, only: Sequence[str] = ()) -> list[TestItem | SpeedItem]:
        """Return what is to run, in order: with `only`, the tests whose names hold one of these texts.

        Raises BadInput for a text that is in no name.
        """
        items = [item for item in self.items if not (public_only and item.hidden)]
        for text in only:
            if not any(text.lower() in item.name.lower() for item in items):
                names = "; ".join(item.name for item in items)
                raise BadInput(f"no test has “{printable_name(text)}” in its name", hint=f"the tests are: {names}")
        return [item for item in items if not only or any(text.lower() in item.name.lower() for text in only)]

    @property
    def tables(self) -> list[tuple[str, int, TestItem | SpeedItem]]:
        """All that gives points, each with the name of its tables and its number among these."""
        tests = [("test", number, item) for number, item in enumerate(self.file.test)]
        return [*tests, *(("speed", number, item) for number, item in enumerate(self.file.speed))]

    @property
    def refused_headers(self) -> list[str]:
        """Headers and folders of headers that a submission may not include: they do the lab's work."""
        listed = self.file.headers
        return [*(name for name in USUALLY_REFUSED if name not in listed.allowed), *listed.refused]

    @property
    def max_points(self) -> float:
        """All points together."""
        return sum(item.points for item in self.items)

    @property
    def parameters(self) -> dict[str, list[str]]:
        """The names of the functions' parameters, as the contract has them: {"matmul": ["A", "B", "C", "m"]}."""
        text = _COMMENT.sub(" ", self.header.read_text(encoding="utf-8", errors="replace"))
        found: dict[str, list[str]] = {}
        for name in self.file.lab.functions:
            declaration = re.search(rf"\b{re.escape(name)}\s*\(([^()]*)\)\s*;", text)
            if declaration is None:
                continue
            last_words = [re.search(r"([A-Za-z_]\w*)\s*$", part) for part in declaration[1].split(",")]
            found[name] = [word[1] if word else "" for word in last_words]
        return found

    def gives(self, file_name: str) -> bool:
        """Tell whether a file of that name is given with the lab."""
        return any(file_name == path.name for path in self.given)

    def allows(self, file_name: str) -> bool:
        """Tell whether a submission may hold a file of that name; what is given is never the student's."""
        if self.gives(file_name):
            return False
        return any(fnmatch.fnmatchcase(file_name, pattern) for pattern in self.file.lab.files) or (
            bool(self.answers) and file_name == self.answers
        )


def discover(layout: Layout) -> list[Lab]:
    """Return all labs in their teaching order."""
    if not layout.labs.is_dir():
        return []
    labs = [load(path.parent) for path in layout.labs.glob("*/lab.toml")]
    return sorted(labs, key=lambda lab: (lab.file.lab.order, lab.name))


def find(layout: Layout, name: str) -> Lab:
    """Return the lab of that name, or in that folder; or say which there are."""
    if "/" in name or name == ".":
        return _in_folder(Path(name))
    names = sorted(path.parent.name for path in layout.labs.glob("*/lab.toml"))
    if name not in names:
        close = difflib.get_close_matches(name.lower(), names, n=1, cutoff=0.6)
        hint = f"did you mean {close[0]}? " if close else ""
        known = f"the labs are: {', '.join(names)}" if names else "there is no lab here; go to the folder of one"
        raise BadInput(f"unknown lab “{name}”", hint=f"{hint}{known}")
    return load(layout.labs / name)


def _in_folder(folder: Path) -> Lab:
    if not (folder / "lab.toml").is_file():
        raise BadInput(
            f"there is no lab in {printable_name(str(folder))}",
            hint="a lab is a folder with a lab.toml; one of the course is named without a slash",
        )
    return load(folder.resolve())


def is_name(name: str) -> bool:
    """Tell whether a lab may have that name; it becomes part of the names of files, programs and functions."""
    return bool(_LAB_NAME.fullmatch(name))


def load(folder: Path) -> Lab:
    """Read and check a lab's lab.toml; a mistake in it is its author's, not the student's."""
    path = folder / "lab.toml"
    where = f"labs/{folder.name}/lab.toml"
    if (folder / HANDOUT).is_dir():
        handout_note.require_readable(folder)
    try:
        text = toml_file.read(path)
        raw = toml_file.parse(text)
    except OSError as error:
        raise GraderError(f"{where} cannot be read: {error.strerror}") from None
    except TomlMistake as mistake:
        raise LabMistake(
            f"{where}:{mistake.line}: {mistake.what}" if mistake.line else f"{where} {mistake.what}"
        ) from None
    try:
        file = msgspec.convert(raw, LabFile)
    except msgspec.ValidationError as error:
        raise LabMistake(Mistake(where, *explain_error(str(error), raw, text, _TABLES)).message) from None
    lab = Lab(name=file.lab.name or folder.name, folder=folder, file=file)
    refuse([Mistake(where, line, what) for line, what in _mistakes(lab, text)])
    return lab


def refuse(mistakes: list[Mistake]) -> None:
    """Raise LabMistake if there are any: the first is what is wrong, and the others are its detail."""
    if mistakes:
        first, *rest = (mistake.message for mistake in mistakes)
        raise LabMistake(first, detail="\n".join(rest))


def _mistakes(lab: Lab, toml: str) -> Iterator[tuple[int, str]]:
    """Yield all that is wrong with a lab beyond its types, each with its line in lab.toml."""
    head, limits = lab.file.lab, lab.file.limits
    if not is_name(lab.name):
        yield 0, "the folder's name must be lower-case letters, digits and _ (it becomes part of program names)"
    files, functions = find_line(toml, "lab", key="files"), find_line(toml, "lab", key="functions")
    if not head.files or any(char in head.files[0] for char in "*?["):
        yield files, "files: the first one must be a plain file name"
    for name in head.files:
        if not _FILE.fullmatch(name) or len(name) > _MAX_NAME_LENGTH:
            yield files, f"files: “{printable_name(name)}” must be a plain file name"
    if what := _mistake_in_answers(lab):
        yield find_line(toml, "lab", key="answers"), f"answers: {what}"
    if not head.functions:
        yield functions, "functions: at least one is needed"
    for name in head.functions:
        if not _IDENTIFIER.fullmatch(name):
            yield functions, f"functions: “{name}” is not a C++ name"
    for key, most in _MAX_LIMITS.items():
        if not 0 < getattr(limits, key) <= most:
            yield find_line(toml, "limits", key=key), f"limits.{key} must be above 0, and at most {most:,}"
    for what in _mistakes_in_headers(lab.file.headers):
        yield find_line(toml, "headers", key=what.partition(":")[0].removeprefix("headers.")), what
    yield from _mistakes_in_points(lab, toml)
    if not lab.header.is_file():
        yield 0, f"{lab.header.name}, the contract, is missing"


def _mistake_in_answers(lab: Lab) -> str:
    name = lab.answers
    if not name:
        return ""
    if not _ANSWERS.fullmatch(name):
        return f"“{printable_name(name)}” must be the plain name of a .md or .txt file"
    if not lab.is_handout and not (lab.folder / name).is_file():
        return f"{name}, the questions as students get them, is missing in the lab's folder"
    return ""


def _mistakes_in_points(lab: Lab, toml: str) -> Iterator[tuple[int, str]]:
    if not lab.items:
        yield 0, "there must be a [[test]] or a [[speed]]"
        return
    seen: set[str] = set()
    wrong = False
    for table, index, item in lab.tables:
        if item.name in seen:
            yield find_line(toml, table, index, "name"), f"“{item.name}” appears twice"
        seen.add(item.name)
        for sign in sorted(set(item.hints) - FAILURE_TAGS):
            what = f"hints: “{sign}” is no sign of a failure; there are {', '.join(sorted(FAILURE_TAGS))}"
            yield find_line(toml, table, index, "hints"), what
        if not 0 <= item.points <= _MAX_POINTS:
            wrong = True
            what = f"“{item.name}”: points must not be below 0, nor above {_MAX_POINTS:,}"
            yield find_line(toml, table, index, "points"), what
            continue
        for key, what in _mistakes_in_curves(item) if isinstance(item, SpeedItem) else ():
            yield find_line(toml, table, index, key), what
    if wrong:
        return
    total, stated, baseline = lab.max_points, lab.file.lab.points, lab.file.baseline.points
    if total == 0:
        yield 0, "all points together are 0: give at least one test points"
    elif stated is not None and not math.isclose(total, stated):
        what = f"the points of all tests add up to {total:g}, not to {stated:g}: change those of a test, or this total"
        yield find_line(toml, "lab", key="points"), what
    if not 0 <= baseline <= total:
        yield find_line(toml, "baseline", key="points"), f"baseline.points must be between 0 and {total:g}"


def _mistakes_in_curves(item: SpeedItem) -> Iterator[tuple[str, str]]:
    curves = {key: curve for key in ("vgpu", "gpu") if (curve := getattr(item, key)) is not None}
    if not curves:
        yield "", f"“{item.name}” needs a curve: vgpu or gpu"
    for key, curve in curves.items():
        if problem := curve_mistake(curve, item.points):
            yield key, f"“{item.name}”.{key}: {problem}"


def _mistakes_in_headers(headers: Headers) -> list[str]:
    found = [
        f"headers.refused: “{name}” is neither a header (like cuda_occupancy.h) nor a folder of headers (like cub/)"
        for name in headers.refused
        if not _HEADER.fullmatch(name)
    ]
    found += [f"headers.refused: {name} is always refused" for name in headers.refused if name in USUALLY_REFUSED]
    found += [
        f"headers.allowed: “{name}” is allowed anyway; only {' and '.join(USUALLY_REFUSED)} are always refused"
        for name in headers.allowed
        if name not in USUALLY_REFUSED
    ]
    return found
