"""Of one cause one finding: races that one barrier ends."""

import io
import re

import msgspec
from rich.console import Console
from samples import GRADED, RACE, advice

from warpgrade.findings.diagnosis import Barrier, Diagnostic, Memory, Place, Related
from warpgrade.grading import result as results
from warpgrade.report import diagnosis as diagnosis_report
from warpgrade.report import findings
from warpgrade.report.formats import sarif


def race(
    line: int, other: int, gaps: list[tuple[int, int]], *, name: str = "tile", warp: bool = False, of_warp: bool = False
) -> Diagnostic:
    """A race of two lines of matmul.cu."""
    return msgspec.structs.replace(
        RACE, rule="racecheck/warp" if warp else "racecheck/shared", place=Place("matmul.cu", line, source="x;"),
        title="race inside a warp" if warp else "race in shared memory",
        help="put __syncwarp() there" if warp else "put __syncthreads() there",
        related=[Related("written by", Place("matmul.cu", other), RACE.thread)],
        memory=Memory(name, variable=True, bytes=16, allocated=Place()), barrier=Barrier(gaps, of_warp),
    )  # fmt: skip


def test_what_one_barrier_ends_is_one_finding_and_that_of_the_block_speaks() -> None:
    narrow = race(41, 46, [(41, 42), (42, 44)], name="a", warp=True, of_warp=True)
    wide = race(42, 46, [(42, 44)], name="b")
    (found,) = findings.program_findings([narrow, wide])
    assert found.diagnostic == wide
    assert found.same == (narrow,)
    assert found.help == "Put __syncthreads() between lines 42 and 44: all threads of the block must reach it."
    assert findings.same_cause(found) == ["`a`, lines 41 and 46"]
    told = findings.describe(found)
    assert "syncwarp" not in told
    assert "same cause: `a`, lines 41 and 46" in told


def test_two_missing_barriers_are_two_findings() -> None:
    found = findings.program_findings([race(41, 46, [(42, 44)]), race(60, 61, [(60, 61)]), race(47, 42, [(48, 49)])])
    assert [re.findall(r"\d+", one.help) for one in found] == [["42", "44"], ["60", "61"], ["48", "49"]]


def test_instances_of_a_template_lack_one_barrier() -> None:
    one = race(41, 46, [(42, 44)])
    assert len(findings.program_findings([one, msgspec.structs.replace(one, kernel="tiled<32>")])) == 1


def test_without_a_place_for_the_barrier_it_is_the_memory_that_counts() -> None:
    found = findings.program_findings([race(1, 9, [], warp=True), race(2, 9, []), race(3, 9, [], name="other")])
    assert [(one.diagnostic.place.line, one.help) for one in found] == [
        (2, "put __syncthreads() there"), (3, "put __syncthreads() there"),
    ]  # fmt: skip


def test_a_warp_alone_is_advised_a_barrier_of_its_own_only_in_code_for_warps() -> None:
    (plain,) = findings.program_findings([race(41, 46, [(42, 44)], warp=True)])
    (for_warps,) = findings.program_findings([race(41, 46, [(42, 44)], warp=True, of_warp=True)])
    assert "__syncthreads() between lines 42 and 44" in plain.help
    assert "__syncwarp() between lines 42 and 44" in for_warps.help


def test_a_statement_that_races_with_itself_is_taken_apart() -> None:
    (found,) = findings.program_findings([race(41, 41, [])])
    assert found.help == "Read into a variable first, then call __syncthreads(), and write after it."


def test_the_tests_of_all_of_a_group_are_named_and_sarif_keeps_the_rules_words() -> None:
    tests = [
        results.TestResult(name, "test", "fail", 0, 1, hidden=False, diagnostics=[one])
        for name, one in (("first", race(41, 46, [(42, 44)], warp=True)), ("second", race(42, 46, [(42, 44)])))
    ]
    (found,) = findings.result_findings(msgspec.structs.replace(GRADED, tests=tests))
    assert found.tests == ("first", "second")
    (rule,) = sarif.log([found])["runs"][0]["tool"]["driver"]["rules"]
    assert rule["help"]["text"] == "put __syncthreads() there"


def test_a_hidden_test_tells_no_second_time_of_a_barrier() -> None:
    tests = [
        results.TestResult("a", "test", "fail", 0, 1, hidden=False, diagnostics=[race(42, 46, [(42, 44)])]),
        results.TestResult("b", "test", "fail", 0, 1, hidden=True, diagnostics=[race(42, 46, [(42, 44)], warp=True)]),
    ]
    (found,) = findings.result_findings(msgspec.structs.replace(GRADED, tests=tests))
    assert found.tests == ("a",)


def test_places_outside_of_the_users_files_share_no_tests() -> None:
    def test(name: str, kernel: str) -> results.TestResult:
        one = msgspec.structs.replace(RACE, place=Place("<x.hpp>", 3), kernel=kernel, related=[], barrier=None)
        return results.TestResult(name, "test", "fail", 0, 1, hidden=False, diagnostics=[one])

    result = msgspec.structs.replace(GRADED, tests=[test("first", "sum"), test("second", "scan")])
    assert [one.tests for one in findings.result_findings(result)] == [("first",), ("second",)]


def test_full_points_need_no_advice() -> None:
    def shown(points: float, *, wanted: bool = False) -> str:
        test = results.TestResult("a", "test", "pass", points, 10, hidden=False, diagnostics=[advice(7, 5)])
        score = results.Score(points=points, max_points=10, percent=0, error_points=0, pending_points=0)
        result = msgspec.structs.replace(GRADED, status="graded", tests=[test], score=score)
        file = io.StringIO()
        console = Console(file=file, width=100, highlight=False)
        diagnosis_report.show(console, findings.result_findings(result), advice=wanted)
        return file.getvalue()

    assert "copy.cu:7" in shown(9)
    assert "copy.cu:7" not in shown(10)
    assert "1 piece of advice on speed: --advice shows it" in shown(10)
    assert "copy.cu:7" in shown(10, wanted=True)
