"""Finds submissions with common code that the lab did not give: pairs for the instructor to look at, never a grade.

Names, numbers, texts, comments, braces and the layout do not count. What the lab gives (starter, headers, code of the
sheet) is taken out first, and so is what many of the class have. The core is small and our own: copydetect, the usual
library, needs 15 packages of 42 MB, compares all pairs, and its page loads style and script from elsewhere.
"""

import hashlib
import heapq
import re
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Final

from warpgrade.cohort import fingerprints, tokens
from warpgrade.cohort.fingerprints import LENGTH, Index, hashes, winnow
from warpgrade.lab.labs import Lab
from warpgrade.machine.confined import Allowance, OverBudget
from warpgrade.machine.errors import BadInput
from warpgrade.machine.text import one_line

THRESHOLD: Final = 60.0  # per cent
MIN_TOKENS: Final = 80  # tokens of one's own in common, some eight lines
_GIVEN_LENGTH = 10  # tokens that are the lab's wherever they stand together
_MAX_PAIRS = 2000  # that are compared token by token
_LARGEST_COMMON, _SMALLEST_COMMON, _COMMON_PART = 100, 10, 10  # one in ten has it: it shows nothing
_STARTS = 8  # places of the other submission that a piece is looked for at
_GAP = 4  # tokens between two pieces that are shown as one
_PIECES = 20
_LINES, _WIDTH = 60, 160
_MAX_GAP_LINES = 3  # lines from one to the next, between which everything is shown
_FENCE = re.compile(r"^```[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Source:
    """A student's submission. Its files are read again for each pass, to save memory."""

    student: str
    name: str
    read: Callable[[], Mapping[str, bytes]]


@dataclass(frozen=True)
class Side:
    """Some lines of a submission."""

    file: str
    first: int
    last: int
    text: str


@dataclass(frozen=True)
class Piece:
    """A piece of code in two submissions: its number of tokens, and its lines in each."""

    tokens: int
    left: Side
    right: Side


@dataclass(frozen=True)
class Pair:
    """Two submissions: how many per cent of what is their own the other has as well, and the pieces, largest first."""

    left: str
    right: str
    left_percent: float
    right_percent: float
    tokens: int
    pieces: list[Piece]
    more: int = 0  # pieces that are not in the list

    @property
    def percent(self) -> float:
        """The larger of both percentages."""
        return max(self.left_percent, self.right_percent)


@dataclass
class Similar:
    """What was found. `same`: students whose own code is the same, token by token; in pairs, two stand for all.

    unread: what could not be read, with why; cut: of which only the beginning was compared; common: how many
    fingerprints were left out because many have them; left_out: pairs beyond the limit.
    """

    compared: int = 0
    pairs: list[Pair] = field(default_factory=list)
    same: list[list[str]] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)
    cut: list[str] = field(default_factory=list)
    without_own: list[str] = field(default_factory=list)
    common: int = 0
    left_out: int = 0


def given_code(lab: Lab) -> list[str]:
    """Return all code that the lab gives: starter, contract, other headers, and code in the task sheet."""
    files = [path for path in sorted(lab.starter_folder.glob("*")) if path.is_file() and lab.allows(path.name)]
    given = [path.read_text(encoding="utf-8", errors="replace") for path in [*files, *lab.given] if path.is_file()]
    sheet = lab.folder / "README.md"
    if sheet.is_file():
        given += _FENCE.findall(sheet.read_text(encoding="utf-8", errors="replace"))
    return given


