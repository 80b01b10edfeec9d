"""The whole path with nvcc, the sandbox, the judges and the virtual GPU: what `./warpgrade grade` does for real."""

import json
import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from subprocess import CompletedProcess

import jsonschema
import known_numbers
import pytest
from _pytest.mark import ParameterSet
from seeds import SEED

from warpgrade.dev import prove
from warpgrade.grading import grade, result
from warpgrade.grading.result import Result
from warpgrade.intake import intake
from warpgrade.lab import labs, right, wrong
from warpgrade.lab.labs import Lab
from warpgrade.machine.errors import GraderError
from warpgrade.machine.paths import find_layout

pytestmark = pytest.mark.labs

LAYOUT = find_layout()
LABS = labs.discover(LAYOUT)


def _wrong() -> Iterator[ParameterSet]:
    """Yield all wrong solutions; for each commit as many as it takes for each of a lab's tests to be lost twice."""
    for lab in LABS:
        lost: Counter[str] = Counter()
        for name in wrong.names(lab):
            try:
                loses = set(wrong.find(lab, name).loses)
            except GraderError:
                loses = {name}  # the proof says why
            marks = [] if any(lost[test] < 2 for test in loses) else [pytest.mark.nightly]
            lost.update(loses)
            yield pytest.param(lab, name, id=f"{lab.name}-{name}", marks=marks)


def _right() -> Iterator[ParameterSet]:
    """Yield all other right solutions; for each commit every third one of a lab."""
    for lab in LABS:
        for number, name in enumerate(right.names(lab)):
            yield pytest.param(lab, name, id=f"{lab.name}-{name}", marks=[pytest.mark.nightly] if number % 3 else [])


# Several tests run at a time: a device with threads of its own would only get into their way.
ALONE = grade.Options(threads=1, seed=SEED)
by_name = pytest.mark.parametrize("lab", LABS, ids=lambda lab: lab.name)


def graded(lab: Lab, path: Path, **options: object) -> Result:
    return grade.grade(LAYOUT, lab, intake.read(lab, path), grade.Options(**options))  # type: ignore[arg-type]


def story(result: Result) -> str:
    """Say what went wrong, for the assertion's message."""
    lines = [str(result.problem)] if result.problem else []
    lines += [
        f"{t.status} {t.points}/{t.max_points} {t.name}: {t.message}" for t in result.tests if t.points < t.max_points
    ]
    return "\n".join(lines)


@by_name
def test_the_reference_scores_full_and_the_checks_find_nothing(lab: Lab) -> None:
    assert prove.reference(LAYOUT, lab, ALONE) == ""


@by_name
def test_the_starter_scores_its_declared_baseline_and_the_checks_find_nothing(lab: Lab) -> None:
    assert prove.baseline(LAYOUT, lab, ALONE) == ""


@pytest.mark.parametrize(("lab", "name"), list(_wrong()))
def test_a_wrong_solution_loses_exactly_what_it_names(lab: Lab, name: str) -> None:
    assert prove.wrong_solution(LAYOUT, lab, name, ALONE) == ""


@pytest.mark.parametrize(("lab", "name"), list(_right()))
def test_another_right_way_gets_its_points_and_the_checks_find_nothing(lab: Lab, name: str) -> None:
    assert prove.right_solution(LAYOUT, lab, name, ALONE) == ""


@by_name
def test_a_replay_gives_the_same_whatever_the_number_of_threads_and_the_machine(lab: Lab) -> None:
    first, second = (graded(lab, LAYOUT.references / lab.name, seed=5, threads=threads) for threads in (1, 4))
    assert first.seed == second.seed == 5
    for one, other in zip(first.tests, second.tests, strict=True):
        assert (one.points, one.measurements, one.launches) == (other.points, other.measurements, other.launches)
    known_numbers.check("grades.tsv", {f"{lab.name}: {test.name}": _numbers(test) for test in first.tests})


