"""Wrong solutions: the reference with one mistake, kept as a small patch.

`labs/<lab>/wrong/<name>.patch` begins with `WRONG: loses "<test>"[, "<test>" …] - <what is wrong>`; a patch of one file
follows. It is against the reference as `starter.solution` gives it, without its opening comment, so that neither tasks
nor markers are in its way.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from warpgrade.lab import patch, starter
from warpgrade.lab.labs import Lab
from warpgrade.machine.errors import BadInput, GraderError
from warpgrade.machine.paths import COMMAND

_FIRST_LINE = re.compile(r'(?P<all>WRONG: loses (?P<loses>"[^"]+"(?:, "[^"]+")*) - (?P<what>.*\S))\s*')
_FORM = 'WRONG: loses "<test>"[, "<test>" …] - <what is wrong>'


@dataclass(frozen=True)
class Wrong:
    """A wrong solution: what its patch is called in the project, the tests that it loses, what is wrong, and how."""

    name: str
    place: str
    header: str
    loses: tuple[str, ...]
    what: str
    patch: patch.Patch


def names(lab: Lab) -> list[str]:
    """Return the names of a lab's wrong solutions."""
    return sorted(path.stem for path in _folder(lab).glob("*.patch"))


def find(lab: Lab, name: str) -> Wrong:
    """Read the wrong solution of that name, or say which there are."""
    known = names(lab)
    if name not in known:
        close = difflib.get_close_matches(name, known, n=1, cutoff=0.6)
        hint = f"did you mean {close[0]}?" if close else f"there are: {', '.join(known) or 'none'}"
        raise BadInput(f"lab {lab.name} has no wrong solution “{name}”", hint=hint)
    place = _place(lab, name)
    header, *lines = _path(lab, name).read_text(encoding="utf-8").splitlines() or [""]
    first = _FIRST_LINE.fullmatch(header)
    if first is None:
        raise GraderError(f"{place}:1: the first line must read: {_FORM}")
    try:
        change = patch.parse(lines, first=2)
    except patch.Malformed as problem:
        raise GraderError(f"{place}:{problem.line}: {problem}", hint=_again(lab, name)) from None
    return Wrong(name, place, first["all"], tuple(re.findall(r'"([^"]+)"', first["loses"])), first["what"], change)


def files(lab: Lab, wrong: Wrong) -> dict[str, str]:
    """Return the whole submission by file name; raises GraderError where the patch does not fit the reference."""
    bases = {path.name: _base(path) for path in starter.reference_files(lab)}
    changed = wrong.patch.file
    if changed not in bases:
        raise GraderError(f"{wrong.place}:2: reference/{lab.name} has no {changed}", hint=_again(lab, wrong.name))
    try:
        text = patch.apply(wrong.patch, [line.text for line in bases[changed]])
    except patch.Misfit as problem:
        raise _misfit(lab, wrong, bases[changed], problem) from None
    found = {name: _joined(line.text for line in base) for name, base in bases.items()}
    return {**found, changed: _joined([f"// {wrong.header}", *text])}


def update(lab: Lab, name: str, path: Path) -> Path:
    """Write the patch that makes the whole file at `path` of the reference; it may still have the markers."""
    if not re.fullmatch(r"[a-z0-9_]+", name):
        raise BadInput(f"“{name}” cannot be the name of a wrong solution", hint="use lower-case letters, digits and _")
    try:
        edited = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{path} cannot be read: {error}") from None
    first = _FIRST_LINE.fullmatch(edited.partition("\n")[0].removeprefix("// "))
    if first is None and name not in names(lab):
        raise BadInput(f"the first line of {path} must read: // {_FORM}")
    header = first["all"] if first else find(lab, name).header
    references = {reference.name: reference for reference in starter.reference_files(lab)}
    changed = path.name if path.name in references else lab.main_file
    change = patch.make(
        [line.text for line in _base(references[changed])], [line.text for line in _without_head(edited, str(path))],
        changed,
    )  # fmt: skip
    if not change:
        raise BadInput(f"{path} has no mistake: it is what reference/{lab.name}/{changed} gives")
    target = _path(lab, name)
    target.parent.mkdir(exist_ok=True)
    target.write_text(_joined([header, *change]), encoding="utf-8")
    return target


def _misfit(lab: Lab, wrong: Wrong, base: list[starter.Line], problem: patch.Misfit) -> GraderError:
    reference = f"reference/{lab.name}/{wrong.patch.file}"
    if problem.places:
        lines = [str(base[place].number) for place in problem.places]
        why = f"its old lines are in {reference} at {'line' if len(lines) == 1 else 'lines'} {' and '.join(lines)}"
        detail = ""
    else:
        line = base[problem.line]
        why = f"the reference changed at {reference}:{line.number}"
        detail = f"the patch has: {problem.expected}\nthe reference: {line.text}"
    message = f"{wrong.place}:{problem.hunk.line}: hunk {problem.number} no longer applies: {why}"
    return GraderError(message, detail=detail, hint=_again(lab, wrong.name))


def _again(lab: Lab, name: str) -> str:
    return (
        f"make the patch again: copy reference/{lab.name}/{lab.main_file} to FILE.cu, make the mistake there, and run "
        f"{COMMAND} wrong {lab.name} {name} --update FILE.cu"
    )


def _base(path: Path) -> list[starter.Line]:
    return _without_head(path.read_text(encoding="utf-8"), str(PurePosixPath("reference", path.parent.name, path.name)))


def _without_head(text: str, name: str) -> list[starter.Line]:
    """Return the solution without the comment that opens it, which says whose it is and how it is graded."""
    lines = starter.solution(text, name)
    while lines and lines[0].text.startswith("//"):
        del lines[0]
    return lines


def _joined(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def _folder(lab: Lab) -> Path:
    return lab.folder / "wrong"


def _path(lab: Lab, name: str) -> Path:
    return _folder(lab) / f"{name}.patch"


def _place(lab: Lab, name: str) -> str:
    return f"labs/{lab.name}/wrong/{name}.patch"
