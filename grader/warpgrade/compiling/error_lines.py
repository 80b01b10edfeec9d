"""Advice on a compile error that needs the line which the compiler quotes, or another one of the file."""

import itertools
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from warpgrade.machine.text import bounded

_LONGEST_LIST: Final = 160  # of parameters, as a hint quotes them
_VECTOR = re.compile(r"\b(?:u?(?:char|short|int|long|longlong)|float|double)(?P<parts>[1-4])\b")
_WORDS = re.compile(r"(\w+)")
_INDICES = re.compile(r"(\w++)(?:[ \t]*\[[^\[\]]*\]){2}")
WRITES_POINTER = re.compile(r"cuda(?:Malloc(?:Managed|Host|Pitch|Async)?|HostAlloc|HostGetDevicePointer)")


@dataclass(frozen=True)
class Place:
    """Where the first error is, and the text of that file, if it is the submission's own."""

    file: str = ""
    line: int = 0
    source: str = ""
    below: str = ""

    @property
    def quoted(self) -> str:
        """The line that the compiler quotes."""
        return self._quotation[0]

    @property
    def column(self) -> int:
        """Where the mark stands in that line."""
        return self._quotation[1]

    @property
    def _quotation(self) -> tuple[str, int]:
        lines = self.below.strip("\n").split("\n")
        marked = next((at for at, line in enumerate(lines) if at and line.strip() == "^"), 0)
        return (lines[marked - 1], lines[marked].find("^")) if marked else ("", 0)

    def line_of(self, at: int) -> int:
        """Return the number of the line of an offset into the source."""
        return self.source.count("\n", 0, at) + 1


def _parts(text: str) -> list[str]:
    """Return what stands between the commas outside of parentheses and brackets."""
    parts, depth = [""], 0
    for one in text:
        depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(one, 0)
        if one == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += one
    return [part.strip() for part in parts] if text.strip() else []


def _given(place: Place) -> str:
    """Return the argument at the mark."""
    depth = 0
    for at in range(place.column, len(place.quoted)):
        depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(place.quoted[at], 0)
        if depth < 0 or (place.quoted[at] in ",;" and depth == 0):
            return place.quoted[place.column : at].strip()
    return ""


def _call(place: Place) -> tuple[str, list[str], bool]:
    """Return the function called around the mark, its arguments up to the mark, and whether it is a launch."""
    depth = 0
    for at in range(min(place.column, len(place.quoted)) - 1, -1, -1):
        depth += {")": 1, "]": 1, "(": -1, "[": -1}.get(place.quoted[at], 0)
        if depth < 0:
            before = place.quoted[:at].rstrip()
            launch = before.endswith(">>>")
            name = re.search(r"(\w+)\s*\Z", before.rpartition("<<<")[0] if launch else before)
            return name[1] if name else "", _parts(place.quoted[at + 1 : place.column]), launch
    return "", [], False


def _function(name: str, place: Place) -> tuple[int, list[str]] | None:
    """Return the line of a function's head in the file, and its parameters; nothing if it is not there once."""
    if not name:
        return None
    found: list[tuple[int, list[str]]] = []
    heads = re.finditer(rf"^(?![ \t]*return\b)[^\n;=#/]*\w[\s*&]+{name}\s*\(", place.source, re.MULTILINE)
    for head in itertools.islice(heads, 10):
        end = re.compile(r"[^(){};]{0,2000}\)\s*(?P<behind>[{;])").match(place.source, head.end())
        if end:
            parameters = re.sub(r"//[^\n]*|\s+", " ", place.source[head.end() : end.start("behind")].rstrip()[:-1])
            found.append((place.line_of(head.end()), _parts(" ".join(parameters.split()))))
    return found[0] if found and all(one[1] == found[0][1] for one in found) else None


def _number_of_arguments(_: re.Match[str], place: Place) -> str:
    name, given, launch = _call(place)
    if (function := _function(name, place)) is None:
        return ""
    line, parameters = function
    if len(given) >= len(parameters):
        return f"{name} has {_counted(len(parameters), 'parameter')} only (line {line}): {_listed(parameters)}"
    has, kind = _counted(len(parameters), "parameter"), "launch" if launch else "call"
    return f"{name} has {has} (line {line}), the {kind} passes {len(given)}: {_listed(parameters)}"


