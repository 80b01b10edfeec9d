"""Semicolons directly behind `if (…)` or `for (…)`, which end the statement: nvcc says nothing of them.

The host compiler has a warning, but never sees a kernel's body.
"""

import itertools
import re
from typing import Final

_MAX_CHARACTERS: Final = 1 << 20
_MAX_HEAD: Final = 400  # characters between the parentheses
_MOST: Final = 10
_MOST_HEADS: Final = 5000
_TEXTS = re.compile(
    r"""//[^\n]*|/\*.*?(?:\*/|\Z)|"(?:[^"\\\n]|\\.)*"?|(?<![0-9a-fA-F])'(?:[^'\\\n]|\\.)*'?""", re.DOTALL
)
_DIRECTIVE = re.compile(r"^[ \t]*+#(?:[^\n\\]++|\\\n|\\)*+", re.MULTILINE)
_HEAD = re.compile(r"\b(?P<word>if|for)[ \t]*\(")
_ELSE = re.compile(r"\s{0,200}else\b")
# What looks as if it belonged to the loop: more on the line, or a block or a deeper line below.
_BODY = re.compile(r"[ \t]*(?:[^\s}]|\n\s{0,200}\{)")
_BELOW = re.compile(r"[ \t]*\n(?P<indent>[ \t]*)[^\s}]")
_INDENT = re.compile(r"[ \t]*")
_SEMICOLON = re.compile(r"[ \t]*;")
_TOLD: Final = {
    "if": "the ; right behind the condition ends the if: what stands after it is done always. Take that ; away",
    "for": "the ; right behind for (…) is all that the loop does: what stands after it is done once. Take that ; away",
}
TEXTS: Final = tuple(_TOLD.values())


def find(source: str) -> list[tuple[int, str]]:
    """Return the lines of such semicolons, counted from 1, and what is to be said of each."""
    text = _TEXTS.sub(_blanked, source[:_MAX_CHARACTERS])
    text = _DIRECTIVE.sub(_blanked, text)
    found: list[tuple[int, str]] = []
    line, at = 1, 0
    for head in itertools.islice(_HEAD.finditer(text), _MOST_HEADS):
        behind = _behind(text, head.end())
        if behind == 0 or not _is_empty(text, head, behind):
            continue
        line += text.count("\n", at, head.start())
        at = head.start()
        found.append((line, _TOLD[head["word"]]))
        if len(found) == _MOST:
            break
    return found


def _is_empty(text: str, head: re.Match[str], semicolon: int) -> bool:
    if head["word"] == "if":
        return _ELSE.match(text, semicolon + 1) is None
    if _BODY.match(text, semicolon + 1):
        return True
    below = _BELOW.match(text, semicolon + 1)
    own = _INDENT.match(text, text.rfind("\n", 0, head.start()) + 1)
    return below is not None and own is not None and len(below["indent"]) > len(own[0])


def _behind(text: str, first: int) -> int:
    """Return where the semicolon behind the parenthesis stands that was opened before `first`, or 0."""
    depth = 1
    for at in range(first, min(len(text), first + _MAX_HEAD)):
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        if depth == 0:
            semicolon = _SEMICOLON.match(text, at + 1)
            return semicolon.end() - 1 if semicolon else 0
    return 0


def _blanked(found: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", found[0])
