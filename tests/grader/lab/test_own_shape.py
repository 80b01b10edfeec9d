"""A lab that stands alone, with a given host program and data files: graded by its folder, and handed out."""

import struct
from pathlib import Path

import pytest
from seeds import SEED

from warpgrade.grading import grade
from warpgrade.handout import leaks, make
from warpgrade.intake import intake
from warpgrade.lab import labs
from warpgrade.lab.labs import Lab
from warpgrade.machine.paths import find_layout

LAYOUT = find_layout()

FILES = {
    "lab.toml": """[lab]
title = "One stage of a pipeline"
order = 1
summary = "The host program is given."
files = ["kernel.cu"]
functions = ["doubled"]

[baseline]
points = 0

[[test]]
name = "doubles the file's values"
points = 60

[[test]]
name = "doubles other values"
points = 40
hidden = true
""",
    "stage.h": "void doubled(const float* in, float* out, int n);\n",
    "README.md": "# One stage of a pipeline\n\nWrite `launch_twice` in `kernel.cu`.\n",
    "given/stage.cuh": "void launch_twice(const float* d_in, float* d_out, int n);\n",
    "given/host.cu": """#include "stage.cuh"
#include "stage.h"

void doubled(const float* in, float* out, int n) {
    float *d_in, *d_out;
    cudaMalloc(&d_in, n * sizeof(float));
    cudaMalloc(&d_out, n * sizeof(float));
    cudaMemcpy(d_in, in, n * sizeof(float), cudaMemcpyHostToDevice);
    launch_twice(d_in, d_out, n);
    cudaMemcpy(out, d_out, n * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(d_in);
    cudaFree(d_out);
}
""",
    "reference/kernel.cu": """#include "stage.cuh"

__global__ void twice(const float* in, float* out, int n) {
    // SOLUTION BEGIN
    // TODO(student): double each element.
    const int element = blockIdx.x * blockDim.x + threadIdx.x;
    if (element < n) out[element] = 2 * in[element];
    // SOLUTION END
}

void launch_twice(const float* d_in, float* d_out, int n) { twice<<<(n + 127) / 128, 128>>>(d_in, d_out, n); }
""",
    "starter/kernel.cu": """#include "stage.cuh"

__global__ void twice(const float* in, float* out, int n) {
    // TODO(student): double each element.
}

void launch_twice(const float* d_in, float* d_out, int n) { twice<<<(n + 127) / 128, 128>>>(d_in, d_out, n); }
""",
    "tests/check_file.hpp": """#include <cstring>

#include "judge/judge.hpp"
#include "stage.h"

inline void check_file(const char* name) {
    using namespace warpgrade::judge;
    const auto bytes = data_file(name);
    std::vector<float> values(bytes.size() / sizeof(float)), expected;
    std::memcpy(values.data(), bytes.data(), bytes.size());
    for (const float value : values) expected.push_back(2 * value);
    const int n = static_cast<int>(values.size());
    CHECK_THAT(submission().call<doubled>(in(values), out<float>(n), n), equals_exactly(expected));
}
""",
    "tests/public.cpp": """#include "check_file.hpp"

TEST_CASE("doubles the file's values", "[public]") { check_file("values.bin"); }
""",
    "tests/hidden.cpp": """#include "check_file.hpp"

TEST_CASE("doubles other values", "[hidden]") { check_file("hidden.bin"); }
""",
}


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    folder = tmp_path / "stage"
    for name, text in FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    (folder / "data").mkdir()
    for name, start in (("values.bin", 1), ("hidden.bin", 77)):
        (folder / "data" / name).write_bytes(struct.pack("200f", *(start + i / 4 for i in range(200))))
    return labs.find(LAYOUT, f"{folder}/")


def test_what_is_given_is_not_the_students(lab: Lab) -> None:
    assert [path.name for path in lab.given] == ["stage.h", "host.cu", "stage.cuh"]
    assert not lab.allows("host.cu")
    assert lab.starter_folder == lab.folder / "starter"
    assert lab.reference_folder == lab.folder / "reference"


def test_hidden_data_is_a_secret(lab: Lab) -> None:
    secrets = leaks.secrets(lab, [], [])
    content = (lab.data / "hidden.bin").read_bytes()
    found = list(
        leaks.find([("more.bin", b"..." + content), ("values.bin", (lab.data / "values.bin").read_bytes())], secrets)
    )
    assert [(leak.file, leak.secret.what) for leak in found] == [("more.bin", "the data of hidden.bin")]


@pytest.mark.labs
def test_it_is_graded_by_its_folder_and_handed_out(lab: Lab, tmp_path: Path) -> None:
    def points(folder: Path, lab: Lab, *, public_only: bool = False) -> tuple[str, float]:
        result = grade.grade(LAYOUT, lab, intake.read(lab, folder), grade.Options(seed=SEED, public_only=public_only))
        return result.status, result.score.points

    assert points(lab.reference_folder, lab) == ("graded", 100)
    assert points(lab.starter_folder, lab) == ("graded", 0)
    made = make.release(LAYOUT, lab, tmp_path / "out")
    assert {"stage/given/host.cu", "stage/data/values.bin"} <= set(made.files)
    assert not [name for name in made.files if "hidden" in name]
    handed = labs.load(made.path)
    (made.path / "kernel.cu").write_bytes((lab.reference_folder / "kernel.cu").read_bytes())
    assert points(made.path, handed, public_only=True) == ("graded", 60)
