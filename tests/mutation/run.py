"""Plants faults in the grader's sources, one at a time, and asks whether the tests notice. docs/mutation.md

.venv/bin/python tests/mutation/run.py --changed            # lines that differ from HEAD (or --changed REV)
.venv/bin/python tests/mutation/run.py --sample 20          # so many of each part
.venv/bin/python tests/mutation/run.py --only vgpu/exec --file scheduler.cpp
"""

import argparse
import datetime
import itertools
import json
import os
import queue
import re
import shlex
import subprocess
import sys
import threading
import tomllib
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import plant_cxx
import plant_python
from fault import Fault
from tree import ROOT, Outcome, Part, Tree, read_parts

_CORES = len(os.sched_getaffinity(0))
EQUIVALENT = Path(__file__).parent / "equivalent.toml"


@dataclass(frozen=True)
class Equivalent:
    """A fault that nothing can notice: the nth of equal ones in such lines; without a change all of the line."""

    file: str
    line: str
    change: str = ""
    nth: int = 0

    def names(self, fault: Fault) -> bool:
        """Whether it is about this fault."""
        if (self.file, self.line) != (fault.path, fault.text):
            return False
        return not self.change or (self.change, self.nth) == (fault.change, fault.nth)


def read_equivalent() -> list[Equivalent]:
    """Return the faults of equivalent.toml."""
    found: list[Equivalent] = []
    for file, reasons in tomllib.loads(EQUIVALENT.read_text(encoding="utf-8")).items():
        for line, *changes in itertools.chain.from_iterable(reasons.values()):
            found += [] if changes else [Equivalent(file, line)]
            for change, nth in itertools.zip_longest(changes, changes[1:]):
                if isinstance(change, str):
                    found.append(Equivalent(file, line, change, nth if isinstance(nth, int) else 0))
    return found


def find_faults(part: Part, root: Path) -> list[Fault]:
    """Return all faults of the part."""
    plant = plant_python.find_faults if part.pytest else plant_cxx.find_faults
    return [fault for path in part.sources(root) for fault in plant(str(path.relative_to(root)), path.read_bytes())]


def choose(faults: list[Fault], count: int | None, seed: str) -> list[Fault]:
    """Return so many, at most one for each place in the source: the same ones for the same seed."""
    if count is None:
        return faults
    chosen: dict[tuple[str, int], Fault] = {}
    for fault in sorted(faults, key=lambda f: f.rank(seed)):
        chosen.setdefault((fault.path, fault.offset), fault)
        if len(chosen) == count:
            break
    return list(chosen.values())


def changed_lines(revision: str, root: Path) -> dict[str, set[int]]:
    """Return which lines of which files differ from the revision; all those of files that git does not know yet."""

    def git(*words: str) -> str:
        return subprocess.run(["git", *words], cwd=root, capture_output=True, text=True, check=True).stdout

    lines: dict[str, set[int]] = {}
    path = ""
    for line in git("diff", "--unified=0", "--no-color", "--no-ext-diff", "--no-prefix", revision).splitlines():
        if line.startswith("+++ "):
            path = line[4:]
        elif (hunk := re.match(r"@@ -\S+ \+(\d+)(?:,(\d+))? @@", line)) is not None:
            first, count = int(hunk[1]), int(hunk[2] or 1)
            lines.setdefault(path, set()).update(range(first, first + count))
    for path in git("ls-files", "-z", "--others", "--exclude-standard").split("\0")[:-1]:
        lines[path] = set(range(1, (root / path).read_bytes().count(b"\n") + 2))
    return lines


class Outcomes:
    """What came of each fault, in a file that a later call can go on with."""

    def __init__(self, path: Path, *, resume: bool) -> None:
        self.path = path
        self.lock = threading.Lock()
        self.rows: dict[tuple[str, str, str, int], dict[str, object]] = {}
        path.parent.mkdir(parents=True, exist_ok=True)
        if resume and path.exists():
            for line in path.read_text(encoding="utf-8").splitlines():
                row = json.loads(line)
                self.rows[row["file"], row["line"], row["change"], row["nth"]] = row
        else:
            path.write_text("", encoding="utf-8")

    def add(self, part: Part, fault: Fault, outcome: Outcome) -> None:
        """Keep and print an outcome."""
        row: dict[str, object] = {
            "part": part.name, "file": fault.path, "number": fault.line, "line": fault.text, "change": fault.change,
            "nth": fault.nth, "status": outcome.status, "by": outcome.by, "seconds": round(outcome.seconds, 1),
        }  # fmt: skip
        with self.lock:
            self.rows[fault.key] = row
            with self.path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(row, ensure_ascii=False) + "\n")
            print(f"{outcome.status:<16} {fault}  {outcome.by}", flush=True)


