"""Code in Markdown pages: a page's fences, each with its language, section and place, and its commands."""

import re
import shlex
from dataclasses import dataclass
from pathlib import Path

import click

from warpgrade.cli import main

_CALL = re.compile(r"^ {4,}(?:\$ )?(?:\./)?warpgrade +(?P<words>[a-z].*)$")


@dataclass(frozen=True)
class Fence:
    """A fenced block of a page, and the line at which its code begins."""

    page: Path
    section: str
    language: str
    line: int
    code: str

    @property
    def place(self) -> str:
        """Return page and line, as compilers name them."""
        return f"{self.page.parent.name}/{self.page.name}:{self.line}"

    @property
    def begin(self) -> str:
        """Return the first line without its comment: the name by which tests know a fence."""
        return self.bare.strip().partition("\n")[0].strip()

    @property
    def bare(self) -> str:
        """Return the code without comments."""
        return re.sub(r"//.*", "", self.code)

    @property
    def is_fragment(self) -> bool:
        """Whether the code says itself that something is left out: an ellipsis outside of comments."""
        return "…" in self.bare


def fences(page: Path) -> list[Fence]:
    """Return the fenced blocks of a page."""
    found, section, opened = [], "", 0
    lines = page.read_text(encoding="utf-8").splitlines()
    language = ""
    for number, line in enumerate(lines, start=1):
        if line.startswith("```"):
            if opened:
                found.append(Fence(page, section, language, opened, "\n".join(lines[opened - 1 : number - 1]) + "\n"))
            opened, language = (0, "") if opened else (number + 1, line[3:].strip())
        elif not opened and re.match(r"#+ ", line):
            section = line.lstrip("# ")
    return found


def commands(text: str) -> list[str]:
    """Return the arguments of each call of warpgrade that stands on a line of its own, and the rest of that line."""
    found = [_CALL.match(line) for line in text.splitlines()]
    return [each["words"] for each in found if each]


def parse_command(words: str) -> list[str]:
    """Return the words of a call without comments; raises click.UsageError where the command line refuses them."""
    shown = re.split(r"\s{2,}|\s#| \|\| | && | > | [─…]", words)[0]
    parsed = shlex.split(re.sub(r"<\w+>", "matmul", shown).replace("…", ""))
    arguments = list(parsed)
    command: click.Command = main.main
    context = click.Context(command)
    while isinstance(command, click.Group) and arguments:
        _, found, arguments = command.resolve_command(context, arguments)
        assert found is not None
        command, context = found, click.Context(found, parent=context)
    command.make_parser(context).parse_args(arguments)
    return parsed
