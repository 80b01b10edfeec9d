"""Runs a lab's judge and reads its verdicts while they are written.

A verdict that is missing is never a pass and never a zero: the test is run again by itself, then reported as an error.
Time and output of the whole are bounded, though: what a submission uses up is its own.
"""

import contextlib
import dataclasses
import os
import select
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Annotated, Any, Literal

import msgspec

from warpgrade.findings.diagnosis import Diagnostic
from warpgrade.lab.budget import Budget
from warpgrade.machine import disk_space
from warpgrade.machine.errors import GraderError
from warpgrade.machine.text import bounded, clean, one_line

_POLL_SECONDS = 0.03
_RETRIES = 1
# A judge ends its tests by itself; these end a judge that hangs.
_PATIENCE_FACTOR = 6
_PATIENCE_SECONDS = 60
# Of all tests together, so large that no honest submission comes near.
_MOST_LINE_BYTES = 32 << 20
_MOST_BYTES = 256 << 20
_CHUNK_BYTES = 1 << 20
_LITTLE_SPACE = 1 << 20  # of verdicts: a judge that ended early may have had no room for them
_KEPT_WORDS = 20_000  # of what the judge says besides, for the log


class JudgeMeasurement(msgspec.Struct, frozen=True):
    """A number that a test measured."""

    name: str
    value: float
    unit: str = ""


class JudgeCheck(msgspec.Struct, frozen=True):
    """A number that a test held against a limit."""

    name: str
    now: float
    relation: Literal["is", "at most", "at least", "below", "between"]
    limit: float
    outcome: Literal["pass", "part", "fail"]
    unit: str = ""
    upper: float | None = None
    words: str = ""


class Start(msgspec.Struct, frozen=True, tag_field="type", tag="start"):
    """First line: the seed of all inputs."""

    seed: int
    device: dict[str, Any] = {}


class CaseStart(msgspec.Struct, frozen=True, tag_field="type", tag="case_start"):
    """A test begins."""

    name: str


class Case(msgspec.Struct, frozen=True, tag_field="type", tag="case"):
    """A test has ended.

    unsupported: with an error, for the device lacks what the program's kernels need. part: of the points, where what it
    measured is nearly good. signs: what is known of a failure (grading/hints.py). stopped_at: where host code hung, as
    places in the program's file. output: the end of what the program has printed. functions: those of the contract that
    the test called; faulty: those in whose calls the checks found an error, with its rule.
    """

    name: str
    status: Literal["pass", "fail", "error", "pending"]
    unsupported: bool = False
    tags: list[str] = []
    seconds: float = 0.0
    message: str = ""
    part: Annotated[float, msgspec.Meta(ge=0, le=1)] = 1.0
    signs: list[str] = []
    stopped_at: list[int] = []
    output: str = ""
    measurements: list[JudgeMeasurement] = []
    checks: list[JudgeCheck] = []
    launches: list[dict[str, Any]] = []
    diagnostics: list[Diagnostic] = []
    review: list[str] = []
    functions: list[str] = []
    faulty: dict[str, str] = {}
    seed: int | None = None


class Used(msgspec.Struct, frozen=True, tag_field="type", tag="used"):
    """After each test: the processor time of the judge and of all processes that have ended."""

    processor_seconds: float


class End(msgspec.Struct, frozen=True, tag_field="type", tag="end"):
    """Last line: the judge has not died on the way."""

    cases: int


Line = Start | CaseStart | Case | Used | End


@dataclass(frozen=True)
class Plan:
    """One call of a judge: its fixed command line, the tests that must get a verdict, and the limit of each."""

    command: Sequence[str]
    tests: Sequence[str]
    public_only: bool
    seconds_each: float
    chosen: bool = False  # `tests` are not all that the judge has
    seed: int | None = None
    log: Path | None = None
    budget: Budget | None = None  # of the submission; none where it is our own

    @property
    def seconds(self) -> float:
        """The time of all tests together: each with its own limit, beyond what a silent judge is given."""
        return self.seconds_each * len(self.tests) + self.patience

    @property
    def patience(self) -> float:
        """For how long a judge may say nothing."""
        return _PATIENCE_FACTOR * self.seconds_each + _PATIENCE_SECONDS


@dataclass
class Verdicts:
    """What a judge said so far."""

    seed: int | None = None
    device: dict[str, Any] = field(default_factory=dict)
    cases: dict[str, Case] = field(default_factory=dict)
    started: str | None = None
    complete: bool = False
    trouble: str = ""
    flood: str = ""  # what the test that was running has written too much of
    out_of_time: bool = False
    processor_seconds: float = 0.0
    exceeded: str = ""  # which limit of the submission's budget has ended it


