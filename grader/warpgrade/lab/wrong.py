"""Wrong solutions: the reference with one mistake, kept as a small patch (lab/variant.py).

The header reads `WRONG: loses "<test>"[, "<test>" …] - <what is wrong>`.
"""

import re
from dataclasses import dataclass

from warpgrade.lab import variant
from warpgrade.lab.labs import Lab

KIND = variant.Kind(
    folder="wrong",
    header=re.compile(r'(?P<all>WRONG: loses (?P<loses>"[^"]+"(?:, "[^"]+")*) - (?P<what>.*\S))\s*'),
    form='WRONG: loses "<test>"[, "<test>" …] - <what is wrong>',
    may_be_whole=False,
)


@dataclass(frozen=True)
class Wrong(variant.Variant):
    """A wrong solution, and the tests that it loses."""

    loses: tuple[str, ...]


def names(lab: Lab) -> list[str]:
    """Return the names of a lab's wrong solutions."""
    return variant.names(lab, KIND)


def find(lab: Lab, name: str) -> Wrong:
    """Read the wrong solution of that name, or say which there are."""
    found = variant.find(lab, KIND, name)
    return Wrong(**vars(found), loses=tuple(re.findall(r'"([^"]+)"', found.words["loses"])))
