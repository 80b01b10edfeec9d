"""The corpus of tests/checks: programs with the mistakes that beginners make, and their correct twins.

What must be found stands in the program: `// expect: RULE (other: LINE), …` on the line itself, or on lines of their
own in front of it. `other` is the line of the other party, as a number or relative (+0: the same line). What stands
behind `// may:` may be found there as well. A program without `expect` is correct: it exits with 0, and nothing but
advice is said about it. `// arguments: …` are further options, as of `warpgrade run`.
"""

import fcntl
import functools
import hashlib
import re
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from warpgrade.compiling import toolchain
from warpgrade.findings.diagnosis import Diagnostic, Place
from warpgrade.machine.paths import find_layout
from warpgrade.running import run
from warpgrade.running.profile import Profile

LAYOUT = find_layout()
CORPUS = LAYOUT.root / "tests" / "checks"
PROGRAMS = sorted(CORPUS.glob("*/*.cu"))
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


def executable(source: Path) -> Path:
    """Return a program that holds this one and others of its folder; the name of the one to run is the argument."""
    beside = [path for path in PROGRAMS if path.parent == source.parent]
    first = beside.index(source) // _TOGETHER * _TOGETHER
    return _executable(tuple(beside[first : first + _TOGETHER]))


@functools.cache
def _executable(sources: tuple[Path, ...]) -> Path:
    """Compile programs of a folder as `warpgrade run` does; kept by content.

    nvcc needs some three seconds for CUDA's headers, and a fraction of one for a small program.
    """
    compilers = toolchain.find(LAYOUT)
    folder = sources[0].parent
    words = [
        "-lineinfo", *run.host_line_flags(()), f"-I{folder}",
        "-gencode", "arch=compute_90,code=[compute_90,sm_90]", "-ccbin", str(compilers.host), "-cudart", "shared",
    ]  # fmt: skip
    # Other expectations make no other program.
    texts = [_NOTE.sub("", path.read_text()) for path in sources]
    content = "\0".join([compilers.identity, *words, _CALLER, *map(str, sources), *texts])
    home = LAYOUT.cache / "checks" / hashlib.sha256(content.encode()).hexdigest()
    home.mkdir(parents=True, exist_ok=True)
    with (home / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # several tests run at a time
        made = home / folder.name
        if not made.exists():
            (home / "all.cu").write_text(_all_in_one(sources, texts))
            part = home / f"{folder.name}.part"
            subprocess.run([str(compilers.nvcc), *words, str(home / "all.cu"), "-o", str(part)], check=True)
            part.replace(made)
    return made


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
    limit = _ARGUMENTS.search(source.read_text())
    # The folder is named so that the program's lines count as the user's own: run sees an executable only.
    options = run.Options(
        # As labs do: what small programs waste would not show on a whole device.
        device="vgpu:h100:4" if source.parent.name == "advice" else "auto",
        threads=1, instructions=int(limit[1]) if limit else 0, order=order,
        nvcc=(f"-I{source.parent}",),
        confined=LAYOUT.preset != "asan",  # AddressSanitizer needs more than the sandbox allows
    )  # fmt: skip
    return run.run(LAYOUT, [executable(source)], [source.stem], options)
