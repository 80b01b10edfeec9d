"""Grades one submission: intake, build, judge, score. No output, no exit: those are the command line's."""

from __future__ import annotations

import concurrent.futures
import dataclasses
import hashlib
import itertools
import os
import re
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from warpgrade import __version__
from warpgrade.compiling import judges, toolchain
from warpgrade.compiling.build import SUBMISSION_FOLDER, Builder
from warpgrade.compiling.failure import BuildFailure, Problem
from warpgrade.compiling.warnings import CompilerWarning
from warpgrade.findings import conditional, diagnosis, sources
from warpgrade.grading import baseline as baselines
from warpgrade.grading import judge, review, score, unsupported
from warpgrade.grading.intake import Submission
from warpgrade.grading.result import (
    DeviceInfo,
    FileInfo,
    LabInfo,
    Result,
    Seconds,
    SubmissionInfo,
    TestResult,
    Toolchain,
)
from warpgrade.lab import agreement
from warpgrade.lab.labs import Lab
from warpgrade.machine import cache, device
from warpgrade.machine.errors import BadInput, GraderError
from warpgrade.machine.paths import COMMAND, Layout
from warpgrade.machine.sandbox import Kind, Sandbox
from warpgrade.machine.text import timestamp

if TYPE_CHECKING:
    from warpgrade.grading.recall import Recall

Say = Callable[[str], None]
OnFirst = Callable[[Mapping[str, judge.Case]], None]

# In the sandbox the folder has a fixed name; without it, it lies in a scratch folder.
_COMPILED_IN = re.compile(rf"(?<![^\s:'\"(\[])(?:/[^\s/:'\"]+)*{SUBMISSION_FOLDER}/")

_SANDBOX_FLAGS: dict[Kind, list[str]] = {"namespaces": [], "plain": ["--plain-sandbox"], "none": ["--no-sandbox"]}


@dataclass(frozen=True)
class Options:
    """How to grade; the tests named in `first` run before the others."""

    device: str = "auto"
    seed: int | None = None
    threads: int | None = None
    confined: bool = True
    public_only: bool = False
    checks: str = "all"
    only: tuple[str, ...] = ()
    first: tuple[str, ...] = ()

    @property
    def scope(self) -> Literal["all", "public", "chosen"]:
        """What of the lab's tests counts."""
        return "chosen" if self.only else "public" if self.public_only else "all"


def grade(
    layout: Layout,
    lab: Lab,
    submission: Submission,
    options: Options,
    say: Say = lambda text: None,
    on_first: OnFirst = lambda cases: None,
    recall: Recall | None = None,
) -> Result:
    """Grade a submission; raises GraderError when nothing could be judged at all.

    on_first is given the verdicts on the tests of `options.first` while the others run. Tests whose verdicts `recall`
    knows do not run; it is told the others'.
    """
    started_at = datetime.now(UTC)
    started = time.monotonic()
    items = lab.chosen(public_only=options.public_only, only=options.only)  # before anything that takes time
    agreement.require(lab)
    starter = starter_files(lab)
    from_starter = _not_handed_in(lab, submission, starter)
    submission = _with_note_of(from_starter, submission)
    files = {**from_starter, **submission.files}
    target = device.resolve(layout, options.device)
    builder, programs = _builder(layout, lab, options, target, say)
    sandbox, compilers = builder.sandbox, builder.compilers

    say(f"compiling {', '.join(submission.files)}")
    report = _Report(lab, submission, options, target, compilers, sandbox.kind, started_at)
    try:
        worker, baseline = _build_both(builder, files, starter)
    except BuildFailure as failure:
        seconds = Seconds(build=_since(started), judge=0)
        return report.not_judged(failure, seconds, builder.warnings(files))
    built = time.monotonic()
    warnings = builder.warnings(files)

    names = [item.name for item in items]
    known, properties = recall.known(files, names) if recall else ({}, {})
    plan = judge.Plan(
        command=_judge_command(builder, programs.judge, worker, baseline, target, options),
        tests=[name for name in names if name not in known],
        public_only=options.public_only,
        chosen=bool(options.only or known),
        seconds_each=lab.file.limits.seconds,
        seed=options.seed,
        log=layout.logs / f"judge-{lab.name}.log",
    )
    with cache.held(worker.parent, baseline.parent):
        verdicts = judge.Verdicts(options.seed, properties)
        if plan.tests:
            with device.turn(layout, target):
                verdicts = judge.judge_first(plan, options.first, _TestCounter(len(plan.tests), say), on_first)
        if recall:
            recall.keep(files, verdicts.cases, verdicts.device)
        verdicts.cases = {**known, **verdicts.cases}
        cases = unsupported.settle(verdicts.cases, lambda: builder.device_code(files))
        tests = score.score_tests(lab, cases, target.kind, public_only=options.public_only, only=options.only)
        own = sources.of_submission(files, _COMPILED_IN, compilers.has_header)
        tests = [_without_folders(test, own) for test in tests]
        host_code = sources.HostCode(worker, sandbox)
        tests = _with_own_lines(tests, own, host_code)
        tests = _with_place_of_hang(tests, cases, own, host_code)
        if conditional.is_wanted(options.checks):
            tests = [_with_conditional_barriers(test, own, files) for test in tests]
    seconds = Seconds(build=round(built - started, 3), judge=_since(built))
    return report.judged(tests, verdicts, cases, seconds, warnings)


