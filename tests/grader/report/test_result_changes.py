"""What is told to have changed between two results."""

import io

import msgspec
from rich.console import Console
from samples import GRADED

from warpgrade.grading import result as results
from warpgrade.grading import score
from warpgrade.grading.result import Measurement, Result
from warpgrade.report import result_changes


def result(*tests: results.TestResult) -> Result:
    return msgspec.structs.replace(GRADED, tests=list(tests), score=score.total(tests))


def counting(
    name: str, points: float, counters: dict[str, int] | None = None, tag: str = "counter"
) -> results.TestResult:
    launches = [{"counters": counters or {}}, {"counters": counters or {}}, {}]
    return results.TestResult(
        name, "test", "pass" if points else "fail", points, 10, hidden=False, tags=[tag], launches=launches
    )  # fmt: skip


def shown(before: Result, after: Result) -> str:
    file = io.StringIO()
    result_changes.show(Console(file=file, width=90), before, after)
    return "\n".join(line.rstrip() for line in file.getvalue().splitlines())


def test_outcomes_points_and_counters() -> None:
    many, few = {"barriers": 8, "inst_executed": 50}, {"barriers": 1, "inst_executed": 50}
    before = result(counting("a", 0, many), counting("b", 10, many), counting("c", 10))
    after = result(counting("a", 10, few), counting("b", 10, few), counting("c", 0, few))
    assert shown(before, after) == (
        "fail → pass  a  0 → 10 points\n    barriers 16 → 2\n"
        "pass  b\n    the same as above\n"
        "pass → fail  c  10 → 0 points\n"
        "20 of 30 points\n"
    )
    assert shown(after, after) == "the results are the same as before\n20 of 30 points\n"


def test_only_tests_that_ask_for_counters_show_them() -> None:
    before, after = (result(counting("a", 10, {"barriers": number}, "public")) for number in (1, 2))
    assert result_changes.compare_results(before, after) == []


def test_many_numbers_are_cut() -> None:
    names = ("global_load_requests", "global_store_requests", "global_load_sectors", "global_store_sectors", "barriers",
             "shared_load_requests", "inst_executed", "divergent_branches")  # fmt: skip
    before, after = (result(counting("a", 10, dict.fromkeys(names, number))) for number in (1000, 2))
    assert "global_load_requests 2,000 → 4; " in shown(before, after)
    assert "and 2 more" in shown(before, after)
    assert "inst_executed" not in shown(before, after)


def test_measurements_and_tests_that_only_one_of_both_has() -> None:
    def fast(speedup: float, time: float) -> results.TestResult:
        measured = [
            Measurement("speedup", speedup, "x"),
            Measurement("speedup", 9, "x"),
            Measurement("time", time, "ns"),
        ]
        return results.TestResult("fast", "speed", "pass", speedup, 10, hidden=False, measurements=measured)

    told = shown(result(fast(1.5, 637868.87), counting("gone", 10)), result(fast(3.73, 170984.4), counting("new", 0)))
    assert "pass  fast  1.5 → 3.7 points\n    speedup 1.5 → 3.73; time (ns) 637,869 → 170,984" in told
    assert "gone" not in told
    assert "new" not in told
