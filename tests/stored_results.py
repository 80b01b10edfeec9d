"""A stored set of results, to show that a change of the code leaves what users get as it was.

    stored_results.py collect FOLDER     grades all references, starters, wrong and right solutions, and profiles the
                                         programs of tests/checks and tests/grader/running/programs; takes
                                         some ten minutes
    stored_results.py compare OLD NEW    says what differs: numbers and verdicts, and apart from them texts

Collect with the commit before the change and with the one after it, in any two checkouts: paths do not matter. Run it
with .venv/bin/python. Uses command lines and nothing of the package, so that it outlives what it compares. `WARPGRADE`
names the command (default: ./warpgrade of this checkout).
"""

import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
COMMAND = shlex.split(os.environ.get("WARPGRADE", str(ROOT / "warpgrade")))
# Words for people, and what holds the time or the place of a run.
TEXTS = {
    "message", "notes", "hint", "hints", "help", "detail", "title", "advice", "text", "problem", "review", "error",
    "call_errors",
}  # fmt: skip
LEFT_OUT = {
    "started", "finished", "seconds", "wall_seconds", "command", "versions", "version", "grader", "wall_ms",
    "started_at",
}  # fmt: skip


def sources(lab: Path) -> Iterator[tuple[str, str]]:
    """Yield name and text of each solution of a lab."""
    main_file = f"{lab.name}.cu"
    for kind in ("reference", "starter"):
        yield f"{lab.name}-{kind}", (ROOT / kind / lab.name / main_file).read_text(encoding="utf-8")
    for path in sorted([*lab.glob("wrong/*.patch"), *lab.glob("right/*.patch"), *lab.glob("right/*.cu")]):
        text = run(path.parent.name, lab.name, path.stem).stdout
        yield f"{lab.name}-{path.parent.name}-{path.stem}", text


def run(*words: str | Path, folder: Path = ROOT) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *map(str, words)], cwd=folder, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL
    )  # fmt: skip


def grade(lab: str, name: str, text: str, out: Path) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        (Path(scratch) / f"{lab}.cu").write_text(text, encoding="utf-8")
        done = run("grade", lab, scratch, "--seed", "7", "--show-hidden", "--quiet", "--json", out / f"{name}.json")
    print(name, done.returncode, flush=True)


def profile(program: Path, out: Path) -> None:
    name = f"program-{program.parent.name}-{program.stem}"
    words = ("--instructions", "2000000") if "arguments: --instructions" in program.read_text() else ()
    with tempfile.TemporaryDirectory() as scratch:
        (Path(scratch) / program.name).write_bytes(program.read_bytes())
        done = run("run", program.name, *words, "--lines", "--json", out / f"{name}.json", folder=Path(scratch))
    (out / f"{name}.txt").write_text(f"exit {done.returncode}\n{done.stdout}", encoding="utf-8")
    print(name, done.returncode, flush=True)


def collect(out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    out = out.resolve()
    with tempfile.TemporaryDirectory() as texts, ThreadPoolExecutor(os.cpu_count()) as pool:
        subprocess.run([sys.executable, ROOT / "tests/checks/table.py", "texts", texts], check=True)
        jobs = [
            pool.submit(grade, lab.parent.name, name, text, out)
            for lab in sorted((ROOT / "labs").glob("*/lab.toml"))
            for name, text in sources(lab.parent)
        ]
        programs = [*Path(texts).glob("*/*.cu"), *(ROOT / "tests/grader").glob("**/programs/*.cu")]
        jobs += [pool.submit(profile, program, out) for program in sorted(programs)]
        for job in jobs:
            job.result()


def leaves(value: Any, path: str = "", text: bool = False) -> Iterator[tuple[str, bool, Any]]:
    """Yield (path, whether it is a text for people, value) for all that a document holds."""
    if isinstance(value, dict):
        for name, inner in value.items():
            if name not in LEFT_OUT and f"{path}.{name}" != ".submission.name":
                yield from leaves(inner, f"{path}.{name}", text or name in TEXTS)
    elif isinstance(value, list):
        yield f"{path}#", text, len(value)
        for index, inner in enumerate(value):
            yield from leaves(inner, f"{path}[{index}]", text)
    else:
        yield path, text, value


def without_folder(leaf: tuple[bool, Any] | None) -> tuple[bool, Any] | None:
    """Leave out the scratch folder in which a program was compiled."""
    return leaf and (leaf[0], re.sub(r"/tmp/tmp\w+/", "", leaf[1]) if isinstance(leaf[1], str) else leaf[1])


def compare(old: Path, new: Path) -> int:
    names = sorted({path.name for folder in (old, new) for path in folder.iterdir()})
    numbers = texts = 0
    for name in names:
        if not (old / name).exists() or not (new / name).exists():
            print(f"{name}: only in {old if (old / name).exists() else new}")
            numbers += 1
            continue
        before, after = ((folder / name).read_text(encoding="utf-8") for folder in (old, new))
        if before == after:
            continue
        if not name.endswith(".json"):
            print(f"{name}: differs")
            numbers += 1
            continue
        one, other = (
            {path: (text, value) for path, text, value in leaves(json.loads(document))} for document in (before, after)
        )
        for path in sorted(one.keys() | other.keys()):
            first, second = without_folder(one.get(path)), without_folder(other.get(path))
            if first == second:
                continue
            if (first or second)[0]:  # type: ignore[index]
                texts += 1
            else:
                numbers += 1
            print(f"{name}{path}:\n  - {first and first[1]}\n  + {second and second[1]}")
    print(f"{len(names)} results: {numbers} other numbers or verdicts, {texts} other texts")
    return 1 if numbers else 0


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["collect", folder]:
            collect(Path(folder))
        case ["compare", old, new]:
            sys.exit(compare(Path(old), Path(new)))
        case _:
            sys.exit(__doc__)
