"""The order of the project's folders, and what goes against it.

docs/layers.toml declares the order. The arrows between folders are read from the code: Python's imports, and C++'s
includes with quotes. docs/architecture.md is drawn from both.
"""

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

ORDER = Path("docs") / "layers.toml"
PAGE = Path("docs") / "architecture.md"

_INCLUDE = re.compile(r'^\s*#\s*include\s+"(?P<name>[^"]+)"')
_HEAD = f"""# The folders, and which may use which

Made from [{ORDER.name}]({ORDER.name}) and the imports and includes of the code; `WARPGRADE_UPDATE_GOLDEN=1 pytest \
tests/grader/dev/test_layers.py` regenerates it. An arrow means that a folder uses another one; those that follow from \
others are left out of the drawings. All arrows point down, from a layer to lower ones; a test fails on any other.
"""


class Part(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """One language's folders, by layer from the lowest; each with what it is for."""

    title: str
    folder: str
    complete: bool
    layers: list[dict[str, str]]

    @property
    def purposes(self) -> dict[str, str]:
        """What each folder is for, lowest first."""
        return {name: purpose for layer in self.layers for name, purpose in layer.items()}

    @property
    def ranks(self) -> dict[str, int]:
        """The number of each row's layer."""
        return {name: rank for rank, layer in enumerate(self.layers) for name in layer}

    def row(self, folder: str) -> str:
        """Return the row that a folder belongs to: its own, or `plugins/*`, which is each of the folders in plugins."""
        each = f"{folder.rpartition('/')[0]}/*"
        return each if folder not in self.ranks and each in self.ranks else folder


class Order(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """docs/layers.toml."""

    python: Part
    cpp: Part


@dataclass(frozen=True)
class Arrow:
    """One import or include that leads from a folder to another one; both are named below the part's own folder."""

    file: str
    line: int
    source: str
    target: str
    what: str


@dataclass(frozen=True)
class Code:
    """The folders of a part that hold code, and the arrows between them."""

    folders: frozenset[str]
    arrows: Sequence[Arrow]

    @property
    def uses(self) -> dict[str, set[str]]:
        """Which folders each folder uses."""
        found: dict[str, set[str]] = {name: set() for name in self.folders}
        for arrow in self.arrows:
            found[arrow.source].add(arrow.target)
        return found


def read_order(root: Path) -> Order:
    """Read the declared order of a project."""
    return msgspec.toml.decode((root / ORDER).read_bytes(), type=Order)


def read_python(root: Path, part: Part) -> Code:
    """Read a package; files that lie in it itself are its entry, which may use all, and its version, which all may."""
    home = root / part.folder
    files = sorted(home.rglob("*.py"))
    folders = frozenset(_name(path.parent, home) for path in files) - {""}
    arrows = []
    for path in files:
        source = _name(path.parent, home)
        for line, module in imports(path, home):
            target = _folder_of(module, home)
            if source and target not in ("", source):
                arrows.append(Arrow(_name(path, root), line, source, target, f"imports {module}"))
    return Code(folders, arrows)


def read_cpp(root: Path, part: Part) -> Code:
    """Read the C++ below a folder: includes are found beside the file or below that folder, others are not ours."""
    home = root / part.folder
    files = sorted(path for path in home.rglob("*") if path.suffix in (".cpp", ".hpp", ".h") and path.is_file())
    folders = frozenset(_name(path.parent, home) for path in files if path.suffix in (".cpp", ".hpp"))
    arrows = []
    for path in files:
        source = _name(path.parent, home)
        for line, text in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if not (include := _INCLUDE.match(text)):
                continue
            found = next((place for base in (path.parent, home) if (place := base / include["name"]).is_file()), None)
            target = _name(found.resolve().parent, home.resolve()) if found else source
            if target != source and {source, target} <= folders:
                arrows.append(Arrow(_name(path, root), line, source, target, f"includes {include['name']}"))
    return Code(folders, arrows)


def _name(path: Path, home: Path) -> str:
    """Return the name below a folder; nothing for the folder itself and for what lies elsewhere."""
    name = path.relative_to(home).as_posix() if path.is_relative_to(home) else "."
    return "" if name == "." else name


def imports(path: Path, home: Path) -> Iterator[tuple[int, str]]:
    """Yield line and full name of each thing of the package that a file imports, at any depth."""
    package = home.name
    own = [package, *path.relative_to(home).parent.parts]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = own[: len(own) - node.level + 1] if node.level else []
            module = ".".join([*base, *([node.module] if node.module else [])])
            names = [f"{module}.{alias.name}" for alias in node.names]
        yield from ((node.lineno, name) for name in names if name.split(".")[0] == package)  # type: ignore[attr-defined]


def _folder_of(module: str, home: Path) -> str:
    """Return the folder in which lies what `package.folder.module.thing` names."""
    place = home
    for word in module.split(".")[1:]:
        if not (place / word).is_dir():
            break
        place /= word
    return _name(place, home)


def mistakes(part: Part, code: Code) -> list[str]:
    """Return what goes against the order, each with its place and what to do."""
    ranks = part.ranks
    told = []
    if part.complete:
        told += [
            f"{part.folder}/{name} contains code but is in no layer: add it to {ORDER}, above all that it uses and "
            "below everything that uses it, and say what it is for"
            for name in sorted(code.folders)
            if part.row(name) not in ranks
        ]
    told += [f"{ORDER} names {part.folder}/{name}, which contains no code: remove the row" for name in ranks
             if name not in map(part.row, code.folders)]  # fmt: skip
    for arrow in code.arrows:
        source, target = ranks.get(part.row(arrow.source)), ranks.get(part.row(arrow.target))
        if source is None or target is None or target < source:
            continue
        where = "beside" if target == source else "above"
        back = _path(code.uses, arrow.target, arrow.source)
        cycle = f" It closes the cycle {' → '.join([arrow.source, *back])}." if back else ""
        told.append(
            f"{arrow.file}:{arrow.line}: {arrow.source} {arrow.what}, but {ORDER} puts {arrow.target} {where} it."
            f"{cycle}"
            f" Move what is needed into {arrow.source} or below, or what needs it up; if the order itself is wrong, "
            "change it there"
        )
    return told


def _path(uses: Mapping[str, set[str]], start: str, end: str) -> list[str]:
    """Return a shortest way along the arrows, both ends included; nothing where there is none."""
    ways, seen = [[start]], {start}
    for way in ways:
        if way[-1] == end:
            return way
        for name in sorted(uses.get(way[-1], set()) - seen):
            seen.add(name)
            ways.append([*way, name])
    return []


def page(root: Path) -> str:
    """Return docs/architecture.md."""
    order = read_order(root)
    parts = ((order.python, read_python(root, order.python)), (order.cpp, read_cpp(root, order.cpp)))
    return "\n".join([_HEAD, *(_section(part, code) for part, code in parts)])


def _section(part: Part, code: Code) -> str:
    known = part.purposes
    arrows = {(part.row(arrow.source), part.row(arrow.target)) for arrow in code.arrows}
    uses = {name: [other for other in known if (name, other) in arrows] for name in known}
    top_first = list(reversed(known))
    drawing = [f'    {_identifier(name)}["{name}"]' for name in top_first if _identifier(name) != name]
    for name in top_first:
        below = " & ".join(_identifier(target) for target in _direct(uses, name))
        drawing += [f"    {_identifier(name)} --> {below}"] if below else []
    rows = [f"| `{name}` | {known[name]} | {', '.join(f'`{target}`' for target in uses[name])} |" for name in top_first]
    left_out = "" if part.complete else " Folders that are not declared yet are left out."
    return "\n".join(
        [f"## {part.title}", "", f"The folders of `{part.folder}/`, highest first.{left_out}", "",
         "```mermaid", "flowchart TD", *drawing, "```", "", "| folder | for | uses |", "| --- | --- | --- |", *rows, ""]
    )  # fmt: skip


def _direct(uses: Mapping[str, Sequence[str]], name: str) -> list[str]:
    """Return those that a folder uses and does not reach by way of another one."""
    graph = {each: set(targets) for each, targets in uses.items()}
    return [
        target for target in uses[name]
        if not any(_path(graph, other, target) for other in uses[name] if other != target)
    ]  # fmt: skip


def _identifier(name: str) -> str:
    return re.sub(r"\W", "_", name)
