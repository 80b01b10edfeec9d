"""Solutions that differ from the reference or a right one, kept as small patches: wrong ones and other right ones.

`labs/<lab>/<kind>/<name>.patch` begins with a header, such as `WRONG: loses "<test>" - <what is wrong>`; the hunks of a
patch follow, behind `--- FILE` if it is not of the lab's main file. It is against the reference as `starter.solution`
gives it, without its opening comment, so that neither tasks nor markers are in its way; or, with `--- right/<name>`,
against that solution, without its header. A solution that has little in common with the reference is kept whole, as
`<name>.cu`: the header is its first line, as a comment, and the other files are the reference's.
"""

import difflib
import itertools
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from warpgrade.lab import patch, starter
from warpgrade.lab.labs import Lab
from warpgrade.machine.errors import BadInput, GraderError
from warpgrade.machine.paths import COMMAND


@dataclass(frozen=True)
class Kind:
    """What all solutions of a folder have in common. `form` says what the header must read."""

    folder: str
    header: re.Pattern[str]
    form: str
    may_be_whole: bool


RIGHT = Kind(
    folder="right",
    header=re.compile(r"(?P<all>RIGHT(?: \((?P<points>\d+) points\))?: (?P<what>.*\S))\s*"),
    form="RIGHT: <what it does otherwise>, or RIGHT (N points): …",
    may_be_whole=True,
)
_RIGHT_SOLUTION = f"{RIGHT.folder}/"  # before its name, in a patch that changes it


@dataclass(frozen=True)
class Variant:
    """One solution: how it is called in the project, what its header says, and what it changes, or its whole text."""

    kind: Kind
    name: str
    place: str
    words: Mapping[str, str]
    change: patch.Patch | str

    @property
    def what(self) -> str:
        """Return what is wrong with it, or what it does otherwise."""
        return self.words["what"]

    @property
    def description(self) -> str:
        """Return `what` with the comment that goes on below the header of a whole file."""
        lines = self.change.splitlines() if isinstance(self.change, str) else []
        more = itertools.takewhile(lambda line: line.startswith("// "), lines)
        return " ".join([self.what, *(line.removeprefix("// ") for line in more)])

    @property
    def own_lines(self) -> list[str]:
        """Return the lines that it has and what it changes has not, or all of a whole file."""
        if isinstance(self.change, str):
            return self.change.splitlines()
        return [line for hunk in self.change.hunks for line in hunk.new if line not in hunk.old]

    @property
    def base(self) -> str:
        """Return the name of the right solution that it changes, or nothing."""
        file = "" if isinstance(self.change, str) else self.change.file
        return file.removeprefix(_RIGHT_SOLUTION) if file.startswith(_RIGHT_SOLUTION) else ""

    @property
    def header(self) -> str:
        """Return its first line."""
        return self.words["all"]


def names(lab: Lab, kind: Kind) -> list[str]:
    """Return the names of a lab's solutions of a kind."""
    suffixes = {".patch", ".cu"} if kind.may_be_whole else {".patch"}
    return sorted(path.stem for path in (lab.folder / kind.folder).glob("*") if path.suffix in suffixes)


def find(lab: Lab, kind: Kind, name: str) -> Variant:
    """Read the solution of that name, or say which there are."""
    known = names(lab, kind)
    if name not in known:
        close = difflib.get_close_matches(name, known, n=1, cutoff=0.6)
        hint = f"did you mean {close[0]}?" if close else f"there are: {', '.join(known) or 'none'}"
        raise BadInput(f"lab {lab.name} has no {kind.folder} solution “{name}”", hint=hint)
    path = _path(lab, kind, name)
    place = f"labs/{lab.name}/{kind.folder}/{path.name}"
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".cu":
        first, _, rest = text.partition("\n")
        return Variant(kind, name, place, _parse_header(kind, first.removeprefix("// "), place, "// "), rest)
    first, *lines = text.splitlines() or [""]
    words = _parse_header(kind, first, place)
    try:
        return Variant(kind, name, place, words, patch.parse(lines, first=2))
    except patch.Malformed as problem:
        raise GraderError(f"{place}:{problem.line}: {problem}", hint=_update_hint(lab, kind, name)) from None


def files(lab: Lab, variant: Variant) -> dict[str, str]:
    """Return the whole submission by file name; raises GraderError where the patch does not fit the reference."""
    bases = {path.name: _reference_lines(path) for path in starter.reference_files(lab)}
    found = {name: _join_lines(line.text for line in base) for name, base in bases.items()}
    if variant.base:
        try:
            bases = {lab.main_file: _right_lines(lab, variant.base)}
        except BadInput as problem:
            raise GraderError(f"{variant.place}:2: {problem.message}", hint=problem.hint) from None
    if isinstance(variant.change, str):
        return {**found, lab.main_file: f"// {variant.header}\n{variant.change}"}
    changed = changed_file(lab, variant)
    if changed not in bases:
        hint = _update_hint(lab, variant.kind, variant.name)
        raise GraderError(f"{variant.place}:2: reference/{lab.name} has no {changed}", hint=hint)
    try:
        text = patch.apply(variant.change, [line.text for line in bases[changed]])
    except patch.Misfit as problem:
        raise _misfit(lab, variant, changed, bases[changed], problem) from None
    return {**found, changed: _join_lines([f"// {variant.header}", *text])}


