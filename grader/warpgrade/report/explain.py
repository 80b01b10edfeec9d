"""What `warpgrade explain` knows: rules of the checks, counters, functions, words of the glossary, tests of labs.

Pages come from docs/, which a package has as well. What is printed is for students: of a hidden test no hint.
"""

import difflib
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from warpgrade.lab.labs import Lab, SpeedItem, TestItem
from warpgrade.machine import paths
from warpgrade.machine.errors import BadInput, GraderError
from warpgrade.machine.text import number, printable_name

PAGES = ("checks.md", "counters.md", "runtime.md", "supported.md", "glossary.md")
_MAX_SUGGESTIONS = 6
_MAX_LABS_NAMED = 12
_SECTION = re.compile(r"^### (?P<name>[^\n]+)\n(?P<body>.*?)(?=^##|\Z)", re.MULTILINE | re.DOTALL)
_ROW = re.compile(r"^\| (?P<words>.+?) \| (?P<meaning>.+) \|$", re.MULTILINE)
_APIS = ("CUDA runtime", "CUDA driver API")
_FUNCTION = re.compile(r"`(cuda\w+)`")
_DRIVER_FUNCTION = re.compile(r"`(cu[A-Z]\w*)`")
_CASE = re.compile(r'(?P<comment>(?:^//[^\n]*\n)*)^TEST_CASE\(\s*"(?P<name>(?:\\.|[^"\\])*)"', re.MULTILINE)


@dataclass(frozen=True)
class Topic:
    """Something that can be explained: what it is, its names, the first of which is shown, and its page."""

    kind: str
    names: Sequence[str]
    page: str

    @property
    def title(self) -> str:
        """Name it in a list."""
        return f"{self.names[0]} ({self.kind})"


def topics(labs: Iterable[Lab] = ()) -> list[Topic]:
    """Return all that can be explained."""
    return [*_rules(), *_counters(), *_functions(), *_glossary(), *(topic for lab in labs for topic in _tests(lab))]


def find(word: str, known: Sequence[Topic]) -> list[Topic]:
    """Return the topics of that name, or the only topic that contains it; raises BadInput with similar names."""
    wanted = _plain(word)
    exact = [topic for topic in known if any(_plain(name) == wanted for name in topic.names)]
    if exact:
        return exact
    holding = [topic for topic in known if any(wanted in _plain(name) for name in topic.names)] if wanted else []
    if len(holding) == 1:
        return holding
    shown = printable_name(word)
    if holding:
        named = [topic.title for topic in holding[:_MAX_LABS_NAMED]]
        more = [f"… and {len(holding) - _MAX_LABS_NAMED} more"] if len(holding) > _MAX_LABS_NAMED else []
        raise BadInput(
            f"“{shown}” is part of several names", detail="\n".join([*named, *more]), hint="give one of them whole"
        )
    near = _near(wanted, known)
    detail = "\n".join(topic.title for topic in near)
    raise BadInput(
        f"nothing is known about “{shown}”; the nearest are" if near else f"nothing is known about “{shown}”",
        detail=detail,
        hint="explain takes the name of a rule, a counter, a function, a test or a word; without one it lists them",
    )


def _near(wanted: str, known: Sequence[Topic]) -> list[Topic]:
    by_name: dict[str, Topic] = {}
    for topic in known:
        for name in topic.names:
            plain = _plain(name)
            # "racecheck/shard" and "shard" are both near racecheck/shared.
            for part in {plain, plain.rpartition("/")[2]}:
                by_name.setdefault(part, topic)
    close = difflib.get_close_matches(wanted, by_name, n=_MAX_SUGGESTIONS, cutoff=0.6)
    return list({id(by_name[name]): by_name[name] for name in close}.values())


def overview(known: Sequence[Topic]) -> str:
    """Return a page with the names of rules and counters; there are too many tests and words to list."""
    parts = ["# What can be explained"]
    for kind in ("rule", "counter"):
        parts += [f"## {kind.capitalize()}s", "\n".join(f"- {', '.join(_shown(t))}" for t in known if t.kind == kind)]
    tests = sum(topic.kind.startswith("test") for topic in known)
    words = sum(topic.kind == "glossary" for topic in known)
    functions = sum(topic.kind == "function" for topic in known)
    parts.append(
        f"And {functions} functions of the CUDA runtime, such as `cudaMemcpy`, the {words} entries of the glossary, "
        f"and the {tests} tests of the labs, by their names."
    )
    return "\n\n".join(parts)


def _shown(topic: Topic) -> list[str]:
    return [name for name in topic.names if re.fullmatch(r"[a-z0-9_/-]+", name)]


def _plain(name: str) -> str:
    """Return a name in lower case, without punctuation and plural ending, for comparison."""
    text = " ".join(re.sub(r"[`“”\"*\[\]()]", " ", name).lower().split())
    return re.sub(r"(?<=[a-z]{3})s$", "", text)


