"""Grades one submission: intake, build, judge, score. No output, no exit: those are the command line's."""

import concurrent.futures
import dataclasses
import hashlib
import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from warpgrade import __version__
from warpgrade.compiling import judges, ptx_lines, toolchain
from warpgrade.compiling.build import Builder
from warpgrade.compiling.failure import BuildFailure, Problem
from warpgrade.compiling.ptx_lines import PtxLines
from warpgrade.compiling.warnings import CompilerWarning
from warpgrade.findings import conditional, sources
from warpgrade.findings.accesses import Traces
from warpgrade.grading import baseline as baselines
from warpgrade.grading import begun, gpu_state, judge, own_lines, review, score, timing, trace_file, unsupported
from warpgrade.grading.recall import Recall
from warpgrade.grading.result import (
    DeviceInfo,
    FileInfo,
    LabInfo,
    Result,
    Seconds,
    SubmissionInfo,
    TestResult,
    Toolchain,
    Used,
)
from warpgrade.grading.submission import Submission
from warpgrade.lab import agreement, good_numbers
from warpgrade.lab.budget import Budget, allowance_of
from warpgrade.lab.labs import Lab
from warpgrade.machine import cache, confined, device, fidelity
from warpgrade.machine.confined import OverBudget
from warpgrade.machine.errors import BadInput, GraderError
from warpgrade.machine.paths import COMMAND, Layout
from warpgrade.machine.sandbox import Kind, Sandbox
from warpgrade.machine.text import timestamp

Say = Callable[[str], None]
OnFirst = Callable[[Mapping[str, judge.Case]], None]

_SANDBOX_FLAGS: dict[Kind, list[str]] = {"namespaces": [], "plain": ["--plain-sandbox"], "none": ["--no-sandbox"]}


@dataclass(frozen=True)
class Options:
    """How to grade; the tests named in `first` run before the others.

    timing_device: makes the calls of speed tests again, and tells their times instead of `device`.
    """

    device: str = "auto"
    timing_device: str = ""
    seed: int | None = None
    threads: int | None = None
    confined: bool = True
    public_only: bool = False
    checks: str = "all"
    only: tuple[str, ...] = ()
    first: tuple[str, ...] = ()
    record_calls: str = ""  # a file that gets the calls of the submission's functions, with their data

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
    traces: Traces | None = None,
) -> Result:
    """Grade a submission; raises GraderError when nothing could be judged at all.

    on_first is given the verdicts on the tests of `options.first` while the others run. Tests whose verdicts `recall`
    knows do not run; it is told the others'. `traces` gets accesses that the public tests' kernels made.
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
    timed_on = timing.find(layout, options.timing_device)
    confined.begin()
    shared, programs = _builder(layout, lab, options, target, say, timed_on)
    limits = lab.file.limits
    budget = Budget(limits, allowance_of(limits), intake_seconds=submission.seconds)
    budget.analysis.add(submission.seconds)
    builder = dataclasses.replace(shared, budget=budget)
    sandbox, compilers = builder.sandbox, builder.compilers

    say(f"compiling {', '.join(submission.files)}")
    report = _Report(lab, submission, options, target, timed_on, compilers, sandbox.kind, started_at, budget)
    try:
        worker, baseline = _build_both(builder, files, shared, starter)
    except BuildFailure as failure:
        seconds = Seconds(build=_since(started), judge=0)
        return report.not_judged(failure, seconds, builder.warnings(files))
    built = time.monotonic()
    warnings = builder.warnings(files)

    names = [item.name for item in items]
    known, properties = recall.find(files, names) if recall else ({}, {})
    recording = trace_file.Recording(traces)
    plan = judge.Plan(
        command=_judge_command(builder, programs.judge, worker, baseline, target, timed_on, options) + recording.words,
        tests=[name for name in names if name not in known],
        public_only=options.public_only,
        chosen=bool(options.only or known),
        seconds_each=lab.file.limits.seconds,
        seed=options.seed,
        log=layout.logs / f"judge-{lab.name}.log",
        budget=budget,
    )
    with cache.held(worker.parent, baseline.parent), recording:
        verdicts = judge.Verdicts(options.seed, properties)
        gpu = gpu_state.Watch(timed_on)
        if plan.tests:
            with device.hold_device(layout, target), gpu:
                verdicts = judge.judge_first(plan, options.first, _TestCounter(len(plan.tests), say), on_first)
        if recall:
            recall.store(files, verdicts.cases, verdicts.device)
        verdicts.cases = {**known, **gpu_state.refuse_disturbed(verdicts.cases, lab.file.speed, gpu.state)}
        cases = unsupported.settle_unsupported(verdicts.cases, lambda: builder.device_code(files), budget.analysis)
        tests = score.score_tests(
            lab, cases, (timed_on or target).kind, public_only=options.public_only, only=options.only, warnings=warnings
        )
        tests = score.add_good_numbers(tests, good_numbers.read(lab), str(verdicts.device.get("name", "")))
        stops = {name: case.stopped_at for name, case in cases.items() if case.stopped_at}
        tests, left_out = own_lines.show(
            tests, stops, files, sources.HostCode(worker, sandbox), compilers.header_folders, budget.analysis,
            reads_sources=conditional.is_wanted(options.checks),
        )  # fmt: skip
        tests = begun.mark(
            tests, {name: case.functions for name, case in cases.items()}, files, starter, lab.main_file,
            budget.analysis,
        )  # fmt: skip
        tests = score.charge_mistakes(tests, cases)
        if traces is not None:
            recording.read({item.name for item in items if not item.hidden})
            traces.kept = own_lines.locate_traces(
                traces.kept, files, sources.HostCode(worker, sandbox), compilers.header_folders
            )
    seconds = Seconds(build=round(built - started, 3), judge=_since(built))
    return report.judged(
        tests, verdicts, cases, seconds, warnings, [text for text in (left_out, gpu.state.line) if text]
    )


def read_ptx(layout: Layout, lab: Lab, submission: Submission, options: Options) -> PtxLines:
    """Return the PTX of the submission's lines; nothing where it is refused, or is more than its budget allows."""
    builder, _ = _builder(layout, lab, options, device.resolve(layout, options.device), lambda text: None)
    limits = lab.file.limits
    budget = Budget(limits, allowance_of(limits))
    files = all_files(lab, submission)
    try:
        code = dataclasses.replace(builder, budget=budget).device_code(files)
        return confined.call(budget.analysis, ptx_lines.read, code, list(files))
    except (BuildFailure, OverBudget):
        return {}


