"""Where barriers are missing and where they must not stand, as a kernel's source shows it.

A race names two lines; between which statements a barrier would end it follows from the blocks around them. And a
barrier under a condition on the thread is a mistake that the device may never see: the compiler can merge the barriers
of both sides, or hoist them.
"""

import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass

from warpgrade.findings.structure import Code, Region, Simple

_BARRIER = re.compile(
    r"\b__syncthreads(?:_or|_and|_count)?\s*\(|\b__barrier_sync\s*\(|\b(?P<group>[A-Za-z_]\w*)\s*\.\s*sync\s*\(\s*\)"
    r"|\bsync\s*\(\s*(?P<argument>[A-Za-z_]\w*)|\bthis_(?:thread_block|grid)\s*\(\s*\)\s*\.\s*sync\s*\("
)
_OF_BLOCK = re.compile(
    r"\b(?P<name>[A-Za-z_]\w*)\s*[=({]\s*(?:[A-Za-z_]\w*\s*::\s*)*this_(?:thread_block|grid)\s*\(|"
    r"\b(?:thread_block|grid_group)\s*&?\s*(?P<typed>[A-Za-z_]\w*)"
)
_OF_WARP = re.compile(
    r"\b__(?:shfl|syncwarp|ballot|any|all|match|reduce|activemask)\w*\s*\(|\bwarpSize\b|\bvolatile\b|\bcoalesced_threads\b"
    r"|\btiled_partition\s*<\s*(?:32|16|8|4|2)\s*>|%\s*32\b|/\s*32\b|&\s*(?:31|0x1[fF])\b|>>\s*5\b|<=?\s*32\b"
)
_LEAVES = re.compile(r"\b(?:return|break|continue|goto)\b")
_PARTS = re.compile(r"&&|\|\||\?")  # what stands behind is not always asked
_MAX_GAPS = 64

_UNIFORM_CALLS = re.compile(r"\b(?:__syncthreads_\w+|sizeof|__builtin_assume)\s*\(")
_OF_THREAD = re.compile(r"\bthreadIdx\b|\b(?:thread_rank|thread_index)\s*\(")
_IDENTIFIER = re.compile(r"(?<![\w.])(?<!->)[A-Za-z_]\w*")
_ASSIGNMENT = re.compile(r"(?<![\w.])(?<!->)(?P<name>[A-Za-z_]\w*)\s*(?:<<|>>|[-+*/%&|^])?=(?!=)")
_DECLARATION = re.compile(
    r"\b(?P<type>[A-Za-z_]\w*)(?:<[^<>;()]*>)?[ *&\n]+(?P<name>[A-Za-z_]\w*)\s*(?P<then>[=;,({\[:])"
)
_NO_TYPES = {"return", "else", "goto", "delete", "new", "throw", "case", "do", "typename", "using", "struct"}
_SHARED = re.compile(r"\b__shared__\b[^;]*;")
_DEREFERENCE = re.compile(r"[;{})]\s*\*\s*\Z")
_MAX_VALUE_LENGTH = 500
_MAX_ASSIGNMENTS = 2000
_MAX_IDENTIFIERS = 100_000  # in what is assigned
_MAX_BARRIERS = 200

Gap = tuple[int, int]  # the lines of what stands before and behind it


@dataclass(frozen=True)
class Conditional:
    """A barrier that only some threads may reach: its line, of which function, and under what."""

    function: str
    line: int
    kind: str  # "if", "else", "loop", "switch"
    condition: str
    asked_at: int  # the line of the condition


class Kernels:
    """The functions of a source file that run on the device, asked about barriers."""

    def __init__(self, text: str) -> None:
        self._code = Code(text)
        self._functions = [_Function(self._code, region) for region in self._code.functions]

    def gaps(self, one: int, other: int) -> list[Gap]:
        """Return between which lines a barrier of the block would end a race of these two, the best places first."""
        function = self._function_of(one)
        return function.gaps(*sorted((one, other))) if function and function is self._function_of(other) else []

    def is_for_warps(self, line: int) -> bool:
        """Whether the function at a line is written with warps in mind."""
        function = self._function_of(line)
        return function is not None and bool(_OF_WARP.search(function.text))

    def conditional(self) -> list[Conditional]:
        """Return the barriers under conditions that differ between the threads of a block."""
        return [one for function in self._functions for one in function.conditional()]

    def calls(self) -> dict[str, set[str]]:
        """Return for each function the names in it, among them those of what it calls."""
        return {one.region.name: set(_IDENTIFIER.findall(one.text)) for one in self._functions}

    def _function_of(self, line: int) -> "_Function | None":
        for function in self._functions:
            if self._code.line(function.region.start) <= line <= self._code.line(function.region.last):
                return function
        return None