def prepare(layout: Layout, lab: Lab, options: Options) -> None:
    """Compile what all submissions of a lab have in common, where the next ones are sure to come."""
    builder, _ = _builder(layout, lab, options, device.resolve(layout, options.device), lambda text: None)
    builder.prepare()


def _builder(
    layout: Layout, lab: Lab, options: Options, target: device.Device, say: Say
) -> tuple[Builder, judges.LabPrograms]:
    sandbox = Sandbox(layout.program("warpgrade-sandbox"), confined=options.confined).strongest()
    compilers = toolchain.find(layout)
    programs = judges.require(layout, lab, compilers, say)
    return Builder(layout, lab, compilers, sandbox, target.architecture, programs.binding), programs


def starter_files(lab: Lab) -> dict[str, bytes]:
    """Return the unmodified starter: the baseline of every speed-up."""
    folder = lab.starter_folder
    files = {path.name: path.read_bytes() for path in sorted(folder.glob("*")) if lab.allows(path.name)}
    if lab.main_file not in files:
        raise GraderError(f"starter/{lab.name} has no {lab.main_file}", hint=f"run {COMMAND} starter {lab.name}")
    return files


def _not_handed_in(lab: Lab, submission: Submission, starter: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return of the files that a lab names besides the main one those that are missing, as the starter has them."""
    others = lab.file.lab.files[1:]
    return {name: starter[name] for name in others if name in starter and name not in submission.files}


def _with_note_of(from_starter: Iterable[str], submission: Submission) -> Submission:
    notes = [f"{name} was not handed in: the starter's is graded in its place" for name in from_starter]
    return dataclasses.replace(submission, notes=[*submission.notes, *notes])


def rejected(lab: Lab, name: str, problem: BadInput, options: Options) -> Result:
    """Return the result of a submission that could not even be read."""
    kind: Literal["vgpu", "gpu"] = "gpu" if options.device.startswith("gpu") else "vgpu"
    tests = _all_failed(lab, options, "fail", problem.message)
    return Result(
        lab=LabInfo(name=lab.name, title=lab.title),
        submission=SubmissionInfo(name=name),
        status="rejected",
        score=score.total(tests),
        tests=tests,
        device=DeviceInfo(requested=options.device, kind=kind),
        started_at=timestamp(datetime.now(UTC)),
        seconds=Seconds(build=0, judge=0),
        warpgrade=__version__,
        scope=options.scope,
        sandboxed=options.confined,
        seed=options.seed,
        problem=Problem(stage="intake", message=problem.message, hint=problem.hint),
        review=review.listed([problem.review] if problem.review else []),
    )


def _build_both(builder: Builder, mine: Mapping[str, bytes], starter: Mapping[str, bytes]) -> tuple[Path, Path]:
    """Build the submission and the baseline side by side."""
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        baseline = pool.submit(builder.build, starter)
        worker = builder.build(mine)
        try:
            return worker, baseline.result()
        except BuildFailure as failure:
            raise GraderError(
                f"the starter of lab {builder.lab.name} does not build: {failure.problem.message}",
                detail=failure.problem.detail,
            ) from None


def _judge_command(
    builder: Builder, program: Path, worker: Path, baseline: Path, target: device.Device, options: Options
) -> list[str]:
    layout, lab, sandbox = builder.layout, builder.lab, builder.sandbox.kind
    limits = lab.file.limits
    command = [
        str(program),
        "--worker", str(worker),
        "--baseline", str(baseline),
        "--device-server", str(layout.device_server),
        "--sandbox", str(layout.program("warpgrade-sandbox")),
        "--device", target.spec,
        "--threads", str(options.threads or len(os.sched_getaffinity(0))),
        "--seconds", f"{limits.seconds:g}",
        "--memory-mib", str(limits.memory_mib),
        "--instructions", str(limits.instructions),
        "--checks", options.checks,
    ]  # fmt: skip
    kept = baselines.cache_file(layout, lab, target, program, baseline, options.seed, options.checks)
    if kept is not None:
        command += ["--baseline-cache", str(kept)]
    if lab.data.is_dir():
        command += ["--data", str(lab.data)]
    for function, names in lab.parameters.items():
        command += ["--parameters", f"{function}={','.join(names)}"]
    return [*command, *_SANDBOX_FLAGS[sandbox]]


class _TestCounter:
    """Says which of how many tests is running."""

    def __init__(self, count: int, say: Say) -> None:
        self._count, self._say, self._seen = count, say, 0

    def __call__(self, line: judge.Line) -> None:
        if isinstance(line, judge.CaseStart):
            self._seen += 1
            place = f"test {self._seen} of {self._count}" if self._seen <= self._count else "running again"
            self._say(f"{place}: {line.name}")


@dataclass(frozen=True)
class _Report:
    """The parts of a result that are known before the judge runs."""

    lab: Lab
    submission: Submission
    options: Options
    target: device.Device
    compilers: toolchain.Compilers
    sandbox: Kind
    started_at: datetime

    def judged(
        self,
        tests: list[TestResult],
        verdicts: judge.Verdicts,
        cases: Mapping[str, judge.Case],
        seconds: Seconds,
        warnings: list[CompilerWarning],
    ) -> Result:
        error = any(test.status == "error" for test in tests)
        seen = review.listed(f"{case.name}: {note}" for case in cases.values() for note in case.review)
        status: Literal["error", "graded"] = "error" if error else "graded"
        return self._result(status, tests, seconds, verdicts.seed, verdicts.device, None, seen, warnings)

    def not_judged(self, failure: BuildFailure, seconds: Seconds, warnings: list[CompilerWarning]) -> Result:
        unsupported = failure.unsupported
        tests = _all_failed(self.lab, self.options, "error" if unsupported else "fail", failure.problem.message)
        status: Literal["error", "rejected"] = "error" if unsupported else "rejected"
        return self._result(
            status, tests, seconds, self.options.seed, {}, failure.problem, review.listed(failure.review), warnings
        )

    def _result(
        self,
        status: Literal["graded", "rejected", "error"],
        tests: list[TestResult],
        seconds: Seconds,
        seed: int | None,
        properties: dict[str, Any],
        problem: Problem | None,
        seen: list[str],
        warnings: list[CompilerWarning],
    ) -> Result:
        return Result(
            lab=LabInfo(name=self.lab.name, title=self.lab.title),
            submission=_describe(self.submission),
            status=status,
            score=score.total(tests),
            tests=tests,
            device=DeviceInfo(
                requested=self.options.device, kind=self.target.kind, properties=properties or self.target.properties
            ),
            started_at=timestamp(self.started_at),
            seconds=seconds,
            warpgrade=__version__,
            scope=self.options.scope,
            sandboxed=self.options.confined,
            sandbox=self.sandbox,
            seed=seed,
            problem=problem,
            review=seen,
            warnings=warnings,
            toolchain=Toolchain(
                nvcc=self.compilers.nvcc_version,
                host_compiler=self.compilers.host_version,
                architecture=f"sm_{self.target.architecture}",
            ),
        )


def _describe(submission: Submission) -> SubmissionInfo:
    return SubmissionInfo(
        name=submission.name,
        digest=submission.digest,
        files=[
            FileInfo(name=name, bytes=len(content), sha256=hashlib.sha256(content).hexdigest())
            for name, content in submission.files.items()
        ],
        ignored=submission.ignored,
        notes=submission.notes,
    )


def _all_failed(lab: Lab, options: Options, status: Literal["fail", "error"], message: str) -> list[TestResult]:
    return [
        TestResult(
            name=item.name,
            kind="speed" if item in lab.file.speed else "test",
            status=status,
            points=0,
            max_points=item.points,
            hidden=item.hidden,
            message=message,
        )
        for item in lab.chosen(public_only=options.public_only, only=options.only)
    ]


def _without_folders(test: TestResult, own: sources.Sources) -> TestResult:
    """Name source lines by the student's file: the compiler wrote the folder in which it found it."""

    def name(file: object) -> str:
        return own.own_name(str(file)) or own.foreign_name(str(file))

    launches = []
    for launch in test.launches:
        lines = launch.get("lines")
        if isinstance(lines, list):
            lines = [{**line, "file": name(line["file"])} if "file" in line else line for line in lines]
            launches.append({**launch, "lines": lines})
        else:
            launches.append(launch)
    return msgspec.structs.replace(test, launches=launches, message=_student_path(test.message))


def _with_own_lines(tests: list[TestResult], own: sources.Sources, lookup: sources.HostCode) -> list[TestResult]:
    """Show what the checks found in the student's own lines. All tests at once: addr2line is started once."""
    found = [one for test in tests for one in test.diagnostics]
    located = iter(diagnosis.locate(found, own, lookup))
    return [
        msgspec.structs.replace(test, diagnostics=diagnosis.merged(itertools.islice(located, len(test.diagnostics))))
        for test in tests
    ]


def _with_place_of_hang(
    tests: list[TestResult], cases: Mapping[str, judge.Case], own: sources.Sources, lookup: sources.HostCode
) -> list[TestResult]:
    """Name the line of the student's in which host code was when its time was up."""
    codes = {test.name: cases[test.name].stopped_at for test in tests if test.name in cases}
    frames = lookup([code for places in codes.values() for code in places]) if any(codes.values()) else {}
    if not frames:
        return tests

    def with_place(test: TestResult) -> TestResult:
        calls = (frame for code in codes.get(test.name, []) for frame in frames.get(code, ()))
        found = next(((name, line) for file, line in calls if (name := own.own_name(file))), None)
        if found is None:
            return test
        first, *rest = test.message.split("\n")
        source = own.line(*found).strip()
        first += f": host code was at {found[0]}:{found[1]}" + (f", `{source}`" if source else "")
        return msgspec.structs.replace(test, message="\n".join([first, *rest]))

    return [with_place(test) for test in tests]


def _with_conditional_barriers(test: TestResult, own: sources.Sources, files: Iterable[str]) -> TestResult:
    """Add what the device cannot see: barriers under conditions that the compiler has merged."""
    launched = {str(launch.get("name", "")) for launch in test.launches}
    more = conditional.look(test.diagnostics, launched, own, list(conditional.own_files(files)))
    return msgspec.structs.replace(test, diagnostics=diagnosis.merged([*test.diagnostics, *more])) if more else test


def _student_path(text: str) -> str:
    return _COMPILED_IN.sub("", text)


def _since(start: float) -> float:
    return round(time.monotonic() - start, 3)
