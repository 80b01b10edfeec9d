"""Proves a lab: its starter, reference, wrong and right solutions get the points that they should.

Each proof is a function that returns "" or a failure. The first line of a failure says what was expected and what
happened, the other lines say why points are missing.
"""

import math
import os
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from warpgrade.compiling import judges, toolchain
from warpgrade.dev import first_messages
from warpgrade.dev.first_messages import Messages
from warpgrade.grading import grade, score
from warpgrade.grading.result import Result
from warpgrade.intake import intake
from warpgrade.lab import good_numbers, right, starter, variant, wrong
from warpgrade.lab.labs import Lab
from warpgrade.machine.errors import BadInput, GraderError
from warpgrade.machine.paths import COMMAND, Layout

Say = Callable[[str], None]

_USUAL = grade.Options()
_SEEDS = (1, 2, 3)  # of the runs that must agree on what the reference counts
_TOLERANCE = 0.1  # another nvcc makes other instructions of the same source


@dataclass(frozen=True)
class Proof:
    """A proof and its name."""

    name: str
    what_is_wrong: Callable[[grade.Options], str]


def proofs(layout: Layout, lab: Lab, messages: Messages | None = None) -> list[Proof]:
    """Return all proofs of a lab; wrong solutions are held against `messages`, or else those of its folder."""
    messages = messages or Messages(lab)
    return [
        Proof("drift of the starter", lambda options: no_drift(lab)),
        Proof("reference", partial(reference, layout, lab)),
        Proof("starter", partial(baseline, layout, lab)),
        Proof("messages", lambda options: messages.stale()),
        *(
            Proof(f"wrong {name}", partial(wrong_solution, layout, lab, name, messages=messages))
            for name in wrong.names(lab)
        ),
        *(Proof(f"right {name}", partial(right_solution, layout, lab, name)) for name in right.names(lab)),
    ]


def chosen(lab: Lab, among: Sequence[Proof], word: str) -> list[Proof]:
    """Return the proofs whose names contain the word; raises BadInput with all names if there are none."""
    found = [proof for proof in among if word in proof.name]
    if not found:
        names = ", ".join(proof.name for proof in among)
        raise BadInput(f"no proof of lab {lab.name} is called “{word}”", hint=f"there are: {names}")
    return found


