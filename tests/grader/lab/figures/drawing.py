"""A figure of a task sheet as SVG: boxes, text and arrows, light or dark as the reader's page is."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

STYLE = """\
    .page { fill: #ffffff; stroke: #d0d7de; }
    .text { fill: #1f2328; font: 14px sans-serif; }
    .small { fill: #59636e; font: 12px sans-serif; }
    .code { fill: #1f2328; font: 13px monospace; }
    .head { fill: #1f2328; font: bold 15px sans-serif; }
    .cell { fill: #f6f8fa; stroke: #afb8c1; }
    .idle { fill: none; stroke: #afb8c1; stroke-dasharray: 3 3; }
    .side { fill: #eef1f4; stroke: #818b98; }
    .a { fill: #54aeff; stroke: #0550ae; }
    .b { fill: #fb8f44; stroke: #953800; }
    .c { fill: #6fdd8b; stroke: #116329; }
    .line { stroke: #59636e; fill: none; stroke-width: 1.5; }
    .tip { fill: #59636e; }
    .link { stroke: #818b98; stroke-width: 1.5; stroke-dasharray: 6 4; fill: none; }
    .in-bar { fill: #1f2328; font: 12px sans-serif; }
    @media (prefers-color-scheme: dark) {
      .page { fill: #0d1117; stroke: #3d444d; }
      .text, .code, .head, .in-bar { fill: #f0f6fc; }
      .small { fill: #9198a1; }
      .cell { fill: #151b23; stroke: #656c76; }
      .idle { stroke: #656c76; }
      .side { fill: #212830; stroke: #9198a1; }
      .a { fill: #1f6feb; stroke: #a5d6ff; }
      .b { fill: #bd561d; stroke: #ffdfb6; }
      .c { fill: #238636; stroke: #aff5b4; }
      .line { stroke: #9198a1; }
      .tip { fill: #9198a1; }
      .link { stroke: #9198a1; }
    }
"""


class Drawing:
    """Collects what is drawn; coordinates are pixels from the upper left corner."""

    def __init__(self, title: str, description: str, height: int, width: int = 740) -> None:
        self._head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
            f'height="{height}" role="img" aria-labelledby="title desc">\n'
            f'  <title id="title">{escape(title)}</title>\n  <desc id="desc">{escape(description)}</desc>\n'
            f"  <style>\n{STYLE}  </style>\n"
        )
        self._parts: list[str] = []
        self.box(0.5, 0.5, width - 1, height - 1, "page", rounded=8)

    def box(self, x: float, y: float, width: float, height: float, style: str, *, rounded: int = 0) -> None:
        """Draw a rectangle."""
        corner = f' rx="{rounded}"' if rounded else ""
        self._parts.append(f'<rect class="{style}" x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}"{corner}/>')

    def text(self, x: float, y: float, words: str, style: str = "text", *, centred: bool = False) -> None:
        """Write a line of text that begins at x, or has its middle there; y is its base line."""
        anchor = ' text-anchor="middle"' if centred else ""
        self._parts.append(f'<text class="{style}" x="{x:g}" y="{y:g}"{anchor}>{escape(words, quote=False)}</text>')

    def labelled(self, x: float, y: float, width: float, height: float, style: str, *lines: str) -> None:
        """Draw a rectangle with lines of text in its middle; the first is code, the others are small."""
        self.box(x, y, width, height, style, rounded=4)
        top = y + height / 2 + 5 - 8 * (len(lines) - 1)
        for number, line in enumerate(lines):
            self.text(x + width / 2, top + 16 * number, line, "in-bar" if number else "code", centred=True)

    def arrow(self, *points: tuple[float, float], style: str = "line") -> None:
        """Draw a line through points whose last piece is horizontal or vertical, with a tip at its end."""
        (x0, y0), (x1, y1) = points[-2:]
        along, down = _sign(x1 - x0), _sign(y1 - y0)
        self.line([*points[:-1], (x1 - 9 * along, y1 - 9 * down)], style)
        sides = f"l{-11 * along + 5 * down:g} {-11 * down - 5 * along:g}l{-10 * down:g} {10 * along:g}z"
        self._parts.append(f'<path class="tip" d="M{x1:g} {y1:g}{sides}"/>')

    def line(self, points: Sequence[tuple[float, float]], style: str = "line") -> None:
        """Draw a line through points."""
        self._parts.append(f'<path class="{style}" d="M{"L".join(f"{x:g} {y:g}" for x, y in points)}"/>')

    def svg(self) -> str:
        """Return the file."""
        return self._head + "".join(f"  {part}\n" for part in self._parts) + "</svg>\n"


def _sign(value: float) -> int:
    return (value > 0) - (value < 0)
