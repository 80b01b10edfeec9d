"""Other right solutions, which must get their points: patches, or whole files (lab/variant.py).

The header reads `RIGHT: <what it does otherwise>`, or `RIGHT (N points): …` where a slower way does not get all.
"""

from dataclasses import dataclass

from warpgrade.lab import variant
from warpgrade.lab.labs import Lab

KIND = variant.RIGHT


@dataclass(frozen=True)
class Right(variant.Variant):
    """A right solution, and how many points it gets at least."""

    points: float


def names(lab: Lab) -> list[str]:
    """Return the names of a lab's right solutions."""
    return variant.names(lab, KIND)


def find(lab: Lab, name: str) -> Right:
    """Read the right solution of that name, or say which there are."""
    found = variant.find(lab, KIND, name)
    return Right(**vars(found), points=float(found.words["points"] or lab.max_points))