def judge(plan: Plan, on_line: Callable[[Line], None] = lambda line: None) -> Verdicts:
    """Run the tests, and those again by themselves which got no verdict or an error."""
    if plan.budget and (exceeded := plan.budget.exceeded):
        return Verdicts(plan.seed, cases={name: _failed(name, exceeded) for name in plan.tests})
    deadline = time.monotonic() + plan.seconds
    chosen = [word for name in plan.tests for word in ("--test", name)] if plan.chosen else []
    verdicts = _run(plan, chosen, plan.seed, on_line, deadline)
    if verdicts.seed is None:
        detail = bounded(verdicts.trouble, lines=12)
        raise GraderError("the judge gave no verdict at all", detail=detail, hint="see `warpgrade doctor`")
    _run_again(plan, verdicts, on_line, deadline)
    return verdicts


def _run_again(plan: Plan, verdicts: Verdicts, on_line: Callable[[Line], None], deadline: float) -> None:
    """Run tests again by themselves which got no verdict or an error; what is over a limit fails."""
    for _ in range(_RETRIES):
        for name in plan.tests:
            known = verdicts.cases.get(name)
            if known is not None and (known.status != "error" or known.unsupported):
                continue
            if plan.budget and (exceeded := plan.budget.exceeded):
                if known is None:
                    verdicts.cases[name] = _failed(name, exceeded)
                continue
            if verdicts.flood and name == verdicts.started:
                verdicts.cases[name] = _failed(name, verdicts.flood)
                continue
            if time.monotonic() > deadline:
                if known is None:
                    verdicts.cases[name] = _failed(name, _used_up(plan))
                continue
            again = _run(plan, ["--test", name], verdicts.seed, on_line, deadline)
            if name in again.cases:
                verdicts.cases[name] = again.cases[name]
            elif again.flood or again.out_of_time:
                verdicts.cases[name] = _failed(name, again.flood or _used_up(plan))
            elif known is None:
                trouble = again.trouble or "it wrote no verdict"
                message = f"the judge did not finish this test: {bounded(trouble, lines=3)}"
                verdicts.cases[name] = Case(name=name, status="error", message=message)


def judge_first(
    plan: Plan,
    first: Collection[str],
    on_line: Callable[[Line], None] = lambda line: None,
    on_first: Callable[[Mapping[str, Case]], None] = lambda cases: None,
) -> Verdicts:
    """Run the tests of `first` before the others, and hand over their verdicts in between."""
    ahead = [name for name in plan.tests if name in first]
    rest = [name for name in plan.tests if name not in first]
    if not ahead or not rest:
        return judge(plan, on_line)
    before = judge(dataclasses.replace(plan, tests=ahead, chosen=True), on_line)
    on_first(before.cases)
    verdicts = judge(dataclasses.replace(plan, tests=rest, chosen=True, seed=before.seed), on_line)
    verdicts.cases = {**before.cases, **verdicts.cases}
    return verdicts


def _failed(name: str, message: str) -> Case:
    return Case(name=name, status="fail", message=message, review=[message])


def _used_up(plan: Plan) -> str:
    return f"the submission has used up the {plan.seconds:g} s that its {len(plan.tests)} tests have together"


def _run(
    plan: Plan, more: Sequence[str], seed: int | None, on_line: Callable[[Line], None], deadline: float
) -> Verdicts:
    verdicts = Verdicts()
    with tempfile.TemporaryDirectory(prefix="warpgrade-judge-") as folder:
        verdict_file = Path(folder, "verdict.jsonl")
        verdict_file.touch()
        command = [*plan.command, "--verdict", str(verdict_file), "--only", "public" if plan.public_only else "all"]
        # Killed, it takes the judge with it: --parent. A session of its own all the same: an interrupt is handled here.
        command += [*more, *(["--seed", str(seed)] if seed is not None else []), "--parent", str(os.getpid())]
        try:
            process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                start_new_session=True,
            )  # fmt: skip
        except OSError as error:
            raise GraderError(f"the judge {Path(command[0]).name} cannot be started: {error.strerror}") from None
        words = _Tail(process.stdout)
        try:
            _follow(process, verdict_file, plan, verdicts, on_line, deadline)
        finally:
            _end(process)
            kept = words.end()
        if not verdicts.complete and not verdicts.exceeded:
            disk_space.require(Path(folder), "the judge", _LITTLE_SPACE)
            said = clean(kept).strip()
            verdicts.trouble = "\n".join(filter(None, (verdicts.trouble or _how(process.returncode), said)))
            if plan.log is not None:
                _keep(plan.log, " ".join(command) + "\n" + verdicts.trouble + "\n")
    return verdicts


