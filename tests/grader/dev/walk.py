"""Follows a page: writes each file that it prints and runs each command that it shows, in one folder."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_NAME = re.compile(r"`([\w./-]+)`:$")


@dataclass(frozen=True)
class File:
    """A file that the page prints whole."""

    name: str
    text: str


@dataclass(frozen=True)
class Command:
    """A command and the lines that the page prints below it."""

    words: str
    output: list[str]


def steps(page: Path) -> Iterator[File | Command]:
    """Yield what a reader of the page does, in order.

    A file is a fence below a paragraph that ends with its name; a command is an indented line that begins with `$`.
    """
    lines = page.read_text(encoding="utf-8").splitlines()
    name, place = "", 0
    while place < len(lines):
        line = lines[place]
        place += 1
        if line.startswith("```"):
            end = lines.index("```", place)
            assert name, f"{page.name}:{place}: a fence without the name of its file"
            yield File(name, "\n".join(lines[place:end]) + "\n")
            name, place = "", end + 1
        elif line.startswith("    $ "):
            output = []
            while place < len(lines) and lines[place].startswith("    ") and not lines[place].startswith("    $ "):
                output.append(lines[place].strip())
                place += 1
            yield Command(line.removeprefix("    $ "), output)
        elif line:
            found = _NAME.search(line)
            name = found[1] if found else ""
