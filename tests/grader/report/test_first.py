"""What a report tells first: one failure, of one cause once, and nothing of what is done."""

import io

import msgspec
from rich.console import Console
from samples import GRADED, RACE, advice

from warpgrade.findings.diagnosis import Diagnostic, Place, Related
from warpgrade.grading import result as results
from warpgrade.report import failures, findings, terminal

LOST = "an illegal memory access was encountered (cudaErrorIllegalAddress)"


def shown(*tests: results.TestResult, full: bool = False) -> str:
    file = io.StringIO()
    result = msgspec.structs.replace(GRADED, status="graded", tests=list(tests))
    terminal.show_first(Console(file=file, width=140, highlight=False), result, full=full)
    return file.getvalue()


def failed(
    name: str, message: str, *found: Diagnostic, output: str = "", signs: tuple[str, ...] = ()
) -> results.TestResult:
    return results.TestResult(
        name, "test", "fail", 0, 5, hidden=False, message=message, diagnostics=list(found), output=output,
        signs=list(signs),
    )  # fmt: skip


def bounds(kernel: str, line: int) -> Diagnostic:
    return msgspec.structs.replace(
        RACE, rule="memcheck/out-of-bounds", title="access out of bounds", kernel=kernel, related=[],
        place=Place("add.cu", line, source="x;"), message="reads 4 bytes",
    )  # fmt: skip


def test_a_kernel_that_failed_is_told_once() -> None:
    message = (
        "on the device: kernel 'add': add.cu:7: reads 4 bytes\n  (your program called exit(1) inside f)\n  in f(n = 3)"
    )
    text = shown(failed("adds", message, bounds("add", 7), output=f"begins\nadd.cu:9: cudaMemcpy(…): {LOST}"))
    assert "kernel add failed at add.cu:7: access out of bounds (memcheck/out-of-bounds)\n    in f(n = 3)\n" in text
    assert "| begins" in text
    assert "exit(1)" not in text
    assert LOST not in text


def test_a_launch_or_a_call_that_failed_is_told_once() -> None:
    message = "your program called exit(1) inside f\nnote: launch: launch of 'add': the grid has 0 blocks in x"
    launch = msgspec.structs.replace(bounds("add", 7), rule="launch/configuration", title="invalid launch")
    assert "kernel add failed at add.cu:7: invalid launch (launch/configuration)\n\n" in shown(
        failed("adds", message, launch, output=f"add.cu:8: cudaGetLastError(): {LOST}")
    )
    copy = msgspec.structs.replace(bounds("", 9), rule="memcheck/copy-direction", title="copy in the wrong direction")
    message = "your program called exit(1) inside f\nnote: copy: 0x2933ab24ec00 is not in device memory"
    output = f"add.cu:9: cudaMemcpy(c, d_c): {LOST}"
    text = shown(failed("adds", message, copy, output=output))
    assert "a CUDA call failed at add.cu:9: copy in the wrong direction (memcheck/copy-direction)\n\n" in text
    other = shown(failed("adds", message, copy, output=output.replace(":9:", ":19:")))  # another call
    assert "your program called exit(1) inside f" in other
    assert LOST in other


def test_kernels_that_are_wrong_come_before_the_predictions_that_run_them() -> None:
    prelab = failed("prelab: sectors", "add.cu:7 writes past the end", signs=("device-fault",))
    other = failed("prelab: warps", "your answer: 3, expected 4", signs=("counters",))
    counts = failed("loads little", "sectors: 9, expected at most 4", signs=("counters",))
    kernel = failed("adds", "add.cu:7 writes past the end", signs=("device-fault",))
    assert shown(prelab, other, counts, kernel).startswith("Fix this first: adds\n")
    ranked = failures.in_order([prelab, other, counts, kernel])
    assert [test.name for test in ranked] == ["adds", "loads little", "prelab: sectors", "prelab: warps"]
    # Predictions are right or wrong whatever a kernel counts.
    assert shown(other, counts).startswith("Fix this first: prelab: warps\n")
    assert shown(prelab, counts).startswith("Fix this first: prelab: sectors\n")


def test_what_fell_with_the_last_change_comes_first() -> None:
    prelab = failed("prelab: warps", "your answer: 0, expected 4", signs=("counters",))
    slow = failed("loads little", "sectors: 9, expected at most 4", signs=("counters",))
    assert [test.name for test in failures.in_order([prelab, slow])] == ["prelab: warps", "loads little"]
    assert failures.in_order([prelab, slow], {"loads little"})[0] is slow


