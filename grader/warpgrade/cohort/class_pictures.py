"""Pictures of a class's points, as SVG with the colours of the page: how many have what, and how attempts went."""

from collections.abc import Sequence

from warpgrade.cohort.summary import BINS
from warpgrade.report.html.elements import Markup, tag

_BAR, _HEIGHT = 44, 120
_STEP, _MAX_ATTEMPTS, _MAX_LINES = 60, 12, 400


def histogram(bins: Sequence[int]) -> Markup:
    """Return bars for tenths of the points, and one for all points."""
    most = max([*bins, 1])
    parts: list[Markup] = []
    for place, many in enumerate(bins):
        height = _HEIGHT * many / most
        left = place * _BAR
        label = "100 %" if place == BINS - 1 else f"{10 * place}–{10 * place + 9}"
        middle = left + _BAR // 2
        parts.append(tag("rect", x=left + 3, y=f"{20 + _HEIGHT - height:.1f}", width=_BAR - 6, height=f"{height:.1f}"))
        parts.append(tag("text", label, x=middle, y=_HEIGHT + 38, text_anchor="middle"))
        if many:
            parts.append(tag("text", str(many), x=middle, y=f"{14 + _HEIGHT - height:.1f}", text_anchor="middle"))
    told = ", ".join(str(many) for many in bins)
    return tag(
        "svg", parts, viewBox=f"0 0 {_BAR * BINS} {_HEIGHT + 44}", role="img", class_="bars",
        aria_label=f"How many students have below 10 per cent, below 20, and so on, and all points: {told}",
    )  # fmt: skip


def progress(attempts: Sequence[Sequence[float]]) -> Markup:
    """Return a line for each student with several attempts: per cent of the points over the attempts."""
    lines = [each[:_MAX_ATTEMPTS] for each in attempts if len(each) > 1][:_MAX_LINES]
    if not lines:
        return Markup()
    longest = max(map(len, lines))
    parts = [
        tag("line", x1=36, x2=36 + _STEP * (longest - 1), y1=_y(share), y2=_y(share), class_="grid")
        for share in (0, 50, 100)
    ]
    parts += [tag("text", f"{share} %", x=30, y=_y(share) + 4, text_anchor="end") for share in (0, 50, 100)]
    parts += [
        tag("text", str(at + 1), x=36 + _STEP * at, y=_HEIGHT + 34, text_anchor="middle") for at in range(longest)
    ]
    for line in lines:
        points = " ".join(f"{36 + _STEP * at},{_y(share):.1f}" for at, share in enumerate(line))
        parts.append(tag("polyline", points=points, class_="attempts"))
    return tag(
        "svg", parts, viewBox=f"0 0 {60 + _STEP * (longest - 1)} {_HEIGHT + 40}", role="img", class_="lines",
        aria_label=f"Points over the attempts of {len(lines)} students",
    )  # fmt: skip


def _y(share: float) -> float:
    return 10 + _HEIGHT * (1 - min(max(share, 0.0), 100.0) / 100)
