"""`warpgrade test`: all checks and tests that a change must pass."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import click

from warpgrade.dev import changed
from warpgrade.lab import labs, starter
from warpgrade.machine.errors import EXIT_BELOW_THRESHOLD, EXIT_DONE, WarpgradeError
from warpgrade.machine.paths import Layout

_CXX_SUFFIXES = {".cpp", ".hpp", ".h"}
_CXX_FOLDERS = ("grader", "labs", "tests")
_FUZZ_SECONDS = 25
_TIDY_LIMITS = [f"--extra-arg={word}" for word in ("-Xclang", "-analyzer-config", "-Xclang", "max-nodes=20000")]
# clang-tidy's path analyzer takes most of its time: a minute for one file of opcode bodies. So it analyses only code
# that reads hostile input. All other checks of clang-tidy look at every file, and the fuzz targets have sanitizers.
_ANALYZED = ("grader/device", "grader/server", "grader/sandbox", "grader/worker", "grader/vgpu/ptx")


@dataclass(frozen=True)
class Step:
    """One step; `action` prints what it finds and returns whether all is well."""

    name: str
    action: Callable[[Layout], bool]
    slow: bool = False


def run_changed(layout: Layout, revision: str) -> int:
    """Run the tests that the changes since a revision can break, and the quick checks of all files."""
    files = changed.files_since(layout.root, revision)
    found = changed.affected_by(layout.root, files)
    steps = [Step("clang-format", _clang_format), Step("ruff", _ruff), Step("mypy", _mypy)]
    if found.everything:
        steps += [Step("starters", _starters), Step("ctest", _ctest), Step("pytest", _pytest_quick)]
    else:
        pattern = f"^({'|'.join(sorted(found.programs))})(-|$)"
        if found.labs:
            steps.append(Step("starters", _starters))
        if found.programs:
            steps.append(Step("ctest", partial(_ctest, only=["-R", pattern])))
        if found.quick:
            steps.append(Step("pytest", partial(_pytest_quick, only=sorted(found.quick))))
        if found.whole:
            steps.append(Step("whole programs", partial(_pytest, only=sorted(found.whole))))
        for lab in sorted(found.labs):
            words = ["tests/grader/grading/test_grade.py", "-k", lab]
            steps.append(Step(f"lab {lab}", partial(_pytest, only=words)))
    click.echo(f"{len(files)} changed file{'' if len(files) == 1 else 's'} since {revision}")
    return _run(layout, steps)


def run(layout: Layout, *, quick: bool) -> int:
    """Run all steps, also after a failure; return the exit status."""
    steps = [
        Step("clang-format", _clang_format),
        Step("ruff", _ruff),
        Step("mypy", _mypy),
        Step("starters", _starters),
        Step("clang-tidy", _clang_tidy, slow=True),
        Step("ctest", _ctest),
        Step("fuzzing", _fuzz, slow=True),
        Step("pytest", _pytest_quick if quick else _pytest),
    ]
    return _run(layout, [step for step in steps if not (quick and step.slow)])


def _run(layout: Layout, steps: Sequence[Step]) -> int:
    outcome: list[tuple[str, bool, float]] = []
    for step in steps:
        click.secho(f"== {step.name}", bold=True)
        started = time.monotonic()
        good = step.action(layout)
        outcome.append((step.name, good, time.monotonic() - started))
    click.secho("== summary", bold=True)
    for name, good, seconds in outcome:
        click.echo(f"{'ok    ' if good else 'FAILED'}  {name:<14}{seconds:6.0f} s")
    bad = [name for name, good, _ in outcome if not good]
    total = sum(seconds for _, _, seconds in outcome)
    if bad:
        click.secho(f"warpgrade test: FAILED in {', '.join(bad)} ({total:.0f} s)", fg="red")
        return EXIT_BELOW_THRESHOLD
    click.secho(f"warpgrade test: all {len(outcome)} steps passed ({total:.0f} s)", fg="green")
    return EXIT_DONE


def _call(layout: Layout, command: list[str]) -> bool:
    """Run a tool with its output on ours."""
    sys.stdout.flush()
    environment = {**os.environ, "PYTHONPATH": str(layout.root / "grader")}
    try:
        return subprocess.run(command, cwd=layout.root, env=environment, check=False).returncode == 0
    except FileNotFoundError:
        click.echo(f"{command[0]} is not installed; run ./warpgrade test, which installs it")
        return False


def _cores() -> int:
    return len(os.sched_getaffinity(0))


def _python_tool(name: str) -> list[str]:
    return [sys.executable, "-m", name]


def _cxx_files(layout: Layout) -> list[Path]:
    return sorted(
        path
        for folder in _CXX_FOLDERS
        for path in (layout.root / folder).rglob("*")
        if path.suffix in _CXX_SUFFIXES and path.is_file()
    )


def _clang_format(layout: Layout) -> bool:
    files = [str(path.relative_to(layout.root)) for path in _cxx_files(layout)]
    return not files or _call(layout, ["clang-format", "--dry-run", "-Werror", *files])


def _ruff(layout: Layout) -> bool:
    checked = _call(layout, [*_python_tool("ruff"), "check", "-q", "grader", "tests"])
    return _call(layout, [*_python_tool("ruff"), "format", "--check", "-q", "grader", "tests"]) and checked


def _mypy(layout: Layout) -> bool:
    return _call(layout, _python_tool("mypy"))


def _starters(layout: Layout) -> bool:
    good = True
    for lab in labs.discover(layout):
        try:
            difference = starter.drift(lab)
        except WarpgradeError as problem:
            difference = problem.message
        click.echo(difference or f"starter/{lab.name}: matches its reference")
        good = good and not difference
    return good


def _clang_tidy(layout: Layout) -> bool:
    """Check the sources, several at a time; a file is one process, and says nothing when it is clean."""
    tool = _clang_tidy_program()
    if not Path(tool).exists():
        click.echo("clang-tidy is not installed; run ./warpgrade test, which installs it")
        return False
    clean = layout.state / "clang-tidy"
    clean.mkdir(parents=True, exist_ok=True)
    commands = _commands_file_by_file(layout)
    if commands is None:
        return False
    common = _digest_of_what_all_depend_on(layout)
    sources = [
        path for path in _cxx_files(layout) if path.suffix == ".cpp" and path.is_relative_to(layout.root / "grader")
    ]

    def check(path: Path) -> bool:
        # Files that were clean before, with the same headers and checks, are clean.
        stamp = clean / hashlib.sha256(common + str(path).encode() + path.read_bytes()).hexdigest()
        if stamp.exists():
            return True
        analyzed = any(path.is_relative_to(layout.root / folder) for folder in _ANALYZED)
        fewer = [] if analyzed else ["--checks=-clang-analyzer-*"]
        done = subprocess.run(
            [tool, "--quiet", "-p", str(commands), *_TIDY_LIMITS, *fewer, str(path)],
            cwd=layout.root, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        if done.returncode != 0:
            click.echo(done.stdout.strip() or done.stderr.strip())
            return False
        stamp.touch()
        return True

    with ThreadPoolExecutor(_cores()) as pool:
        good = sum(pool.map(check, sources))
    click.echo(f"clang-tidy: {good} of {len(sources)} files clean")
    return good == len(sources)


def _commands_file_by_file(layout: Layout) -> Path | None:
    """Configure a build of our own that is never run, for its compile_commands.json; return its folder.

    In it, each source is compiled alone and finds no precompiled header: g++'s are nothing to clang, and so a file
    shows what it forgot to include.
    """
    folder = layout.state / "clang-tidy" / "commands"
    cache = (layout.build / "CMakeCache.txt").read_text(encoding="utf-8")
    cuda = re.search(r"^WG_CUDA_INCLUDE_DIR:PATH=(.*)$", cache, re.MULTILINE)
    done = subprocess.run(
        ["cmake", "--preset", "dev", "-B", str(folder),
         "-DWARPGRADE_UNITY=OFF", "-DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON",
         *([f"-DWARPGRADE_CUDA_INCLUDE={cuda[1]}"] if cuda else [])],
        cwd=layout.root, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    if done.returncode != 0:
        click.echo(done.stderr)
        return None
    # Some sources are compiled several times, for other processors: clang-tidy would read them as often.
    database = folder / "compile_commands.json"
    commands = {entry["file"]: entry for entry in reversed(json.loads(database.read_text(encoding="utf-8")))}
    database.write_text(json.dumps(list(commands.values())), encoding="utf-8")
    return folder


def _clang_tidy_program() -> str:
    """Return the one that pip installed: since version 21 it leaves out the system's headers, most of what there is."""
    return str(Path(sys.executable).parent / "clang-tidy")


