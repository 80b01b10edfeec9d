"""Markdown on a terminal: as much of it as the pages in docs/ use, readable from 40 columns up, plain when piped."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from rich.console import Console
from rich.text import Text

_MAX_WIDTH = 100
_CODE = 4  # columns that code is indented by
_BULLET = re.compile(r"(?P<mark>[-*]|\d+\.) +(?P<rest>.*)", re.DOTALL)
_SPAN = re.compile(
    r"\\(?P<raw>[*\[`])|`(?P<code>[^`]+)`|\*\*(?P<strong>[^*]+)\*\*|(?<![\w*])\*(?P<emphasis>[^*\s][^*]*)\*|\[(?P<link>[^\]]+)\]\([^)\s]+\)"
)
_STYLES = {"strong": "bold", "emphasis": "italic", "raw": ""}


@dataclass(frozen=True)
class _Block:
    kind: str  # heading, code, row, item or text
    text: str


def show(console: Console, page: str) -> None:
    """Print a page, with an empty line between its parts."""
    width = min(console.width, _MAX_WIDTH)
    last = ""
    for block in _blocks(page):
        if last and not (block.kind == last and block.kind in ("item", "row")):
            console.print()
        last = block.kind
        for line in _lines(console, block, width):
            console.print(line, soft_wrap=True)


def inline(text: str, *, plain: bool) -> Text:
    """Return a line's text with styles in place of marks; code keeps its marks where there are no styles."""
    made, at = Text(), 0
    for found in _SPAN.finditer(text):
        made.append(text[at : found.start()])
        kind = found.lastgroup or ""
        words = found[kind]
        if kind == "code":
            made.append(f"`{words}`" if plain else words, style="" if plain else "cyan")
        elif kind == "link":
            made.append_text(inline(words, plain=plain))
        else:
            made.append(words, style="" if plain else _STYLES[kind])
        at = found.end()
    return made.append(text[at:])


def _blocks(page: str) -> Iterator[_Block]:
    """Yield the parts of a page; of a table each row, of a list each item."""
    kept: list[str] = []

    def flush() -> Iterator[_Block]:
        if kept:
            joined = " ".join(line.strip() for line in kept)
            kept.clear()
            yield _Block("item" if _BULLET.match(joined) else "text", joined)

    lines = iter([*page.splitlines(), ""])
    for line in lines:
        if line.startswith("```"):
            yield from flush()
            code = []
            for inside in lines:
                if inside.startswith("```"):
                    break
                code.append(inside)
            yield _Block("code", "\n".join(code))
        elif line.startswith("    ") and not kept:
            yield _Block("code", line[4:])
        elif line.startswith("#"):
            yield from flush()
            yield _Block("heading", line.lstrip("# "))
        elif line.startswith("|"):
            yield from flush()
            if not re.fullmatch(r"[|\s:-]+", line):
                yield _Block("row", line)
        elif not line.strip():
            yield from flush()
        else:
            if _BULLET.match(line):
                yield from flush()
            kept.append(line)


def _lines(console: Console, block: _Block, width: int) -> Iterator[Text]:
    plain = not console.is_terminal
    if block.kind == "code":
        for line in block.text.split("\n"):
            yield Text(" " * _CODE + line, style="" if plain else "cyan")
    elif block.kind == "heading":
        yield from _wrapped(console, inline(block.text, plain=plain), width, style="bold")
    elif block.kind == "row":
        first, *rest = [cell.strip() for cell in block.text.strip("|").split(" | ")]
        made = inline(first, plain=plain)
        made.stylize("bold")
        for cell in rest:
            made.append(": ").append_text(inline(cell, plain=plain))
        yield from _wrapped(console, made, width, hang=2)
    elif block.kind == "item" and (bullet := _BULLET.match(block.text)):
        mark = f"{bullet['mark']} "
        yield from _wrapped(console, Text(mark) + inline(bullet["rest"], plain=plain), width, hang=len(mark))
    else:
        yield from _wrapped(console, inline(block.text, plain=plain), width)


def _wrapped(console: Console, text: Text, width: int, *, hang: int = 0, style: str = "") -> Iterator[Text]:
    if style:
        text.stylize(style)
    for number, line in enumerate(text.wrap(console, max(width - hang, 20))):
        line.rstrip()
        yield Text(" " * hang) + line if number else line
