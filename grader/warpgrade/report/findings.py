"""Turns diagnostics of the checks into findings for reports: one for each cause, without duplicates."""

import posixpath
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from warpgrade.findings import diagnosis
from warpgrade.findings.diagnosis import Diagnostic, Place
from warpgrade.grading.result import Result
from warpgrade.report import failures, hidden, stores

_SAME_CAUSE = 3
# As grader/vgpu/ops/resolve.cpp words it.
_BELOW_ZERO = re.compile(r"^\w+ \S+ bytes?, \S+ bytes? before |\(-\d+ converted to unsigned\)")
_BEYOND = re.compile(r" past the end of ")
_NO_SHARED = re.compile(r" but the launch gives the block none")
_OF_BLOCK = re.compile(r" past the end of the block's \S+ bytes? of (?:dynamic )?shared memory")
_OF_ARRAY = re.compile(r" past the end of `[^`]+` \([^)]*\) in shared memory")
_TOO_MANY_THREADS = re.compile(
    r"the block has \S+ threads[^,]*, but the limit is "
)  # grader/vgpu/virtual_gpu.cpp words it
_NO_BLOCKS = re.compile(r"the grid has 0 blocks")
_TIME_OVER = re.compile(r" the program's time (?:was|is) over")  # grid.cpp and scheduler.cpp in grader/vgpu/exec/
_COPY_TO_ADDRESS = re.compile(r"\bcudaMemcpy(?:Async)?\(\s*&\s*\w+\s*,")
_ALL_WRITE = re.compile(r" that other threads write at the same time")
_ONE_WRITER = "Let one thread alone change an element: does each thread have elements of its own?"
_OVER_STACK = re.compile(r" to a local variable of the host's, ")
_AS_FREE_DOES = ", as free() and delete do, but "  # grader/server/session_diagnose.cpp words it
_LOOP_HEAD = re.compile(r"\bfor\s*\([^;]*;[^;]*;[^)]*\)")
# With an index that may have an index itself, as in counts[data[i]]++.
_CHANGE = re.compile(r"\b(?P<name>\w+)(?:\[(?:[^\[\]]|\[[^\[\]]*\])*\])*\s*(?:\+\+|--|[-+*/%&|^]=)(?P<behind>.*)")
# "reads 4 bytes, 8 bytes past the end of": at least one whole element lies between.
_FAR = re.compile(r" (?P<size>\d[\d,]*) bytes?, (?P<past>\d[\d,]*) bytes? past the end of ")


@dataclass(frozen=True)
class Finding:
    """One diagnostic, and the tests that found it (none for a program that was run).

    `same` are others of the same cause; `advice`, what to do about all of them. One that is `settled` nobody needs to
    read: advice on what has all its points.
    """

    diagnostic: Diagnostic
    tests: tuple[str, ...] = ()
    same: tuple[Diagnostic, ...] = ()
    advice: str = ""
    settled: bool = False

    @property
    def help(self) -> str:
        """What to do, as exactly as possible."""
        return self.advice or self.diagnostic.help


def program_findings(diagnostics: Iterable[Diagnostic]) -> list[Finding]:
    """Return a run program's findings, worst first."""
    return _by_cause(diagnosis.merge(diagnostics), {})


def result_findings(result: Result, *, show_hidden: bool = False) -> list[Finding]:
    """Return a submission's findings, worst first; those of hidden tests as far as students may see them, or all.

    A finding of several tests has the numbers of the test to fix first.
    """
    shown = result if show_hidden else hidden.for_students(result)
    ranks = {test.name: rank for rank, test in enumerate(failures.in_order(shown.tests))}
    tests_in_order = sorted(shown.tests, key=lambda test: ranks.get(test.name, len(ranks)))
    found = [(test, one) for test in tests_in_order for one in test.diagnostics]
    tests: dict[object, list[str]] = {}
    for test, one in found:
        names = tests.setdefault(_parties(one), [])
        name = hidden.TESTS if test.hidden and not show_hidden else test.name
        if name not in names:
            names.append(name)
    lost = {test.name for test in shown.tests if test.points < test.max_points}
    rows = diagnosis.merge(one for _, one in found)
    return [
        replace(one, settled=one.diagnostic.severity == "advice" and not lost.intersection(one.tests))
        for one in _by_cause(rows, tests)
    ]


def _parties(one: Diagnostic) -> object:
    """Return a key that stays the same if a race's two parties are exchanged."""
    return (one.rule, one.kernel, frozenset([one.place, *(other.place for other in one.related)]))