def percent(killed: int, survived: int) -> float:
    """Return the score."""
    return 100 * killed / (killed + survived) if killed + survived else 100.0


def write_scores(counts: dict[str, Counter[str]]) -> str:
    """Return a table: what of each part's faults was noticed."""
    lines = ["| part | noticed | survived | equivalent | score |", "|---|---:|---:|---:|---:|"]
    for name, count in [*sorted(counts.items()), ("all", sum(counts.values(), Counter()))]:
        killed, survived = count["killed"], count["survived"]
        lines.append(f"| {name} | {killed} | {survived} | {count['equivalent']} | {percent(killed, survived):.0f} % |")
    return "\n".join(lines)


def parse_arguments() -> argparse.Namespace:
    """Return what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", metavar="PART", help="such as vgpu/exec; several times for several")
    parser.add_argument("--file", metavar="TEXT", help="only files whose path holds this")
    parser.add_argument("--changed", nargs="?", const="HEAD", metavar="REV", help="only lines that differ from REV")
    parser.add_argument("--sample", type=int, metavar="N", help="so many faults of each part")
    parser.add_argument(
        "--seed", default=str(datetime.datetime.now(tz=datetime.UTC).date()), help="chooses the sample [today]"
    )
    parser.add_argument("--list", action="store_true", help="print the faults, and plant none")
    parser.add_argument("--resume", action="store_true", help="go on with what an interrupted call has left")
    parser.add_argument("--fail-under", type=float, default=100, metavar="PERCENT", help="exit with 1 below this score")
    parser.add_argument(
        "--jobs", type=int, default=_CORES, metavar="N", help="faults at a time, each in a copy of its own"
    )
    parser.add_argument("--under", default="", metavar="COMMAND", help="comes in front of each command, such as nice")
    parser.add_argument(
        "--trees", type=Path, default=ROOT / "build" / "mutation", help="folder of the copies and outcomes"
    )
    options = parser.parse_args()
    known = [part.name for part in read_parts()]
    for name in options.only or []:
        if name not in known:
            parser.error(f"there is no part {name}; there are {', '.join(known)}")
    return options


def choose_work(options: argparse.Namespace) -> list[tuple[Part, Fault]]:
    """Return what to plant, mixed: what is stopped early has tried some of each part."""
    changed = changed_lines(options.changed, ROOT) if options.changed else None
    work: list[tuple[Part, Fault]] = []
    for part in read_parts():
        if options.only and part.name not in options.only:
            continue
        faults = [
            fault
            for fault in find_faults(part, ROOT)
            if (not options.file or options.file in fault.path)
            and (changed is None or fault.line in changed.get(fault.path, ()))
        ]
        work += [(part, fault) for fault in choose(faults, options.sample, options.seed)]
    return sorted(work, key=lambda one: one[1].rank(options.seed))


def plant_all(work: list[tuple[Part, Fault]], outcomes: Outcomes, options: argparse.Namespace) -> None:
    """Try the faults, several at a time."""
    waiting: queue.SimpleQueue[tuple[Part, Fault]] = queue.SimpleQueue()
    for one in work:
        waiting.put(one)
    if waiting.empty():
        return
    jobs = min(options.jobs, len(work))
    first = Tree(options.trees.resolve() / "0", shlex.split(options.under))
    first.home.mkdir(parents=True, exist_ok=True)
    first.update()
    first.prepare(list({part.name: part for part, _ in work}.values()), _CORES)

    def take(tree: Tree) -> None:
        while True:
            try:
                part, fault = waiting.get_nowait()
            except queue.Empty:
                return
            outcomes.add(part, fault, tree.judge(fault, part, max(1, _CORES // jobs)))

    with ThreadPoolExecutor(jobs) as pool:
        copies = list(pool.map(lambda number: first.copy(first.home.with_name(str(number))), range(1, jobs)))
        list(pool.map(take, [first, *copies]))


def main() -> int:
    """Run; 1 when too many survived that are not named as equivalent."""
    options = parse_arguments()
    work = choose_work(options)
    if options.list:
        for part, fault in work:
            print(f"{part.name}  {fault}")
        return 0
    outcomes = Outcomes(options.trees / "outcomes.jsonl", resume=options.resume)
    rows = read_equivalent()
    equivalent = {one.key for _, one in work if any(row.names(one) for row in rows)}
    plant_all([one for one in work if one[1].key not in equivalent | outcomes.rows.keys()], outcomes, options)
    counts: dict[str, Counter[str]] = {}
    for part, fault in work:
        status = "equivalent" if fault.key in equivalent else str(outcomes.rows[fault.key]["status"])
        counts.setdefault(part.name, Counter())[status] += 1
    print(write_scores(counts))
    total = sum(counts.values(), Counter())
    return int(percent(total["killed"], total["survived"]) < options.fail_under)


if __name__ == "__main__":
    sys.exit(main())