def read_page(name: str) -> str:
    """Return a page of docs/."""
    path = paths.docs() / name
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise GraderError(f"the page {name} cannot be read: {error.strerror}", hint="install Warpgrade again") from None


def _rules() -> Iterator[Topic]:
    for section in _SECTION.finditer(read_page("checks.md")):
        rule, body = section["name"].strip(), section["body"].strip()
        title = body.replace("`", "").split("*")[1].rstrip(".")
        yield Topic("rule", [rule, title], f"# {rule}\n\n{body}")


def _counters() -> Iterator[Topic]:
    for section in _SECTION.finditer(read_page("counters.md")):
        body = section["body"].strip()
        items = [line for line in body.splitlines() if line.startswith("- ")]
        names = [name for line in items for name in re.findall(r"`([^`]+)`", line.partition(": ")[0])]
        names += [name for line in items for name in re.findall(r"“([^”]+)”", line)]
        counters = section["name"].strip().split(", ")
        yield Topic("counter", list(dict.fromkeys([*counters, *names])), f"# {section['name'].strip()}\n\n{body}")


def _functions() -> Iterator[Topic]:
    """Yield the functions of CUDA: with contract and mistakes, or whether they work here."""
    tables = read_page("supported.md")
    supported, driver = (tables.partition(f"\n## {name}\n")[2].partition("\n## ")[0] for name in _APIS)
    works, _, refused = supported.partition("\nThese return")
    about = dict.fromkeys(_FUNCTION.findall(works), "It works here as NVIDIA's documentation of the runtime says.")
    about |= dict.fromkeys(
        _DRIVER_FUNCTION.findall(driver), "It works in programs of `warpgrade run`. Labs do not provide the driver API."
    )
    for row in _ROW.finditer(refused):
        why = "It is not supported here: it returns `cudaErrorNotSupported`, for Warpgrade has no"
        about |= dict.fromkeys(_FUNCTION.findall(row["meaning"]), f"{why} {row['words']}.")
    for section in _SECTION.finditer(read_page("runtime.md")):
        names = section["name"].strip().split(", ")
        for name in names:
            about.pop(name, None)
        yield Topic("function", names, f"# {section['name'].strip()}\n\n{section['body'].strip()}")
    for name, page in about.items():
        yield Topic("function", [name], f"# {name}\n\n{page}")


def _glossary() -> Iterator[Topic]:
    for row in _ROW.finditer(read_page("glossary.md")):
        if row["words"] == "word":
            continue
        names = [row["words"], *(word.strip() for word in row["words"].split(","))]
        page = f"# {row['words']}\n\n{row['meaning']}"
        yield Topic("glossary", list(dict.fromkeys([*names, row["words"].partition(" (")[0]])), page)


def _tests(lab: Lab) -> Iterator[Topic]:
    sources = sorted((lab.folder / "tests").glob("public*.cpp"))
    for item in lab.items:
        name = f"test of lab {lab.name}"
        yield Topic(name, [item.name, f"{lab.name}: {item.name}"], _page_of_test(lab, item, sources))


def _page_of_test(lab: Lab, item: TestItem | SpeedItem, sources: Iterable[Path]) -> str:
    kind = "hidden" if item.hidden else "public"
    points = "point" if item.points == 1 else "points"
    parts = [
        f"# {_escaped(item.name)}",
        f"A {kind} test of lab {lab.name} ({lab.title}), worth {number(item.points)} {points}.",
    ]
    if isinstance(item, SpeedItem):
        parts.append(_speed(item))
    if item.hidden:
        parts.append(
            "It runs when your work is graded. It asks for nothing beyond the contract, "
            f"`{lab.header.name}`: other sizes, other numbers, edge cases."
        )
        return "\n\n".join(parts)
    for source in sources:
        text = source.read_text(encoding="utf-8", errors="replace")
        for case in _CASE.finditer(text):
            if case["name"].replace('\\"', '"') == item.name:
                line = text.count("\n", 0, case.end("comment")) + 1
                parts.append(_asked(case["comment"]))
                parts.append(f"Read it at `labs/{lab.name}/tests/{source.name}:{line}`.")
    if item.hint:
        parts.append(f"**Hint:** {_escaped(item.hint)}")
    return "\n\n".join(part for part in parts if part)


def _asked(comment: str) -> str:
    """Return the words above a test, as prose."""
    lines = [line.removeprefix("//").strip() for line in comment.splitlines()]
    return _escaped("\n".join(lines).strip())


def _escaped(text: str) -> str:
    """Escape stars and brackets, which belong to C++ and not to Markdown."""
    return re.sub(r"[*\[`]", r"\\\g<0>", text)


def _speed(item: SpeedItem) -> str:
    where, curve = ("the virtual GPU", item.vgpu) if item.vgpu else ("a real GPU only", item.gpu or [])
    points = "; ".join(f"{number(worth)} at {number(value, 2)}×" for value, worth in curve)
    return f"Points by the speed-up over the unmodified starter, on {where}: {points}, and linear in between."
