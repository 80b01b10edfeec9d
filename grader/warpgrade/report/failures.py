"""Which failure to look at first, the one that may explain the others, and what is said of one."""

import re
from collections.abc import Collection, Iterable
from typing import Final

from warpgrade.findings.diagnosis import Diagnostic
from warpgrade.grading.result import TestResult
from warpgrade.lab.failure_tags import COUNTERS, UNBEGUN
from warpgrade.lab.labs import PRELAB
from warpgrade.report import checks

_ON_DEVICE: Final = "on the device: "
_ENDED: Final = "your program called exit("
_AFTER_FAILURE: Final = (f"({_ENDED}", "note: launch", "note: copy")  # what follows from a failure
_CALLED: Final = re.compile(r"^your program called exit\(\d+\) inside \w+: ")
_CUDA_ERROR: Final = re.compile(r"\(cudaError\w+\)$")  # ends what CHECK prints


def in_order(tests: Iterable[TestResult], fell: Collection[str] = ()) -> list[TestResult]:
    """Return the tests that failed or lost points and say why, the one to begin with first.

    fell: the names of those that had more points before the last change, which is what to look at first.

    Functions that the student has not begun come last. What a test counts or how fast it is means little while results
    are wrong or the checks find mistakes, so these come first; else the order is that of the lab, which goes from the
    simple to the difficult. Predictions run the kernels as well: while a test of these fails with a wrong result,
    prelabs come after all other tests.
    """
    lost = [
        test
        for test in tests
        if test.status in ("fail", "error", "pass") and test.points < test.max_points and test.message
    ]
    kernels_first = any(test.status == "fail" and is_wrong(test) and not _is_prelab(test) for test in lost)
    return sorted(
        lost, key=lambda test: (not test.begun, test.name not in fell, kernels_first and _is_prelab(test), _rank(test))
    )


def _is_prelab(test: TestResult) -> bool:
    return test.name.startswith(PRELAB)


def _rank(test: TestResult) -> int:
    if test.status == "error":
        return 4
    if is_wrong(test):
        return 0
    if any(one.severity == "error" for one in test.diagnostics):
        return 1
    return 3 if test.status == "pass" else 2  # too slow


def is_wrong(test: TestResult) -> bool:
    """Tell whether the program did something wrong, other than to count or to take too much."""
    return bool(set(test.signs) - {COUNTERS, UNBEGUN})


def message(test: TestResult) -> str:
    """Return the message; of a failed kernel or call only its name, if a finding below explains it."""
    one = _what_failed(test)
    if one is None:
        return checks.in_message(test)
    what = f"kernel {one.kernel}" if one.kernel else "a CUDA call"
    where = f" at {one.place.text}" if one.place.text else ""
    rest = [line for line in test.message.split("\n")[1:] if not line.lstrip().startswith(_AFTER_FAILURE)]
    return "\n".join([f"{what} failed{where}: {one.title} ({one.rule})", *rest])


def _what_failed(test: TestResult) -> Diagnostic | None:
    """Return the finding that a message repeats, as in "on the device: kernel 'k': k.cu:50: writes 4 bytes …"."""
    if not test.message.startswith((_ON_DEVICE, _ENDED)):
        return None
    said = [*test.output.split("\n"), _CALLED.sub("", test.message.split("\n", 1)[0])]
    checked = [line for line in said if _CUDA_ERROR.search(line)]
    for one in test.diagnostics:
        if one.severity != "error":
            continue
        name = one.kernel.split("<")[0]
        if name and any(words in test.message for words in (f"kernel '{name}", f"launch of '{name}")):
            return one
        if not name and one.place.text and any(line.startswith(f"{one.place.text}:") for line in checked):
            return one
    return None


def output(test: TestResult) -> str:
    """Return what the program printed; what its check of a call printed is no news where a finding explains that."""
    if _what_failed(test) is None:
        return test.output
    return "\n".join(line for line in test.output.split("\n") if not _CUDA_ERROR.search(line))