def _digest_of_what_all_depend_on(layout: Layout) -> bytes:
    total = hashlib.sha256((layout.root / ".clang-tidy").read_bytes())
    total.update(subprocess.run([_clang_tidy_program(), "--version"], capture_output=True, check=False).stdout)
    for path in _cxx_files(layout):
        if path.suffix != ".cpp":
            total.update(str(path).encode() + path.read_bytes())
    return total.digest()


def _ctest(layout: Layout, only: Sequence[str] = ()) -> bool:
    jobs = str(_cores())
    words = ["--output-on-failure", f"--no-tests={'ignore' if only else 'error'}", "-j", jobs, *only]
    return _call(layout, ["ctest", "--test-dir", str(layout.build), *words])


def _fuzz(layout: Layout) -> bool:
    """Run each fuzz target for a while, from the same start every time; what it finds is kept beside the logs."""

    def run(name: str) -> bool:
        home = layout.root / "tests" / "fuzz"
        folder = layout.logs / f"fuzz-{name}"
        corpus = layout.state / "fuzz" / name
        for path in (folder, corpus):
            path.mkdir(parents=True, exist_ok=True)
        dictionary = home / f"{name}.dict"
        seeds = [home / "found" / name, layout.root / "tests" / "vgpu" / name]
        done = subprocess.run(
            [str(layout.root / "build" / "fuzz" / "bin" / f"fuzz-{name}"),
             "-seed=1", "-timeout=20", "-rss_limit_mb=4096", f"-max_total_time={_FUZZ_SECONDS}", "-print_final_stats=1",
             f"-artifact_prefix={folder}/",
             *([f"-dict={dictionary}"] if dictionary.exists() else []),
             str(corpus), *(str(path) for path in seeds if path.is_dir())],
            cwd=layout.root, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        executed = re.search(r"number_of_executed_units: (\d+)", done.stderr)
        click.echo(f"fuzz-{name}: {executed[1] if executed else 'no'} inputs, status {done.returncode}")
        if done.returncode != 0:
            click.echo(done.stderr[-4000:])
        return done.returncode == 0

    targets = ("ptx", "fatbin", "protocol", "report", "arena")
    with ThreadPoolExecutor(len(targets)) as pool:
        return all(list(pool.map(run, targets)))


def _pytest(layout: Layout, only: Sequence[str] = ()) -> bool:
    """Several tests at a time: nvcc, which takes most of theirs, uses one core. Some wait, for a Slurm or a disk."""
    jobs = str(_cores() + 1)
    return _call(layout, [*_python_tool("pytest"), "-n", jobs, "--dist", "worksteal", "--durations", "12", *only])


def _pytest_quick(layout: Layout, only: Sequence[str] = ()) -> bool:
    return _call(layout, [*_python_tool("pytest"), "-m", "not labs", *only])
