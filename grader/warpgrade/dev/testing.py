"""`warpgrade test`: everything that must hold before a change may land.

One step after the other, and beside them, where they leave a core idle, what needs nothing but cores.
"""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial

import click

from warpgrade.dev import changed, cxx
from warpgrade.lab import labs, starter
from warpgrade.machine.device import machine_gpus
from warpgrade.machine.errors import EXIT_BELOW_THRESHOLD, EXIT_DONE, BadInput, WarpgradeError
from warpgrade.machine.paths import Layout


@dataclass(frozen=True)
class Step:
    """One step; `action` prints what it finds and returns whether all is well.

    Without one it is of those of `cxx.BESIDE`, begins with the first step, and is waited for in its place.
    """

    name: str
    action: Callable[[Layout], bool] | None
    slow: bool = False


@dataclass(frozen=True)
class Found:
    """Whether all is well, what there is to say, and how long it took."""

    good: bool
    words: str
    seconds: float


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


def run(layout: Layout, *, quick: bool = False, nightly: bool = False) -> int:
    """Run all steps, also after a failure; return the exit status. `nightly`: tests of that mark as well."""
    pytest = _pytest_quick if quick else _pytest_nightly if nightly else _pytest
    steps = [
        Step("clang-format", _clang_format),
        Step("ruff", _ruff),
        Step("mypy", _mypy),
        Step("starters", _starters),
        Step("ctest", _ctest),
        Step("pytest", pytest),
        Step("clang-tidy", None, slow=True),
    ]
    return _run(layout, [step for step in steps if not (quick and step.slow)])


def run_gpu(layout: Layout) -> int:
    """Run the tests that skip where there is no GPU. Raises BadInput if there is none."""
    if not machine_gpus():
        raise BadInput("there is no NVIDIA GPU in this machine", hint="all other tests need none: leave --gpu out")
    return _run(layout, [Step("ctest", partial(_ctest, only=["-R", "^gpu$"])), Step("pytest", _pytest_gpu)])


def _run(layout: Layout, steps: Sequence[Step]) -> int:
    outcome: list[tuple[str, bool, float]] = []
    began = time.monotonic()
    with ThreadPoolExecutor(1) as one_by_one:
        beside = {step.name: one_by_one.submit(_beside, layout, step.name) for step in steps if step.action is None}
        try:
            for step in steps:
                click.secho(f"== {step.name}", bold=True)
                outcome.append((step.name, *_do(layout, step, beside)))
        finally:
            one_by_one.shutdown(wait=False, cancel_futures=True)
    click.secho("== summary", bold=True)
    for name, good, seconds in outcome:
        note = "  beside the others" if name in beside else ""
        click.echo(f"{'ok    ' if good else 'FAILED'}  {name:<14}{seconds:6.0f} s{note}")
    bad = [name for name, good, _ in outcome if not good]
    total = time.monotonic() - began
    if bad:
        click.secho(f"warpgrade test: FAILED in {', '.join(bad)} ({total:.0f} s)", fg="red")
        return EXIT_BELOW_THRESHOLD
    click.secho(f"warpgrade test: all {len(outcome)} steps passed ({total:.0f} s)", fg="green")
    return EXIT_DONE


def _do(layout: Layout, step: Step, beside: Mapping[str, Future[Found]]) -> tuple[bool, float]:
    if step.action is None:
        found = beside[step.name].result()
        click.echo(found.words, nl=False)
        return found.good, found.seconds
    started = time.monotonic()
    return step.action(layout), time.monotonic() - started


def _beside(layout: Layout, name: str) -> Found:
    """Do a step in a process of its own, which gives way to all others."""
    started = time.monotonic()
    done = subprocess.run(
        ["nice", "-n", "15", sys.executable, "-m", "warpgrade.dev.cxx", name],
        cwd=layout.root, env=_environment(layout), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, check=False,
    )  # fmt: skip
    return Found(done.returncode == 0, done.stdout, time.monotonic() - started)


def _environment(layout: Layout) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(layout.root / "grader")}


def _call(layout: Layout, command: list[str], variables: Mapping[str, str] | None = None) -> bool:
    """Run a tool with its output on ours; `variables` are further ones of its environment."""
    sys.stdout.flush()
    environment = {**_environment(layout), **(variables or {})}
    try:
        return subprocess.run(command, cwd=layout.root, env=environment, check=False).returncode == 0
    except FileNotFoundError:
        click.echo(f"{command[0]} is not installed; run ./warpgrade test, which installs it")
        return False


def _python_tool(name: str) -> list[str]:
    return [sys.executable, "-m", name]


def _clang_format(layout: Layout) -> bool:
    files = [str(path.relative_to(layout.root)) for path in cxx.cxx_files(layout)]
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


def _ctest(layout: Layout, only: Sequence[str] = ()) -> bool:
    jobs = str(cxx.cores())
    words = ["--output-on-failure", f"--no-tests={'ignore' if only else 'error'}", "-j", jobs, *only]
    return _call(layout, ["ctest", "--test-dir", str(layout.build), *words])


def _pytest(layout: Layout, only: Sequence[str] = ()) -> bool:
    return _pytest_all(layout, ["-m", "not nightly", *only])


def _pytest_all(layout: Layout, only: Sequence[str] = (), variables: Mapping[str, str] | None = None) -> bool:
    """Several tests at a time: nvcc, which takes most of theirs, uses one core. Many wait, as for a Slurm or a disk."""
    jobs = str(cxx.cores() + 2)
    return _call(
        layout, [*_python_tool("pytest"), "-n", jobs, "--dist", "worksteal", "--durations", "12", *only], variables
    )


def _pytest_nightly(layout: Layout) -> bool:
    return _pytest_all(layout, variables={"WARPGRADE_TEST_SEEDS": "random"})  # tests/grader/seeds.py


def _pytest_quick(layout: Layout, only: Sequence[str] = ()) -> bool:
    return _call(layout, [*_python_tool("pytest"), "-m", "not labs and not nightly", *only])


def _pytest_gpu(layout: Layout) -> bool:
    """One after the other: there is one GPU, and each test takes times."""
    return _call(layout, [*_python_tool("pytest"), "-m", "gpu", "-rA"])