def compare(
    sources: Iterable[Source], given: Iterable[str], *, threshold: float = THRESHOLD, most: int = 100,
    say: Callable[[str], None] = lambda words: None,
) -> Similar:  # fmt: skip
    """Compare submissions with each other; at most `most` pairs of at least `threshold` per cent.

    Memory is for fingerprints, a few kilobytes a submission; its files are read again for the pairs that share some.
    """
    theirs = {value for text in given for value in hashes(tokens.read({"given": text}).codes, _GIVEN_LENGTH)}
    found = Similar()
    index = Index()
    documents: list[Source] = []
    groups: dict[bytes, list[Source]] = {}
    say("reading the submissions")
    for source in sources:
        own = _read(source, theirs, found)
        if own is None:
            continue
        found.compared += 1
        group = groups.setdefault(hashlib.sha256(own.codes.tobytes()).digest(), [])
        group.append(source)
        if len(group) == 1:
            index.add(winnow(hashes(own.codes)))
            documents.append(source)
    common = min(max(_SMALLEST_COMMON, len(documents) // _COMMON_PART), _LARGEST_COMMON)
    candidates, of_many = index.shared(common, 0.5 * threshold / 100)
    found.common = len(of_many)
    chosen = heapq.nlargest(_MAX_PAIRS, candidates)
    found.left_out = len(candidates) - len(chosen)

    @lru_cache(maxsize=64)
    def own_of(source: Source) -> _Own | None:
        own = _read(source, theirs, None)
        return own and own.without(of_many)

    def add(first: Source, second: Source) -> bool:
        left, right = own_of(first), own_of(second)
        if left is None or right is None or first.student == second.student:
            return False
        pair = _pair(left, right, first.name, second.name)
        if pair.percent < threshold or pair.tokens < MIN_TOKENS:
            return False
        pairs.append((pair, first, second))
        return True

    pairs: list[tuple[Pair, Source, Source]] = []
    say(f"comparing {len(chosen)} pair{'' if len(chosen) == 1 else 's'} of {found.compared} submissions")
    for group in groups.values():
        students = {source.student: source for source in group}
        if len(students) > 1 and add(*list(students.values())[:2]):
            found.same.append([one_line(source.name, 100) for source in students.values()])
    for _, one, other in sorted(chosen, key=lambda each: each[1:]):
        add(documents[one], documents[other])
    pairs.sort(key=lambda each: _order(each[0]))
    found.left_out += len(pairs[most:])
    for pair, first, second in pairs[:most]:
        left, right = own_of(first), own_of(second)
        found.pairs.append(_with_pieces(pair, left, right) if left and right else pair)
    return found


def _order(pair: Pair) -> tuple[float, float, int, str]:
    return -pair.percent, -min(pair.left_percent, pair.right_percent), -pair.tokens, pair.left


@dataclass(frozen=True)
class _Own:
    """The tokens that a student added to the given code, and their positions in the submission."""

    all: tokens.Tokens
    codes: "array[int]"
    at: Sequence[int]
    files: Mapping[str, bytes]
    counts: bytearray  # 1 for each token that shows something

    @cached_property
    def lines(self) -> dict[str, list[str]]:
        """The lines of each file."""
        return {name: content.decode("utf-8", "replace").split("\n") for name, content in self.files.items()}

    def without(self, of_many: set[int]) -> "_Own":
        """Ignore code that many submissions have."""
        for place, value in enumerate(hashes(self.codes)):
            if fingerprints.key_of(value) in of_many:
                self.counts[place : place + LENGTH] = bytes(LENGTH)
        return self

    @property
    def size(self) -> int:
        """How many tokens count."""
        return sum(self.counts)


def _read(source: Source, theirs: set[int], found: Similar | None) -> _Own | None:
    """Return a submission without given code; None if it cannot be read or nothing is left."""
    try:
        files = source.read()
        whole = tokens.read_confined(Allowance(), files)
    except (BadInput, OverBudget) as error:
        if found is not None:
            found.unread.append(f"{one_line(source.name, 100)}: {one_line(_why(error), _WIDTH)}")
        return None
    kept = bytearray(b"\1" * len(whole.codes))
    for place, value in enumerate(hashes(whole.codes, _GIVEN_LENGTH)):
        if value in theirs:
            kept[place : place + _GIVEN_LENGTH] = bytes(_GIVEN_LENGTH)
    at = [place for place, keep in enumerate(kept) if keep]
    if found is not None and whole.cut:
        found.cut.append(one_line(source.name, 100))
    if len(at) < LENGTH:
        if found is not None:
            found.without_own.append(one_line(source.name, 100))
        return None
    codes = array("I", [whole.codes[place] for place in at])
    return _Own(whole, codes, at, files, bytearray(b"\1" * len(at)))


def _why(error: BadInput | OverBudget) -> str:
    return error.message if isinstance(error, BadInput) else f"to compare it {error}"


def _pair(left: _Own, right: _Own, left_name: str, right_name: str) -> Pair:
    """Return how much two submissions have in common, without the pieces."""
    in_left, in_right = bytearray(len(left.codes)), bytearray(len(right.codes))
    for start, other, length in _new_runs(left, right):
        in_left[start : start + length] = b"\1" * length
        in_right[other : other + length] = b"\1" * length
    shared = [sum(map(min, covered, side.counts)) for covered, side in ((in_left, left), (in_right, right))]
    percents = [round(100 * part / max(side.size, 1), 1) for part, side in zip(shared, (left, right), strict=True)]
    return Pair(left_name, right_name, percents[0], percents[1], min(shared), [])


def _with_pieces(pair: Pair, left: _Own, right: _Own) -> Pair:
    runs = sorted(_joined(_new_runs(left, right)), key=lambda run: -run[-1])
    pieces = [
        Piece(count, _side(left, at, wide), _side(right, other, narrow))
        for at, other, wide, narrow, count in runs[:_PIECES]
    ]
    return replace(pair, pieces=pieces, more=len(runs[_PIECES:]))


def _new_runs(left: _Own, right: _Own) -> Iterator[tuple[int, int, int]]:
    """Yield the common runs without code that many submissions have."""
    for start, other, length in _runs(left.codes, right.codes):
        if 2 * sum(left.counts[start : start + length]) >= LENGTH:
            yield start, other, length


def _runs(left: Sequence[int], right: Sequence[int]) -> Iterator[tuple[int, int, int]]:
    """Yield what both have, as (place, place, length), in the order of the left one, of which none overlap."""
    places: dict[int, list[int]] = {}
    for place, value in enumerate(hashes(right)):
        known = places.setdefault(value, [])
        if len(known) < _STARTS:
            known.append(place)
    values = hashes(left)
    at = 0
    while at < len(values):
        length, other = max(((_same(left, right, at, place), place) for place in places.get(values[at], ())),
                            default=(0, 0), key=lambda each: each[0])  # fmt: skip
        if length < LENGTH:
            at += 1
            continue
        yield at, other, length
        at += length


def _same(left: Sequence[int], right: Sequence[int], at: int, other: int) -> int:
    length, most = 0, min(len(left) - at, len(right) - other)
    while length < most and left[at + length] == right[other + length]:
        length += 1
    return length


def _joined(runs: Iterable[tuple[int, int, int]]) -> list[tuple[int, int, int, int, int]]:
    """Join runs with only a few tokens between them on both sides; return places, lengths on each side, and tokens."""
    joined: list[tuple[int, int, int, int, int]] = []
    for at, other, length in runs:
        if joined:
            first, second, wide, narrow, count = joined[-1]
            if 0 <= at - first - wide <= _GAP and 0 <= other - second - narrow <= _GAP:
                joined[-1] = (first, second, at + length - first, other + length - second, count + length)
                continue
        joined.append((at, other, length, length, length))
    return joined


def _side(own: _Own, at: int, length: int) -> Side:
    """Return the lines of some of a student's own tokens; of given lines between them only that they are there."""
    file, first = own.all.place(own.at[at])
    numbers = [line for name, line in map(own.all.place, own.at[at : at + length]) if name == file]
    text = own.lines[file]
    shown: list[str] = []
    before = first - 1
    for line in dict.fromkeys(numbers):
        if len(shown) >= _LINES:
            shown.append("… and more lines")
            break
        if line - before > _MAX_GAP_LINES:
            shown.append("⋮")
            before = line - 1
        shown += (each if len(each) <= _WIDTH else each[: _WIDTH - 1] + "…" for each in text[before:line])
        before = line
    return Side(file, first, numbers[-1], "\n".join(shown))
