"""What the device's checks found in a program: the struct that every report reads.

The device server writes it (grader/device/records.cpp); `locate` gives it the user's own source lines. Its texts come
from a process that student code talks to, so that they are cleaned and bounded before anything shows them.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal

import msgspec

from warpgrade.findings.sources import Frame, Sources
from warpgrade.machine.errors import GraderError
from warpgrade.machine.text import one_line

Severity = Literal["error", "warning", "advice"]
Shape = tuple[int, int, int]

MEMORY = "{memory}"
RACE_OF_WARP = "racecheck/warp"
RACES_OF_BLOCK = ("racecheck/shared", RACE_OF_WARP)  # that a barrier of the block ends
_ORDER = {"error": 0, "warning": 1, "advice": 2}
_MAX_DIAGNOSTICS = 256
_TEXT_WIDTH = 600
_NAME_WIDTH = 120


class Place(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A line of the program; no file: unknown, a file in <…>: none of the user's own.

    `code` is where host code makes the call, an offset in the program's file, as long as no line is known for it;
    `source` is the line's text.
    """

    file: str = ""
    line: int = 0
    code: int = 0
    source: str = ""

    @property
    def own(self) -> bool:
        """Whether it is a line of the user's own files."""
        return bool(self.file) and not self.file.startswith("<") and self.line > 0

    @property
    def text(self) -> str:
        """Return `matmul.cu:41`, or nothing."""
        return f"{self.file}:{self.line}" if self.file and self.line else self.file