def _numbers(test: result.TestResult) -> str:
    """Return points, measurements and a digest of all that was counted and found in a test."""
    measured = ", ".join(f"{one.name} {one.value:.6g} {one.unit}" for one in test.measurements)
    counted = known_numbers.digest(test.points, test.message, test.measurements, test.launches, test.diagnostics)
    return f"{test.points:g}\t{measured}\t{counted}"


def launch(*arguments: str | Path, folder: Path | None = None, root: Path = LAYOUT.root) -> CompletedProcess[str]:
    return subprocess.run(
        [str(root / "warpgrade"), *map(str, arguments)],
        cwd=folder or root, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL,
    )  # fmt: skip


@pytest.mark.nightly  # each commit sets up from nothing anyway, with the tests
def test_the_first_command_of_the_readme_in_a_fresh_checkout(tmp_path: Path) -> None:
    # Configures and builds from nothing. What it compiles, ccache has from this checkout's own build.
    root = tmp_path / "warpgrade"
    shutil.copytree(LAYOUT.root, root, symlinks=True, ignore=_not_handed_on)
    (root / ".venv").symlink_to(LAYOUT.root / ".venv")
    done = launch("grade", "matmul", "reference/matmul", root=root)
    assert done.returncode == 0, done.stderr
    assert "100 / 100" in done.stdout, done.stdout + done.stderr
    assert "building the C++ part" in done.stderr
    assert "building the judge of lab matmul" in done.stderr
    programs = {path.name for path in (root / "build" / "release" / "bin").iterdir()}
    # The spawner is carried by warpgrade-sandbox in its own file.
    ours = {f"warpgrade-{name}" for name in ("device", "sandbox", "spawner")}
    assert programs == {*ours, "judge-matmul"}
    again = launch("grade", "matmul", "reference/matmul", root=root)
    assert "100 / 100" in again.stdout, again.stderr
    assert "building" not in again.stderr


def _not_handed_on(folder: str, names: list[str]) -> set[str]:
    """Leave out what git ignores and what only a machine with our history has."""
    made = {"build", ".git", ".venv", ".cuda", ".state"} if Path(folder) == LAYOUT.root else set()
    return made.union(name for name in names if name == "__pycache__" or name.endswith("_cache"))


def test_this_checkouts_build_serves_its_first_command() -> None:
    # Tests and commands share one build folder: nothing is compiled twice.
    done = launch("grade", "matmul", "reference/matmul")
    assert done.returncode == 0, done.stderr
    assert "100 / 100" in done.stdout, done.stdout + done.stderr
    assert "building" not in done.stderr


def test_json_of_a_real_run_matches_the_schema_and_names_source_lines() -> None:
    done = launch("grade", "matmul", "starter/matmul", "--json", "-", "--seed", "3")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    jsonschema.validate(document, json.loads(result.json_schema()))
    lines = [line for test in document["tests"] for launched in test["launches"] for line in launched["lines"]]
    assert {line["file"] for line in lines} == {"matmul.cu"}