def _keep(log: Path, words: str) -> None:
    """Write a log under another name first: other graders of the same lab may do so at the same time."""
    log.parent.mkdir(parents=True, exist_ok=True)
    scratch = log.with_name(f".{log.name}.{os.getpid()}-{threading.get_ident()}")
    scratch.write_text(words, encoding="utf-8")
    scratch.replace(log)


class _Tail(threading.Thread):
    """Reads what a process says, and keeps the end of it."""

    def __init__(self, pipe: IO[bytes] | None) -> None:
        super().__init__(daemon=True)
        self._pipe, self._kept = pipe, b""
        self.start()

    def run(self) -> None:
        """Read until all that could write have ended."""
        with contextlib.suppress(OSError, ValueError):
            while self._pipe is not None and (chunk := os.read(self._pipe.fileno(), 1 << 16)):
                self._kept = (self._kept + chunk)[-_KEPT_WORDS:]

    def end(self) -> bytes:
        """Return what was kept; the process has ended."""
        self.join(timeout=1)
        if not self.is_alive() and self._pipe is not None:
            self._pipe.close()
        return self._kept


def _follow(
    process: subprocess.Popen[bytes],
    path: Path,
    plan: Plan,
    verdicts: Verdicts,
    on_line: Callable[[Line], None],
    deadline: float,
) -> None:
    """Read lines until the judge has ended or the submission's budget; each complete line resets our patience."""
    patience, budget = plan.patience, plan.budget
    silent_until = time.monotonic() + patience
    before = budget.test_seconds if budget else 0.0
    with path.open("rb") as file, _end_of(process) as wait:
        rest = bytearray()
        while True:
            ended = process.poll() is not None  # asked before reading, so that nothing written last is missed
            while chunk := file.read(_CHUNK_BYTES):
                rest += chunk
                *lines, last = bytes(rest).split(b"\n") if b"\n" in chunk else [bytes(rest)]
                rest = bytearray(last)
                for raw in lines:
                    if len(raw) <= _MOST_LINE_BYTES and not _take(raw, verdicts, on_line):
                        return
                    silent_until = time.monotonic() + patience
                if budget:
                    budget.test_seconds = before + verdicts.processor_seconds
                    budget.output_bytes += len(chunk)
                    verdicts.exceeded = budget.exceeded
                    if verdicts.exceeded:
                        return
                if max(map(len, [*lines, rest])) > _MOST_LINE_BYTES or file.tell() > _MOST_BYTES:
                    verdicts.flood = "the test's record is too long: the program does too much in it"
                    return
            if ended:
                return
            if time.monotonic() > deadline:
                verdicts.out_of_time = True
                return
            if time.monotonic() > silent_until:
                verdicts.trouble = f"the judge said nothing for {patience:g} s"
                return
            wait(_POLL_SECONDS)


@contextlib.contextmanager
def _end_of(process: subprocess.Popen[bytes]) -> Iterator[Callable[[float], object]]:
    """Give a function that waits so many seconds, or until the process has ended."""
    try:
        descriptor = os.pidfd_open(process.pid)
    except OSError:
        yield time.sleep
        return
    try:
        yield lambda seconds: select.select([descriptor], [], [], seconds)
    finally:
        os.close(descriptor)


def _take(raw: bytes, verdicts: Verdicts, on_line: Callable[[Line], None]) -> bool:
    """Note a line; say whether it is one."""
    try:
        line = msgspec.json.decode(raw, type=Line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        verdicts.trouble = f"the judge wrote a line that is not a verdict: {one_line(str(error), 300)}"
        return False
    _note(verdicts, line)
    on_line(line)
    return True


def _note(verdicts: Verdicts, line: Line) -> None:
    match line:
        case Start():
            verdicts.seed = line.seed
            verdicts.device = line.device or verdicts.device
        case CaseStart():
            verdicts.started = line.name
        case Case():
            verdicts.cases[line.name] = line
        case Used():
            verdicts.processor_seconds = line.processor_seconds
        case End():
            verdicts.complete = True


def _how(status: int | None) -> str:
    if status is None:
        return "the judge was killed"
    if status < 0:
        with contextlib.suppress(ValueError):
            return f"the judge was killed by {signal.Signals(-status).name}"
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
