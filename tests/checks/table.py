#!/usr/bin/env python3
"""The corpus: its programs, and the table that compares our checks with NVIDIA's compute-sanitizer.

  table.py texts DIR            writes each program to DIR/CHECK/NAME.cu, also those that are stored as patches
  table.py patch FILE.cu [BASE.cu]
                                stores a program of tests/checks as a patch of another one, or of its wrong twin
  table.py build DIR            makes DIR/CHECK.NAME, an executable with NVIDIA's own runtime, of each program
  table.py build DIR missing    of those only that the page has not, or not with compute-sanitizer's findings
  table.py write FINDINGS.tsv   runs the programs of that table on the virtual GPU and writes their rows of
                                docs/checks-corpus.md; the rows of others stay

Between build and write, sanitizer.sh runs the executables on a machine with a GPU. write needs the C++ build, as the
tests do.
"""

import csv
import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "grader"), str(ROOT / "tests" / "grader")]

import corpus  # noqa: E402

from warpgrade.compiling import toolchain  # noqa: E402
from warpgrade.lab import patch  # noqa: E402
from warpgrade.running import run  # noqa: E402

NOT_RUN = "not run"
NOTHING = " | — | — | — |"
QUIET = "In these correct programs neither finds anything: "
OUTPUT = ROOT / "docs" / "checks-corpus.md"

HEAD = """# The corpus of the checks

Made by `tests/checks/table.py`. Each row is a program of [tests/checks](../tests/checks): what must be found in it, \
what the virtual GPU's [checks](checks.md) find, and what NVIDIA's compute-sanitizer finds{version} with its tools \
memcheck (with leak check), racecheck, initcheck and synccheck. A number is the source line, ↔ joins the two parties, \
— is nothing found. Programs called `…_ok` are correct: whatever is found in them is wrong. \
A `.patch` holds what a program changes in another one: `NAME_ok.patch` makes `NAME.cu` correct.

Where the two differ:

- compute-sanitizer looks for races in shared memory only, for uninitialised values in global memory only, and reports \
their reading, copies included; of a launch or a copy that fails it has the error's code, and not whether the program \
asked for it; it gives no advice.
- Of races between the host and the device and between streams it knows nothing.
- Of named barriers, flags with fences and crossed barriers it knows less: three correct programs are reported.
- A barrier in a branch whose other threads end is no error to it, since threads that have ended do not count; here it \
is one if they are still there when the barrier is reached. Deadlocks and kernels without end do not end there.
"""

# How much of compute-sanitizer's words a cell shows.
_SHORT = {
    "Invalid __global__": "out of bounds (global)",
    "Invalid __shared__": "out of bounds (shared)",
    "Invalid __local__": "out of bounds (local)",
    "Misaligned": "misaligned",
    "Uninitialized": "uninitialized",
    "Barrier error": "barrier error",
    "Leaked": "leak",
    "Invalid cudaFree": "bad free",
    "Malloc/Free": "bad free",
    "Unused": "unused",
    "race": "race",
}


def name_of(source: Path) -> str:
    """Return the program's name in the table of the sanitizer."""
    return f"{source.parent.name}.{source.stem}"


def known() -> dict[str, str]:
    """Return the page's rows, by the programs' names in compute-sanitizer's table."""
    page, _, quiet = OUTPUT.read_text(encoding="utf-8").partition(QUIET)
    rows = list(re.finditer(r"^\| \[(\w+)/(\w+)\]\S* \|.*\|$", page, re.M))
    return {
        **{f"{row[1]}.{row[2]}": row[0] for row in rows if not row[0].endswith(f"| {NOT_RUN} |")},
        **{name.replace("/", "."): f"| {link(name)}{NOTHING}" for name in re.findall(r"\w+/\w+", quiet)},
    }


def build(folder: Path, sources: list[Path]) -> None:
    """Link each program with NVIDIA's runtime."""
    nvcc = toolchain.find(corpus.LAYOUT).nvcc
    folder.mkdir(parents=True, exist_ok=True)
    words = ["-arch=sm_90", "-lineinfo", *run.host_line_flags(()), "-cudart", "static"]
    with tempfile.TemporaryDirectory() as texts:
        corpus.write_programs(sources, Path(texts))
        for source in sources:
            text = Path(texts) / source.relative_to(corpus.CORPUS)
            subprocess.run([str(nvcc), *words, str(text), "-o", str(folder / name_of(source))], check=True)
    print(f"{len(sources)} programs in {folder}")


