"""Runs a lab's judge and reads its verdicts while they are written.

A verdict that is missing is never a pass and never a zero: the test is run again by itself, then reported as an error.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import msgspec

from warpgrade.diagnosis import Diagnostic
from warpgrade.errors import GraderError
from warpgrade.text import bounded, clean

_POLL_SECONDS = 0.03
_RETRIES = 1
# A judge ends its tests by itself; these only end a judge that hangs.
_PATIENCE_FACTOR = 6
_PATIENCE_SECONDS = 60


class JudgeMeasurement(msgspec.Struct, frozen=True):
    """A number that a test measured."""

    name: str
    value: float
    unit: str = ""


class Start(msgspec.Struct, frozen=True, tag_field="type", tag="start"):
    """First line: the seed of all inputs."""

    seed: int
    device: dict[str, Any] = {}


class CaseStart(msgspec.Struct, frozen=True, tag_field="type", tag="case_start"):
    """A test begins."""

    name: str


class Case(msgspec.Struct, frozen=True, tag_field="type", tag="case"):
    """A test has ended; `unsupported`: with an error, for the device lacks what the program's kernels need."""

    name: str
    status: Literal["pass", "fail", "error"]
    unsupported: bool = False
    tags: list[str] = []
    seconds: float = 0.0
    message: str = ""
    measurements: list[JudgeMeasurement] = []
    launches: list[dict[str, Any]] = []
    diagnostics: list[Diagnostic] = []
    seed: int | None = None


class End(msgspec.Struct, frozen=True, tag_field="type", tag="end"):
    """Last line: the judge has not died on the way."""

    cases: int


Line = Start | CaseStart | Case | End


@dataclass(frozen=True)
class Plan:
    """One call of a judge: its fixed command line, the tests that must get a verdict, and the limit of each."""

    command: Sequence[str]
    tests: Sequence[str]
    public_only: bool
    seconds_each: float
    seed: int | None = None
    log: Path | None = None


@dataclass
class Verdicts:
    """What a judge said so far."""

    seed: int | None = None
    device: dict[str, Any] = field(default_factory=dict)
    cases: dict[str, Case] = field(default_factory=dict)
    started: str | None = None
    complete: bool = False
    trouble: str = ""


def judge(plan: Plan, on_line: Callable[[Line], None] = lambda line: None) -> Verdicts:
    """Run the tests, and those again by themselves which got no verdict or an error."""
    verdicts = _run(plan, [], plan.seed, on_line)
    if verdicts.seed is None:
        detail = bounded(verdicts.trouble, lines=12)
        raise GraderError("the judge gave no verdict at all", detail=detail, hint="see `warpgrade doctor`")
    for _ in range(_RETRIES):
        for name in plan.tests:
            known = verdicts.cases.get(name)
            if known is not None and (known.status != "error" or known.unsupported):
                continue
            again = _run(plan, ["--test", name], verdicts.seed, on_line)
            if name in again.cases:
                verdicts.cases[name] = again.cases[name]
            elif known is None:
                trouble = again.trouble or "it wrote no verdict"
                message = f"the judge did not finish this test: {bounded(trouble, lines=3)}"
                verdicts.cases[name] = Case(name=name, status="error", message=message)
    return verdicts


def _run(plan: Plan, more: Sequence[str], seed: int | None, on_line: Callable[[Line], None]) -> Verdicts:
    verdicts = Verdicts()
    with tempfile.TemporaryDirectory(prefix="warpgrade-judge-") as folder:
        verdict_file, log = Path(folder, "verdict.jsonl"), Path(folder, "log")
        verdict_file.touch()
        command = [*plan.command, "--verdict", str(verdict_file), "--only", "public" if plan.public_only else "all"]
        command += [*more, *(["--seed", str(seed)] if seed is not None else [])]
        with log.open("wb") as output:
            try:
                # A session of its own: an interrupt is handled here, and all that it started can be ended with it.
                process = subprocess.Popen(
                    command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, start_new_session=True
                )
            except OSError as error:
                raise GraderError(f"the judge {Path(command[0]).name} cannot be started: {error.strerror}") from None
            try:
                _follow(process, verdict_file, plan.seconds_each, verdicts, on_line)
            finally:
                _end(process)
        if not verdicts.complete:
            said = clean(log.read_bytes()[-20_000:]).strip()
            verdicts.trouble = "\n".join(filter(None, (verdicts.trouble or _how(process.returncode), said)))
            if plan.log is not None:
                plan.log.parent.mkdir(parents=True, exist_ok=True)
                plan.log.write_text(" ".join(command) + "\n" + verdicts.trouble + "\n", encoding="utf-8")
    return verdicts


def _follow(
    process: subprocess.Popen[bytes],
    path: Path,
    seconds_each: float,
    verdicts: Verdicts,
    on_line: Callable[[Line], None],
) -> None:
    """Read lines until the judge has ended; each complete line resets its patience."""
    patience = _PATIENCE_FACTOR * seconds_each + _PATIENCE_SECONDS
    deadline = time.monotonic() + patience
    with path.open("rb") as file:
        rest = b""
        while True:
            ended = process.poll() is not None  # asked before reading, so that nothing written last is missed
            rest += file.read()
            *lines, rest = rest.split(b"\n")
            for raw in lines:
                try:
                    line = msgspec.json.decode(raw, type=Line)
                except msgspec.DecodeError as error:
                    verdicts.trouble = f"the judge wrote a line that is no verdict: {error}"
                    return
                _note(verdicts, line)
                on_line(line)
                deadline = time.monotonic() + patience
            if ended:
                return
            if time.monotonic() > deadline:
                verdicts.trouble = f"the judge said nothing for {patience:g} s"
                return
            time.sleep(_POLL_SECONDS)


def _note(verdicts: Verdicts, line: Line) -> None:
    match line:
        case Start():
            verdicts.seed = line.seed
            verdicts.device = line.device or verdicts.device
        case CaseStart():
            verdicts.started = line.name
        case Case():
            verdicts.cases[line.name] = line
        case End():
            verdicts.complete = True


def _how(status: int | None) -> str:
    if status is None:
        return "the judge was ended"
    if status < 0:
        with contextlib.suppress(ValueError):
            return f"the judge was ended by {signal.Signals(-status).name}"
    return f"the judge ended early with status {status}"


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the judge and all that it started; harmless when they have ended."""
    for sig in (signal.SIGTERM, signal.SIGKILL):
        if process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, sig)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(timeout=3)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