def run(layout: Layout, lab: Lab, some: Sequence[Proof], say: Say = lambda text: None) -> dict[str, str]:
    """Run proofs of a lab on all cores; return what is wrong by name, in the order of the proofs."""
    judges.require(layout, lab, toolchain.find(layout), say)  # once, not by each of the threads
    cores = len(os.sched_getaffinity(0))
    workers = max(1, min(cores, len(some)))
    options = grade.Options(threads=max(1, cores // workers))
    outcomes: dict[str, str] = {}
    with ThreadPoolExecutor(workers) as pool:
        running = {pool.submit(proof.what_is_wrong, options): proof for proof in some}
        try:
            for count, future in enumerate(as_completed(running), start=1):
                outcomes[running[future].name] = future.result()
                say(f"proof {count} of {len(some)}: {running[future].name}")
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    return {proof.name: outcomes[proof.name] for proof in some if outcomes[proof.name]}


def no_drift(lab: Lab) -> str:
    """Prove that the committed starter is what the reference gives."""
    try:
        difference = starter.drift(lab)
    except GraderError as problem:
        return _words(problem)
    what = f"expected what reference/{lab.name} gives; starter/{lab.name} differs: run {COMMAND} starter {lab.name}"
    return f"{what}\n{difference}" if difference else ""


def reference(layout: Layout, lab: Lab, options: grade.Options = _USUAL) -> str:
    """Prove that the reference gets all points, and that the checks find nothing in it."""
    result = _graded(layout, lab, lab.reference_folder, options)
    expected = f"all {lab.max_points:g} points"
    wrong_score = _not_scored(result, expected, good=_points(lab, result) == lab.max_points) or _found(mistakes(result))
    return wrong_score or _good_numbers_differ(lab, result)


def write_good_numbers(layout: Layout, lab: Lab, options: grade.Options = _USUAL) -> Path:
    """Write what the reference counts in the lab's tests, where it counts the same for any inputs; return the file."""
    runs = [_graded(layout, lab, lab.reference_folder, replace(options, seed=seed)) for seed in _SEEDS]
    counted = good_numbers.GoodNumbers(
        str(runs[0].device.properties.get("name", "")), score.collect_good_numbers([run.tests for run in runs])
    )
    path = good_numbers.path(lab)
    path.write_bytes(good_numbers.encode(counted, counted.tests))
    return path


def _good_numbers_differ(lab: Lab, result: Result) -> str:
    """Return where the reference counts something else than good.json says."""
    differ = [
        f"{test.name}: {check.name} is {check.now:g}, not {check.good:g}"
        for test in result.tests
        for check in test.checks
        if check.good is not None and not math.isclose(check.good, check.now, rel_tol=_TOLERANCE)
    ]
    if not differ:
        return ""
    what = "expected what the reference counts to be in tests/good.json, which says otherwise"
    return "\n".join([f"{what}: run {COMMAND} prove {lab.name} --write-good", *differ])


def baseline(layout: Layout, lab: Lab, options: grade.Options = _USUAL) -> str:
    """Prove that the starter gets the points that lab.toml declares, and that the checks find nothing in it."""
    result = _graded(layout, lab, lab.starter_folder, options)
    points = lab.file.baseline.points
    expected = f"the {points:g} points of [baseline]"
    return _not_scored(result, expected, good=result.score.points == points) or _found(mistakes(result))


def wrong_solution(
    layout: Layout, lab: Lab, name: str, options: grade.Options = _USUAL, *, messages: Messages | None = None
) -> str:
    """Prove that a wrong solution loses exactly the tests that it names, and is told as messages.txt has it."""
    try:
        mistake = wrong.find(lab, name)
        files = variant.files(lab, mistake)
    except GraderError as problem:
        return _words(problem)
    unknown = [test for test in mistake.loses if test not in {item.name for item in lab.items}]
    if unknown:
        return f"expected names of tests; lab.toml has no {_quoted(unknown)}"
    result = graded_files(layout, lab, files, replace(options, seed=first_messages.SEED))
    lost = [test.name for test in result.tests if test.points < test.max_points and test.status != "pending"]
    expected = f"to lose exactly {_quoted(mistake.loses)}"
    if result.status != "graded":
        return _not_graded(result, expected)
    if set(lost) != set(mistake.loses):
        return f"expected {expected}; it lost {_quoted(lost)}\n{_story(result)}"
    return (messages or Messages(lab)).what_differs(mistake, result)


def right_solution(layout: Layout, lab: Lab, name: str, options: grade.Options = _USUAL) -> str:
    """Prove that another right way gets its points, and that the checks find nothing in it."""
    try:
        way = right.find(lab, name)
        files = variant.files(lab, way)
    except GraderError as problem:
        return _words(problem)
    result = graded_files(layout, lab, files, options)
    # How much of a speed item a slower way gets is the timing model's affair.
    points = way.points
    # Memory that is kept from call to call is a matter of taste.
    found = [mistake for mistake in mistakes(result) if not mistake.startswith("memcheck/leak")]
    return _not_scored(result, f"{points:g} points", good=_points(lab, result) >= points) or _found(found)


def _points(lab: Lab, result: Result) -> float:
    """Return the points of a result, with those that wait for a device of another kind: nothing proves them here."""
    elsewhere = {item.name for item in lab.file.speed if item.curve(result.device.kind) is None}
    waiting = [test for test in result.tests if test.status == "pending" and test.name in elsewhere]
    return result.score.points + sum(test.max_points for test in waiting)


def mistakes(result: Result) -> list[str]:
    """Return what the compilers warned of, and what the checks found in the tests that are passed, advice left out."""
    warned = [f"a warning at {one.place}: {one.text}" for one in result.warnings]
    return warned + [
        f"{found.rule} {found.place.file}:{found.place.line} in “{test.name}”"
        for test in result.tests
        if test.points == test.max_points
        for found in test.diagnostics
        if found.severity != "advice"
    ]


def _graded(layout: Layout, lab: Lab, path: Path, options: grade.Options) -> Result:
    return grade.grade(layout, lab, intake.read(lab, path), options)


def graded_files(layout: Layout, lab: Lab, files: Mapping[str, str], options: grade.Options) -> Result:
    """Return the result of a submission of these files."""
    with tempfile.TemporaryDirectory(prefix="warpgrade-prove-") as folder:
        for name, text in files.items():
            Path(folder, name).write_text(text, encoding="utf-8")
        return _graded(layout, lab, Path(folder), options)


def _not_scored(result: Result, expected: str, *, good: bool) -> str:
    """Return what is wrong with a result that should be graded and good."""
    if result.status != "graded":
        return _not_graded(result, expected)
    return "" if good else f"expected {expected}; it got {result.score.points:g}\n{_story(result)}"


def _not_graded(result: Result, expected: str) -> str:
    why = f": {result.problem.message}" if result.problem else ""
    return f"expected {expected}; it was not graded ({result.status}){why}\n{_story(result)}"


def _found(found: Sequence[str]) -> str:
    return f"expected no mistakes; the checks found {', '.join(found)}" if found else ""


def _story(result: Result) -> str:
    """Say where points are missing, and why."""
    lines = [result.problem.detail] if result.problem and result.problem.detail else []
    lines += [
        f"{t.status} {t.points:g}/{t.max_points:g} {t.name}: {t.message}"
        for t in result.tests
        if t.points < t.max_points
    ]
    return "\n".join(lines)


def _words(problem: GraderError) -> str:
    return "\n".join(part for part in (problem.message, problem.detail, problem.hint) if part)


def _quoted(names: Iterable[str]) -> str:
    return ", ".join(f"“{name}”" for name in names) or "nothing"
