"""An error that the checks find takes the points for counters and speed of the function that makes it."""

import msgspec
from samples import GRADED, RACE

from warpgrade.findings.diagnosis import Diagnostic
from warpgrade.grading import result as results
from warpgrade.grading import score
from warpgrade.grading.judge import Case

FOUND = "the checks found a mistake in scan: race in shared memory (racecheck/shared)"


def passed(name: str, *tags: str, found: tuple[Diagnostic, ...] = (), hidden: bool = False) -> results.TestResult:
    return results.TestResult(
        name, "test", "pass", 5, 5, hidden=hidden, tags=[f"[{tag}]" for tag in tags], hint="A hint.",
        diagnostics=list(found),
    )  # fmt: skip


def charged(*given: tuple[results.TestResult, Case]) -> dict[str, results.TestResult]:
    tests = score.charge_mistakes([test for test, _ in given], {test.name: case for test, case in given})
    return {test.name: test for test in tests}


def case(*functions: str, faulty: str = "") -> Case:
    return Case("", "pass", functions=list(functions), faulty={faulty: RACE.rule} if faulty else {})


def test_a_mistake_takes_counters_speed_and_checks_of_its_function_and_nothing_else() -> None:
    after = charged(
        (passed("adds odd sizes", "public", found=(RACE,)), case("scan", faulty="scan")),
        (passed("loads little", "public", "counter"), case("scan")),
        (passed("is fast", "public", "speed"), case("warm_up", "scan")),
        (passed("is clean", "public", "checks"), case("scan")),
        (passed("another is fast", "public", "speed"), case("reduce")),
    )
    points = {name: (test.status, test.points) for name, test in after.items()}
    assert points == {
        "adds odd sizes": ("pass", 5),
        "loads little": ("fail", 0),
        "is fast": ("fail", 0),
        "is clean": ("fail", 0),
        "another is fast": ("pass", 5),
    }
    assert after["loads little"].message.startswith(FOUND)
    assert (after["loads little"].hint, after["loads little"].signs) == ("", ["counters"])


def test_what_hidden_tests_find_takes_no_points_of_public_ones() -> None:
    after = charged(
        (passed("other sizes", "hidden", "counter", found=(RACE,), hidden=True), case("scan", faulty="scan")),
        (passed("loads little", "public", "counter"), case("scan")),
        (passed("more sizes", "hidden", "counter", hidden=True), case("scan")),
    )
    assert [test.points for test in after.values()] == [0, 5, 5]
    assert after["other sizes"].hint == "A hint."


def test_a_test_that_failed_keeps_its_message() -> None:
    failed = msgspec.structs.replace(passed("loads", "counter"), status="fail", points=0, message="9 sectors")
    assert charged((failed, case("scan", faulty="scan")))["loads"].message == "9 sectors"


def test_a_test_without_a_verdict_stays() -> None:
    assert score.charge_mistakes(GRADED.tests, {}) == GRADED.tests
