"""The corpus of tests/checks: programs with the mistakes that beginners make, and their correct twins.

What must be found stands in the program: `// expect: RULE (other: LINE), …` on the line itself, or on lines of their
own in front of it. `other` is the line of the other party, as a number or relative (+0: the same line). What stands
behind `// may:` may be found there as well. A program without `expect` is correct: it exits with 0, and nothing but
advice is said about it. `// arguments: …` are further options, as of `warpgrade run`.

A program that differs little from another one is stored as a patch: NAME_ok.patch changes NAME.cu, or the file that
it names, as those of labs do. `tests/checks/table.py patch` makes one.
"""

import contextlib
import fcntl
import functools
import hashlib
import re
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from warpgrade.compiling import toolchain
from warpgrade.findings.diagnosis import Diagnostic, Place
from warpgrade.lab import patch
from warpgrade.machine.paths import find_layout
from warpgrade.running import run
from warpgrade.running.profile import Profile

LAYOUT = find_layout()
CORPUS = LAYOUT.root / "tests" / "checks"
# By what they are called in messages; the file is there unless a patch makes it.
PROGRAMS = sorted({path.with_suffix(".cu") for kind in ("cu", "patch") for path in CORPUS.glob(f"*/*.{kind}")})
RULES = set(re.findall(r'^WG_RULE\(\w+, "([a-z/-]+)"', (LAYOUT.root / "grader/device/rules.def").read_text(), re.M))
# Of these two parties neither is first: which one is `place` and which one `related` says nothing.
SYMMETRIC = ("racecheck/", "synccheck/divergent-barrier", "synccheck/deadlock")

_NOTE = re.compile(r"//\s*(?P<kind>expect|may):\s*(?P<text>.*)$", re.M)
_ITEM = re.compile(r"(?P<rule>[a-z]+/[a-z-]+)(?:\s*\(other: (?P<other>[+-]?\d+)\))?\s*(?:,\s*|$)")
_ARGUMENTS = re.compile(r"^// arguments:\s*--instructions (\d+)$", re.M)


@dataclass(frozen=True, order=True)
class Finding:
    """A rule at a line, and the other party's line: 0 where there is none, or it does not matter."""

    rule: str
    line: int
    other: int = 0

    @property
    def pair(self) -> tuple[str, int, int]:
        """The lines in order, where none of the two parties is first."""
        if self.rule.startswith(SYMMETRIC) and self.other:
            return (self.rule, min(self.line, self.other), max(self.line, self.other))
        return (self.rule, self.line, self.other)


@dataclass
class Expectations:
    must: list[Finding]
    may: list[Finding]


def read_program(source: Path) -> str:
    """Return a program's text."""
    path = source.with_suffix(".patch")
    if not path.exists():
        return source.read_text(encoding="utf-8")
    try:
        change = patch.parse(path.read_text(encoding="utf-8").splitlines())
        lines = patch.apply(change, read_program(find_base(source, change.file)).splitlines())
    except (patch.Malformed, patch.Misfit) as problem:
        raise ValueError(f"{path}: {problem}") from problem
    return "".join(f"{line}\n" for line in lines)


def find_base(source: Path, named: str) -> Path:
    """Return the program that this one's patch changes: the named one, or else its wrong twin."""
    return source.with_name(named or f"{source.stem.removesuffix('_ok')}.cu")


def write_programs(sources: Sequence[Path], folder: Path) -> None:
    """Write each program to CHECK/NAME.cu in a folder."""
    for source in sources:
        target = folder / source.relative_to(CORPUS)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(read_program(source), encoding="utf-8")


def read_expectations(text: str) -> Expectations:
    """Return what the program's comments say; raises ValueError where they are not understood."""
    result = Expectations([], [])
    pending: list[re.Match[str]] = []
    for number, line in enumerate(text.splitlines(), 1):
        note = _NOTE.search(line)
        if note is not None:
            pending.append(note)
        if line.lstrip().startswith("//"):
            continue
        for one in pending:
            kept = result.must if one["kind"] == "expect" else result.may
            kept += _items(one["text"], number)
        pending = []
    if pending:
        raise ValueError("an expectation without a line of code")
    return result


def _items(text: str, line: int) -> Iterator[Finding]:
    at = 0
    while at < len(text) or not text:
        item = _ITEM.match(text, at)
        if item is None or item["rule"] not in RULES:
            raise ValueError(f"line {line}: not understood: {text[at:]}")
        other = item["other"] or "0"
        relative = other[0] in "+-"
        yield Finding(item["rule"], line, int(other) + line if relative else int(other))
        at = item.end()


def counted(profile: Profile, source: Path) -> list[Diagnostic]:
    """Return the diagnostics that count: advice is the matter of the programs on advice alone."""
    return [one for one in profile.diagnostics if one.severity != "advice" or source.parent.name == "advice"]