class _Function:
    def __init__(self, code: Code, region: Region) -> None:
        self.region = region
        self.text = code.text[region.start : region.last + 1]
        self._code = code
        self._known: dict[tuple[str, int], bool] = {}
        self._left: dict[Region, int] = {}
        self.gaps = functools.cache(self._gaps)

    # --- barriers ---

    @functools.cached_property
    def _barriers(self) -> list[int]:
        """Offsets of the barriers of the block; those inside of lambdas are not known to be run here."""
        groups = {match["name"] or match["typed"] for match in _OF_BLOCK.finditer(self.text)}
        found = []
        for match in _BARRIER.finditer(self.text):
            group = match["group"] or match["argument"]
            if group is None or group in groups:
                found.append(self.region.start + match.start())
        spans = [(one.first, one.last) for one in self._simples if "{" in self._code.text[one.first : one.last]]
        return [at for at in found[:_MAX_BARRIERS] if not any(first <= at <= last for first, last in spans)]

    @functools.cached_property
    def _simples(self) -> list[Simple]:
        return [one for region in self.region.inner() for one in region.statements if isinstance(one, Simple)]

    def conditional(self) -> Iterator[Conditional]:
        for at in self._barriers:
            around = self.region.innermost(at).around()
            region = next((one for one in around if self._differs(one) and not self._asks_all(one, at)), None)
            if region is not None:
                yield Conditional(
                    self.region.name, self._code.line(at), region.kind, " ".join(_asked(region).split()),
                    self._code.line(region.start),
                )  # fmt: skip

    def _asks_all(self, region: Region, at: int) -> bool:
        """Whether a barrier stands in the condition of a branch, where all threads come before they part."""
        if region.kind not in ("if", "switch") or not region.start <= at < region.first:
            return False
        before = self._code.text[region.start : at]
        return not _PARTS.search(before) or not self._depends(before, region.start)

    def _gaps(self, low: int, high: int) -> list[Gap]:
        first, second = self._at_line(low), self._at_line(high)
        if first is None or second is None:
            return []
        ahead = low != high and not any(first.last <= at <= second.first for at in self._barriers)
        loop = None if ahead else self._loop_around(first, second)
        if loop is not None:
            within = [at for at in self._barriers if loop.first <= at <= loop.last]
            # The next round does not begin without waiting: whatever it is, it is not this.
            if any(at < first.first or at > second.last for at in within):
                return []
        elif not ahead:
            return []
        found: list[tuple[int, int, Gap]] = []
        for region, before, behind in self._everyones:
            around = list(region.around())
            if ahead:
                fits = before >= first.last and behind <= second.first
            else:
                fits = loop in around and (before >= second.last or behind <= first.first)
                around = around[: around.index(loop)] if loop in around else around
            if fits and all(_holds(one, first) or _holds(one, second) for one in around):
                order = 0 if ahead or before >= second.last else 1
                found.append((len(around), order, (self._code.line(before), self._code.line(behind))))
        found.sort(key=lambda one: one[:2])
        return [gap for _, _, gap in found][:_MAX_GAPS]

    @functools.cached_property
    def _everyones(self) -> list[tuple[Region, int, int]]:
        """The places between statements that all threads of the block reach."""
        return list(self._places())

    def _places(self) -> Iterator[tuple[Region, int, int]]:
        for region in self.region.inner():
            if self._code.text[region.first] != "{" or any(map(self._differs, region.around())):
                continue
            if any(self._left_before(one) for one in region.around()):
                continue
            before = region.first
            for one in region.statements:
                yield region, before, one.start if isinstance(one, Region) else one.first
                if self._leaves(one):
                    break
                before = one.last
            else:
                yield region, before, region.last

    def _left_before(self, region: Region) -> bool:
        """Whether threads may have left before they come here, because of a statement beside it."""
        if region.parent is None:
            return False
        return self._first_leave(region.parent) < region.start

    def _first_leave(self, parent: Region) -> int:
        """Return the end of the first statement at which threads may leave."""
        if parent not in self._left:
            ends = (one.last for one in parent.statements if self._leaves(one))
            self._left[parent] = next(ends, len(self._code.text))
        return self._left[parent]

    def _leaves(self, one: Region | Simple) -> bool:
        return (
            isinstance(one, Region)
            and self._differs(one)
            and bool(_LEAVES.search(self._code.text, one.first, one.last))
            and one.kind != "loop"
        )

    def _at_line(self, line: int) -> Simple | None:
        """Return what stands at a line: statements, or else the head of a branch or loop."""
        number = self._code.line
        at = [one for one in self._simples if number(one.first) <= line <= number(one.last)]
        if not at:
            heads = [Simple(one.start, one.first) for one in self.region.inner() if one.kind != "function"]
            at = [one for one in heads if number(one.first) <= line <= number(one.last)]
        return Simple(min(one.first for one in at), max(one.last for one in at)) if at else None

    def _loop_around(self, first: Simple, second: Simple) -> Region | None:
        for region in self.region.innermost(first.first).around():
            if region.kind == "loop" and _holds(region, first) and _holds(region, second):
                return region
        return None

    # --- which values differ between threads ---

    def _differs(self, region: Region) -> bool:
        """Whether the threads of a block may take it differently."""
        if region.kind in ("function", "block"):
            return False
        at = (region.kind, region.start)
        if at not in self._known:
            self._known[at] = self._depends(_asked(region), region.start)
        return self._known[at]

    def _depends(self, expression: str, at: int) -> bool:
        expression = _without_uniform_calls(expression)
        if _OF_THREAD.search(expression):
            return True
        return any(self._variable(name, at) in self._own for name in set(_IDENTIFIER.findall(expression)))

    def _variable(self, name: str, at: int) -> tuple[str, int]:
        """Return which variable a name means: with the block that declares it."""
        for region in self.region.innermost(at).around():
            if (name, region.start) in self._declared:
                return (name, region.start)
        return (name, self.region.start)

    @functools.cached_property
    def _declared(self) -> set[tuple[str, int]]:
        found = set()
        for match in _DECLARATION.finditer(self.text):
            if match["type"] not in _NO_TYPES:
                at = self.region.start + match.start("name")
                found.add((match["name"], self.region.innermost(at).start))
        return found

    @functools.cached_property
    def _own(self) -> set[tuple[str, int]]:
        """The variables of which each thread has a value of its own, because it was made from the thread's number."""
        own: set[tuple[str, int]] = set()
        users: dict[tuple[str, int], list[tuple[str, int]]] = {}  # who is made from a variable
        open_: list[tuple[str, int]] = []
        words = 0
        for variable, assigned, at in self._assignments():
            value = _without_uniform_calls(assigned)
            if _OF_THREAD.search(value):
                open_.append(variable)
            names = set(_IDENTIFIER.findall(value))
            words += len(names)
            if words > _MAX_IDENTIFIERS:
                break
            for name in names:
                users.setdefault(self._variable(name, at), []).append(variable)
        while open_:
            variable = open_.pop()
            if variable not in own:
                own.add(variable)
                open_ += users.pop(variable, ())
        return own

    def _assignments(self) -> Iterator[tuple[tuple[str, int], str, int]]:
        shared = {name for match in _SHARED.finditer(self.text) for name in _IDENTIFIER.findall(match[0])}
        places = [(match["name"], match.start("name"), match.end()) for match in _ASSIGNMENT.finditer(self.text)]
        for match in _DECLARATION.finditer(self.text):
            if match["then"] in "({" and match["type"] not in _NO_TYPES:
                places.append((match["name"], match.start("name"), match.end()))
        for name, start, end in places[:_MAX_ASSIGNMENTS]:
            if name in shared or _DEREFERENCE.search(self.text, max(0, start - 20), start):
                continue
            at = self.region.start + start
            yield self._variable(name, at), _value(self.text, end), at


def _holds(region: Region, one: Simple) -> bool:
    return region.start <= one.first and one.last <= region.last


def _asked(region: Region) -> str:
    """Return the condition; of a loop with three parts, the second."""
    parts = region.head.split(";")
    return parts[1] if len(parts) == 3 else "" if len(parts) == 2 else region.head


def _value(text: str, at: int) -> str:
    """Return what is assigned: up to the end of the expression."""
    depth, end = 0, at
    while end < min(len(text), at + _MAX_VALUE_LENGTH):
        character = text[end]
        if character in "([{":
            depth += 1
        elif character in ")]}":
            depth -= 1
            if depth < 0:
                break
        elif depth == 0 and character in ";,":
            break
        end += 1
    return text[at:end]


def _without_uniform_calls(expression: str) -> str:
    """Leave out calls that give all threads of the block the same, whatever they are given."""
    while call := _UNIFORM_CALLS.search(expression):
        expression = expression[: call.start()] + " " + expression[call.end() + len(_value(expression, call.end())) :]
    return expression
