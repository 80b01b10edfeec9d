"""Which functions a student has begun: those of which something is not as the starter has it, in any place they reach;
and which kernels are written, and launched by none of them.

Sources are read without a compiler. What cannot be told, as functions that macros put together, counts as begun.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import msgspec

from warpgrade.grading.result import TestResult
from warpgrade.lab.labs import PRELAB
from warpgrade.machine import confined
from warpgrade.machine.confined import Allowance, OverBudget
from warpgrade.machine.text import clean, one_line

_MAX_NAME = 60
_IDLE = "Is your kernel launched at all? {kernel} is written, and nothing that {function} calls seems to launch it."
_MAX_CHARACTERS = 1 << 20  # of all files
_COMMENTS = re.compile(r"//[^\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL)
_TODO = "TODO(student)"
# What ends a definition, or nests; texts and comments are one piece each.
_PIECES = re.compile(
    r'//[^\n]*|/\*.*?(?:\*/|\Z)|"(?:[^"\\\n]|\\.)*+"?'
    r"|(?<![0-9a-fA-F])'(?:[^'\\\n]|\\.)*+'?"
    r"|(?P<directive>^[ \t]*+#(?:[^\n\\]|\\.)*+)|(?P<bracket>[(){};])",
    re.DOTALL | re.MULTILINE,
)
_OPENS_MORE = re.compile(r'\b(?:namespace\b[^;(){}]*|extern\s*"C"\s*)\Z')  # a brace that holds definitions
_TOKENS = re.compile(r"\w+|[^\w\s]")
_WORDS = re.compile(r"[A-Za-z_]\w*")
_FUNCTION = re.compile(r"\b([A-Za-z_]\w*+)\s*+\(")
_OTHER = re.compile(r"\b([A-Za-z_]\w*+)\s*+(?:[=\[;{]|\Z)")
_DEFINE = re.compile(r"\s*#\s*define\s+(\w+)")
_ATTRIBUTES = re.compile(r"\b(?:__launch_bounds__|__maxnreg__|__align__|alignas|__attribute__|decltype)\s*\([^()]*\)")


@dataclass(frozen=True)
class _Definition:
    name: str
    code: str  # without comments, a blank between any two tokens
    words: frozenset[str]
    file: str
    has_todo: bool


class Definitions:
    """What the files of a program define, by its name."""

    def __init__(self, files: Mapping[str, str]) -> None:
        self.by_name: dict[str, list[_Definition]] = {}
        room = _MAX_CHARACTERS
        for file, text in files.items():
            for raw in _cut(text[:room]):
                one = _definition(raw, file)
                self.by_name.setdefault(one.name, []).append(one)
            room -= min(room, len(text))
        self.codes = {one.code for found in self.by_name.values() for one in found}

    def reached(self, name: str) -> list[_Definition]:
        """Return all that a function is made of, itself first."""
        found: list[_Definition] = []
        seen, waiting = {name}, [name]
        while waiting:
            for one in self.by_name.get(waiting.pop(), ()):
                found.append(one)
                new = (one.words & self.by_name.keys()) - seen
                seen |= new
                waiting += new
        return found


def mark(
    tests: Sequence[TestResult], functions: Mapping[str, Sequence[str]], files: Mapping[str, bytes],
    starter: Mapping[str, bytes], main_file: str, allowance: Allowance,
) -> list[TestResult]:  # fmt: skip
    """Mark the tests of functions that nobody has begun, and ask of lost ones whether their kernel is launched at all.

    functions: those of the contract that each test calls. Questions run kernels too, but ask for answers, which stand
    in another file than the kernels.
    """
    asked = list(dict.fromkeys(function for names in functions.values() for function in names))
    try:
        left, idle = confined.call(allowance, _look, _read(files), _read(starter), main_file, asked)
    except OverBudget:
        left, idle = {}, {}

    def is_begun(test: TestResult) -> bool:
        places = [left[function] for function in functions.get(test.name, ()) if function in left]
        return all(file == main_file for file in places) if test.name.startswith(PRELAB) else not places

    def hint(test: TestResult) -> str:
        calls = [one for one in functions.get(test.name, ()) if one in idle]
        lost = test.points < test.max_points and test.status in ("pass", "fail") and not test.name.startswith(PRELAB)
        return _IDLE.format(kernel=idle[calls[0]], function=calls[0]) if lost and calls else test.hint

    return [msgspec.structs.replace(test, begun=is_begun(test), hint=hint(test)) for test in tests]


def _look(
    files: dict[str, str], starter: dict[str, str], main_file: str, functions: list[str]
) -> tuple[dict[str, str], dict[str, str]]:
    mine, given = Definitions(files), Definitions(starter)
    return not_begun(mine, given, main_file, functions), idle_kernels(mine, given, functions)


def idle_kernels(mine: Definitions, given: Definitions, functions: list[str]) -> dict[str, str]:
    """Return the kernels that a student has written and no function reaches, by the function whose name is like theirs.

    Such as `tiled_kernel` for `matmul_tiled`: all words of one name are in the other, and no other name is as like it.
    """
    reached = {one.name for function in functions for one in mine.reached(function)}
    named = {function: set(function.split("_")) for function in functions}
    found: dict[str, str] = {}
    for name, definitions in mine.by_name.items():
        if name in reached or not any("__global__" in one.words and one.code not in given.codes for one in definitions):
            continue
        words = set(name.removesuffix("_kernel").split("_"))
        alike = {
            function: len(words & of) / len(words | of) for function, of in named.items() if words <= of or of <= words
        }
        for function, share in alike.items():
            if share == max(alike.values()):
                found.setdefault(function, one_line(name, _MAX_NAME))
    return found


def _read(files: Mapping[str, bytes]) -> dict[str, str]:
    return {name: clean(content) for name, content in files.items()}


def not_begun(mine: Definitions, given: Definitions, main_file: str, functions: list[str]) -> dict[str, str]:
    """Return the functions in which the starter leaves something to do and nothing is done, each with its file.

    In files beside the main one, which hold answers, all is to do.
    """
    found: dict[str, str] = {}
    for function in functions:
        reached = mine.reached(function)
        to_do = any(one.has_todo or one.file != main_file for one in given.reached(function))
        if to_do and reached and all(one.code in given.codes for one in reached):
            found[function] = reached[0].file
    return found


def _cut(text: str) -> Iterable[str]:
    """Yield the definitions and directives of a file, each with the comments before it."""
    begin, depth, round_ = 0, 0, 0
    for piece in _PIECES.finditer(text):
        if piece["directive"] is not None and depth == 0:
            yield text[begin : piece.end()]
            begin = piece.end()
            continue
        match piece["bracket"]:
            case "(":
                round_ += 1
            case ")":
                round_ = max(round_ - 1, 0)
            case "{":
                if depth == 0 and _OPENS_MORE.search(text, max(begin, piece.start() - 200), piece.start()):
                    begin = piece.end()
                else:
                    depth += 1
            case "}":
                depth = max(depth - 1, 0)
                if depth == 0:
                    yield text[begin : piece.end()]
                    begin, round_ = piece.end(), 0
            case ";" if depth == 0 and round_ == 0:
                yield text[begin : piece.end()]
                begin = piece.end()
    yield text[begin:]


def _definition(raw: str, file: str) -> _Definition:
    code = " ".join(_TOKENS.findall(_COMMENTS.sub(" ", raw)))
    head = _ATTRIBUTES.sub(" ", code).split("{", 1)[0]
    named = _DEFINE.match(code) or _FUNCTION.search(head.split("=", 1)[0]) or _OTHER.search(head)
    return _Definition(named[1] if named else "", code, frozenset(_WORDS.findall(code)), file, _TODO in raw)
