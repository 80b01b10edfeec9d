"""What is given with a lab: its contract, and the course's headers in labs/common."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from lab_builder import lab_builder

from warpgrade.compiling.build import Builder
from warpgrade.intake import intake
from warpgrade.lab import labs
from warpgrade.lab.labs import Lab
from warpgrade.machine.paths import Layout, find_layout

LAYOUT = find_layout()
CODE = "void toy(float*, int) {}\n"


def test_no_submission_brings_a_file_of_its_own_for_one_that_is_given(layout: Layout, lab: Lab, tmp_path: Path) -> None:
    common = layout.labs / "common"
    common.mkdir()
    (common / "check.cuh").write_text("#define CHECK(call) call\n", encoding="utf-8")
    assert [path.name for path in lab.given] == ["toy.h", "check.cuh"]
    assert [found.name for found in labs.discover(layout)] == ["toy"]
    assert lab.allows("tile.cuh")
    assert not lab.allows("check.cuh")
    for name in ("toy.cu", "tile.cuh", "check.cuh"):
        (tmp_path / name).write_text(CODE, encoding="utf-8")
    taken = intake.read(lab, tmp_path)
    assert (sorted(taken.files), taken.ignored) == (["tile.cuh", "toy.cu"], [])


@pytest.fixture(scope="module")
def builder() -> Builder:
    return lab_builder(labs.find(LAYOUT, "reverse"))


OWN = "#define CHECK(call) check(call)\nstatic void check(cudaError_t) {}\n"
USE = "void f() { CHECK(cudaDeviceSynchronize()); }\n"


@pytest.mark.labs
@pytest.mark.parametrize(
    "source",
    [
        '#include "check.cuh"\n' + USE,
        '#include "check.cuh"\n#include "check.cuh"\n' + USE,
        OWN + USE,
        OWN + '#include "check.cuh"\n' + USE,
        '#include "check.cuh"\n#undef CHECK\n' + OWN + USE,
        '#include "check.cuh"\n' + OWN + USE,  # with a warning
    ],
)
def test_students_may_have_a_check_of_their_own(builder: Builder, source: str, tmp_path: Path) -> None:
    builder._compile("reverse.cu", {"reverse.cu": source.encode()}, tmp_path, builder._deadline())
    assert (tmp_path / "reverse.cu.o").is_file()


@pytest.mark.labs
def test_a_call_that_fails_ends_the_program_and_is_named(tmp_path: Path) -> None:
    program = tmp_path / "prog.cu"
    program.write_text(
        '#include "check.cuh"\n'
        "int main() {\n"
        "    CHECK(cudaDeviceSynchronize());\n"
        "    CHECK(cudaMemcpy(nullptr, nullptr, 4, cudaMemcpyKind(9)));\n"
        "    return 7;\n"
        "}\n",
        encoding="utf-8",
    )
    done = subprocess.run(
        [sys.executable, "-m", "warpgrade", "run", "-q", str(program), "-I", str(LAYOUT.labs / "common")],
        capture_output=True, text=True, check=False, timeout=240, cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(LAYOUT.root / "grader")},
    )  # fmt: skip
    assert done.returncode == 1
    assert "prog.cu:4: cudaMemcpy(nullptr, nullptr, 4, cudaMemcpyKind(9)): " in done.stderr
    assert "(cudaErrorInvalidMemcpyDirection)" in done.stderr