def changed_file(lab: Lab, variant: Variant) -> str:
    """Return the name of the file that is not the reference's."""
    return lab.main_file if isinstance(variant.change, str) or variant.base else variant.change.file or lab.main_file


def update(lab: Lab, kind: Kind, name: str, path: Path, base: str = "") -> Path:
    """Keep the whole file at `path`, which may still have the reference's markers; return where.

    With `base`, as a patch of that right solution.
    """
    if not re.fullmatch(r"[a-z0-9_]+", name):
        raise BadInput(
            f"“{name}” cannot be the name of a {kind.folder} solution", hint="use lower-case letters, digits and _"
        )
    try:
        edited = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{path} cannot be read: {error}") from None
    first = kind.header.fullmatch(edited.partition("\n")[0].removeprefix("// "))
    if first is None and name not in names(lab, kind):
        raise BadInput(f"the first line of {path} must read: // {kind.form}")
    header = first["all"] if first else find(lab, kind, name).header
    references = {reference.name: reference for reference in starter.reference_files(lab)}
    changed = path.name if path.name in references and not base else lab.main_file
    lines = [line.text for line in _without_head(edited, str(path))]
    named = _RIGHT_SOLUTION + base if base else "" if changed == lab.main_file else changed
    old = _right_lines(lab, base) if base else _reference_lines(references[changed])
    change = patch.make([line.text for line in old], lines, named)
    if not change:
        gives = named if base else f"reference/{lab.name}/{changed}"
        raise BadInput(f"{path} changes nothing: it is what {gives} gives")
    folder = lab.folder / kind.folder
    folder.mkdir(exist_ok=True)
    whole = kind.may_be_whole and changed == lab.main_file and len(lines) <= len(change)
    target, other = folder / f"{name}.cu", folder / f"{name}.patch"
    if not whole:
        target, other = other, target
    target.write_text(_join_lines([f"// {header}", *lines] if whole else [header, *change]), encoding="utf-8")
    if kind.may_be_whole:
        other.unlink(missing_ok=True)
    return target


def _parse_header(kind: Kind, line: str, place: str, prefix: str = "") -> Mapping[str, str]:
    first = kind.header.fullmatch(line)
    if first is None:
        raise GraderError(f"{place}:1: the first line must read: {prefix}{kind.form}")
    return first.groupdict(default="")


def _misfit(lab: Lab, variant: Variant, changed: str, base: list[starter.Line], problem: patch.Misfit) -> GraderError:
    whose, file = "the reference", f"reference/{lab.name}/{changed}"
    if variant.base:
        whose, file = "the right solution", _RIGHT_SOLUTION + variant.base
    if problem.places:
        lines = [str(base[place].number) for place in problem.places]
        why = f"its old lines are in {file} at {'line' if len(lines) == 1 else 'lines'} {' and '.join(lines)}"
        detail = ""
    else:
        line = base[problem.line]
        why = f"{whose} changed at {file}:{line.number}"
        detail = f"the patch has: {problem.expected}\n{whose}: {line.text}"
    message = f"{variant.place}:{problem.hunk.line}: hunk {problem.number} no longer applies: {why}"
    return GraderError(message, detail=detail, hint=_update_hint(lab, variant.kind, variant.name, variant.base))


def _update_hint(lab: Lab, kind: Kind, name: str, base: str = "") -> str:
    copy, option = f"copy reference/{lab.name}/{lab.main_file} to FILE.cu", ""
    if base:
        copy, option = f"run {COMMAND} right {lab.name} {base} > FILE.cu", f" --base {base}"
    return (
        f"make the patch again: {copy}, change it there, and run "
        f"{COMMAND} {kind.folder} {lab.name} {name} --update FILE.cu{option}"
    )


def _right_lines(lab: Lab, name: str) -> list[starter.Line]:
    """Return the main file of a right solution without its header, as `warpgrade right` numbers its lines."""
    solution = find(lab, RIGHT, name)
    if solution.base or changed_file(lab, solution) != lab.main_file:
        raise BadInput(f"{solution.place} is not made of reference/{lab.name}/{lab.main_file}: no patch can change it")
    text = files(lab, solution)[lab.main_file]
    return [starter.Line(number, line) for number, line in enumerate(text.splitlines(), 1)][1:]


def _reference_lines(path: Path) -> list[starter.Line]:
    return _without_head(path.read_text(encoding="utf-8"), str(PurePosixPath("reference", path.parent.name, path.name)))


def _without_head(text: str, name: str) -> list[starter.Line]:
    """Return the solution without the comment that opens it, which says whose it is and how it is graded."""
    lines = starter.solution(text, name)
    while lines and lines[0].text.startswith("//"):
        del lines[0]
    return lines


def _join_lines(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def _path(lab: Lab, kind: Kind, name: str) -> Path:
    path = lab.folder / kind.folder / f"{name}.patch"
    return path.with_suffix(".cu") if kind.may_be_whole and not path.exists() else path
