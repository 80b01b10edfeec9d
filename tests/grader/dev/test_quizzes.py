"""docs/quizzes.md: points add up, code compiles, the exam's numbers are those that the virtual GPU counts."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from warpgrade.machine.paths import find_layout

ROOT = find_layout().root
PAGE = (ROOT / "docs" / "quizzes.md").read_text(encoding="utf-8")
QUESTIONS = re.findall(r"^\*\*(\d+)\. .*?\*\* .*?\((\d+) points\)\n\n(.*?)(?=^\*\*\d|^#|\Z)", PAGE, re.M | re.S)
PARTS = re.split(r"^## ", PAGE, flags=re.MULTILINE)[1:]
# What the exam's kernels run with: the page says it in words.
MAIN = """
#include <cstdio>
#include <vector>
{code}
int main() {{
    float *a, *b;
    cudaMalloc(&a, 64000 * sizeof(float));
    cudaMalloc(&b, 1000 * sizeof(float));
    cudaMemset(a, 0, 64000 * sizeof(float));
    {launch};
    cudaDeviceSynchronize();
    cudaFree(a);
    cudaFree(b);
}}
"""


def kernel(name: str) -> str:
    return next(str(code) for code in re.findall(r"```cpp\n(.*?)```", PAGE, re.DOTALL) if f"void {name}(" in code)


def run(folder: Path, code: str, launch: str) -> tuple[dict[str, Any], str]:
    """Return the counters of a kernel, and what the checks say."""
    (folder / "exam.cu").write_text(MAIN.format(code=code, launch=launch), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "warpgrade", "run", "--json", str(folder / "p.json"), str(folder / "exam.cu")],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=400,
        env={**os.environ, "PYTHONPATH": str(ROOT / "grader"), "COLUMNS": "200"},
    )  # fmt: skip
    kernels = json.loads((folder / "p.json").read_text())["kernels"]
    return kernels[0]["counters"], done.stdout + done.stderr


def test_each_rubric_adds_up() -> None:
    assert len(QUESTIONS) == 21
    for number, points, rubric in QUESTIONS:
        # “- 1 each: a; b; c.” gives one for each part.
        each = [len(line.split(";")) for line in re.findall(r"^- 1 each: (.*)$", rubric, re.MULTILINE)]
        given = [int(one) for one in re.findall(r"^- (\d): ", rubric, re.MULTILINE)]
        assert sum(given) + sum(each) == int(points), f"question {number}: {rubric[:80]}"


@pytest.mark.parametrize(("part", "points"), [(0, 20), (1, 20), (2, 60)])
def test_quizzes_and_exam_have_the_points_that_they_say(part: int, points: int) -> None:
    assert sum(int(one) for one in re.findall(r"\((\d+) points\)$", PARTS[part], re.MULTILINE)) == points


def test_the_exam_has_what_the_course_promises() -> None:
    course = (ROOT / "docs" / "course.md").read_text(encoding="utf-8")
    assert "](quizzes.md)" in course
    assert re.findall(r"^### Part \d: (.*)$", PARTS[2], re.MULTILINE) == ["predict", "a finding", "limits", "decide"]


@pytest.mark.labs
def test_what_the_first_part_predicts_is_counted(tmp_path: Path) -> None:
    counted, _ = run(tmp_path, kernel("row_sums"), "row_sums<<<8, 128>>>(a, b, 1000, 64)")
    names = ("blocks_launched", "warps_launched", "global_load_requests", "global_load_sectors", "global_store_sectors")
    assert [counted[name] for name in names] == [8, 32, 2048, 64000, 125]
    assert "2,048 requests" in PAGE
    assert "64,000 sectors" in PAGE


@pytest.mark.labs
def test_the_better_kernel_of_the_first_part_loads_as_said(tmp_path: Path) -> None:
    better = """
__global__ void row_sums(const float* a, float* sums, int rows, int columns) {
    const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    float sum = 0;
    for (int c = lane; c < columns; c += 32) sum += a[row * columns + c];
    for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffff, sum, d);
    if (lane == 0) sums[row] = sum;
}
"""
    counted, told = run(tmp_path, better, "row_sums<<<250, 128>>>(a, b, 1000, 64)")
    assert [counted["global_load_requests"], counted["global_load_sectors"]] == [2000, 8000], told
    assert "2,000 requests, and 8,000 sectors" in PAGE


@pytest.mark.labs
def test_the_checks_find_what_the_second_part_says(tmp_path: Path) -> None:
    _, told = run(tmp_path, kernel("smooth"), "smooth<<<2, 128>>>(a, b, 200)")
    shown = re.search(r"The checks say of it:\n\n((?: {4}.*\n|\n)+)", PAGE)
    assert shown
    for line in filter(None, (line.strip() for line in shown[1].splitlines())):
        assert re.sub(r"^\d+ \| +", "", line) in told, line
