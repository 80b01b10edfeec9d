"""Makes a lab's starter from its reference.

In the reference, `// SOLUTION BEGIN` … `// SOLUTION END` holds the solution. Of such a block the starter keeps
- lines `// TODO(student): …`, with the pure comment lines that directly follow and continue them, and
- lines `// STARTER: …`, without that prefix and with their indentation;
all else in it, and the markers, are dropped. Where nothing is left between two blank lines, one of them goes too.
"""

from __future__ import annotations

import difflib
import re

from warpgrade.lab.labs import Lab
from warpgrade.machine.errors import GraderError
from warpgrade.machine.paths import Layout

_BEGIN, _END = "// SOLUTION BEGIN", "// SOLUTION END"
_STARTER = re.compile(r"(?P<indent>\s*)// STARTER:(?: (?P<code>.*))?")


def derive(reference: str, name: str = "reference") -> str:
    """Return the starter's text; raises GraderError when the markers do not pair."""
    kept: list[str] = []
    opened = 0  # the line of the block that is open
    before = 0  # lines kept when it opened
    in_todo = False
    just_closed_empty = False
    for number, line in enumerate(reference.splitlines(), start=1):
        bare = line.strip()
        if bare == _BEGIN:
            if opened:
                raise GraderError(f"{name}:{number}: SOLUTION BEGIN inside the block of line {opened}")
            opened, before, in_todo = number, len(kept), False
        elif bare == _END:
            if not opened:
                raise GraderError(f"{name}:{number}: SOLUTION END without a SOLUTION BEGIN")
            opened = 0
            just_closed_empty = len(kept) == before
        elif not opened:
            if bare or not just_closed_empty or (kept and kept[-1].strip()):
                kept.append(line)
            just_closed_empty = False
        elif starter := _STARTER.fullmatch(line):
            code = starter["code"] or ""
            kept.append(f"{starter['indent']}{code}".rstrip())
            in_todo = False
        elif bare.startswith("// TODO(student):") or (in_todo and bare.startswith("//")):
            kept.append(line)
            in_todo = True
        else:
            in_todo = False
    if opened:
        raise GraderError(f"{name}:{opened}: SOLUTION BEGIN without a SOLUTION END")
    return "\n".join(kept) + "\n"


def derived_files(layout: Layout, lab: Lab) -> dict[str, str]:
    """Return the starter's files by name."""
    folder = layout.references / lab.name
    paths = [path for path in sorted(folder.glob("*")) if lab.allows(path.name)]
    if lab.main_file not in [path.name for path in paths]:
        raise GraderError(f"reference/{lab.name} has no {lab.main_file}")
    return {path.name: derive(path.read_text(encoding="utf-8"), f"reference/{lab.name}/{path.name}") for path in paths}


def write(layout: Layout, lab: Lab) -> list[str]:
    """Write the starter's files; return the names of those that changed."""
    folder = layout.starters / lab.name
    folder.mkdir(parents=True, exist_ok=True)
    changed = []
    for name, text in derived_files(layout, lab).items():
        path = folder / name
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
            changed.append(name)
    return changed


def drift(layout: Layout, lab: Lab) -> str:
    """Return how the committed starter differs from what the reference gives, as a diff; nothing when it does not."""
    pieces: list[str] = []
    for name, text in derived_files(layout, lab).items():
        path = layout.starters / lab.name / name
        present = path.read_text(encoding="utf-8") if path.is_file() else ""
        pieces += difflib.unified_diff(
            present.splitlines(keepends=True), text.splitlines(keepends=True),
            f"starter/{lab.name}/{name}", f"made from reference/{lab.name}/{name}",
        )  # fmt: skip
    return "".join(pieces)
