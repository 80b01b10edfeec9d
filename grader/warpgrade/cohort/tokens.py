"""C++ and CUDA as a row of tokens in which names, numbers and texts do not count, in time in proportion to its length.

A lexer of a library would do as well, but is slower, and its rules go back over text that was made to be slow.
"""

import re
import zlib
from array import array
from collections.abc import Mapping
from dataclasses import dataclass, field

from warpgrade.machine import confined
from warpgrade.machine.confined import Allowance

_MAX_TOKENS = 50_000  # tokens of a submission; a lab's solution has a few thousand
_LINE_BITS = 21  # of a place; the rest is the number of the file
_RAW_STRINGS = 16  # without an end, after which none is looked for any more

# Possessive: nothing is scanned twice.
_TOKEN = re.compile(
    r"""
    (?P<skip>\s++|//[^\n]*+|/\*(?:[^*]++|\*(?!/))*+(?:\*/)?+|^[ \t]*+\#[ \t]*+include\b[^\n]*+|[{}\\])
    |(?P<raw>(?:u8|[uUL])?+R"(?P<mark>[^()\\\s"]{0,16}+)\()
    |(?P<string>(?:u8|[uUL])?+"(?:[^"\\\n]++|\\.)*+"?+|'(?:[^'\\\n]++|\\.)*+'?+)
    |(?P<name>[^\W\d]\w*+)
    |(?P<number>\.?\d(?:[eEpP][+-]|[\w.])*+)
    |(?P<sign><<<|>>>|->|\+\+|--|&&|\|\||[-+*/%&|^=!<>]=|<<|>>|::|.)
    """,
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)
# What nobody can rename: words of C++ and of CUDA.
_FIXED = """
alignas alignof auto bool break case catch char class const constexpr continue decltype default delete do double
else enum explicit extern false float for friend goto if inline int long namespace new noexcept nullptr operator
private public restrict return short signed sizeof static struct switch template this throw true try typedef
typename union unsigned using virtual void volatile while threadIdx blockIdx blockDim gridDim warpSize dim3 std
"""
_OF_CUDA = re.compile(r"__\w+|cuda[A-Z]\w*|atomic[A-Z]\w*|curand\w*|cub|thrust|cooperative_groups")


@dataclass
class Tokens:
    """The tokens of a submission: what each is, as a number, and where it is. `cut`: there were more."""

    files: list[str] = field(default_factory=list)
    codes: "array[int]" = field(default_factory=lambda: array("I"))
    places: "array[int]" = field(default_factory=lambda: array("I"))
    cut: bool = False

    def place(self, token: int) -> tuple[str, int]:
        """Return file and line of a token."""
        value = self.places[token]
        return self.files[value >> _LINE_BITS], value & ((1 << _LINE_BITS) - 1)


def _code(word: str) -> int:
    return zlib.crc32(word.encode(errors="replace"))


_NAME, _NUMBER, _STRING = _code("name"), _code("0"), _code('"')
_FIXED_CODES = {word: _code(word) for word in _FIXED.split()}


def read(files: Mapping[str, bytes | str]) -> Tokens:
    """Return the tokens of files, in the order of their names, with a token between two that is in no other place."""
    tokens = Tokens()
    for name in sorted(files):
        content = files[name]
        text = content.decode("utf-8", "replace") if isinstance(content, bytes) else content
        if tokens.files:
            tokens.codes.append(_code(f"\0{len(tokens.files)}"))
            tokens.places.append(tokens.places[-1] if tokens.places else 0)
        tokens.files.append(name)
        _add(tokens, text, (len(tokens.files) - 1) << _LINE_BITS)
    return tokens


def read_confined(allowance: Allowance, files: Mapping[str, bytes]) -> Tokens:
    """Return the tokens of a student's files, which are read in a confined process; raises OverBudget."""
    # A name need not be text that can be written down.
    known = {name.encode(errors="replace").decode(): name for name in files}
    readable = {shown: files[name] for shown, name in known.items()}
    names, codes, places, cut = confined.call(allowance, _packed, readable)
    return Tokens([known[name] for name in names], array("I", codes), array("I", places), cut)


def _packed(files: dict[str, bytes]) -> tuple[list[str], bytes, bytes, bool]:
    found = read(files)
    return found.files, found.codes.tobytes(), found.places.tobytes(), found.cut


def _add(tokens: Tokens, text: str, file: int) -> None:
    codes, places = tokens.codes, tokens.places
    match = _TOKEN.match
    at, line, endless = 0, 1, 0
    while at < len(text):
        if len(codes) >= _MAX_TOKENS:
            tokens.cut = True
            return
        found = match(text, at)
        if found is None:  # cannot be: the last sign is any
            return
        kind, end = found.lastgroup, found.end()
        if kind == "raw":
            close = text.find(f'){found["mark"]}"', end) if endless < _RAW_STRINGS else -1
            endless += close < 0
            end = close + len(found["mark"]) + 2 if close >= 0 else end
            kind = "string"
        if kind != "skip":
            codes.append(_of(kind, found[0]))
            places.append(file | min(line, (1 << _LINE_BITS) - 1))
        if kind in ("skip", "string"):
            line += text.count("\n", at, end)
        at = end


def _of(kind: str | None, word: str) -> int:
    if kind == "name":
        return _FIXED_CODES.get(word) or (_code(word) if _OF_CUDA.fullmatch(word) else _NAME)
    if kind == "sign":
        return _code(word)
    return _NUMBER if kind == "number" else _STRING
