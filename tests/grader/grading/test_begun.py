"""Which functions a student has begun: told by their sources, whatever these look like."""

from typing import Literal

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from samples import GRADED

from warpgrade.grading import begun, grade
from warpgrade.grading import result as results
from warpgrade.grading.begun import Definitions
from warpgrade.lab import labs, right, variant, wrong
from warpgrade.lab.labs import Lab
from warpgrade.lab.starter import reference_files
from warpgrade.machine.confined import Allowance
from warpgrade.machine.paths import find_layout

STARTER = """\
#include "sum.h"
using Kernel = void (*)(int* x);
static void run(Kernel kernel, int* x) { kernel<<<1, 32>>>(x); }
__global__ void plain_kernel(int* x) { x[0] = '{'; }
void plain(int* x) { run(plain_kernel, x); }
__global__ void shared_kernel(int* x) {
    // TODO(student): a tile
}
void shared(int* x) {
    // TODO(student): launch shared_kernel
    run(plain_kernel, x);
}
// TODO(student): two things at once
__global__ void __launch_bounds__(32) wide_kernel(int* x) { x[1] = 0; }
namespace {
void wide_host(int* x) { run(wide_kernel, x); }
}  // namespace
void wide(int* x) { wide_host(x); }
"""
ANSWERS = "int loads(int n) { return 0; }\nint stores(int n) { return loads(n); }\n"
FUNCTIONS = ("plain", "shared", "wide", "loads", "stores")


def left(code: str, answers: str = ANSWERS) -> list[str]:
    mine, start = ({"sum.cu": one, "prelab.cpp": two} for one, two in ((code, answers), (STARTER, ANSWERS)))
    return list(begun.not_begun(Definitions(mine), Definitions(start), "sum.cu", list(FUNCTIONS)))


def test_nothing_is_begun_in_the_starter_but_what_is_given() -> None:
    assert left(STARTER) == ["shared", "wide", "loads", "stores"]


def test_a_comment_or_another_layout_begins_nothing() -> None:
    assert left(STARTER.replace("// TODO(student): a tile", "/* later { */").replace("  ", "\t ")) == left(STARTER)


def test_a_kernel_that_is_written_but_not_launched_is_not_begun() -> None:
    written = STARTER.replace("// TODO(student): a tile", "x[0] = 7;")
    assert "shared" in left(written)
    launched = written.replace("// TODO(student): launch shared_kernel\n    run(plain", "run(shared")
    assert left(launched) == ["wide", "loads", "stores"]


def idle(code: str) -> dict[str, str]:
    mine, start = Definitions({"sum.cu": code}), Definitions({"sum.cu": STARTER})
    return begun.idle_kernels(mine, start, ["plain", "shared", "wide"])


WRITTEN = STARTER.replace("// TODO(student): a tile", "x[0] = 7;")


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        (STARTER, {}),  # nobody has written a kernel
        (WRITTEN, {"shared": "shared_kernel"}),
        (WRITTEN.replace("run(plain_kernel, x);\n}\n//", "run(shared_kernel, x);\n}\n//"), {}),
        (WRITTEN.replace("shared_kernel(int", "fast_shared_kernel(int"), {"shared": "fast_shared_kernel"}),
        (WRITTEN.replace("shared_kernel(int", "s(int"), {}),  # whose it is, its name does not say
        (WRITTEN.replace("void wide(int* x) {", "void wide(int* x) { run(shared_kernel, x);"), {}),
        (WRITTEN.replace("void shared(int", "using K = Kernel;\nK chosen = shared_kernel;\nvoid shared(int")
            .replace("run(plain_kernel, x);\n}\n//", "run(chosen, x);\n}\n//"), {}),
    ],
)  # fmt: skip
def test_kernels_that_are_written_and_never_launched_are_found(code: str, expected: dict[str, str]) -> None:
    assert idle(code) == expected


# These call an earlier version in the place of their own kernel.
NOT_LAUNCHED = {
    "convolution/naive_version_called", "histogram/few_by_atomics", "histogram/global_again", "matmul/naive",
    "matmul/rows_again", "reduction/still_bank_conflicts", "reduction/version_3_twice", "step/one_result_a_thread",
    "step/v4_is_v2", "step/version_3_twice",
}  # fmt: skip


@pytest.mark.parametrize("lab", labs.discover(find_layout()), ids=lambda lab: lab.name)
def test_of_all_solutions_those_that_call_an_earlier_version_are_asked(lab: Lab) -> None:
    start = Definitions({name: content.decode() for name, content in grade.starter_files(lab).items()})
    solutions = {"reference": {path.name: path.read_text("utf-8") for path in reference_files(lab)}}
    solutions |= {name: variant.files(lab, right.find(lab, name)) for name in right.names(lab)}
    solutions |= {f"{lab.name}/{name}": variant.files(lab, wrong.find(lab, name)) for name in wrong.names(lab)}
    functions = lab.file.lab.functions
    found = {name for name, files in solutions.items() if begun.idle_kernels(Definitions(files), start, functions)}
    assert found == {name for name in NOT_LAUNCHED if name.startswith(f"{lab.name}/")}