def prepare(layout: Layout, lab: Lab, options: Options) -> None:
    """Compile what all submissions of a lab have in common, where the next ones are sure to come."""
    builder, _ = _builder(layout, lab, options, device.resolve(layout, options.device), lambda text: None)
    builder.prepare()


def _builder(
    layout: Layout, lab: Lab, options: Options, target: device.Device, say: Say, timed_on: device.Device | None = None
) -> tuple[Builder, judges.LabPrograms]:
    sandbox = Sandbox(layout.program("warpgrade-sandbox"), confined=options.confined).strongest()
    compilers = toolchain.find(layout)
    programs = judges.require(layout, lab, compilers, say)
    architecture = timing.architecture(target, timed_on)
    return Builder(layout, lab, compilers, sandbox, architecture, programs.binding), programs


def starter_files(lab: Lab) -> dict[str, bytes]:
    """Return the unmodified starter: the baseline of every speed-up."""
    folder = lab.starter_folder
    files = {path.name: path.read_bytes() for path in sorted(folder.glob("*")) if lab.allows(path.name)}
    if lab.main_file not in files:
        raise GraderError(f"starter/{lab.name} has no {lab.main_file}", hint=f"run {COMMAND} starter {lab.name}")
    return files


def all_files(lab: Lab, submission: Submission) -> dict[str, bytes]:
    """Return the files that are graded: the submission's, and the starter's where it has none."""
    return {**_not_handed_in(lab, submission, starter_files(lab)), **submission.files}