def store_as_patch(source: Path, named: str) -> None:
    """Put a patch in the place of a whole program; `named` is the program that it changes, if not the wrong twin."""
    text, target = source.read_text(encoding="utf-8"), source.with_suffix(".patch")
    base = corpus.read_program(corpus.find_base(source, named))
    change = patch.make(base.splitlines(), text.splitlines(), named)
    target.write_text("".join(f"{line}\n" for line in change), encoding="utf-8")
    assert corpus.read_program(source) == text
    source.unlink()
    print(f"{target}: {len(change)} lines")


def theirs(table: Path) -> dict[str, list[str]]:
    """Return what compute-sanitizer found in each program, in a few words."""
    found: dict[str, dict[tuple[str, str], list[str]]] = defaultdict(lambda: defaultdict(list))
    with table.open(encoding="utf-8", newline="") as file:
        for program, tool, kind, line, _count in csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            lines = found[program]
            if kind:
                lines[(tool, _short(kind))].append(line)
    return {
        program: [
            f"{tool}: {kind} {', '.join(sorted({line for line in lines if line != '-'}))}".rstrip()
            for (tool, kind), lines in sorted(kinds.items())
        ]
        for program, kinds in found.items()
    }


def _short(kind: str) -> str:
    if kind.startswith("TIMEOUT"):
        return "no end within 20 s"
    for begin, word in _SHORT.items():
        if kind.startswith(begin):
            return word
    return kind[:60].replace("|", "/")


def link(name: str) -> str:
    """Return a link to the program of this name, such as memcheck/last_block."""
    stored = "patch" if (corpus.CORPUS / f"{name}.patch").exists() else "cu"
    return f"[{name}](../tests/checks/{name}.{stored})"


def _cell(findings: list[corpus.Finding]) -> str:
    words = [
        f"{one.rule} {one.line}" + (f"↔{one.other}" if one.other > 0 else "")
        for one in sorted({corpus.Finding(*found.pair) for found in findings})
    ]
    return "<br>".join(words) or "—"


def write(table: Path) -> None:
    """Write the page."""
    before, sanitizer = known(), theirs(table)
    version_file = table.parent / "version.txt"
    version = ""
    if version_file.exists():
        lines = [line.strip() for line in version_file.read_text(encoding="utf-8").splitlines() if line.strip()]
        version = f" ({'; '.join(lines)})"
    rows = []
    for source in corpus.PROGRAMS:
        name = name_of(source)
        if name in before and name not in sanitizer:
            rows.append(before[name])
            continue
        expected = corpus.read_expectations(corpus.read_program(source))
        found = list(corpus.findings(corpus.counted(corpus.execute(source), source), source))
        other = "<br>".join(sanitizer[name]) or "—" if name in sanitizer else NOT_RUN
        rows.append(
            f"| {link(f'{source.parent.name}/{source.stem}')} | {_cell(expected.must)} | {_cell(found)} | {other} |"
        )
    OUTPUT.write_text(HEAD.format(version=version) + tabulate(rows), encoding="utf-8")
    print(f"{OUTPUT.relative_to(ROOT)}: {len(rows)} programs")


def tabulate(rows: list[str]) -> str:
    """Return the table, and below it the programs in which there is nothing to find and nothing is found."""
    quiet = [row.split("]")[0].removeprefix("| [") for row in rows if row.endswith(NOTHING)]
    lines = ["| program | must be found | ours | compute-sanitizer |", "|---|---|---|---|"]
    lines += [row for row in rows if not row.endswith(NOTHING)]
    return "\n" + "\n".join([*lines, "", f"{QUIET}{', '.join(quiet)}."]) + "\n"


def main() -> int:
    """Run the command of the command line."""
    match sys.argv[1:]:
        case ["texts", folder]:
            corpus.write_programs(corpus.PROGRAMS, Path(folder))
        case ["patch", source, *base] if len(base) < 2:
            store_as_patch(Path(source).resolve(), Path(base[0]).name if base else "")
        case ["build", folder]:
            build(Path(folder), corpus.PROGRAMS)
        case ["build", folder, "missing"]:
            there = known()
            build(Path(folder), [source for source in corpus.PROGRAMS if name_of(source) not in there])
        case ["write", table]:
            write(Path(table))
        case _:
            print(__doc__, file=sys.stderr)
            return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
