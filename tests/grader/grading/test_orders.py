"""Results that depend on the order of blocks, warps and lanes fail, and the message shows both results."""

from collections.abc import Callable
from pathlib import Path

import pytest

from warpgrade.grading import grade
from warpgrade.grading import result as results
from warpgrade.intake import intake
from warpgrade.lab import labs
from warpgrade.machine.paths import find_layout

pytestmark = pytest.mark.labs

LAYOUT = find_layout()
PUBLIC = "scan adds up the whole array"

# In place of all of `scan`: each block scans its part, and `BEFORE` gives what the blocks before it add up to.
SCAN = """
__global__ void one_launch(const int* x, int* out, int* sums, int n) {
    __shared__ int before;
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int value = scan_of_block(i < n ? x[i] : 0);
    BEFORE
    __syncthreads();
    if (i < n) out[i] = before + value;
}
void scan(const int* x, int* out, int n) {
    on_device(x, out, n, [=](int* d_x, int* d_out) {
        int* sums;
        CHECK(cudaMalloc(&sums, (blocks_for(n) + 1) * sizeof(int)));
        CHECK(cudaMemset(sums, 0, (blocks_for(n) + 1) * sizeof(int)));
        one_launch<<<blocks_for(n), BLOCK_SIZE>>>(d_x, d_out, sums, n);
        CHECK(cudaGetLastError());
        CHECK(cudaFree(sums));
    });
}
"""
# Atomics order nothing, and no check finds a race: the blocks before are those that have arrived.
BY_ARRIVAL = "if (threadIdx.x == BLOCK_SIZE - 1) before = atomicAdd(&sums[0], value);"
# A race in global memory.
FROM_THE_BLOCK_BEFORE = """if (threadIdx.x == BLOCK_SIZE - 1) {
        before = blockIdx.x ? sums[blockIdx.x - 1] : 0;
        sums[blockIdx.x] = before + value;
    }"""
# Right: the number of a block is that of its arrival, and each waits for the one before.
BY_WAITING = """if (threadIdx.x == BLOCK_SIZE - 1) {
        volatile int* const ready = sums;
        int sum = 0;
        if (blockIdx.x)
            while ((sum = ready[blockIdx.x]) == 0) {}
        before = sum - (blockIdx.x ? 1 << 30 : 0);
        ready[blockIdx.x + 1] = (1 << 30) + before + value;
    }"""
# In place of the loop of `reduce_sequential`: the lanes of the last warp do not wait for each other.
STEP = "for (int stride = blockDim.x / 2; stride >= 1; stride /= 2) {\n        __syncthreads();"
LAST_WARP = STEP.replace("__syncthreads();", "if (stride >= 32) __syncthreads();")


def submitted(folder: Path, lab: str, change: Callable[[str], str]) -> Path:
    for path in (LAYOUT.references / lab).iterdir():
        text = path.read_text(encoding="utf-8")
        (folder / path.name).write_text(change(text) if path.suffix == ".cu" else text, encoding="utf-8")
    return folder


def scan_with(before: str) -> Callable[[str], str]:
    def change(text: str) -> str:
        at = text.index("void scan(const int* x")
        return text[:at] + SCAN.replace("BEFORE", before)

    return change


def only_test(folder: Path, lab: str, name: str) -> results.TestResult:
    found = labs.find(LAYOUT, lab)
    options = grade.Options(threads=1, seed=5, only=(name,))
    result = grade.grade(LAYOUT, found, intake.read(found, folder), options)
    return next(test for test in result.tests if test.name == name)


def test_sums_in_the_order_of_arrival_are_shown_side_by_side_without_a_race(tmp_path: Path) -> None:
    test = only_test(submitted(tmp_path, "scan", scan_with(BY_ARRIVAL)), "scan", PUBLIC)
    assert (test.status, test.signs, test.diagnostics) == ("fail", ["order"], [])
    first = test.message.split("\n\n")[0].splitlines()
    assert first[0] == (
        "out: right if blocks, warps and lanes run in the order of their numbers, but they may run in any order. "
        "With the last ones first, 1000 of 1000 elements are wrong:"
    )
    assert first[1].split() == ["expected", "in", "order", "last", "first"]
    place, expected, forward, other = first[2].split()
    assert place == "[0]"
    assert expected == forward != other
    assert first[-1] == "  in scan(x: 1000 int, out: 1000 int, n = 1000)"


def test_the_lines_that_nothing_orders_are_named_where_a_check_knows_them(tmp_path: Path) -> None:
    test = only_test(submitted(tmp_path, "scan", scan_with(FROM_THE_BLOCK_BEFORE)), "scan", PUBLIC)
    lines = (tmp_path / "scan.cu").read_text(encoding="utf-8").splitlines()
    read = 1 + next(i for i, line in enumerate(lines) if "? sums[blockIdx.x - 1]" in line and "before =" in line)
    assert f"Nothing orders the accesses at scan.cu:{read} and scan.cu:{read + 1} (racecheck/global)" in test.message
    assert "With the last ones first" in test.message
    assert test.status == "fail"


def test_lanes_that_do_not_wait_for_each_other(tmp_path: Path) -> None:
    folder = submitted(tmp_path, "reduction", lambda text: text.replace(STEP, LAST_WARP))
    test = only_test(folder, "reduction", "reduce_sequential adds up")
    assert (test.status, test.signs) == ("fail", ["order"])
    assert "With the last ones far ahead it is wrong:" in test.message
    assert "(racecheck/warp)" in test.message


def test_blocks_may_wait_for_earlier_ones(tmp_path: Path) -> None:
    test = only_test(submitted(tmp_path, "scan", scan_with(BY_WAITING)), "scan", PUBLIC)
    assert test.status == "pass", test.message
