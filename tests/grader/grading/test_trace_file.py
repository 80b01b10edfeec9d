"""Accesses that are recorded while a submission is graded: they change nothing, and are those of public tests."""

from pathlib import Path

import msgspec
import pytest
from traced_launches import traced

from warpgrade.findings.accesses import Traces
from warpgrade.grading import grade, trace_file
from warpgrade.grading.result import Result, Seconds
from warpgrade.intake import intake
from warpgrade.lab import labs
from warpgrade.machine.paths import find_layout

LAYOUT = find_layout()


def graded(name: str, traces: Traces | None) -> Result:
    lab = labs.find(LAYOUT, name)
    submission = intake.read(lab, LAYOUT.references / name)
    return grade.grade(LAYOUT, lab, submission, grade.Options(threads=1, seed=5), traces=traces)


def without_times(result: Result) -> bytes:
    tests = [msgspec.structs.replace(test, seconds=0) for test in result.tests]
    return msgspec.json.encode(
        msgspec.structs.replace(result, tests=tests, started_at="", seconds=Seconds(build=0, judge=0), used=None)
    )


@pytest.mark.labs
def test_a_grade_is_the_same_with_recorded_accesses_and_without_them() -> None:
    traces = Traces()
    with_traces, without = graded("transpose", traces), graded("transpose", None)
    assert without_times(with_traces) == without_times(without)
    assert b'"trace"' not in without_times(with_traces)
    lines = {
        (launch.name.split("(")[0], place.source.strip(), launch.trace.arrays[one.array].memory.name, one.units)
        for launch in traces.kept for one in launch.trace.accesses for place in [launch.trace.lines[one.line]]
    }  # fmt: skip
    store = "if (b_row < columns && b_column < rows) B[b_row * rows + b_column] = tile[threadIdx.x][threadIdx.y];"
    assert ("transpose_shared_kernel", store, "tile", 32) in lines
    few = "if (b_row < columns && b_column < rows) B[b_row * rows + b_column] = tile[threadIdx.x][y];"
    assert ("transpose_padded_kernel", few, "tile", 1) in lines
    assert any(array == "d_A" for _, _, array, _ in lines)


def test_of_hidden_tests_and_of_a_judge_that_was_killed_nothing_is_taken() -> None:
    traces = Traces()
    with trace_file.Recording(traces) as recording:
        option, file = recording.words
        assert option == "--trace-accesses"
        lines = [msgspec.json.encode({"test": name, **traced(name)}) for name in ("public", "hidden")]
        Path(file).write_bytes(b"\n".join([*lines, lines[0].replace(b"public", b"late")[:-9]]))
        recording.read({"public", "late"})
    assert [launch.name for launch in traces.kept] == ["public"]
    assert not Path(file).exists()


def test_without_anybody_who_wants_them_nothing_is_asked_of_the_judge() -> None:
    with trace_file.Recording(None) as recording:
        recording.read(set())
    assert recording.words == []
