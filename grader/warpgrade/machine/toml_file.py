"""Reads TOML files that strangers may have written: bounded in size, with one sentence for each mistake."""

import re
import stat
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from warpgrade.machine.text import clean, printable_name

_MAX_BYTES = 1 << 20
_MAX_LINE_LENGTH = 20_000  # a longer key of many parts would take minutes
_MAX_TEXT_LENGTH = 4_000  # of one value
_MAX_LIST_ENTRIES = 2_000  # of one list
_MAX_DEPTH = 12
_MAX_NUMBER = 10**12


class TomlMistake(Exception):  # noqa: N818 - reads as what it is
    """What is wrong with a file, to be told after its name; `line` is 0 where none is known."""

    def __init__(self, what: str, line: int = 0) -> None:
        super().__init__(what)
        self.what, self.line = what, line


def read(path: Path) -> str:
    """Return a file's text; raises OSError, and TomlMistake for what is no ordinary text of a bearable size."""
    if not stat.S_ISREG(path.stat().st_mode):  # of a pipe nobody knows when it ends
        raise TomlMistake("is not an ordinary file")
    with path.open("rb") as file:
        raw = file.read(_MAX_BYTES + 1)
    if len(raw) > _MAX_BYTES:
        raise TomlMistake(f"is larger than {_MAX_BYTES >> 20} MiB: is it the right file?")
    try:
        return raw.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError:
        raise TomlMistake("is not UTF-8 text: save it as UTF-8") from None


def parse(text: str) -> dict[str, Any]:
    """Return what a text says; raises TomlMistake."""
    for number, line in enumerate(text.split("\n"), 1):
        if len(line) > _MAX_LINE_LENGTH:
            raise TomlMistake(f"this line has more than {_MAX_LINE_LENGTH:,} characters", number)
    try:
        raw = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        found = re.search(r"\(at line (\d+)", str(error))
        raise TomlMistake(
            f"is not valid TOML: {printable_name(str(error), 200)}", int(found[1]) if found else 0
        ) from None
    except RecursionError:
        raise TomlMistake("is nested too deeply") from None
    except ValueError:  # a number of thousands of digits
        raise TomlMistake("has a number that is too large") from None
    for place, what in _find_unfit(raw, "", 0):
        raise TomlMistake(f"{place}: {what}" if place else what, _line_of_unseen(text, what))
    return raw


def _find_unfit(value: Any, place: str, depth: int) -> Iterator[tuple[str, str]]:
    """Yield the place and the mistake of each value that is too large, too deep, or has control characters."""
    if depth > _MAX_DEPTH:
        yield "", "is nested too deeply"
    elif isinstance(value, dict | list):
        if len(value) > _MAX_LIST_ENTRIES:
            yield place, f"has more than {_MAX_LIST_ENTRIES:,} entries"
            return
        for key, each in value.items() if isinstance(value, dict) else enumerate(value, 1):
            if isinstance(key, str):
                yield from _find_unfit_text(key, place or "a key")
            name = f"{place}.{printable_name(key, 60)}" if isinstance(key, str) else f"{place}[{key}]"
            yield from _find_unfit(each, name.lstrip("."), depth + 1)
    elif isinstance(value, str):
        yield from _find_unfit_text(value, place)
    elif isinstance(value, int) and abs(value) > _MAX_NUMBER:
        yield place, "this number is too large"


def _find_unfit_text(text: str, place: str) -> Iterator[tuple[str, str]]:
    if len(text) > _MAX_TEXT_LENGTH:
        yield place, f"has more than {_MAX_TEXT_LENGTH:,} characters"
    elif (seen := clean(text)) != text:
        unseen = next((each for each, kept in zip(text, f"{seen}\0", strict=False) if each != kept), text[-1])
        yield place, f"has a character that nobody sees, or a command to a terminal (U+{ord(unseen):04X}): remove it"


def _line_of_unseen(text: str, what: str) -> int:
    """Return the line of the character that is named, where it stands there as itself or as its escape."""
    found = re.search(r"U\+([0-9A-F]+)", what)
    if found is None:
        return 0
    code = found[1]
    words = (chr(int(code, 16)), f"\\u{code}", f"\\U{code:0>8}")
    lines = text.lower().split("\n")
    return next((n for n, line in enumerate(lines, 1) if any(word.lower() in line for word in words)), 0)
