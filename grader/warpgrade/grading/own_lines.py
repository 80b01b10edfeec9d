"""What the checks found, in the student's own lines: a source's text is read in a confined process, within limits."""

import itertools
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

import msgspec

from warpgrade.compiling.build import SUBMISSION_FOLDER
from warpgrade.compiling.compiler_words import header_test
from warpgrade.findings import accesses, conditional, diagnosis, sources
from warpgrade.findings.accesses import TracedLaunch
from warpgrade.findings.sources import Frame, HostCode, Sources
from warpgrade.grading.result import TestResult
from warpgrade.machine import confined
from warpgrade.machine.confined import Allowance, OverBudget

# In the sandbox the folder has a fixed name; without it, it lies in a scratch folder.
_COMPILED_IN = re.compile(rf"(?<![^\s:'\"(\[])(?:/[^\s/:'\"]+)*{SUBMISSION_FOLDER}/")
_RECURSION = 6  # times on the stack; a function that calls itself for smaller and smaller arrays is not so deep
_SECOND_SECONDS = 5  # for lines alone, where a source cannot be understood in time


def show(
    tests: list[TestResult], stops: Mapping[str, list[int]], files: Mapping[str, bytes], host_code: HostCode,
    headers: Sequence[Path], allowance: Allowance, *, reads_sources: bool,
) -> tuple[list[TestResult], str]:  # fmt: skip
    """Return the tests with the student's lines in them, and what is left out because it takes too long, or nothing.

    stops: where host code hung, as places in the program. reads_sources: look for barriers in the sources as well.
    """
    codes = diagnosis.codes(one for test in tests for one in test.diagnostics)
    codes += [code for places in stops.values() for code in places]
    words = host_code.ask(codes)
    given = (tests, dict(stops), dict(files), codes, words, list(headers))
    try:
        return confined.call(allowance, read, *given, "all" if reads_sources else "barriers"), ""
    except OverBudget as over:
        told = f"findings in the sources are left out, since to look for them {over}"
    shorter = Allowance(_SECOND_SECONDS, allowance.memory_mib, allowance.output_mib)
    try:
        shown = confined.call(shorter, read, *given, "lines")
    except OverBudget:
        shown, told = [_without_lines(test) for test in tests], told.replace("in the sources", "of the checks")
    allowance.add(shorter.used)
    return shown, told


def locate_traces(
    traces: list[TracedLaunch], files: Mapping[str, bytes], host_code: HostCode, headers: Sequence[Path]
) -> list[TracedLaunch]:
    """Return the traces with the student's lines and arrays in them; none where that takes too long."""
    codes = accesses.codes(traces)
    words = host_code.ask(codes)
    try:
        # Not of the submission's budget, so that pictures never change a grade.
        return confined.call(Allowance(_SECOND_SECONDS), read_traces, traces, dict(files), codes, words, list(headers))
    except OverBudget:
        return []


def read_traces(
    traces: list[TracedLaunch], files: dict[str, bytes], codes: list[int], words: bytes, headers: list[Path]
) -> list[TracedLaunch]:
    """Do what `locate_traces` says, with what addr2line has said of the codes."""
    own = sources.submission_sources(files, _COMPILED_IN, header_test(headers), reads_kernels=False)
    return accesses.locate(traces, own, sources.frames(codes, words))


def read(
    tests: list[TestResult], stops: dict[str, list[int]], files: dict[str, bytes], codes: list[int], words: bytes,
    headers: list[Path], depth: str,
) -> list[TestResult]:  # fmt: skip
    """Do what `show` says, with what addr2line has said of the codes; `lines` reads nothing but lines."""
    own = sources.submission_sources(files, _COMPILED_IN, header_test(headers), reads_kernels=depth != "lines")
    frames = sources.frames(codes, words)
    tests = [_without_folders(test, own) for test in tests]
    tests = _with_own_lines(tests, own, lambda asked: frames)
    tests = [_with_place_of_hang(test, stops.get(test.name, []), own, frames) for test in tests]
    return [_with_conditional_barriers(test, own, files) for test in tests] if depth == "all" else tests


def _without_lines(test: TestResult) -> TestResult:
    launches = [{key: value for key, value in launch.items() if key != "lines"} for launch in test.launches]
    message = test.message.replace(f"{SUBMISSION_FOLDER}/", "")
    return msgspec.structs.replace(test, launches=launches, diagnostics=[], message=message)


def _without_folders(test: TestResult, own: Sources) -> TestResult:
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
    return msgspec.structs.replace(test, launches=launches, message=_COMPILED_IN.sub("", test.message))


def _with_own_lines(
    tests: list[TestResult], own: Sources, lookup: Callable[[Sequence[int]], Mapping[int, Sequence[Frame]]]
) -> list[TestResult]:
    """Show what the checks found in the student's own lines."""
    located = iter(diagnosis.locate([one for test in tests for one in test.diagnostics], own, lookup))
    return [
        msgspec.structs.replace(test, diagnostics=diagnosis.merge(itertools.islice(located, len(test.diagnostics))))
        for test in tests
    ]


def _with_place_of_hang(
    test: TestResult, codes: Sequence[int], own: Sources, frames: Mapping[int, Sequence[Frame]]
) -> TestResult:
    """Name the line of the student's in which host code was when its time was up."""
    calls = (frame for code in codes for frame in frames.get(code, ()))
    found = next(((name, line) for file, line in calls if (name := own.own_name(file))), None)
    if found is None:
        return test
    first, *rest = test.message.split("\n")
    if (again := _calls_itself(codes, own, frames)) is not None:
        told, found = "the function calls itself again and again at", again
        source = own.line(*found).strip()
    else:
        source = own.line(*found).strip()
        # Host code that stands at a launch has asked for it, and waits for the kernel.
        told = "the kernel did not end that was launched at" if "<<<" in source else "host code was at"
    first += f": {told} {found[0]}:{found[1]}" + (f", `{source}`" if source else "")
    return msgspec.structs.replace(test, message="\n".join([first, *rest]))


def _calls_itself(codes: Sequence[int], own: Sources, frames: Mapping[int, Sequence[Frame]]) -> tuple[str, int] | None:
    """Return the student's line from which a function calls itself without end, if the stack is full of it."""
    for code, times in Counter(codes).most_common():
        if times < _RECURSION:
            return None
        for file, line in frames.get(code, ()):
            if name := own.own_name(file):
                return name, line
    return None


def _with_conditional_barriers(test: TestResult, own: Sources, files: Iterable[str]) -> TestResult:
    """Add what the device cannot see: barriers under conditions that the compiler has merged."""
    launched = {str(launch.get("name", "")) for launch in test.launches}
    more = conditional.find_conditional_barriers(test.diagnostics, launched, own, list(conditional.own_files(files)))
    return msgspec.structs.replace(test, diagnostics=diagnosis.merge([*test.diagnostics, *more])) if more else test