def test_check_in_a_students_folder(tmp_path: Path) -> None:
    (tmp_path / "matmul.cu").write_bytes((LAYOUT.starters / "matmul" / "matmul.cu").read_bytes())
    done = launch("check", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "hint: " in done.stdout
    hidden = [item.name for item in labs.find(LAYOUT, "matmul").items if item.hidden]
    assert not any(name in done.stdout for name in hidden)


REFUSED = "matmul.cu does not compile"
STARTER = (LAYOUT.starters / "matmul" / "matmul.cu").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("source", "message", "detail"),
    [
        (STARTER.replace("float* C", "flot* C"), REFUSED, 'matmul.cu(*): error: identifier "flot"'),
        (STARTER + "\n#error \x1b[31mred\n", REFUSED, "#error"),
        (STARTER + '\n#include "public.cpp"\n', REFUSED, "public.cpp: No such file"),
        (STARTER + f'\n#include "{LAYOUT.root}/labs/matmul/tests/hidden.cpp"\n', REFUSED, "No such file"),
        (STARTER + '\nasm(".incbin \\"/etc/passwd\\"");\n', REFUSED, ""),
        (STARTER + '\n#include "matmul.cu"\n', REFUSED, ""),
        (STARTER + "\nint main() {}\n", "your file defines main()", ""),
        (re.sub(r"\bmatmul_tiled\(", "MatMul_Tiled(", STARTER), "your file has MatMul_Tiled(", ""),
        (STARTER.replace("matmul_tiled(const float*", "matmul_tiled(float*"), "is not defined as matmul.h", ""),
        (STARTER + "\nvoid other();\nstruct S { S() { other(); } } s;\n", "other() is declared and used", ""),
    ],
)  # fmt: skip
def test_what_a_compiler_refuses_is_told_in_its_own_words(
    source: str, message: str, detail: str, tmp_path: Path
) -> None:
    (tmp_path / "matmul.cu").write_text(source, encoding="utf-8")
    outcome = graded(labs.find(LAYOUT, "matmul"), tmp_path)
    assert outcome.status == "rejected"
    assert outcome.score.points == 0
    assert outcome.problem is not None
    assert message in outcome.problem.message
    assert re.search(re.escape(detail).replace(r"\*", r"\d+"), outcome.problem.detail)
    assert "\x1b" not in outcome.problem.detail
    assert "warpgrade-compile" not in outcome.problem.detail
    assert "root:" not in outcome.problem.detail


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("std::exit(0);", ""),
        ("std::abort();", ""),
        ("*(volatile int*)nullptr = 1;", ""),
        ("for (long i = 0; i < 100000; ++i) std::puts(\"all tests passed\"); std::_Exit(0);", ""),
    ],
    ids=["early exit", "abort", "null pointer", "flood"],
)  # fmt: skip
def test_a_submission_that_ends_early_fails_each_test_with_a_reason(body: str, message: str, tmp_path: Path) -> None:
    head = "#include <cstdio>\n#include <cstdlib>\n"
    lab = labs.find(LAYOUT, "matmul")
    parameters = "const float*, const float*, float*, int, int, int"
    functions = [f"void {name}({parameters}) {{ {body} }}\n" for name in lab.file.lab.functions]
    (tmp_path / "matmul.cu").write_text(head + "".join(functions), encoding="utf-8")
    outcome = graded(lab, tmp_path)
    assert outcome.status == "graded", story(outcome)
    assert outcome.score.points == 0
    assert all(test.status == "fail" and test.message for test in outcome.tests), story(outcome)
    assert all(message in test.message for test in outcome.tests)


def test_what_the_virtual_gpu_does_not_support_is_an_error_never_a_failure(tmp_path: Path) -> None:
    text = """
__global__ void k(float* C, int n) {
    auto* mine = static_cast<float*>(__builtin_alloca(n * sizeof(float)));
    for (int i = 0; i < n; ++i) mine[i] = C[i];
    C[0] = mine[n / 2];
}
void matmul_rows(const float*, const float*, float* C, int m, int k_, int n) {
    float* d = nullptr;
    cudaMalloc(&d, sizeof(float) * m * n + 4);
    k<<<1, 1>>>(d, n);
    cudaMemcpy(C, d, sizeof(float) * m * n, cudaMemcpyDeviceToHost);
}
void matmul_columns(const float*, const float*, float*, int, int, int) {}
void matmul_one_block(const float*, const float*, float*, int, int, int) {}
void matmul_tiled(const float*, const float*, float*, int, int, int) {}
void matmul_registers(const float*, const float*, float*, int, int, int) {}
"""
    (tmp_path / "matmul.cu").write_text(text, encoding="utf-8")
    outcome = graded(labs.find(LAYOUT, "matmul"), tmp_path)
    first = next(test for test in outcome.tests if test.name == "matmul_rows multiplies")
    assert first.status == "error", story(outcome)
    assert "matmul.cu:3" in first.message
    assert "alloca" in first.message