def findings(diagnostics: Sequence[Diagnostic], source: Path) -> set[Finding]:
    """Return the diagnostics as findings, one for each other party."""
    result = set()
    for diagnostic in diagnostics:
        related = [_line(party.place, source) for party in diagnostic.related] or [0]
        result |= {Finding(diagnostic.rule, _line(diagnostic.place, source), other) for other in related}
    return result


def _line(place: Place, source: Path) -> int:
    return place.line if Path(place.file).name == source.name else -1


def differences(expected: Expectations, found: set[Finding]) -> list[str]:
    """Return what is missing and what should not be there, in words."""
    missing = [one for one in expected.must if not any(_fits(one, other) for other in found)]
    surplus = [
        one for one in sorted(found) if not any(_fits(known, one) for known in [*expected.must, *expected.may])
    ]  # fmt: skip
    return [f"not found: {_words(one)}" for one in missing] + [f"not expected: {_words(one)}" for one in surplus]


def _fits(expected: Finding, found: Finding) -> bool:
    return expected.pair == (found if expected.other else Finding(found.rule, found.line)).pair


def _words(finding: Finding) -> str:
    return f"{finding.rule} at line {finding.line}" + (f" (other: {finding.other})" if finding.other else "")


# The time that a larger image than this makes takes to load counts, and depends on the folder's path, which is in it.
_TOGETHER = 24


def _build(source: Path) -> Path:
    """Return a folder with an executable of this program and others of its check, and with their sources."""
    beside = [path for path in PROGRAMS if path.parent == source.parent]
    first = beside.index(source) // _TOGETHER * _TOGETHER
    return _build_together(tuple(beside[first : first + _TOGETHER]))


@functools.cache
def _build_together(sources: tuple[Path, ...]) -> Path:
    """Compile programs of a check as `warpgrade run` does; kept by content.

    nvcc needs some three seconds for CUDA's headers, and a fraction of one for a small program.
    """
    compilers = toolchain.find(LAYOUT)
    check, place = sources[0].parent.name, CORPUS.relative_to(LAYOUT.root)
    command = [
        str(compilers.nvcc), "-lineinfo", *run.host_line_flags(()),
        "-gencode", "arch=compute_90,code=[compute_90,sm_90]", "-ccbin", str(compilers.host), "-cudart", "shared",
    ]  # fmt: skip
    texts = [read_program(path) for path in sources]
    content = "\0".join([compilers.identity, *command, _CALLER, *map(str, sources), *texts])
    home = LAYOUT.cache / "checks" / hashlib.sha256(content.encode()).hexdigest()
    home.mkdir(parents=True, exist_ok=True)
    with (home / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # several tests run at a time
        if not (home / check).exists():
            write_programs(sources, home / place)
            (home / "all.cu").write_text(_all_in_one(sources, texts))
            part = home / f"{check}.part"
            subprocess.run([*command, f"-I{home / place / check}", str(home / "all.cu"), "-o", str(part)], check=True)
            part.replace(home / check)
    return home


def _all_in_one(sources: Sequence[Path], texts: list[str]) -> str:
    """Return a source with each program in a namespace of its own, and a main function that calls the one named."""
    includes = sorted({line for text in texts for line in text.splitlines() if line.startswith("#include")})
    parts = [f'namespace {path.stem} {{\n#include "{path.name}"\n}}' for path in sources]
    calls = [f'    if (name == "{path.stem}") return {path.stem}::program();' for path in sources]
    return _CALLER.format(includes="\n".join(includes), programs="\n".join(parts), calls="\n".join(calls))


_CALLER = """{includes}
#include <string>
#define main program
{programs}
#undef main
int main(int, char** argv) {{
    const std::string name = argv[1];
{calls}
    return 99;
}}
"""


def execute(source: Path, order: str = "forward") -> Profile:
    """Run the program."""
    limit = _ARGUMENTS.search(read_program(source))
    options = run.Options(
        # As labs do: what small programs waste would not show on a whole device.
        device="vgpu:h100:4" if source.parent.name == "advice" else "auto",
        threads=1, instructions=int(limit[1]) if limit else 0, order=order,
        confined=LAYOUT.preset != "asan",  # AddressSanitizer needs more than the sandbox allows
    )  # fmt: skip
    home = _build(source)
    with contextlib.chdir(home):  # the user's own lines are those below the working directory
        profile = run.run(LAYOUT, [home / source.parent.name], [source.stem], options)
    # Messages name the program where it is stored.
    return msgspec.json.decode(msgspec.json.encode(profile).replace(bytes(home), bytes(LAYOUT.root)), type=Profile)