def _counted(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _listed(parameters: list[str]) -> str:
    return bounded(f"({', '.join(parameters)})", lines=1, width=_LONGEST_LIST)


def _function_type(found: re.Match[str], place: Place) -> str:
    """Name the first parameter that differs between two functions' types."""
    types = [
        re.fullmatch(r"(?P<result>.+?) \(\*\)\((?P<parameters>.*)\)", type_of(found, which))
        for which in ("given", "wanted")
    ]
    if types[0] is None or types[1] is None:
        return ""
    name = _given(place)
    name = name if re.fullmatch(r"\w{1,40}", name) else "the function"
    function = _function(name, place)
    where = f" (line {function[0]})" if function else ""
    given, wanted = (_parts(one["parameters"]) for one in types if one)
    for number, (has, needs) in enumerate(zip(given, wanted, strict=False), 1):
        if has != needs:
            its = f", {function[1][number - 1]}," if function and number <= len(function[1]) else ""
            return f"parameter {number} of {name}{where}{its} must be of type {needs}"
    if len(given) != len(wanted):
        return f"{name}{where} must have {_counted(len(wanted), 'parameter')}: {_listed(wanted)}"
    return f"{name}{where} must return {types[1]['result']}"


def type_of(found: re.Match[str], which: str) -> str:
    """Return the type that is given or wanted, without names that stand for it."""
    return found[f"{which}_is"] or found[which]


def _vector(_: re.Match[str], place: Place) -> str:
    vector = _VECTOR.search(place.below)
    name = re.search(r"([\w.\[\]]{1,40})\s*\Z", place.quoted[: place.column])
    if vector is None or name is None or re.fullmatch(r"threadIdx|blockIdx", name[1]):
        return ""
    parts = [f"{name[1]}.{letter}" for letter in "xyzw"[: int(vector["parts"])]]
    listed = f"{', '.join(parts[:-1])} and {parts[-1]}" if len(parts) > 1 else parts[0]
    return f"a {vector[0]} has no []: its parts are {listed}"


def _one_dimension(_: re.Match[str], place: Place) -> str:
    """Name the declaration of an array that has fewer dimensions than the line gives it indices."""
    # The mark stands at the array or, where its elements are whole numbers, in its second index.
    around = (one for one in _INDICES.finditer(place.quoted) if one.start() <= place.column < one.end())
    name = next(around, None) or _WORDS.match(place.quoted, place.column)
    if name is None:
        return ""
    declaration = re.compile(rf"(?P<type>\w+)[ \t]+(?P<name>{name[1]}[ \t]*\[[^\[\]\n]{{0,80}}\])[ \t]*[;=,]")
    above = "\n".join(place.source.split("\n")[: max(place.line - 1, 0)])
    declared = [one for one in declaration.finditer(above) if one["type"] not in ("return", "else")]
    if not declared:
        return ""
    last = declared[-1]
    return (
        f"{last['name']} at line {place.line_of(last.start())} has one dimension: give it a second "
        "size, [rows][columns], or use one index"
    )


def _launch_brackets(_: re.Match[str], place: Place) -> str:
    name = re.search(r"(\w+)\s*(?:<<<[^;<>\n]*>>(?!>)|<<(?!<)[^;<>\n]*>>>)", place.quoted)
    return f"a launch has three of each: {name[1]}<<<blocks, threads>>>(…)" if name else ""


def _copy(found: re.Match[str], place: Place) -> str:
    """Say where a copy's argument, or the one for a pointer to set, must be an address."""
    name = found["name"]
    line = re.search(rf"\b{name}\s*\(", place.below)
    types = re.search(r"argument types are: \((?P<all>[^\n]*)\)", place.below)
    if line is None or types is None:
        return ""
    given, kinds = _parts(_inside(place.below, line.end())), _parts(types["all"])
    wanted = {"cudaMemcpyToSymbol": 1, "cudaMemcpyFromSymbol": 0}.get(name, 0 if WRITES_POINTER.fullmatch(name) else -1)
    if wanted < 0 or wanted >= min(len(given), len(kinds)) or re.search(r"[*\[]", kinds[wanted]):
        return ""
    one = given[wanted]
    if not re.fullmatch(r"[A-Za-z_]\w{0,39}", one):
        return ""
    if WRITES_POINTER.fullmatch(name):
        return f"declare {one} as a pointer, with a *, and put & before it here: {name}(&{one}, …)"
    return f"put & before {one}: {name} takes its address, &{one}"


def _inside(text: str, first: int) -> str:
    depth = 1
    for at in range(first, len(text)):
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        if depth == 0:
            return text[first:at]
    return ""


def _plain_value(found: re.Match[str], place: Place) -> str:
    """Say of a variable that stands where a function wants the address of one that it needs an &."""
    given, wanted = (re.sub(r"\bconst\b|\s", "", type_of(found, which)) for which in ("given", "wanted"))
    one = _given(place)
    if wanted != "void*" or re.search(r"[*\[]", given) or not re.fullmatch(r"[A-Za-z_]\w{0,39}", one):
        return ""
    return f"put & before {one} if it is what is to be copied; if it is to be an array, declare it as a pointer"


INCOMPATIBLE: Final = (
    r'argument of type "(?P<given>[^"]+)"(?: \(aka "(?P<given_is>[^"]+)"\))? is incompatible with parameter of type '
    r'"(?P<wanted>[^"]+)"(?: \(aka "(?P<wanted_is>[^"]+)"\))?'
)
ADVICE: tuple[tuple[str, Callable[[re.Match[str], Place], str]], ...] = (
    (r'no instance of overloaded function "(?P<name>\w+)" matches', _copy),
    (INCOMPATIBLE, _function_type),
    (INCOMPATIBLE, _plain_value),
    (r'^no operator "\[\]" matches these operands', _vector),
    (r"^expression must have pointer-to-object type but it has type", _one_dimension),
    (r"^too (?:few|many) arguments in function call", _number_of_arguments),
    (r'^expected (?:a ">>>"|an expression)', _launch_brackets),
)
