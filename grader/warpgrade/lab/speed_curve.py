"""The points of a speed test by the speed-up over the starter."""

import itertools
import math

Curve = list[tuple[float, float]]  # speed-ups and points, rising; linear in between


def curve_mistake(curve: Curve, points: float) -> str:
    """Return what is wrong with a curve of (speed-up, points), or nothing."""
    if len(curve) < 1:
        return "needs at least one [speed-up, points]"
    if not all(math.isfinite(number) for pair in curve for number in pair):
        return "speed-ups and points must be finite numbers"
    if any(right[0] <= left[0] for left, right in itertools.pairwise(curve)):
        return "speed-ups must rise"
    if any(right[1] < left[1] for left, right in itertools.pairwise(curve)):
        return "points must not fall as the speed-up rises"
    if curve[0][0] <= 0 or curve[0][1] < 0:
        return "speed-ups must be above 0, and points not below 0"
    if curve[-1][1] != points:
        return f"must end at the item's {points:g} points"
    return ""
