"""Sources that aim at compiler, linker and report: refused with the reason, and none of it is the grader's error."""

import io
import re
from pathlib import Path

import pytest
from rich.console import Console
from seeds import SEED

from warpgrade.grading import grade, result
from warpgrade.intake import intake
from warpgrade.lab import labs
from warpgrade.machine.paths import find_layout
from warpgrade.report import terminal

pytestmark = pytest.mark.labs

LAYOUT = find_layout()
FIXTURES = sorted(path for kind in ("link", "text") for path in Path(__file__).parent.glob(f"{kind}_*.cu"))
HEAD = re.compile(
    r"// ATTACK: at most 0 - .+\n// EXPECT: (?P<status>\w+): (?P<message>.+)\n(?:// REVIEW: (?P<review>.+)\n)?"
)
# Of the machine, of other files, and what a terminal or a build service would act on.
NEVER = re.compile(
    r"root:x:|ext4|overlay|hidden\.cpp|GNU GENERAL|warpgrade-compile|\.state/|\x1b|\x9b|[\u200b-\u202e]|##\[|^\s*::",
    re.MULTILINE,
)


@pytest.mark.parametrize("path", FIXTURES, ids=lambda path: path.stem)
def test_what_no_lab_needs_is_refused(path: Path, tmp_path: Path) -> None:
    head = HEAD.match(path.read_text(encoding="utf-8"))
    assert head is not None, "the first lines must say what the attack is and what it must get"
    lab = labs.find(LAYOUT, "matmul")
    (tmp_path / lab.main_file).write_bytes(path.read_bytes())
    outcome = grade.grade(LAYOUT, lab, intake.read(lab, tmp_path), grade.Options(seed=SEED))
    assert outcome.status == head["status"]
    assert outcome.score.points == 0
    assert outcome.score.error_points == 0
    assert outcome.problem is not None
    assert head["message"] in outcome.problem.message
    assert (head["review"] or "") in " ".join(outcome.review)
    assert bool(outcome.review) == bool(head["review"])
    out = io.StringIO()
    terminal.show(Console(file=out, width=100), outcome)
    for words in (out.getvalue(), outcome.problem.message, outcome.problem.detail):
        assert not NEVER.search(words), words
        assert len(words) < 30_000
    result.decode(result.encode(outcome))


def test_an_honest_file_of_everything_that_the_language_has_is_linked(tmp_path: Path) -> None:
    """Templates, thread-local, unique and managed variables, exceptions, constructors: each has sections of its own."""
    text = """
#include <iostream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>
template <class T> struct Once {
    static inline T value = T(3);
    static T& get() { static T mine = value; return mine; }
};
thread_local std::string local = "local";
inline int counter = 1;
__managed__ int managed = 4;
__constant__ float constant[4] = {1, 2, 3, 4};
__device__ int global_counter;
struct Early { Early() { if (std::getenv("NOTHING")) std::cout << "early" << std::endl; } ~Early() {} } early;
template <int N> __global__ void fill(float* c) { extern __shared__ int s[]; c[N] = constant[N]; }
static const double table[] = {1.5, 2.5};
static int guarded(int n) { try { if (n > 100000) throw std::runtime_error(local); } catch (const std::exception&) {}
  switch (n) { case 1: return 3; case 2: return 7; case 3: return 1; case 4: return 9; case 5: return 4; } return n; }
#define FUNCTION(name) void name(const float*, const float*, float*, int m, int, int) { \\
    std::vector<int> v(m, guarded(m)); \\
    std::thread([&] { local += 'x'; v[0] = Once<int>::get() + counter + int(table[m & 1]); }).join(); \\
    if (m < 0) fill<2><<<1, 1>>>(nullptr); }
FUNCTION(matmul_rows) FUNCTION(matmul_columns) FUNCTION(matmul_one_block) FUNCTION(matmul_tiled)
FUNCTION(matmul_registers)
"""
    lab = labs.find(LAYOUT, "matmul")
    (tmp_path / lab.main_file).write_text(text, encoding="utf-8")
    outcome = grade.grade(LAYOUT, lab, intake.read(lab, tmp_path), grade.Options(seed=SEED, public_only=True))
    assert outcome.status == "graded", outcome.problem
    assert outcome.review == []
