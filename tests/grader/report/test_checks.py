"""The three numbers of a check: now, good and limit, where the judge says less."""

import msgspec
import pytest
from samples import GRADED

from warpgrade.grading.result import Check
from warpgrade.report import checks, failures

SECTORS = Check("sectors loaded", 2048, "at most", 1024, "fail", good=512, words="each once")


@pytest.mark.parametrize(
    ("check", "line"),
    [
        (SECTORS, "sectors loaded: now 2048, good 512, limit 1024 (each once)"),
        (msgspec.structs.replace(SECTORS, good=None, words=""), "sectors loaded: now 2048, limit 1024"),
        (Check("loads", 1_048_576, "below", 65_536, "fail"), "loads: now 1,048,576, limit less than 65,536"),
        (Check("ratio", 0.5, "at least", 8, "fail", unit="%", good=16.25),
         "ratio: now 0.5 %, good 16.2 %, limit at least 8 %"),
        (Check("time", 5, "between", 2, "fail", upper=4, good=3), "time: now 5, good 3, limit 2 to 4"),
        (Check("launches", 3, "is", 1, "fail", good=1), "launches: now 3, limit exactly 1"),
        (Check("ratio", 8.0001, "at most", 8.0002, "pass"), "ratio: now 8.0001, limit 8.0002"),
        (Check("speedup", 1.25, "at least", 4, "part", unit="x", good=6.5),
         "speedup: now 1.25×, good 6.5×, limit at least 4×"),
    ],
)  # fmt: skip
def test_now_good_and_limit(check: Check, line: str) -> None:
    assert checks.line(check) == line


def test_the_three_numbers_stand_where_the_judge_has_two() -> None:
    said = "sectors loaded: 2048, expected at most 1024 (each once)\n  in f(n = 1)\nlaunches: 3, expected 1"
    other = Check("launches", 3, "is", 1, "fail", good=1)
    test = msgspec.structs.replace(GRADED.tests[1], message=said, checks=[SECTORS, other])
    expected = "sectors loaded: now 2048, good 512, limit 1024 (each once)\n  in f(n = 1)\nlaunches: 3, expected 1"
    assert failures.message(test) == expected
    nearly = "sectors loaded: 640 %; all points at 512 or less, none at 1024 (each once)"
    rows = [SECTORS, msgspec.structs.replace(SECTORS, now=640, outcome="part", good=None)]
    test = msgspec.structs.replace(test, message=nearly, checks=rows)
    assert failures.message(test) == "sectors loaded: now 640, limit 1024 (each once)", "that of its own number"
    slow = msgspec.structs.replace(GRADED.tests[4], checks=[Check("speedup", 2.66, "at least", 4, "part", unit="x")])
    assert failures.message(slow) == "speedup: now 2.66×, limit at least 4×"
    assert failures.message(msgspec.structs.replace(test, checks=[])) == nearly
