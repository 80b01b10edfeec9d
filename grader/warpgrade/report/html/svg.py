"""Parts of pictures: axes, bars and text as inline SVG, whose colours are those of the page's style."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from warpgrade.report.html.elements import Markup, tag

WIDTH = 400  # a phone shows it with hardly any reduction; the page makes it larger
_BAR_ROW, _BAR_HEIGHT, _TEXT_ROW = 32, 9, 13
_LINE = 62  # characters of text


def figure(title: str, description: str, height: float, parts: Iterable[Markup], caption: str = "") -> Markup:
    """Return a picture; a screen reader reads title and description in its place."""
    picture = tag(
        "svg", tag("title", title), tag("desc", description), parts,
        viewBox=f"0 0 {WIDTH} {height:g}", role="img", xmlns="http://www.w3.org/2000/svg",
    )  # fmt: skip
    return tag("figure", tag("figcaption", title), picture, tag("p", caption, class_="dim"), class_="picture")


@dataclass(frozen=True)
class Bar:
    """A bar with its label, its length in any unit, and what that is in words; `part` of it in another colour."""

    label: str
    value: float
    words: str
    part: float = 0


def bars(title: str, description: str, rows: Sequence[Bar], caption: str = "", whole: float = 0) -> Markup:
    """Return bars below each other; `whole` is the length of the longest possible one, or else the longest is."""
    most = max([whole, *(row.value for row in rows)]) or 1
    parts: list[Markup] = []
    top = 0
    for row in rows:
        parts.append(text(0, top + 13, shorten(row.label, _LINE)))
        if len(row.label) + len(row.words) > _LINE:
            top += _TEXT_ROW
        parts.append(text(WIDTH, top + 13, row.words, anchor="end"))
        parts.append(box(0, top + 18, WIDTH, _BAR_HEIGHT, "track"))
        parts.append(box(0, top + 18, WIDTH * row.value / most, _BAR_HEIGHT, "bar"))
        if row.part:
            parts.append(box(0, top + 18, WIDTH * row.part / most, _BAR_HEIGHT, "bar loss"))
        top += _BAR_ROW
    return figure(title, description, top, parts, caption)


def text(x: float, y: float, words: str, *, anchor: str = "start", style: str = "") -> Markup:
    """Return a line of text; y is its base line."""
    return tag("text", words, x=number(x), y=number(y), text_anchor=anchor, class_=style)


def box(x: float, y: float, width: float, height: float, style: str, title: str = "") -> Markup:
    """Return a rectangle; a title shows under the pointer."""
    inside = [tag("title", title)] if title else []
    return tag("rect", inside, x=number(x), y=number(y), width=number(max(width, 0.5)), height=number(height),
               class_=style)  # fmt: skip


def line(points: Sequence[tuple[float, float]], style: str) -> Markup:
    """Return a line through points."""
    return tag("polyline", points=" ".join(f"{number(x)},{number(y)}" for x, y in points), class_=style)


def dot(x: float, y: float, title: str, style: str = "dot") -> Markup:
    """Return a point with a title under the pointer."""
    return tag("circle", tag("title", title), cx=number(x), cy=number(y), r="4", class_=style)


@dataclass(frozen=True)
class Scale:
    """Places values of an axis on the picture; `log` for axes in powers of ten."""

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    def __call__(self, value: float) -> float:
        """Return the place of a value; one beyond the axis stands at its end."""
        value = min(max(value, self.low), self.high)
        low, high = (math.log10(self.low), math.log10(self.high)) if self.log else (self.low, self.high)
        share = ((math.log10(value) if self.log else value) - low) / (high - low)
        return self.start + share * (self.end - self.start)

    def ticks(self) -> list[float]:
        """Return the powers of ten on a logarithmic axis."""
        first, last = math.ceil(math.log10(self.low)), math.floor(math.log10(self.high))
        return [10.0**power for power in range(first, last + 1)]


def shorten(words: str, most: int) -> str:
    """Return at most so many characters."""
    return words if len(words) <= most else f"{words[: most - 1]}…"


def number(value: float) -> str:
    """Return a coordinate with at most one digit behind the point."""
    return f"{value:.1f}".removesuffix(".0")