def _once_a_pair(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    pairs: dict[object, Diagnostic] = {}
    for number, one in enumerate(diagnostics):
        pairs.setdefault(_parties(one) if one.related else number, one)
    return list(pairs.values())


@dataclass
class _Group:
    """Findings of one cause: with races, those that one barrier ends."""

    members: list[Diagnostic]
    gaps: list[tuple[int, int]]

    def take(self, one: Diagnostic) -> bool:
        """Take in a race that the same barrier ends; without a known place for it, one about the same memory."""
        first, barrier = self.members[0], one.barrier
        if barrier is None or first.barrier is None or one.place.file != first.place.file:
            return False
        if not barrier.between and not self.gaps:
            same = _memory(one) == _memory(first) and one.kernel == first.kernel
        else:
            both = [gap for gap in self.gaps if gap in barrier.between]
            same, self.gaps = bool(both), both or self.gaps
        if same:
            self.members.append(one)
        return same

    def finding(self, tests: Mapping[object, list[str]], read: set[object]) -> Finding:
        # Whoever needs the barrier of the block speaks for all: one of the warp would not do.
        members = sorted(self.members, key=lambda one: one.rule == diagnosis.RACE_OF_WARP)
        names = dict.fromkeys(name for one in self.members for name in tests.get(_parties(one), []))
        advice = _barrier(members, self.gaps)
        if all(stores.only_store(one, read) for one in members) and not _of_one_thread_each(members[0]):
            advice = stores.what_to_do(members, advice)
        advice = advice or _by_message(members[0])
        return Finding(members[0], tuple(names), tuple(members[1:]), advice)


def _by_cause(diagnostics: Iterable[Diagnostic], tests: Mapping[object, list[str]]) -> list[Finding]:
    groups: list[_Group] = []
    rows = list(diagnostics)
    for one in _once_a_pair(rows):
        if not any(group.take(one) for group in groups):
            groups.append(_Group([one], one.barrier.between if one.barrier else []))
    read = stores.read_memories(rows)
    unset = {one.kernel: _memory(one) for one in rows if one.rule == "initcheck/constant"}
    return [_about_constant(group.finding(tests, read), unset) for group in groups]


def _about_constant(finding: Finding, unset: Mapping[str, str]) -> Finding:
    """Name the constant that is 0 for want of a copy where a loop may not end for it."""
    name = unset.get(finding.diagnostic.kernel)
    if finding.diagnostic.rule != "launch/runaway" or not name:
        return finding
    advice = (
        f"`{name}` in constant memory is 0: call cudaMemcpyToSymbol before the launch. If the loop does not use it: "
    )
    return replace(finding, advice=advice + finding.help[0].lower() + finding.help[1:])


def _barrier(races: list[Diagnostic], gaps: list[tuple[int, int]]) -> str:
    """Say which barrier would end these races, and where to put it; "" if that is unknown."""
    of_warp = all(one.rule == diagnosis.RACE_OF_WARP and one.barrier and one.barrier.of_warp for one in races)
    if gaps:
        before, behind = gaps[0]
        where = f"between lines {before} and {behind}" if before != behind else f"in line {before}, between the two"
        name, reached = ("__syncwarp()", "warp") if of_warp else ("__syncthreads()", "block")
        return f"Put {name} {where}: all threads of the {reached} must reach it."
    first = races[0]
    if first.barrier is not None and first.related[0].place.text == first.place.text:
        if _changes_one(first.place.source):
            return f"{_ONE_WRITER} Where all of them add to the same one, use atomicAdd."
        if _ALL_WRITE.search(first.message):
            return _ONE_WRITER
        name = "__syncwarp()" if of_warp else "__syncthreads()"
        return f"Read into a variable first, then call {name}, and write after it."
    return ""


def _changes_one(source: str) -> bool:
    """Tell whether a line changes something that it does not read otherwise, as in `count++` or `x[i] *= factor`."""
    change = _CHANGE.search(_LOOP_HEAD.sub("", source))
    return change is not None and not re.search(rf"\b{change['name']}\b", change["behind"])


def _by_message(one: Diagnostic) -> str:
    """Return the help for what the message says, where the rule's own help is wrong or too general; else ""."""
    match one.rule:
        case "memcheck/out-of-bounds":
            return _bounds(one)
        case "launch/configuration" if _TOO_MANY_THREADS.match(one.message):
            return (
                "The launch is kernel<<<blocks, threads>>>, the number of blocks first. Where a block would have too "
                "many threads, take more blocks."
            )
        case "launch/configuration" if _NO_BLOCKS.match(one.message):
            return "Is the number of blocks rounded up? (n + threads - 1) / threads is 1 even for a single element."
        case "launch/failed" if _TIME_OVER.search(one.message):
            return "Try a smaller problem or give it more time. If a loop is named here: does it end?"
        case "memcheck/copy-direction" if _COPY_TO_ADDRESS.search(one.place.source):
            return (
                "The first argument is an address on the host. Pass a pointer to device memory itself, without &; to "
                "set a __device__ variable, use cudaMemcpyToSymbol."
            )
        case "racecheck/global" if one.related and _changes_one(one.place.source) and _is_line_alone(one):
            return "Use atomicAdd, or another atomic, where threads of several blocks change the same element."
        case "racecheck/global" if _of_one_thread_each(one):
            return (
                "Blocks run in any order. If one block was to do all of it: is the launch kernel<<<blocks, threads>>>, "
                "the number of blocks first? If not: give each element one writer, use an atomic, or split the work "
                "into two launches."
            )
        case "launch/host-dereference" if _AS_FREE_DOES in one.message:
            return "Does free() or delete get a pointer from CUDA? These know nothing of its memory."
        case "memcheck/host-pointer":
            return (
                "Pass the kernel a pointer to device memory, from cudaMalloc, and copy the data there; or the pointer "
                "from cudaMallocManaged, or for mapped memory from cudaHostGetDevicePointer. What malloc, new and "
                "std::vector give is the host's."
            )
        case "memcheck/copy-out-of-bounds" if _OVER_STACK.search(one.message):
            return (
                "Is the destination the address of a pointer, as in &x, where it should be the pointer x? If it is an "
                "array, it is too short: sizes are in bytes, count * sizeof(element)."
            )
        case "memcheck/use-after-free" if one.message.startswith("copies "):
            return "Free the memory only after the last copy that uses it."
    return ""


def _is_line_alone(one: Diagnostic) -> bool:
    """Tell whether both parties of a race are the same line."""
    return all(other.place.text == one.place.text for other in one.related)


def _of_one_thread_each(one: Diagnostic) -> bool:
    """Tell whether two blocks of one thread may be a launch the wrong way round."""
    return one.rule == "racecheck/global" and _first_threads(one) and not _is_line_alone(one)


def _first_threads(one: Diagnostic) -> bool:
    """Tell whether the parties are the first threads of two blocks, as where blocks have one thread."""
    threads = [one.thread, *(other.thread for other in one.related)]
    first = [thread for thread in threads if thread is not None and not any(thread.thread)]
    return len(first) == len(threads) > 1 and len({thread.block for thread in first}) > 1


def _bounds(one: Diagnostic) -> str:
    message = one.message
    if _NO_SHARED.search(message):
        return "Give the launch the size in bytes: <<<blocks, threads, elements * sizeof(element)>>>."
    if _BELOW_ZERO.search(message):
        return "The index is negative: find out which threads have no such element, and give them a case of their own."
    if _OF_ARRAY.search(message):
        return (
            "The last element has the index size - 1: compare the index, the size in the array's declaration, and the "
            "number of threads in each direction of the block."
        )
    if one.thread and not any(one.thread.thread + one.thread.block) and _BEYOND.search(message):
        size = "the launch's third argument" if _OF_BLOCK.search(message) else "the size that was asked for"
        if _is_far(message):
            return (
                "Too many threads are not the reason, for the first of all goes far beyond the end: is the index "
                f"right, is {size} in bytes, count * sizeof(element), and does the pointer begin where it should? "
                "pointer + n goes n elements on, not n bytes."
            )
        return (
            "Too many threads are not the reason, for the first of all goes beyond the end: is the index right, does a "
            f"loop end one turn too late (< or <=?), and is {size} in bytes, count * sizeof(element)?"
        )
    if _OF_BLOCK.search(message):
        return (
            "Compare the index with the size of the shared memory: the launch's third argument gives it in bytes, "
            "elements times sizeof(element)."
        )
    if _is_far(message):
        return (
            "The index goes far beyond the end: do threads without an element leave the access out, and does the index "
            "count what the array has, elements, or one for each row, warp or block? And check the size that was asked "
            "for: it is in bytes, count * sizeof(element)."
        )
    return ""


def _is_far(message: str) -> bool:
    far = _FAR.search(message)
    size, past = (int(far[name].replace(",", "")) for name in ("size", "past")) if far else (1, 0)
    return past >= size


def _memory(one: Diagnostic) -> str:
    return one.memory.name if one.memory else ""


def same_cause(finding: Finding) -> list[str]:
    """Return the others of the same cause, one a line: "`a_tile`, lines 111 and 115"."""

    def lines(one: Diagnostic) -> tuple[int, ...]:
        return tuple(sorted({one.place.line, *(other.place.line for other in one.related)}))

    told = {lines(finding.diagnostic)}
    rows = []
    for one in finding.same:
        if lines(one) in told:
            continue
        told.add(lines(one))
        numbers = [str(line) for line in lines(one) if line]
        at = f"line{'s' if len(numbers) > 1 else ''} {' and '.join(numbers)}"
        rows.append(f"`{one.memory.name}`, {at}" if one.memory and one.memory.variable else at)
    more = [f"{len(rows) - _SAME_CAUSE} more"] if len(rows) > _SAME_CAUSE else []
    return [*rows[:_SAME_CAUSE], *more]


def repository_path(folder: str, place: Place) -> str:
    """Return the path of an own file relative to the repository that holds `folder`; "" for files outside of it."""
    path = posixpath.normpath(folder + place.file) if place.own else ""
    return "" if path.startswith(("..", "/")) else path


def describe(finding: Finding) -> str:
    """Return the facts, the other party and the help, one a line."""
    one = finding.diagnostic
    times = f" ({one.count:,} times)" if one.count > 1 else ""
    facts = " ".join(filter(None, [one.thread.text if one.thread else "", one.message])) + times
    rows = [facts] if one.message else []
    for other in filter(lambda other: other.is_known, one.related):
        where = f" at {other.place.text}" if other.place.text else ""
        rows.append(other.role + (f" {other.thread.text}" if other.thread else "") + where)
    if others := same_cause(finding):
        rows.append("same cause: " + "; ".join(others))
    return "\n".join([*rows, finding.help])
