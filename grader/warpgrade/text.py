"""Makes text from students' programs and compilers fit to show: no terminal escapes, bounded, valid."""

from __future__ import annotations

import re

# CSI, OSC (ended by BEL or ST), other two-character escapes; then control characters and the C1 block.
_ESCAPES = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\].*?(?:\x07|\x1b\\)|\x1b[@-Z\\-_a-z]?", re.DOTALL)
# Direction marks can make a line read as something that it is not.
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def clean(raw: bytes | str) -> str:
    """Return text without terminal escapes and control characters (tabs and line feeds stay)."""
    text = raw.decode("utf-8", errors="replace") if isinstance(raw, bytes) else raw
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    text = _CONTROLS.sub("", _ESCAPES.sub("", text))
    return text.encode("utf-8", errors="replace").decode("utf-8")


def bounded(text: str, lines: int = 60, width: int = 400) -> str:
    """Return the first lines, each cut to a width, with a note of what was left out."""
    rows = text.rstrip("\n").split("\n")
    kept = [row if len(row) <= width else row[: width - 1] + "…" for row in rows[:lines]]
    if rest := len(rows) - len(kept):
        kept.append(f"… and {rest} more line{'s' if rest > 1 else ''}")
    return "\n".join(kept)


def printable_name(name: str, width: int = 80) -> str:
    """Return a file name from a stranger on one line, fit for a message."""
    text = clean(name).replace("\n", "?").replace("\t", "?")
    return text if len(text) <= width else text[: width - 1] + "…"


def listing(names: list[str], limit: int = 8) -> str:
    """Return `a, b and 3 more`."""
    shown = ", ".join(printable_name(name) for name in names[:limit])
    return shown if len(names) <= limit else f"{shown} and {len(names) - limit} more"


def number(value: float, digits: int = 1) -> str:
    """Return 20 for 20.0 and 8.3 for 8.27."""
    return f"{value:.{digits}f}".rstrip("0").rstrip(".") if "." in f"{value:.{digits}f}" else f"{value:.{digits}f}"
