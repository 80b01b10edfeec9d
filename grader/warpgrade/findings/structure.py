"""The blocks and statements of kernels in a source file, as far as they can be told without a compiler.

What cannot be read, as functions that macros put together, is left out: whoever asks must do without it.
"""

import bisect
import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

Kind = Literal["function", "block", "if", "else", "loop", "switch"]

_MAX_DEPTH = 100
_MAX_CHARACTERS = 1 << 20
_MAX_HEAD_LENGTH = 2000  # of a function, up to its body
_MAX_BODY_LENGTH = 200_000
_MAX_FUNCTIONS = 500
_MAX_UNREADABLE = 4
_TEXTS = re.compile(
    r'//[^\n]*|/\*.*?(?:\*/|\Z)|R"(?P<end>[^()\\\s]{0,16})\(.*?(?:\)(?P=end)"|\Z)'
    r"""|"(?:[^"\\\n]|\\.)*"?|(?<![0-9a-fA-F])'(?:[^'\\\n]|\\.)*'?""",
    re.DOTALL,
)
# A directive, with the lines that it goes on over. Possessive: nothing is scanned twice.
_DIRECTIVES = re.compile(r"^[ ]*+#(?P<word>[ ]*+\w*+)(?P<rest>(?:[^\n\\]++|\\\n|\\)*+)", re.MULTILINE)
_NEVER = re.compile(r"[ ]*+0\b")
_ON_DEVICE = re.compile(r"\b__(?:global|device)__\b")
_WORD = re.compile(r"[A-Za-z_]\w*")
_NAME = re.compile(r"([A-Za-z_]\w*)\s*\Z")
_ATTRIBUTES = {"__launch_bounds__", "__maxnreg__", "__cluster_dims__", "__block_size__", "__align__", "alignas"}
_CLOSING = {"(": ")", "[": "]", "{": "}"}


@dataclass(frozen=True)
class Simple:
    """A statement without others in it, as offsets into the text."""

    first: int
    last: int


@dataclass(eq=False)
class Region:
    """A function's body, or one of the blocks, branches and loops in it; offsets into the text.

    `head` is what stands in parentheses: of a function its parameters, of a branch or loop what it asks.
    """

    kind: Kind
    head: str
    start: int  # of the head
    first: int  # of the body
    last: int = 0
    parent: "Region | None" = None
    name: str = ""  # of a function
    statements: "list[Region | Simple]" = field(default_factory=list)

    def around(self) -> "Iterator[Region]":
        """Yield the region itself and those around it, up to the function."""
        region: Region | None = self
        while region is not None:
            yield region
            region = region.parent

    def innermost(self, at: int) -> "Region":
        """Return the region in this one that holds an offset, and none in it does."""
        region = self
        while True:
            number = bisect.bisect_right(region._regions, at, key=lambda one: one.start)
            if number == 0 or region._regions[number - 1].last < at:
                return region
            region = region._regions[number - 1]

    @functools.cached_property
    def _regions(self) -> "list[Region]":
        return [one for one in self.statements if isinstance(one, Region)]

    def inner(self) -> "Iterator[Region]":
        """Yield the region itself and all in it."""
        yield self
        for one in self.statements:
            if isinstance(one, Region):
                yield from one.inner()


class _UnreadableError(Exception):
    pass


