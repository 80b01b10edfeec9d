"""Barriers under conditions that nobody noticed, as findings."""

import re

import msgspec
from samples import RACE

from warpgrade.findings import conditional, sources
from warpgrade.findings.diagnosis import Diagnostic, Place

MERGED = b"""\
#include "part.cuh"
template <int N>
__global__ void reverse(int* d, int n) {
    __shared__ int s[N];
    int t = threadIdx.x;
    if (t < n) {
        s[t] = d[t];
        __syncthreads();
    }
    if (t < n) d[t] = s[n - 1 - t];
}
__global__ void caller(int* d) { helper(d); }
__global__ void never(int* d) { if (threadIdx.x) __syncthreads(); }
"""
PART = b"__device__ void helper(int* d) {\n    for (int i = threadIdx.x; i < 9; ++i) __syncthreads();\n}\n"
OWN = sources.submission_sources({"r.cu": MERGED, "part.cuh": PART}, re.compile("^/submission/"), lambda path: False)
FILES = ["r.cu", "part.cuh"]


def look(found: list[Diagnostic], *launched: str) -> list[tuple[str, int]]:
    return [
        (one.place.file, one.place.line) for one in conditional.find_conditional_barriers(found, launched, OWN, FILES)
    ]


def test_only_kernels_that_ran_and_what_they_call() -> None:
    assert look([], "void reverse<64>(int*, int)") == [("r.cu", 8)]
    assert look([], "caller(int*)") == [("part.cuh", 2)]
    assert look([]) == []


def test_the_words() -> None:
    (one,) = conditional.find_conditional_barriers([], ["reverse<64>"], OWN, FILES)
    assert (one.severity, one.rule, one.kernel, one.thread) == ("warning", conditional.RULE, "reverse", None)
    assert one.message == "stands in an if that not all threads of the block need enter: `t < n`"
    assert one.place == Place("r.cu", 8, source="        __syncthreads();")
    assert [other.place for other in one.related] == [Place("r.cu", 6, source="    if (t < n) {")]
    assert "move it out of the if" in one.help


def test_what_synccheck_has_said_is_not_said_again() -> None:
    said = msgspec.structs.replace(RACE, rule="synccheck/divergent-barrier", kernel="reverse<64>(int*, int)")
    assert look([said], "reverse<64>(int*, int)", "caller") == [("part.cuh", 2)]
    assert look([RACE], "reverse<64>(int*, int)") == [("r.cu", 8)]


def test_the_check_is_one_of_synccheck() -> None:
    assert [conditional.is_wanted(checks) for checks in ("all", "none", "race,sync", "race")] == [
        True, False, True, False,
    ]  # fmt: skip
