"""The gate for text from strangers: students' programs, compilers, file names, what a device says of a kernel.

Whatever a report prints or writes has come through `clean`, `one_line`, `printable_name` or `clean_tree`. What is left
has no terminal escapes, no controls, nothing invisible and nothing that turns the reading direction, is valid, and is
no command to a build service that reads our output. Each takes time in proportion to the text's length.
"""

import functools
import re
from datetime import datetime
from typing import Any

# CSI, OSC (ended by BEL or ST, on one line), other two-character escapes. Possessive: nothing is scanned twice.
_ESCAPES = re.compile(r"\x1b\[[0-?]*+[ -/]*+[@-~]|\x1b\][^\x07\x1b\n]*+(?:\x07|\x1b\\)|\x1b[@-Z\\-_a-z]?")
_LINE_ENDS = re.compile("\r\n|[\r\x0b\x0c\x85\u2028\u2029]")
# Controls and the C1 block; marks of direction, which can make a line read as something that it is not; characters
# without width or shape; annotations, tags, halves of pairs.
_UNSEEN = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff]"
)
_HALVES = re.compile("[\ud800-\udfff]")
# What build services take for commands, GitHub's anew at the start of a line and the older kind anywhere in it.
_COMMANDS = re.compile(r"##(?=\[|vso\[|teamcity\[)|^(?P<indent>[^\S\n]*+):(?=:)", re.MULTILINE)
_MAY_COMMAND = re.compile("##|::")
_MAX_DEPTH = 16
_NUMBERS = (int, float, bool)
# What a spreadsheet takes for the beginning of a formula, as OWASP lists it, also in the wide forms of East Asia.
_FORMULA = re.compile(r"[=+\-@\t\r\n＝＋－＠]")
_NUMBER = re.compile(r"[+-]?\d+(?:[.,]\d+)?")
_MAX_CACHED_LENGTH = 64  # characters of a text that is kept


def clean(raw: bytes | str) -> str:
    """Return text that is only text: of controls, tabs and line feeds stay."""
    text = raw.decode("utf-8", errors="replace") if isinstance(raw, bytes) else raw
    # Most words of a result, which has thousands, hold nothing that the patterns look for.
    return text if text.isascii() and text.isprintable() and not _MAY_COMMAND.search(text) else _cleaned(text)


def _cleaned(text: str) -> str:
    text = _LINE_ENDS.sub("\n", text)
    text = _UNSEEN.sub("", _ESCAPES.sub("", text))
    return defuse_commands(_HALVES.sub("\ufffd", text))


def defuse_commands(text: str) -> str:
    """Return text in which no line is a command to a build service: a space breaks commands up."""
    return _COMMANDS.sub(lambda found: "# #" if found["indent"] is None else f"{found['indent']}: ", text)


def one_line(text: str, width: int) -> str:
    """Return it cleaned, on one line, cut to a width."""
    # The start of it is enough, and may lose much to cleaning.
    return bounded(" ".join(clean(" ".join(text[: 64 * width].split())).split()), lines=1, width=width)


def clean_tree(value: Any, depth: int = 0) -> Any:
    """Return a JSON value with each of its texts and keys cleaned and on one line."""
    if isinstance(value, str):
        return _clean_word(value)
    if depth >= _MAX_DEPTH:
        return None
    # A result has tens of thousands of numbers, under a hundred keys, and says the same words of each launch.
    plain = _NUMBERS if depth + 1 < _MAX_DEPTH else ()
    if isinstance(value, dict):
        return {
            _clean_word(str(key)): each if type(each) in plain else clean_tree(each, depth + 1)
            for key, each in value.items()
        }
    if isinstance(value, list):
        return [each if type(each) in plain else clean_tree(each, depth + 1) for each in value]
    return value


def _clean_line(text: str) -> str:
    return " ".join(clean(text).split("\n"))


def _clean_word(text: str) -> str:
    return _clean_short(text) if len(text) <= _MAX_CACHED_LENGTH else _clean_line(text)


_clean_short = functools.lru_cache(maxsize=1024)(_clean_line)


def bounded(text: str, lines: int = 60, width: int = 400) -> str:
    """Return the first lines, each cut to a width, and a note if something was left out."""
    rows = text.rstrip("\n").split("\n")
    kept = [row if len(row) <= width else row[: width - 1] + "…" for row in rows[:lines]]
    if rest := len(rows) - len(kept):
        kept.append(f"… and {rest} more line{'s' if rest > 1 else ''}")
    return "\n".join(kept)


def csv_cell(value: str, width: int) -> str:
    """Return a cell in quotes, on one line, that no spreadsheet takes for a formula; nothing for an empty one."""
    line = one_line(value, width)
    if not line:
        return ""
    # Quotes alone keep no formula from running.
    safe = f"'{line}" if _FORMULA.match(line) and not _NUMBER.fullmatch(line) else line
    return '"' + safe.replace('"', '""') + '"'


def printable_name(name: str, width: int = 80) -> str:
    """Return a file name from a stranger on one line, fit for a message."""
    seen = 64 * width
    text = clean(name[:seen]).replace("\n", "?").replace("\t", "?") or "?"
    return text if len(text) <= width and len(name) <= seen else text[: width - 1] + "…"


def listing(names: list[str], limit: int = 8) -> str:
    """Return `a, b and 3 more`."""
    shown = ", ".join(printable_name(name) for name in names[:limit])
    return shown if len(names) <= limit else f"{shown} and {len(names) - limit} more"


def timestamp(moment: datetime) -> str:
    """Return 2026-11-23T10:00:00Z; the moment is in UTC."""
    return moment.replace(microsecond=0).isoformat().replace("+00:00", "Z")


def counted(count: int, what: str, several: str = "") -> str:
    """Return `1 block` or `2,000 blocks`; several: the plural where it is not made with an s."""
    return f"{count:,} {what if count == 1 else several or what + 's'}"


def number(value: float, digits: int = 1) -> str:
    """Return 20 for 20.0 and 8.3 for 8.27."""
    return f"{value:.{digits}f}".rstrip("0").rstrip(".") if "." in f"{value:.{digits}f}" else f"{value:.{digits}f}"