def test_another_party_of_whom_nothing_is_known_is_not_mentioned() -> None:
    unknown = msgspec.structs.replace(RACE, related=[Related("written by", Place())])
    assert "written by" in shown(failed("adds", "wrong", RACE))
    assert "written by" not in shown(failed("adds", "wrong", unknown))
    assert "written by" not in findings.describe(findings.Finding(unknown, ("adds",)))


def test_a_finding_has_the_numbers_of_the_test_to_begin_with() -> None:
    of_prelab = msgspec.structs.replace(bounds("add", 7), message="reads 4 bytes past the end of `d` (400 bytes)")
    of_kernel = msgspec.structs.replace(of_prelab, message="reads 4 bytes past the end of `d` (256 bytes)")
    prelab = failed("prelab: sectors", "add.cu:7", of_prelab, signs=("device-fault",))
    kernel = failed("adds", "add.cu:7", of_kernel, signs=("device-fault",))
    text = shown(prelab, kernel)
    assert "(256 bytes)" in text
    assert "(400 bytes)" not in text
    assert "found in: adds; prelab: sectors" in text


def test_what_other_tests_found_waits_while_the_first_has_an_error_of_its_own() -> None:
    first, second = bounds("add", 7), msgspec.structs.replace(bounds("sum", 30), title="another mistake")
    text = shown(failed("adds", "a[3] is 1", first, signs=("wrong",)), failed("sums", "b[3] is 1", second))
    assert "add.cu:7" in text
    assert "another mistake" not in text
    text = shown(failed("adds", "a[3] is 1", signs=("wrong",)), failed("sums", "b[3] is 1", second))
    assert "another mistake" in text  # it may be the reason


def test_few_wrong_elements_stand_above_the_mistake_that_explains_them() -> None:
    elements = "".join(f"\n  [{i}] expected {i}, got 0" for i in range(5))
    message = f"c: 9 of 9 elements are wrong{elements}\n  …\n  in add(n = 9)"
    text = shown(failed("adds", message, bounds("add", 7), signs=("wrong",)))
    two = "    [0] expected 0, got 0\n    [1] expected 1, got 0\n    …\n    in add(n = 9)\n"
    assert f"  c: 9 of 9 elements are wrong\n{two}" in text
    assert "[4] expected" in shown(failed("adds", message, signs=("wrong",)))
    assert "[4] expected" in shown(failed("adds", message, advice(8, 5), signs=("wrong",)))
    assert "[4] expected" in shown(failed("adds", message, bounds("add", 7)), full=True)
    short = "c: 2 of 9 elements are wrong\n  [0] expected 0, got 1\n  [3] expected 3, got 1\n  in add(n = 9)"
    assert "…" not in shown(failed("adds", short, bounds("add", 7)))


def test_advice_is_on_the_test_to_begin_with() -> None:
    given = results.TestResult("given", "test", "pass", 5, 5, hidden=False, diagnostics=[advice(7, 9)])
    slow = failed("fast", "sectors: 9, expected at most 4", advice(8, 5))
    text = shown(given, slow, failed("faster", "sectors: 9, expected at most 2", advice(9, 7)))
    assert "copy.cu:8" in text
    assert "copy.cu:7" not in text
    assert "copy.cu:9" not in text
    assert "2 more pieces of advice on speed: --advice shows them" in text
    assert "copy.cu:7" not in shown(given, msgspec.structs.replace(slow, hidden=True, diagnostics=[]))


def test_what_nobody_has_begun_is_next_and_never_first() -> None:
    mine = failed("loads little", "sectors: 9, expected at most 4", signs=("counters",))
    other = msgspec.structs.replace(failed("adds", "C was never written", signs=("unwritten",)), begun=False)
    assert shown(other, mine).startswith("Fix this first: loads little\n")
    assert shown(other).startswith("Next: adds\n")


def test_a_finding_comes_before_counters() -> None:
    counts = failed("loads little", "sectors: 9, expected at most 4", signs=("counters",))
    found = failed("is clean", "the checks found a mistake", bounds("add", 7))
    wrong = failed("adds", "C: expected 1, got 2", signs=("wrong",))
    assert [test.name for test in failures.in_order([counts, found, wrong])] == ["adds", "is clean", "loads little"]
