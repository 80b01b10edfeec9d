"""Small pictures of a result, as SVG, for platforms that show pictures beside it."""

from collections.abc import Iterator
from xml.sax.saxutils import escape

from warpgrade.grading.result import Result
from warpgrade.machine.text import number, one_line
from warpgrade.report import hidden

_ROW, _LABEL, _BAR = 26, 330, 240
_NAME = 52  # characters of a test's name


def draw_speed(result: Result) -> Iterator[tuple[str, str]]:
    """Yield at most one picture with its label: a bar for the speed-up of each public speed test."""
    bars = [
        (one_line(test.name, _NAME), measured.value)
        for test in hidden.for_students(result).tests
        for measured in test.measurements
        if test.kind == "speed" and measured.name == "speedup"
    ]
    if not bars:
        return
    most = max(1.0, *(value for _, value in bars))
    height = _ROW * len(bars) + 12
    starter = _LABEL + _BAR / most
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_LABEL + _BAR + 70}" height="{height}" '
        'font-family="sans-serif" font-size="12">',
        '<rect width="100%" height="100%" fill="#ffffff"/>',
    ]
    for place, (name, value) in enumerate(bars):
        top = 6 + place * _ROW
        width = max(1.0, _BAR * min(value, most) / most)
        parts += [
            f'<text x="{_LABEL - 8}" y="{top + 16}" text-anchor="end" fill="#1f2933">{escape(name)}</text>',
            f'<rect x="{_LABEL}" y="{top + 3}" width="{width:.1f}" height="{_ROW - 8}" fill="#2a78c2"/>',
            f'<text x="{_LABEL + width + 6:.1f}" y="{top + 16}" fill="#1f2933">{number(value, 2)}×</text>',
        ]
    parts += [
        f'<line x1="{starter:.1f}" y1="2" x2="{starter:.1f}" y2="{height - 2}" '
        'stroke="#c2452a" stroke-dasharray="3 3"/>',
        "</svg>",
    ]
    yield "Speed-up over the starter (dashed line)", "\n".join(parts)