class Thread(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A thread of a kernel."""

    thread: Shape
    block: Shape

    @property
    def text(self) -> str:
        """Return `thread (1,0,0) of block (3,0,0)`."""
        thread, block = (",".join(map(str, shape)) for shape in (self.thread, self.block))
        return f"thread ({thread}) of block ({block})"


class Related(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The other party: `role` says what it did, as in “written by”."""

    role: str
    place: Place
    thread: Thread | None = None

    @property
    def is_known(self) -> bool:
        """Whether there is anything to say behind the role."""
        return bool(self.place.text) or self.thread is not None


class Memory(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The memory that it is about; `variable` says that `name` is one of the program's own."""

    name: str
    variable: bool
    bytes: int
    allocated: Place


class Barrier(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The barrier that a race lacks.

    `between` has the pairs of lines between which a barrier of the block would end it, the best first; `of_warp` says
    that the kernel is written with warps in mind.
    """

    between: list[tuple[int, int]]
    of_warp: bool


class Diagnostic(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One mistake or one piece of advice; docs/checks.md explains each rule.

    `count` says how often it happened, 0 that it was found in the source.
    """

    rule: str
    severity: Severity
    title: str
    help: str
    message: str
    kernel: str
    place: Place
    thread: Thread | None
    related: list[Related]
    memory: Memory | None
    count: int
    weight: float
    barrier: Barrier | None = None

    @property
    def key(self) -> tuple[object, ...]:
        """What makes two of them the same finding."""
        return (self.rule, self.kernel, self.place, *(other.place for other in self.related))


Lookup = Callable[[Sequence[int]], Mapping[int, Sequence[Frame]]]


def read(raw: Any) -> list[Diagnostic]:
    """Read the list that a device server sent; raises GraderError when it is none."""
    try:
        return msgspec.convert(raw, list[Diagnostic])
    except msgspec.ValidationError as error:
        raise GraderError(f"what the checks found cannot be read: {error}") from None


def merge(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Return each finding once, with the counts of all its cases; worst first, then in the order in which they came."""
    found: dict[tuple[object, ...], Diagnostic] = {}
    for diagnostic in diagnostics:
        known = found.get(diagnostic.key)
        if known is None:
            if len(found) < _MAX_DIAGNOSTICS or _make_room(found, diagnostic):
                found[diagnostic.key] = diagnostic
            continue
        sums = {"count": known.count + diagnostic.count, "weight": known.weight + diagnostic.weight}
        found[diagnostic.key] = msgspec.structs.replace(known, **sums)
    return worst_first(found.values())


def _make_room(found: dict[tuple[object, ...], Diagnostic], one: Diagnostic) -> bool:
    """Take out what is needed less: something less severe, else the last of the rule that has the most findings."""
    least = max(reversed(found.values()), key=lambda known: _ORDER[known.severity])
    if least.severity == one.severity:
        counts = Counter(known.rule for known in found.values() if known.severity == one.severity)
        rule, number = counts.most_common(1)[0]
        if one.rule in counts or number < 2:
            return False
        least = next(known for known in reversed(found.values()) if known.rule == rule)
    elif _ORDER[least.severity] < _ORDER[one.severity]:
        return False
    del found[least.key]
    return True


def worst_first(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Sort errors before warnings before advice, and those by weight; else they stay in their order."""
    return sorted(diagnostics, key=lambda one: (_ORDER[one.severity], -one.weight))


def rule_alone(diagnostic: Diagnostic) -> Diagnostic:
    """Return what of a finding the program has no say in: which rule it is, and the rule's own words."""
    return msgspec.structs.replace(
        diagnostic, message="", kernel="", place=Place(), thread=None, related=[], memory=None, count=1, weight=0.0,
        barrier=None,
    )  # fmt: skip


def locate(diagnostics: Iterable[Diagnostic], sources: Sources, lookup: Lookup) -> list[Diagnostic]:
    """Clean the texts, give each place its file, line and source, and name the memory in the message."""
    found = list(diagnostics)
    asked = codes(found)
    frames = lookup(asked) if asked else {}
    return [one for one in (_located(one, sources, frames) for one in found) if _is_certain(one, sources)]


def _is_certain(one: Diagnostic, sources: Sources) -> bool:
    """Tell whether the source bears out what the device cannot tell alone: a constant of 0 may be meant."""
    if one.rule != "initcheck/constant" or one.memory is None:
        return True
    return sources.declares_without_value(one.place.file, one.memory.name)


def codes(diagnostics: Iterable[Diagnostic]) -> list[int]:
    """Return the places in the program whose lines are not known."""
    return sorted({place.code for one in diagnostics for place in _places(one) if place.code and not place.file})


def _places(diagnostic: Diagnostic) -> list[Place]:
    memory = [diagnostic.memory.allocated] if diagnostic.memory else []
    return [diagnostic.place, *(other.place for other in diagnostic.related), *memory]


def _located(one: Diagnostic, sources: Sources, frames: Mapping[int, Sequence[Frame]]) -> Diagnostic:
    def at(place: Place) -> Place:
        return locate_place(place, sources, frames)

    memory = locate_memory(one.memory, sources, frames) if one.memory else None
    message = one_line(one.message, _TEXT_WIDTH)
    if memory is not None:
        message = message.replace(MEMORY, name_memory(memory))
    place = at(one.place)
    related = [
        Related(role=one_line(other.role, _NAME_WIDTH), place=at(other.place), thread=other.thread)
        for other in one.related
    ]
    return msgspec.structs.replace(
        one,
        rule=one_line(one.rule, _NAME_WIDTH),
        title=one_line(one.title, _NAME_WIDTH),
        help=one_line(one.help, _TEXT_WIDTH),
        message=message.replace(MEMORY, "memory"),
        kernel=one_line(one.kernel, _NAME_WIDTH),
        place=place,
        related=related,
        memory=memory,
        barrier=_missing_barrier(one.rule, place, related, sources),
    )


def _missing_barrier(rule: str, place: Place, related: Sequence[Related], sources: Sources) -> Barrier | None:
    """Return which barrier a race between two known lines of one file lacks."""
    if rule not in RACES_OF_BLOCK or not related or not place.own or place.file != related[0].place.file:
        return None
    kernels = sources.kernels(place.file)
    gaps = kernels.gaps(place.line, related[0].place.line)
    return Barrier(between=gaps, of_warp=kernels.is_for_warps(place.line))


def locate_memory(memory: Memory, sources: Sources, frames: Mapping[int, Sequence[Frame]]) -> Memory:
    """Return the memory with the line of its allocation, and the variable that the line gives it to."""
    allocated = locate_place(memory.allocated, sources, frames)
    name, variable = one_line(memory.name, _NAME_WIDTH), memory.variable
    if not variable and (pointer := sources.allocated_variable(allocated.file, allocated.line)):
        name, variable = pointer, True
    return Memory(name=name, variable=variable, bytes=memory.bytes, allocated=allocated)


def locate_place(place: Place, sources: Sources, frames: Mapping[int, Sequence[Frame]]) -> Place:
    """Return the place with the user's name of the file; of host code, the innermost frame that is the user's."""
    if place.file:
        name = sources.own_name(place.file)
        return Place(
            file=name or sources.foreign_name(place.file), line=place.line, source=sources.line(name, place.line)
        )
    for file, line in frames.get(place.code, ()):
        if name := sources.own_name(file):
            return Place(file=name, line=line, source=sources.line(name, line))
    return Place(code=place.code)


def name_memory(memory: Memory) -> str:
    """Return "`d_a` (1,024 bytes, allocated at matmul.cu:41)", or what of it is known."""
    size = "1 byte" if memory.bytes == 1 else f"{memory.bytes:,} bytes" if memory.bytes else ""
    where = memory.allocated.text
    if memory.variable and memory.name:
        known = ", ".join(filter(None, [size, f"allocated at {where}" if where else ""]))
        return f"`{memory.name}` ({known})" if known else f"`{memory.name}`"
    allocation = f"an allocation of {size}" if size else "an allocation"
    if where:
        return f"{allocation} (made at {where})"
    return f"{allocation} ({memory.name})" if memory.name else allocation
