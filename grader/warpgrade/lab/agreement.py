"""Checks that lab.toml, the contract and the tests of a lab name the same tests and functions.

A name that is missing in one of them would cost students points or leave a test without a verdict, so the author is
told before anything is built. The tests are read as text, and only certain mistakes are reported.
"""

import ast
import difflib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from warpgrade.lab import labs
from warpgrade.lab.labs import Lab, LabMistake, Mistake
from warpgrade.lab.toml_lines import find_line
from warpgrade.machine.errors import BadInput
from warpgrade.machine.paths import Layout

_COMMENT_OR_STRING = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"", re.DOTALL)
_STRING = r'"(?:\\.|[^"\\\n])*"'
_STRINGS = re.compile(_STRING)
_CASE = re.compile(rf"\bTEST_CASE\s*\(\s*(?:(?P<name>{_STRING}(?:\s*{_STRING})*)\s*(?:,\s*(?P<tags>{_STRING})\s*)?\))?")
# Tests whose names are made elsewhere.
_OTHERS = re.compile(
    r"\b(?:TEMPLATE_\w*TEST_CASE\w*|TEST_CASE_METHOD|METHOD_AS_TEST_CASE|REGISTER_TEST_CASE|SCENARIO)\b"
)
_Stamps = tuple[tuple[str, int, int, int], ...]
_agreed: set[_Stamps] = set()  # in this process: a class asks for each submission
_DECLARED = re.compile(r"\b([A-Za-z_]\w*)\s*\([^(){};]*\)\s*;")


@dataclass(frozen=True)
class _Case:
    name: str
    public: bool
    file: str
    line: int


@dataclass(frozen=True)
class _Tests:
    """What the tests' sources say; `all_named` is not so where a test's name is not a plain text."""

    cases: list[_Case]
    all_named: bool
    hidden_too: bool
    code: dict[str, str]


def find_own(layout: Layout, name: str) -> Lab:
    """Return the named lab; for its author mistakes in it are BadInput."""
    try:
        lab = labs.find(layout, name)
        require(lab)
    except LabMistake as mistake:
        raise BadInput(mistake.message, mistake.hint, mistake.detail) from None
    return lab


def require(lab: Lab) -> None:
    """Raise LabMistake with the lab's mistakes; unchanged files that agreed before are not read again."""
    files = _stamps(lab)
    if files not in _agreed:
        labs.refuse(list(mistakes(lab)))
        _agreed.add(files)


def _stamps(lab: Lab) -> _Stamps:
    paths = [lab.folder / "lab.toml", lab.header, *sorted((lab.folder / "tests").glob("*.[ch]pp"))]
    states = [(str(path), path.stat()) for path in paths]
    return tuple((name, state.st_ino, state.st_size, state.st_mtime_ns) for name, state in states)


def mistakes(lab: Lab) -> Iterator[Mistake]:
    """Yield each mistake with its file and line; nothing is known of a lab without sources of tests."""
    if lab.is_handout:  # some of its tests are only there compiled
        return
    toml = (lab.folder / "lab.toml").read_text(encoding="utf-8")
    tests = _read(lab)
    yield from _functions(lab, toml, tests)
    if tests.cases:
        yield from _entries(lab, toml, tests)


def _read(lab: Lab) -> _Tests:
    cases: list[_Case] = []
    code: dict[str, str] = {}
    all_named = True
    for path in sorted((lab.folder / "tests").glob("*.[ch]pp")):
        file = _name(lab, path)
        text = _COMMENT_OR_STRING.sub(_without_comments, path.read_text(encoding="utf-8", errors="replace"))
        for found in _CASE.finditer(text):
            name = _value(found["name"] or "")
            if not name:
                all_named = False
                continue
            cases.append(_Case(name, "[public]" in (found["tags"] or ""), file, text.count("\n", 0, found.start()) + 1))
        all_named = all_named and not _OTHERS.search(text)
        code[file] = _STRINGS.sub('""', text)
    return _Tests(cases, all_named, (lab.folder / "tests" / "hidden.cpp").is_file(), code)


def _name(lab: Lab, path: Path) -> str:
    return f"labs/{lab.name}/{path.relative_to(lab.folder).as_posix()}"


def _without_comments(found: re.Match[str]) -> str:
    return found[0] if found[0].startswith('"') else " " + "\n" * found[0].count("\n")


def _value(literals: str) -> str:
    """Return what C++ makes of strings that stand side by side; nothing where that is not certain."""
    try:
        return "".join(ast.literal_eval(each) for each in _STRINGS.findall(literals))
    except (SyntaxError, ValueError):
        return ""


def _functions(lab: Lab, toml: str, tests: _Tests) -> Iterator[Mistake]:
    where, line = _name(lab, lab.folder / "lab.toml"), find_line(toml, "lab", key="functions")
    contract = _COMMENT_OR_STRING.sub(_without_comments, lab.header.read_text(encoding="utf-8", errors="replace"))
    declared = set(_DECLARED.findall(contract))
    listed = lab.file.lab.functions
    for name in listed:
        if not re.search(rf"\b{name}\b", contract):
            what = f"functions: {lab.header.name} does not declare {name}(): declare it there"
            close = difflib.get_close_matches(name, sorted(declared.difference(listed)), n=1)
            yield Mistake(
                where, line, what + (f", or did you mean {close[0]}?" if close else ", or remove it from the list")
            )
        elif tests.hidden_too and not any(re.search(rf"\b{name}\b", code) for code in tests.code.values()):
            what = f"functions: no test calls {name}(), but every submission must define it"
            yield Mistake(where, line, f"{what}: test it, or remove it from the list")
    for name in sorted(declared.difference(listed)):
        called = re.compile(rf"[<,]\s*{name}\s*[,>]")
        for file, code in tests.code.items():
            if found := called.search(code):
                at = code.count("\n", 0, found.start()) + 1
                what = f"the tests call {name}(), which is missing from `functions`"
                yield Mistake(file, at, f"{what}: add it at {where}:{line}")
                break


def _entries(lab: Lab, toml: str, tests: _Tests) -> Iterator[Mistake]:
    where = _name(lab, lab.folder / "lab.toml")
    lines = {item.name: find_line(toml, table, index, "name") for table, index, item in lab.tables}
    known = {case.name: case for case in tests.cases}
    for case in tests.cases:
        if case.name not in lines:
            what = f"the test “{case.name}” has no entry in {where}"
            yield Mistake(case.file, case.line, f"{what}: add a [[test]] or [[speed]] of that name, with its points")
    for item in lab.items:
        found = known.get(item.name)
        if found is None:
            # Students are given lab.toml, but not the hidden tests.
            if tests.all_named and (tests.hidden_too or not item.hidden):
                close = difflib.get_close_matches(item.name, sorted(set(known).difference(lines)), n=1)
                what = f"there is no test “{item.name}” in labs/{lab.name}/tests: "
                yield Mistake(
                    where,
                    lines[item.name],
                    what + (f"did you mean “{close[0]}”?" if close else "write it, or remove this"),
                )
        elif found.public == item.hidden:
            tag = "is tagged [public]" if found.public else "is not tagged [public]"
            what = f"“{item.name}” {tag}, but is {'hidden' if item.hidden else 'public'} at {where}:{lines[item.name]}"
            yield Mistake(found.file, found.line, f"{what}: change one of them")
