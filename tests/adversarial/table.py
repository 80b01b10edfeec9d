"""The attacks of docs/security.md: which known ways to cheat there are, and which fixture or test holds each."""

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import msgspec

from warpgrade.lab import labs
from warpgrade.lab.labs import Lab
from warpgrade.machine.paths import find_layout

LAYOUT = find_layout()
HERE = Path(__file__).parent
CLASSES = range(1, 66)

# What stands behind the starter in fixtures that are too long to be kept. All of it compiles.
MADE = {
    "nested_if_zero": "\n" + "#if 0\n" * 10_000 + "%:endif\n" * 10_000 + "int last;",
    "chained_assignments": "\n__global__ void chained(int a) {\n"
    + "".join(f"    int v{number};\n" for number in range(2000))
    + "".join(f"v{number}=" for number in range(2000))
    + "threadIdx.x;\n    if (v0) __syncthreads();\n}\n",
}

_INCLUDE = re.compile(r'^#include "(?P<name>\w+\.cuh)"\n', re.MULTILINE)
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_HOLDER = re.compile(r"`([^`]+)`(?: \(([^)]*)\))?")  # a fixture and its verdict, or a file and what stands in it


class Fixture(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """One hostile submission, for one lab or several, and the verdict that it must get.

    `labs` gives for each lab how many points it may get at most. `status` is that of the whole result, `says` stands in
    the problem or in a test's message, `review` in what a person should look at. `counted`: what holds it is what the
    device has counted, in which no sandbox has a part. `shift` is for those in host/: which
    function hands its result out in which way; below zero the reference runs for show. `beside`: the file
    defines some of the lab's functions only; the reference or the starter has the others, and all that these share.
    """

    name: str
    labs: dict[str, float]
    status: Literal["graded", "rejected"] = "graded"
    says: str = ""
    review: str = ""
    shift: int | None = None
    beside: Literal["", "reference", "starter"] = ""
    limits: dict[str, int] = {}
    public_only: bool = False
    counted: bool = False

    def file(self, lab: str) -> Path | None:
        """The source; None: it is made."""
        if self.name == "empty" or self.name in MADE:
            return None
        return HERE / "host" / f"{lab}.cu" if self.shift is not None else HERE / f"{self.name}.cu"

    def source(self, lab: Lab) -> str:
        """Return the one file that is handed in."""
        path = self.file(lab.name)
        if self.name in MADE:
            return (lab.starter_folder / lab.main_file).read_text(encoding="utf-8") + MADE[self.name]
        if path is None:
            return _empty(lab)
        text = path.read_text(encoding="utf-8")
        text = _INCLUDE.sub(lambda match: (path.parent / match["name"]).read_text(encoding="utf-8"), text)
        if self.beside:
            own = [name for name in lab.file.lab.functions if f"\nvoid {name}(" in text]
            return _without(lab.reference_folder if self.beside == "reference" else lab.starter_folder, lab, own) + text
        return text if self.shift is None else f"{_shown_reference(lab)}#define SHIFT {self.shift}\n{text}"


@dataclass(frozen=True)
class Attack:
    """A row of the page: a way to cheat, the answer to it, what holds that, the classes of the collection.

    `fixtures` are names of fixtures, `tests` are files, each with what must stand in it.
    """

    title: str
    answer: str
    fixtures: list[str]
    tests: list[tuple[str, str]]
    classes: list[int]


def read() -> list[Fixture]:
    """Return the fixtures of attacks.toml, where each one's name is its heading."""
    document = tomllib.loads((HERE / "attacks.toml").read_text(encoding="utf-8"))
    return [msgspec.convert({"name": name, **one}, Fixture) for name, ones in document.items() for one in ones]


def read_attacks(rows: str) -> list[Attack]:
    """Return the attacks of the page's table."""
    attacks = []
    for line in rows.splitlines()[2:]:
        title, answer, held, classes = (cell.strip() for cell in line.strip("|").split("|"))
        by = _HOLDER.findall(held)
        fixtures = list(dict.fromkeys(name for name, _ in by if "/" not in name))
        tests = [(name, words) for name, words in by if "/" in name]
        attacks.append(Attack(title, answer, fixtures, tests, [int(number) for number in re.findall(r"\d+", classes)]))
    return attacks


def as_markdown(attacks: list[Attack], fixtures: list[Fixture]) -> str:
    """Return the page's table with the fixtures' verdicts as they are."""
    rows = ["| attack | answer | held by | of the collection |", "|---|---|---|---|"]
    for attack in attacks:
        held = [_verdict(one) for name in attack.fixtures for one in fixtures if one.name == name]
        held += [f"`{path}` ({words})" if words else f"`{path}`" for path, words in attack.tests]
        classes = ", ".join(map(str, attack.classes)) or "—"
        rows.append(f"| {attack.title} | {attack.answer} | {', '.join(held) or '—'} | {classes} |")
    return "\n".join(rows) + "\n"


def names_of_course() -> set[str]:
    """Return the labs of the course, which have slides. Another lab needs no row in the table."""
    return {lab.name for lab in labs.discover(LAYOUT) if (lab.folder / "slides.md").exists()}


def _verdict(one: Fixture) -> str:
    names = list(one.labs)
    which = "every lab" if names_of_course() <= set(names) else ", ".join(names)
    if len(names) > 4 and which != "every lab":
        which = f"{len(names)} labs"
    points = sorted(set(one.labs.values()))
    most = f"{points[0]:g}" if len(points) == 1 else f"{points[0]:g} to {points[-1]:g}"
    return f"`{one.name}` ({which}: " + ("rejected)" if one.status == "rejected" else f"at most {most} points)")


def _empty(lab: Lab) -> str:
    """Functions that launch a kernel and do nothing."""
    contract = _COMMENT.sub("", lab.header.read_text(encoding="utf-8"))
    # The starter's other files, such as a prelab, are graded beside it.
    others = [path for path in (LAYOUT.starters / lab.name).iterdir() if path.name != lab.main_file]
    defined = "".join(path.read_text(encoding="utf-8") for path in others)
    bodies = []
    for name in lab.file.lab.functions:
        declared = re.search(rf"^(?P<type>[\w ]+?)\s+{name}\((?P<parameters>[^;]*)\);", contract, re.MULTILINE)
        assert declared is not None, name
        if re.search(rf"^\w[\w ]*\b{name}\(", defined, re.MULTILINE):
            continue
        end = "" if declared["type"] == "void" else " return {};"
        bodies.append(f"{declared['type']} {name}({declared['parameters']}) {{ nothing<<<1, 32>>>();{end} }}\n")
    return f'#include "{lab.header.name}"\n__global__ void nothing() {{}}\n' + "".join(bodies)


def _shown_reference(lab: Lab) -> str:
    """Return the reference with those functions renamed that the fixture defines itself."""
    own = (HERE / "host" / f"{lab.name}.cu").read_text(encoding="utf-8")
    return _without(
        lab.reference_folder, lab, [name for name in lab.file.lab.functions if re.search(rf"\bshown_{name}\b", own)]
    )


def _without(folder: Path, lab: Lab, names: list[str]) -> str:
    """Return the reference or the starter with these functions called shown_…."""
    text = (folder / lab.main_file).read_text(encoding="utf-8")
    renamed = "".join(f"#define {name} shown_{name}\n" for name in names)
    return renamed + text + "".join(f"#undef {name}\n" for name in names)
