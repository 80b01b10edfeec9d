"""Sums, digests and lists at their limits."""

from pathlib import Path

from handed_in import CODE

from warpgrade.grading import recall, review, score
from warpgrade.grading.judge import Case, JudgeMeasurement
from warpgrade.grading.recall import Identity
from warpgrade.grading.submission import Submission
from warpgrade.lab.labs import Lab


def test_digests_tell_names_from_contents() -> None:
    def digest(**files: bytes) -> str:
        return Submission("x", files, []).digest

    assert digest(a=b"1", b=b"2") == digest(b=b"2", a=b"1")
    different = [digest(a=b"1", b=b"2"), digest(a=b"2", b=b"1"), digest(a=b"12"), digest(ab=b"12"), digest(a=b"1")]
    assert len(set(different)) == len(different)


# --- points ----------------------------------------------------------------------------------------------------------


def test_the_end_of_what_was_printed_is_kept(lab: Lab) -> None:
    printed = [f"line {i}" for i in range(60)]
    case = Case(name="adds", status="pass", output="\n".join([*printed, "warpgrade: told elsewhere", "x" * 500]))
    lines = score.score_tests(lab, {"adds": case}, "vgpu")[0].output.split("\n")
    assert lines[:-1] == printed[21:]
    assert 399 <= len(lines[-1]) <= 401


def test_what_is_missing_to_all_points_of_a_speed(lab: Lab) -> None:
    def speed(value: float) -> tuple[float, str, str]:
        case = Case(name="speed", status="pass", measurements=[JudgeMeasurement("speedup", value)])
        test = next(test for test in score.score_tests(lab, {"speed": case}, "vgpu") if test.name == "speed")
        return test.points, test.message, test.hint

    assert speed(0.5)[0] == 0
    assert speed(1.0)[0] == 0
    assert speed(2.999)[0] == 10  # to a tenth of a point
    assert speed(3.0)[:2] == (10, "")
    assert speed(1e9)[:2] == (10, "")
    points, message, _ = speed(1.1)
    assert points == 0.5
    assert message == "1.1× as fast as the starter; points begin above 1×, all 10 at 3×"
    assert speed(1.2345)[1].startswith("1.23× as fast")


def test_sums_are_of_what_is_decided_and_what_is_not(lab: Lab) -> None:
    assert score.total([]).percent == 0
    tests = score.score_tests(lab, {"adds": Case(name="adds", status="pass", part=1 / 3)}, "vgpu")
    total = score.total(tests)
    assert (total.points, total.max_points, total.error_points, total.pending_points) == (3.3, 40, 30, 0)
    assert total.percent == 8.25


# --- what is known already, and what a person looks at ----------------------------------------------------------------


def test_verdicts_are_found_again_by_their_tests_and_errors_are_not(tmp_path: Path) -> None:
    def memory(verdicts: str = "v", **tests: str) -> recall.Recall:
        return recall.Recall(tmp_path, Identity(verdicts, tests, "r", 7))

    files = {"toy.cu": CODE}
    good, bad = Case(name="adds", status="pass"), Case(name="speed", status="error")
    first = memory(adds="1", speed="2")
    assert first.find(files, ["adds"]) == ({}, {})
    first.store(files, {"adds": good, "speed": bad, "unknown": good}, {"name": "H100"})
    assert first.find(files, ["adds", "speed", "unknown"]) == ({"adds": good}, {"name": "H100"})
    assert first.find(files, ["speed"])[0] == {}
    assert memory(adds="3").find(files, ["adds"])[0] == {}  # the test has changed
    assert memory("w", adds="1").find(files, ["adds"])[0] == {}
    assert first.find({"toy.cu": CODE + b"\n"}, ["adds"])[0] == {}
    memory(more="4").store(files, {"more": good}, {})
    both = memory(adds="1", more="4").find(files, ["adds", "more"])
    assert both == ({"adds": good, "more": good}, {"name": "H100"})
    for path in tmp_path.rglob("*.gz"):
        path.write_bytes(path.read_bytes()[:-1])
    assert first.find(files, ["adds"]) == ({}, {})


def test_notes_for_a_person_are_bounded_and_said_once() -> None:
    assert review.list_notes(["a", "b", "a"]) == ["a", "b"]
    assert len(review.list_notes(["x" * 1000])[0]) <= 301
    assert review.list_notes(str(i) for i in range(32)) == [str(i) for i in range(32)]
    assert review.list_notes(str(i) for i in range(35))[31:] == ["31", "and 3 more"]