def test_of_several_names_the_likest_is_meant() -> None:
    functions = ["scan", "warp_scan", "block_scan"]
    code = "__global__ void warp_scan_kernel() { a(); }\n__global__ void scan_kernel() { b(); }\n"
    assert begun.idle_kernels(Definitions({"a.cu": code}), Definitions({"a.cu": ""}), functions) == {
        "warp_scan": "warp_scan_kernel", "scan": "scan_kernel",
    }  # fmt: skip


@pytest.mark.parametrize(("points", "status", "asked"), [(0, "fail", True), (5, "pass", True), (10, "pass", False)])
def test_a_lost_test_asks_whether_the_kernel_is_launched(
    points: float, status: Literal["pass", "fail"], asked: bool
) -> None:
    test = msgspec.structs.replace(
        GRADED.tests[0], name="shared adds", status=status, points=points, max_points=10, hint="Look at the barriers."
    )
    files, starter = {"sum.cu": WRITTEN.encode()}, {"sum.cu": STARTER.encode()}
    (after,) = begun.mark([test], {test.name: ["shared"]}, files, starter, "sum.cu", Allowance())
    told = "Is your kernel launched at all? shared_kernel is written, and nothing that shared calls seems to launch it."
    assert after.hint == (told if asked else test.hint)
    (other,) = begun.mark([test], {test.name: ["plain"]}, files, starter, "sum.cu", Allowance())
    assert other.hint == test.hint


def test_a_kernel_of_a_hostile_name_is_told_shortly() -> None:
    code = STARTER + f"__global__ void {'x' * 100_000}_shared_kernel(int* x) {{ x[0] = 1; }}\n"
    assert all(len(name) <= 60 for name in idle(code).values())


def test_what_a_function_reaches_counts_through_any_number_of_calls() -> None:
    assert left(STARTER.replace("x[1] = 0", "x[1] = 1")) == ["shared", "loads", "stores"]
    assert left(STARTER, ANSWERS.replace("return 0", "return n")) == ["shared", "wide"]


def test_what_cannot_be_found_counts_as_begun() -> None:
    assert "shared" not in left(STARTER.replace("void shared(int", "#define F shared\nvoid F(int"))
    assert left("") == ["loads", "stores"]


@given(st.text("(){};\"'#/*\\\nab=<> :"))
def test_no_text_is_too_strange(text: str) -> None:
    left(text)
    left(STARTER + text)


@pytest.mark.parametrize("piece", ["(", "{", "/*", '"', "#\\\n", "a", "a(", "f(){}", "namespace a{", "a b", " "])
def test_long_sources_are_read_in_the_time_that_a_submission_has(piece: str) -> None:
    files = {"sum.cu": (STARTER + piece * 300_000).encode()}
    starter = {"sum.cu": STARTER.encode()}
    test = GRADED.tests[0]
    (after,) = begun.mark([test], {test.name: ["shared"]}, files, starter, "sum.cu", Allowance())
    assert not after.begun


def marked(name: str, functions: list[str]) -> results.TestResult:
    test = msgspec.structs.replace(GRADED.tests[0], name=name)
    files = {"sum.cu": STARTER.encode(), "prelab.cpp": ANSWERS.replace("return 0", "return n").encode()}
    starter = {"sum.cu": STARTER.encode(), "prelab.cpp": ANSWERS.encode()}
    return begun.mark([test], {name: functions}, files, starter, "sum.cu", Allowance())[0]


def test_a_test_is_begun_if_all_its_functions_are_and_a_question_if_its_answers_are() -> None:
    assert marked("plain adds", ["plain"]).begun
    assert not marked("all add", ["plain", "shared"]).begun
    assert marked("prelab: loads", ["loads", "shared"]).begun
    unanswered = begun.mark(
        [msgspec.structs.replace(GRADED.tests[0], name="prelab: loads")], {"prelab: loads": ["loads", "plain"]},
        {"prelab.cpp": ANSWERS.encode()}, {"prelab.cpp": ANSWERS.encode()}, "sum.cu", Allowance(),
    )  # fmt: skip
    assert not unanswered[0].begun


def test_without_time_all_counts_as_begun() -> None:
    test = GRADED.tests[0]
    files = {"sum.cu": STARTER.encode()}
    assert begun.mark([test], {test.name: ["shared"]}, files, files, "sum.cu", Allowance(seconds=0))[0].begun
