"""Makes a lab's starter from its reference.

In the reference, `// SOLUTION BEGIN` … `// SOLUTION END` holds the solution. Of such a block the starter keeps
- lines `// TODO(student): …`, with the pure comment lines that directly follow and continue them, and
- lines `// STARTER: …`, without that prefix and with their indentation;
all else in it, and the markers, are dropped. Where nothing is left between two blank lines, one of them goes too.
What the starter does not keep of a block is the solution, as a student would have written it.
"""

import difflib
import enum
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from warpgrade.lab.labs import Lab
from warpgrade.machine.errors import GraderError

_BEGIN, _END = "// SOLUTION BEGIN", "// SOLUTION END"
_STARTER = re.compile(r"(?P<indent>\s*)// STARTER:(?: (?P<code>.*))?")


class Line(NamedTuple):
    """A line and its number in the reference."""

    number: int
    text: str


class _Of(enum.Enum):
    """Whose a line of the reference is; END is the end of a block, without text."""

    BOTH = enum.auto()
    STARTER = enum.auto()
    SOLUTION = enum.auto()
    END = enum.auto()


def derive(reference: str, name: str = "reference") -> str:
    """Return the starter's text; raises GraderError when the markers do not pair."""
    kept: list[str] = []
    before = 0  # lines kept outside of blocks and in those that are complete
    just_closed_empty = False
    for of, (_, line) in _lines(reference, name):
        if of is _Of.BOTH:
            if line.strip() or not just_closed_empty or (kept and kept[-1].strip()):
                kept.append(line)
            just_closed_empty, before = False, len(kept)
        elif of is _Of.STARTER:
            kept.append(line)
        elif of is _Of.END:
            just_closed_empty, before = len(kept) == before, len(kept)
    return "\n".join(kept) + "\n"


def solution(reference: str, name: str = "reference") -> list[Line]:
    """Return the reference without its markers and without what only the starter has; no two blank lines follow."""
    found: list[Line] = []
    for of, line in _lines(reference, name):
        if of in (_Of.BOTH, _Of.SOLUTION) and (line.text.strip() or (found and found[-1].text.strip())):
            found.append(line)
    return found


def solution_text(reference: str, name: str = "reference") -> str:
    """Return the solution without the comment that opens it, which says whose it is and how it is graded."""
    lines = solution(reference, name)
    while lines and lines[0].text.startswith("//"):
        del lines[0]
    return "".join(f"{line.text}\n" for line in lines)


def _lines(reference: str, name: str) -> Iterator[tuple[_Of, Line]]:
    opened = 0  # the line of the block that is open
    in_todo = False
    for number, line in enumerate(reference.splitlines(), start=1):
        bare = line.strip()
        if bare == _BEGIN:
            if opened:
                raise GraderError(f"{name}:{number}: SOLUTION BEGIN inside the block of line {opened}")
            opened, in_todo = number, False
        elif bare == _END:
            if not opened:
                raise GraderError(f"{name}:{number}: SOLUTION END without a SOLUTION BEGIN")
            opened = 0
            yield _Of.END, Line(number, "")
        elif not opened:
            yield _Of.BOTH, Line(number, line)
        elif starter := _STARTER.fullmatch(line):
            in_todo = False
            code = starter["code"] or ""
            yield _Of.STARTER, Line(number, f"{starter['indent']}{code}".rstrip())
        else:
            in_todo = bare.startswith("// TODO(student):") or (in_todo and bare.startswith("//"))
            yield _Of.STARTER if in_todo else _Of.SOLUTION, Line(number, line)
    if opened:
        raise GraderError(f"{name}:{opened}: SOLUTION BEGIN without a SOLUTION END")


def reference_files(lab: Lab) -> list[Path]:
    """Return where the reference's files are."""
    folder = lab.reference_folder
    paths = [path for path in sorted(folder.glob("*")) if lab.allows(path.name)]
    if lab.main_file not in [path.name for path in paths]:
        raise GraderError(f"reference/{lab.name} has no {lab.main_file}")
    return paths


def derived_files(lab: Lab) -> dict[str, str]:
    """Return the starter's files by name."""
    paths = reference_files(lab)
    return {path.name: derive(path.read_text(encoding="utf-8"), f"reference/{lab.name}/{path.name}") for path in paths}


def write(lab: Lab) -> list[str]:
    """Write the starter's files; return the names of those that changed."""
    folder = lab.starter_folder
    folder.mkdir(parents=True, exist_ok=True)
    changed = []
    for name, text in derived_files(lab).items():
        path = folder / name
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
            changed.append(name)
    return changed


def drift(lab: Lab) -> str:
    """Return how the committed starter differs from what the reference gives, as a diff; nothing when it does not."""
    pieces: list[str] = []
    for name, text in derived_files(lab).items():
        path = lab.starter_folder / name
        present = path.read_text(encoding="utf-8") if path.is_file() else ""
        pieces += difflib.unified_diff(
            present.splitlines(keepends=True), text.splitlines(keepends=True),
            f"starter/{lab.name}/{name}", f"made from reference/{lab.name}/{name}",
        )  # fmt: skip
    return "".join(pieces)