class Code:
    """A source file without comments, texts and directives; offsets are those of the file."""

    def __init__(self, text: str) -> None:
        self.text = _without_directives(_TEXTS.sub(lambda match: _blanked(match[0]), text[:_MAX_CHARACTERS]))
        self._lines = [match.start() for match in re.finditer("\n", self.text)]

    def line(self, offset: int) -> int:
        """Return the number of the line that holds an offset."""
        return bisect.bisect_left(self._lines, offset) + 1

    @functools.cached_property
    def functions(self) -> list[Region]:
        """The functions that run on the device, in their order."""
        found: list[Region] = []
        unreadable = 0
        for match in _ON_DEVICE.finditer(self.text):
            if found and match.start() < found[-1].last:
                continue
            if unreadable == _MAX_UNREADABLE or len(found) == _MAX_FUNCTIONS:
                break
            try:
                function = self._function(match.end())
            except _UnreadableError:
                unreadable += 1
                continue
            if function is not None:
                found.append(function)
        return found

    def _function(self, at: int) -> Region | None:
        """Read a definition whose __global__ or __device__ ends here; nothing if it is a declaration or a variable."""
        name, parameters, start = "", "", at
        for _ in range(_MAX_HEAD_LENGTH):
            character = self.text[at : at + 1]
            if not character or character in ";=":
                return None
            if character == "(":
                end = self._matching(at)
                before = _NAME.search(self.text, max(0, at - 200), at)
                if before is not None and before[1] not in _ATTRIBUTES and not name:
                    name, parameters, start = before[1], self.text[at + 1 : end], at
                at = end
            elif character == "{" and name:
                function = Region("function", parameters, start, at, name=name)
                function.last = self._statements(function, at + 1, 0)
                if function.last - function.first > _MAX_BODY_LENGTH:
                    raise _UnreadableError
                return function
            elif character == "{":
                return None
            at += 1
        raise _UnreadableError

    def _matching(self, at: int) -> int:
        """Return where the bracket that opens here is closed."""
        open_ = [_CLOSING[self.text[at]]]
        for found in re.compile(r"[()\[\]{}]").finditer(self.text, at + 1):
            if found[0] in _CLOSING:
                open_.append(_CLOSING[found[0]])
            elif found[0] != open_.pop():
                raise _UnreadableError
            elif not open_:
                return found.start()
        raise _UnreadableError

    def _space(self, at: int) -> int:
        while at < len(self.text) and self.text[at].isspace():
            at += 1
        return at

    def _word(self, at: int) -> str:
        match = _WORD.match(self.text, at)
        return match[0] if match else ""

    def _statements(self, region: Region, at: int, depth: int) -> int:
        """Read up to the brace that closes the region, and return where it stands."""
        while (at := self._space(at)) < len(self.text) and self.text[at] != "}":
            at = self._statement(region, at, depth + 1)
        if at >= len(self.text):
            raise _UnreadableError
        return at

    def _statement(self, into: Region, at: int, depth: int) -> int:
        """Read one, and return what is behind it."""
        if depth > _MAX_DEPTH:
            raise _UnreadableError
        word = self._word(at)
        if self.text[at] == "{":
            return self._body(Region("block", "", at, at, parent=into), at, depth)
        if word in ("if", "for", "while", "switch"):
            kind: Kind = "if" if word == "if" else "switch" if word == "switch" else "loop"
            head = self.text.find("(", at)
            if head < 0:
                raise _UnreadableError
            end = self._matching(head)
            asked = self.text[head + 1 : end]
            at = self._body(Region(kind, asked, at, end + 1, parent=into), end + 1, depth)
            following = self._space(at)
            if word == "if" and self._word(following) == "else":
                at = following + len("else")
                at = self._body(Region("else", asked, following, at, parent=into), at, depth)
            return at
        if word == "do":
            loop = Region("loop", "", at, at + 2, parent=into)
            at = self._space(self._body(loop, at + 2, depth))
            head = self.text.find("(", at)
            if self._word(at) != "while" or head < 0:
                raise _UnreadableError
            end = self._matching(head)
            loop.head = self.text[head + 1 : end]
            return self._simple_end(end + 1)
        if word in ("case", "default"):
            colon = re.compile(r"(?<!:):(?!:)").search(self.text, at)
            if colon is None:
                raise _UnreadableError
            return colon.end()
        end = self._simple_end(at)
        into.statements.append(Simple(at, end - 1))
        return end

    def _body(self, region: Region, at: int, depth: int) -> int:
        """Read what a branch or loop runs, or a block, and return what is behind it."""
        assert region.parent is not None  # noqa: S101 - all but functions have one
        region.parent.statements.append(region)
        at = self._space(at)
        if at < len(self.text) and self.text[at] == "{":
            region.first = at
            region.last = self._statements(region, at + 1, depth)
            return region.last + 1
        if at >= len(self.text):
            raise _UnreadableError
        region.first = at
        after = self._statement(region, at, depth + 1)
        region.last = after - 1
        return after

    def _simple_end(self, at: int) -> int:
        """Return what is behind the semicolon."""
        while at < len(self.text):
            character = self.text[at]
            if character == ";":
                return at + 1
            if character in _CLOSING:
                at = self._matching(at)
            elif character in ")]}":
                raise _UnreadableError
            at += 1
        raise _UnreadableError


def _without_directives(text: str) -> str:
    """Blank out directives, and what `#if 0` turns off: up to the #else, #elif or #endif that belongs to it."""
    parts: list[str] = []
    at, off, depth = 0, -1, 0  # where what is turned off began, and how many conditions stand open in it
    for match in _DIRECTIVES.finditer(text):
        word = match["word"].strip()
        begins = word in ("if", "ifdef", "ifndef")
        if off >= 0:
            depth += begins
            if depth == 0 and word in ("endif", "else", "elif"):
                parts.append(_blanked(text[off : match.end()]))
                at, off = match.end(), -1
            depth -= word == "endif" and depth > 0
            continue
        parts.append(text[at : match.start()])
        if word == "if" and _NEVER.match(match["rest"]):
            off = match.start()
        else:
            parts.append(_blanked(match[0]))
            at = match.end()
    parts.append(_blanked(text[off:]) if off >= 0 else text[at:])
    return "".join(parts)


def _blanked(text: str) -> str:
    return re.sub(r"[^\n]", " ", text)