def _not_handed_in(lab: Lab, submission: Submission, starter: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return the starter's version of the lab's other files that are missing in the submission."""
    others = lab.file.lab.files[1:]
    return {name: starter[name] for name in others if name in starter and name not in submission.files}


def _with_note_of(from_starter: Iterable[str], submission: Submission) -> Submission:
    notes = [f"{name} was not handed in: the starter's is graded in its place" for name in from_starter]
    return dataclasses.replace(submission, notes=[*submission.notes, *notes])


def rejected_result(lab: Lab, name: str, problem: BadInput, options: Options) -> Result:
    """Return the result of a submission that could not even be read."""
    tests = _all_failed(lab, options, "fail", problem.message)
    return Result(
        lab=LabInfo(name=lab.name, title=lab.title),
        submission=SubmissionInfo(name=name),
        status="rejected",
        score=score.total(tests),
        tests=tests,
        device=DeviceInfo(requested=options.device, kind=device.kind_of(options.device)),
        started_at=timestamp(datetime.now(UTC)),
        seconds=Seconds(build=0, judge=0),
        warpgrade=__version__,
        scope=options.scope,
        sandboxed=options.confined,
        seed=options.seed,
        problem=Problem(stage="intake", message=problem.message, hint=problem.hint),
        review=review.list_notes([problem.review] if problem.review else []),
    )


def _build_both(
    builder: Builder, mine: Mapping[str, bytes], shared: Builder, starter: Mapping[str, bytes]
) -> tuple[Path, Path]:
    """Build the submission and the baseline side by side; the baseline's time counts for no budget."""
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        baseline = pool.submit(shared.build, starter)
        worker = builder.build(mine)
        try:
            return worker, baseline.result()
        except BuildFailure as failure:
            raise GraderError(
                f"the starter of lab {builder.lab.name} does not build: {failure.problem.message}",
                detail=failure.problem.detail,
            ) from None


def _judge_command(
    builder: Builder, program: Path, worker: Path, baseline: Path, target: device.Device,
    timed_on: device.Device | None, options: Options,
) -> list[str]:  # fmt: skip
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
    command += timing.judge_options(layout, target, timed_on)
    if options.record_calls:
        command += ["--record-calls", options.record_calls]
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
    timed_on: device.Device | None
    compilers: toolchain.Compilers
    sandbox: Kind
    started_at: datetime
    budget: Budget

    def judged(
        self,
        tests: list[TestResult],
        verdicts: judge.Verdicts,
        cases: Mapping[str, judge.Case],
        seconds: Seconds,
        warnings: list[CompilerWarning],
        notes: list[str],
    ) -> Result:
        error = any(test.status == "error" for test in tests)
        seen = review.list_notes(f"{case.name}: {note}" for case in cases.values() for note in case.review)
        status: Literal["error", "graded"] = "error" if error else "graded"
        lacks = unsupported.list_lacking(cases, (test.name for test in tests if not test.hidden))
        return self._result(status, tests, seconds, verdicts.seed, verdicts.device, None, seen, warnings, notes, lacks)

    def not_judged(self, failure: BuildFailure, seconds: Seconds, warnings: list[CompilerWarning]) -> Result:
        problem = failure.problem
        tests = _all_failed(self.lab, self.options, "error" if failure.unsupported else "fail", problem.message)
        status: Literal["error", "rejected"] = "error" if failure.unsupported else "rejected"
        return self._result(
            status, tests, seconds, self.options.seed, {}, problem, review.list_notes(failure.review), warnings,
            lacks=[problem.message] if failure.unsupported else [],
        )  # fmt: skip

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
        notes: Sequence[str] = (),
        lacks: Sequence[str] = (),
    ) -> Result:
        return Result(
            lab=LabInfo(name=self.lab.name, title=self.lab.title),
            submission=_file_info(self.submission),
            status=status,
            score=score.total(tests),
            tests=tests,
            device=DeviceInfo(
                requested=self.options.device, kind=self.target.kind, properties=properties or self.target.properties
            ),
            started_at=timestamp(self.started_at),
            seconds=seconds,
            fidelity=fidelity.state(self.target, lacks, self.timed_on),
            warpgrade=__version__,
            scope=self.options.scope,
            sandboxed=self.options.confined,
            sandbox=self.sandbox,
            seed=seed,
            problem=problem,
            review=seen,
            warnings=warnings,
            notes=list(notes),
            used=_used(self.budget),
            toolchain=Toolchain(
                nvcc=self.compilers.nvcc_version,
                host_compiler=self.compilers.host_version,
                architecture=f"sm_{timing.architecture(self.target, self.timed_on)}",
            ),
        )


def _used(budget: Budget) -> Used:
    return Used(
        intake=round(budget.intake_seconds, 3),
        analysis=round(budget.analysis.used - budget.intake_seconds, 3),
        build=round(budget.build_seconds, 3),
        tests=round(budget.test_seconds, 3),
        made_bytes=budget.made_bytes,
        output_bytes=budget.output_bytes,
        exceeded=budget.exceeded,
    )


def _file_info(submission: Submission) -> SubmissionInfo:
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


def _since(start: float) -> float:
    return round(time.monotonic() - start, 3)
