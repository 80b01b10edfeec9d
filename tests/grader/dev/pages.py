"""Code in Markdown pages: the fences of a page, each with its language, its section and its place."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path


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
