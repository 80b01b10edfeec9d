"""Races in which both parties only store: mostly an index that is not each thread's own, which no barrier mends."""

import re
from collections.abc import Iterable, Sequence

from warpgrade.findings.diagnosis import Diagnostic

_RACES = ("racecheck/shared", "racecheck/warp", "racecheck/global")
# As grader/vgpu/checks/watch.cpp words it where neither party is an atomic.
_BOTH_STORE = re.compile(r"^writes .* that (?:another thread writes|other threads write at the same time), ")
_BRACKETS = r"(?:\s*\[(?:[^\[\]]|\[[^\[\]]*\])*\])"
_STORE = re.compile(rf"(?:\*\s*(?P<pointer>\w+)|(?P<name>\w+){_BRACKETS}+(?:\.\w+)?)\s*=(?!=)(?P<value>.*)")
_COUNTERS = ("threadIdx", "blockIdx")
_QUESTION = (
    "does the index differ for each thread? Which of threadIdx, blockIdx or the length of a row is missing or wrong? "
    "If one thread alone is to store: if (threadIdx.x == 0)."
)


def read_memories(diagnostics: Iterable[Diagnostic]) -> set[object]:
    """Return the memories of which a race has a party that reads."""
    return {
        _memory(one) for one in diagnostics
        if one.rule in _RACES and (one.message.startswith("reads ") or any(o.role == "read by" for o in one.related))
    }  # fmt: skip


def only_store(one: Diagnostic, read: set[object]) -> bool:
    """Tell whether both parties store to what nobody reads meanwhile, as far as the source and the run show it."""
    return (
        one.rule in _RACES
        and bool(one.related)
        and _BOTH_STORE.match(one.message) is not None
        and _memory(one) not in read
        and all(_stores(place.source) for place in (one.place, one.related[0].place))
    )


def what_to_do(races: Sequence[Diagnostic], barrier: str) -> str:
    """Say what to look at first; `barrier` says which one would put the stores in an order, if one would."""
    first = races[0]
    if first.place.text == first.related[0].place.text:
        end = " To add up what they have, use atomicAdd." if first.rule == "racecheck/global" else ""
        return f"Two threads store to the same element{_difference(first)}: {_QUESTION}{end}"
    if first.rule == "racecheck/global":
        return f"Two lines store to the same element. Do two arrays overlap? If it is one array, {_QUESTION}"
    end = f" Only if one store is to replace the other: {barrier[0].lower()}{barrier[1:]}" if barrier else ""
    return (
        "Do the two arrays overlap? One has to begin behind the end of the other. If it is one array, does the index "
        f"differ for each thread?{end}"
    )


def _memory(one: Diagnostic) -> object:
    return (one.kernel, one.memory.name, one.memory.allocated) if one.memory else one.kernel


def _stores(source: str) -> bool:
    """Tell whether a line stores a value that does not come from the same array."""
    store = _STORE.search(source)
    if store is None:
        return False
    name = store["pointer"] or store["name"]
    return re.search(rf"\b{name}\b", store["value"]) is None


def _difference(one: Diagnostic) -> str:
    """Return in which number alone the two threads differ."""
    other = one.related[0].thread
    if one.thread is None or other is None:
        return ""
    sides = (one.thread.thread + one.thread.block, other.thread + other.block)
    names = [f"{counter}.{axis}" for counter in _COUNTERS for axis in "xyz"]
    differ = [name for name, mine, theirs in zip(names, *sides, strict=True) if mine != theirs]
    return f", although their {differ[0]} differs" if len(differ) == 1 else ""
