"""Recorded accesses: which launch of a kernel is kept, what is refused, and whose lines they are."""

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from traced_launches import access, traced

from warpgrade.findings import accesses
from warpgrade.findings.accesses import Traces
from warpgrade.findings.sources import Sources


def kept(*launches: dict[str, Any]) -> list[accesses.TracedLaunch]:
    traces = Traces()
    for launch in launches:
        traces.add(launch)
    return traces.kept


def test_lanes_have_their_offsets() -> None:
    launch = kept(traced(accesses=[access(0, 0, [(8, 4, 2), (100, -4, 1)], 2, mask=0b10011)]))[0]
    assert list(launch.trace.accesses[0].lanes()) == [(0, 8), (1, 12), (4, 100)]


def test_of_each_kernel_the_launch_with_most_lanes_is_kept_and_of_these_the_first() -> None:
    small = traced("k", accesses=[access(0, 0, [(0, 4, 1)], 1, mask=1)])
    large = traced("k", accesses=[access(0, 0, [(0, 4, 32)], 4)])
    same = traced("k", accesses=[access(0, 0, [(4, 4, 32)], 4)])
    other = traced("other", accesses=[access(1, 0, [(0, 4, 1)], 1, mask=1)])
    found = kept(small, other, {"kernel": "untraced"}, large, same)
    assert [one.name for one in found] == ["k", "other"]
    assert found[0].trace.accesses[0].offsets == [(0, 4, 32)]


@pytest.mark.parametrize(
    "broken",
    [
        {"line": 2}, {"array": 2}, {"mask": 0}, {"mask": 1 << 32}, {"mask": 7}, {"bytes": 0}, {"bytes": 64},
        {"offsets": [(0, -4, 32)]}, {"offsets": [(1 << 60, 0, 32)]}, {"offsets": [(0, 4, 33)]}, {"offsets": "no"},
        {"kind": "<b>"}, {"units": -1},
    ],
)  # fmt: skip
def test_what_does_not_fit_together_is_left_out(broken: dict[str, Any]) -> None:
    good = access(0, 0, [(0, 4, 32)], 4)
    assert kept(traced(accesses=[good]))
    assert not kept(traced(accesses=[good, {**good, **broken}]))


@given(st.recursive(st.none() | st.integers() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(
    st.sampled_from(["lines", "arrays", "accesses", "memory", "offsets"]), inner)))  # fmt: skip
def test_anything_can_be_looked_at(trace: Any) -> None:
    kept({**traced(), "trace": trace})


def test_lines_and_arrays_are_the_users_own() -> None:
    source = "\n\n    a[32 * i] = 1;\n    cudaMalloc(&d_a, 400);\n"
    launch = copy.deepcopy(traced(file="/work/toy.cu"))
    launch["trace"]["arrays"][0]["memory"] |= {"name": "cudaMalloc", "variable": False}
    launch["trace"]["arrays"][0]["memory"]["allocated"] = {"file": "", "line": 0, "code": 77}
    launch["trace"]["lines"][1]["file"] = "/usr/include/cuda_fp16.hpp"
    found = kept(launch)
    assert accesses.codes(found) == [77]
    own = Sources(lambda path: "toy.cu" if path.endswith("toy.cu") else "", lambda name: source.encode())
    trace = accesses.locate(found, own, {77: [("/work/toy.cu", 4)]})[0].trace
    assert [(place.file, place.line, place.source.strip()) for place in trace.lines] == [
        ("toy.cu", 3, "a[32 * i] = 1;"), ("<cuda_fp16.hpp>", 4, ""),
    ]  # fmt: skip
    assert trace.arrays[0].memory.name == "d_a"
    assert trace.arrays[0].memory.variable
