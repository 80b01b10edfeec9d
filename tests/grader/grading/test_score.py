"""Points: curves, partial credit, and the outcomes that are no zeros."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from warpgrade.grading import result, score
from warpgrade.grading.judge import Case, JudgeCheck, JudgeMeasurement
from warpgrade.lab import good_numbers, labs
from warpgrade.lab.good_numbers import GoodNumbers
from warpgrade.lab.labs import Lab
from warpgrade.lab.speed_curve import curve_mistake
from warpgrade.machine.errors import GraderError

ALL = {
    "adds": Case(name="adds", status="pass"),
    "adds odd sizes": Case(name="adds odd sizes", status="fail", message="C[3] is 7\x1b[31m, not 8"),
    "speed": Case(name="speed", status="pass", measurements=[JudgeMeasurement("speedup", 2.0, "x")]),
}


def by_name(tests: list[result.TestResult]) -> dict[str, result.TestResult]:
    return {test.name: test for test in tests}


def test_points_and_sums(lab: Lab) -> None:
    tests = score.score_tests(lab, ALL, "vgpu")
    assert [(test.name, test.points) for test in tests] == [("adds", 10), ("adds odd sizes", 0), ("speed", 5)]
    total = score.total(tests)
    assert (total.points, total.max_points, total.percent) == (15, 40, 37.5)
    assert by_name(tests)["adds"].hint == ""
    assert by_name(tests)["adds odd sizes"].hint == "Guard the last block."
    assert by_name(tests)["adds odd sizes"].message == "C[3] is 7, not 8"
    assert "2× as fast as the starter; points begin above 1×, all 10 at 3×" in by_name(tests)["speed"].message


def test_speed_without_a_curve_for_this_kind_of_device_is_pending_unless_it_fails(lab: Lab) -> None:
    (item,) = lab.file.speed
    for kind, other in (("vgpu", "--device gpu"), ("gpu", "--device vgpu")):
        lab.file.speed[0] = msgspec.structs.replace(item, **{kind: None})
        tests = score.score_tests(lab, ALL, kind)  # type: ignore[arg-type]
        test = by_name(tests)["speed"]
        assert (test.status, test.points, test.max_points, test.hint) == ("pending", 0, 10, "")
        assert other in test.message
        assert score.total(tests).pending_points == 10
        failed = {**ALL, "speed": Case(name="speed", status="fail", message="C[3] is 7, not 8")}
        assert by_name(score.score_tests(lab, failed, kind))["speed"].status == "fail"  # type: ignore[arg-type]


def test_what_the_reference_counts_stands_beside_what_was_counted_on_its_device(lab: Lab) -> None:
    def counted(now: float, *, limit: float = 8, words: str = "") -> list[result.TestResult]:
        judged = [
            JudgeCheck("sectors", now, "at most", limit, "fail", words=words),
            JudgeCheck("x", 1, "is", 1, "pass"),
            JudgeCheck("time", 3, "between", 2, "pass", upper=4),
        ]
        return score.score_tests(lab, {**ALL, "adds": Case(name="adds", status="fail", checks=judged)}, "vgpu")

    agreed = score.collect_good_numbers([counted(4), counted(4, words="for another reason")])
    good = GoodNumbers("a device", agreed)
    assert agreed["adds"] == {"sectors": {"at most": [[4, 8]]}, "time": {"between": [[3, 2, 4]]}}
    assert score.collect_good_numbers([counted(4), counted(5)])["adds"].keys() == {"time"}
    # Inputs that differ choose the limit: another run may have it by chance, beside another number.
    assert score.collect_good_numbers([counted(4, limit=7), counted(4)])["adds"].keys() == {"time"}
    (lab.folder / "tests").mkdir(exist_ok=True)
    good_numbers.path(lab).write_bytes(good_numbers.encode(good, ["adds", "speed"]))
    read = good_numbers.read(lab)
    assert read == good

    def beside(tests: list[result.TestResult], device: str = "a device") -> list[float | None]:
        return [check.good for check in score.add_good_numbers(tests, read, device)[0].checks]

    assert beside(counted(32)) == [4, 1, 3]
    assert beside(counted(32, limit=9)) == [None, 1, 3]
    assert beside(counted(32), "another") == [None, None, None]
    good_numbers.path(lab).write_bytes(good_numbers.encode(good, ["speed"]))
    assert set((good_numbers.read(lab) or good).tests) == {"speed"}
    good_numbers.path(lab).write_text("{")
    assert good_numbers.read(lab) is None


def test_a_speed_up_is_held_against_where_all_points_begin(lab: Lab) -> None:
    (check,) = by_name(score.score_tests(lab, ALL, "vgpu"))["speed"].checks
    assert (check.now, check.relation, check.limit, check.outcome) == (2.0, "at least", 3.0, "part")


def test_limits_of_questions_are_their_answers_and_stay_out_of_the_result(lab: Lab) -> None:
    item = labs.TestItem("prelab: loads", points=1)
    asked = Lab(lab.name, lab.folder, msgspec.structs.replace(lab.file, test=[item], speed=[]))
    case = Case(name=item.name, status="fail", checks=[JudgeCheck("your answer", 0, "is", 42, "fail")])
    assert score.score_tests(asked, {item.name: case}, "vgpu")[0].checks == []


def test_the_call_for_which_check_ended_the_program_stands_in_the_message(lab: Lab) -> None:
    def told(message: str, output: str) -> result.TestResult:
        ended = Case(name="adds", status="fail", message=message, output=output)
        return by_name(score.score_tests(lab, {**ALL, "adds": ended}, "vgpu"))["adds"]

    ended = "your program called exit(1) inside add"
    call = "add.cu:41: cudaMemcpy(d_b, b, n, cudaMemcpyHostToDevice): invalid argument (cudaErrorInvalidValue)"
    test = told(f"{ended}\n  in add(n = 3)", f"begins\n{call}\n")
    assert (test.message, test.output) == (f"{ended}: {call}\n  in add(n = 3)", "begins")
    assert "Does cudaMalloc set each of the copy's pointers" in test.hint
    symbol = told(ended, "add.cu:41: cudaMemcpyToSymbol(&n, &m, 4): invalid device symbol (cudaErrorInvalidSymbol)")
    assert "without & before it" in symbol.hint
    handle = "add.cu:41: cudaStreamDestroy(s): invalid resource handle (cudaErrorInvalidResourceHandle)"
    assert "cudaStreamCreate" in told(ended, handle).hint
    assert told(ended, "begins").message == ended
    assert told("your program crashed", call).output == call
    assert "cudaMalloc" not in told(ended, call.replace("cudaMemcpy(", "cudaFree(")).hint


def test_what_is_nearly_good_has_a_part_of_the_points(lab: Lab) -> None:
    def points(part: float) -> float:
        nearly = Case(name="adds", status="pass", part=part, message="sectors: 600; all points at 512 or less")
        return by_name(score.score_tests(lab, {**ALL, "adds": nearly}, "vgpu"))["adds"].points

    assert [points(1), points(0.754), points(0.0001), points(0.9999)] == [10, 7.5, 0.1, 10]
    test = by_name(score.score_tests(lab, {**ALL, "adds": Case(name="adds", status="pass", part=0.5)}, "vgpu"))["adds"]
    assert (test.status, test.hint) == ("pass", "Which element is this thread's?")
    failed = Case(name="adds", status="fail", part=0.5)
    assert by_name(score.score_tests(lab, {**ALL, "adds": failed}, "vgpu"))["adds"].points == 0


def test_each_kind_of_device_has_its_curve(lab: Lab) -> None:
    assert by_name(score.score_tests(lab, ALL, "gpu"))["speed"].points == 10


def test_the_weakest_of_several_speedups_counts(lab: Lab) -> None:
    measured = [JudgeMeasurement("speedup", 3.0), JudgeMeasurement("speedup", 1.5), JudgeMeasurement("other", 0.1)]
    cases = {**ALL, "speed": Case(name="speed", status="pass", measurements=measured)}
    assert by_name(score.score_tests(lab, cases, "vgpu"))["speed"].points == 2.5


def test_speed_of_wrong_results_is_worth_nothing(lab: Lab) -> None:
    failed = Case(name="speed", status="fail", measurements=[JudgeMeasurement("speedup", 9.0)])
    assert by_name(score.score_tests(lab, {**ALL, "speed": failed}, "vgpu"))["speed"].points == 0


def test_what_could_not_be_judged_is_an_error(lab: Lab) -> None:
    cases = {"adds": ALL["adds"], "speed": Case(name="speed", status="pass")}
    tests = by_name(score.score_tests(lab, cases, "vgpu"))
    assert tests["adds odd sizes"].status == "error"
    assert tests["speed"].status == "error"
    assert score.total(tests.values()).error_points == 30


def test_a_verdict_without_an_entry_is_loud(lab: Lab) -> None:
    with pytest.raises(GraderError, match="no entry for the test “new”"):
        score.score_tests(lab, {**ALL, "new": Case(name="new", status="pass")}, "vgpu")


def test_public_only(lab: Lab) -> None:
    assert [test.name for test in score.score_tests(lab, ALL, "vgpu", public_only=True)] == ["adds", "speed"]


CURVES = st.lists(
    st.tuples(st.floats(0.01, 1e6), st.floats(0, 1e3)), min_size=1, max_size=6, unique_by=lambda point: point[0]
).map(lambda points: list(zip(sorted(p[0] for p in points), sorted(p[1] for p in points), strict=True)))


@given(curve=CURVES, left=st.floats(0, 1e7), right=st.floats(0, 1e7))
def test_curves_never_fall_and_stay_in_bounds(curve: list[tuple[float, float]], left: float, right: float) -> None:
    assert curve_mistake(curve, curve[-1][1]) == ""
    low, high = sorted((left, right))
    slack = 1e-9 * (1 + curve[-1][1])
    assert curve[0][1] - slack <= score.points_at(curve, low) <= score.points_at(curve, high) + slack
    assert score.points_at(curve, high) <= curve[-1][1] + slack


@given(curve=CURVES)
def test_curves_pass_through_their_points(curve: list[tuple[float, float]]) -> None:
    for value, points in curve:
        assert score.points_at(curve, value) == pytest.approx(points)
