"""Fingerprints of rows of tokens (winnowing: Schleimer, Wilkerson and Aiken, 2003) and an index of who shares them.

Of all runs of LENGTH tokens, those are taken whose hash is the least among WINDOW neighbours: whatever two rows have in
common over LENGTH + WINDOW - 1 tokens, at least one of their fingerprints says so.
"""

import itertools
from array import array
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from typing import Final

LENGTH: Final = 14
WINDOW: Final = 8
_MIN_SHARED = 3  # fingerprints, of what is worth a look
_PRIME = (1 << 61) - 1
_BASE = 0x1F3D_5B79_8C2E_A461 % _PRIME
_HASH_BITS, _DOCUMENT_BITS, _BUCKET_BITS = 46, 18, 6
MAX_DOCUMENTS: Final = 1 << _DOCUMENT_BITS


def hashes(codes: Sequence[int], length: int = LENGTH) -> list[int]:
    """Return the hash of each run of that many tokens."""
    if len(codes) < length:
        return []
    top = pow(_BASE, length, _PRIME)
    value = 0
    made: list[int] = []
    for place, code in enumerate(codes):
        value = (value * _BASE + code + 1) % _PRIME
        if place >= length:
            value = (value - (codes[place - length] + 1) * top) % _PRIME
        if place >= length - 1:
            made.append(value)
    return made


def winnow(values: Sequence[int]) -> dict[int, int]:
    """Return the chosen hashes, each with the first place where it was chosen."""
    chosen: dict[int, int] = {}
    least: deque[int] = deque()  # places whose hashes go up
    for place, value in enumerate(values):
        while least and values[least[-1]] >= value:
            least.pop()
        least.append(place)
        if least[0] <= place - WINDOW:
            least.popleft()
        if place >= min(WINDOW, len(values)) - 1:
            chosen.setdefault(values[least[0]], least[0])
    return chosen


class Index:
    """Who has which fingerprint: a few bytes for each of them, sorted in parts."""

    def __init__(self) -> None:
        self._parts = [array("Q") for _ in range(1 << _BUCKET_BITS)]
        self._sizes = array("I")

    def add(self, prints: dict[int, int]) -> int:
        """Add a document; return its number."""
        number = len(self._sizes)
        if number >= MAX_DOCUMENTS:
            raise ValueError("too many documents")
        for value in prints:
            self._parts[(value >> _HASH_BITS) & ((1 << _BUCKET_BITS) - 1)].append(_key(value, number))
        self._sizes.append(len(prints))
        return number

    def shared(self, most: int, least: float) -> tuple[list[tuple[float, int, int]], set[int]]:
        """Return pairs that share fingerprints, and the keys of those that more than `most` documents have.

        What so many have shows nothing, and pairs are not made of it. Of a pair there is the share of the
        fingerprints, without these, of the document that has less; pairs below `least` are left out.
        """
        documents, starts = array("I"), array("Q", [0])
        own = [array("I") for _ in self._sizes]
        sizes = array("I", self._sizes)
        common: set[int] = set()
        for part in self._parts:
            for value, keys in itertools.groupby(sorted(part), lambda key: key >> _DOCUMENT_BITS):
                who = [key & (MAX_DOCUMENTS - 1) for key in keys]
                if len(who) > most:
                    common.add(value)
                    for document in who:
                        sizes[document] -= 1
                elif len(who) > 1:
                    for document in who:
                        own[document].append(len(starts) - 1)
                    documents.extend(who)
                    starts.append(len(documents))
        return list(_pairs(own, documents, starts, sizes, least)), common


def _key(value: int, document: int) -> int:
    return (value & ((1 << _HASH_BITS) - 1)) << _DOCUMENT_BITS | document


def key_of(value: int) -> int:
    """Return what a hash is in the set of those that many have."""
    return value & ((1 << _HASH_BITS) - 1)


def _pairs(
    own: "Sequence[array[int]]", documents: "array[int]", starts: "array[int]", sizes: "array[int]", least: float
) -> Iterator[tuple[float, int, int]]:
    for first, groups in enumerate(own):
        counts = Counter(
            itertools.chain.from_iterable(documents[starts[group] : starts[group + 1]] for group in groups)
        )
        for second, count in counts.items():
            share = count / max(min(sizes[first], sizes[second]), 1)
            if second > first and share >= least and count >= _MIN_SHARED:
                yield share, first, second
