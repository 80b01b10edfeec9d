"""Code in docs/outlook.md compiles where there is a compiler for it, and runs where the host can run it."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from dev.pages import Fence, fences

from warpgrade.compiling import toolchain
from warpgrade.machine.paths import find_layout

LAYOUT = find_layout()
FENCES = fences(LAYOUT.root / "docs" / "outlook.md")
SECTIONS = {
    "Libraries: do not write it again": 2,
    "CPU and GPU together": 1,
    "HIP": 1,
    "OpenCL": 1,
    "SYCL": 1,
    "OpenACC and OpenMP": 1,
}
ARRAYS = "const float* a, const float* b, float* c, int n"
ADD = """__global__ void add(const float* a, const float* b, float* c, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}
"""
DEVICE_ARRAYS = "float *d_a, float *d_b, float *d_c"
HIP = """#define hipMalloc cudaMalloc
#define hipMemcpy cudaMemcpy
#define hipMemcpyHostToDevice cudaMemcpyHostToDevice
#define hipMemcpyDeviceToHost cudaMemcpyDeviceToHost
#define hipFree cudaFree
"""
SUM = """#include <cstdio>
int main() {
    float a[100], b[100], c[100] = {};
    for (int i = 0; i < 100; ++i) a[i] = i, b[i] = 2 * i;
    vector_add(a, b, c, 100);
    int right = 0;
    for (int i = 0; i < 100; ++i) right += c[i] == 3 * i;
    std::printf("%d", right);
}
"""


def section(name: str) -> list[Fence]:
    return [fence for fence in FENCES if fence.section == name]


def run(*command: object) -> str:
    done = subprocess.run(
        [str(word) for word in command],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr + done.stdout
    return done.stdout


def nvcc(tmp_path: Path, source: str) -> None:
    file = tmp_path / "snippet.cu"
    file.write_text(source, encoding="utf-8")
    run(toolchain.find(LAYOUT).nvcc, "-std=c++17", "-w", "-arch=sm_90", "-c", file, "-o", tmp_path / "snippet.o")


def inside(fence: Fence, parameters: str, name: str = "snippet") -> str:
    """Return a fence's statements as a function; lines are those of the page."""
    return f'void {name}({parameters}) {{\n#line {fence.line} "docs/outlook.md"\n{fence.code}}}\n'


def test_each_section_with_code_has_its_test() -> None:
    found = {fence.section: len(section(fence.section)) for fence in FENCES}
    assert found == SECTIONS
    assert not any(fence.is_fragment for fence in FENCES)


@pytest.mark.labs
@pytest.mark.nightly
def test_thrust_compiles(tmp_path: Path) -> None:
    headers = "".join(f"#include <thrust/{name}.h>\n" for name in ("device_vector", "transform", "copy"))
    nvcc(tmp_path, headers + inside(section("Libraries: do not write it again")[0], ARRAYS))


@pytest.mark.labs
def test_cublas_compiles(tmp_path: Path) -> None:
    homes = toolchain.find(LAYOUT).cuda_includes
    if not any((home / "cublas_v2.h").exists() for home in homes):
        pytest.skip("this toolkit has no cuBLAS")
    fence = section("Libraries: do not write it again")[1]
    nvcc(tmp_path, "#include <cublas_v2.h>\n" + inside(fence, f"cublasHandle_t handle, {DEVICE_ARRAYS}, int n"))


@pytest.mark.labs
def test_cpu_and_gpu_together_compiles(tmp_path: Path) -> None:
    parameters = f"{ARRAYS}, {DEVICE_ARRAYS}, int on_host, int blocks, int threads"
    nvcc(tmp_path, ADD + inside(section("CPU and GPU together")[0], parameters))


@pytest.mark.labs
def test_hip_is_cuda_with_another_prefix(tmp_path: Path) -> None:
    fence = section("HIP")[0]
    names = set(re.findall(r"\bhip[A-Z]\w+", fence.code))
    assert names == set(re.findall(r"#define (\w+)", HIP))
    nvcc(tmp_path, HIP + ADD + inside(fence, f"{ARRAYS}, {DEVICE_ARRAYS}, size_t bytes"))


@pytest.mark.parametrize("flag", ["-fopenacc", "-fopenmp"])
def test_openacc_and_openmp_add_on_the_host(tmp_path: Path, flag: str) -> None:
    loops = section("OpenACC and OpenMP")[0].code.strip().split("\n\n")
    assert [re.findall(r"#pragma (\w+)", loop) for loop in loops] == [["acc"], ["omp"]]
    loop = loops[flag == "-fopenmp"]
    source, program = tmp_path / "loop.cpp", tmp_path / "loop"
    source.write_text(f"void vector_add({ARRAYS}) {{\n{loop}\n}}\n{SUM}", encoding="utf-8")
    host = toolchain.find(LAYOUT).host
    probe = subprocess.run([host, flag, "-Werror", "-x", "c++", "-", "-o", tmp_path / "probe"], input=b"int main() {}",
                           capture_output=True, check=False)  # fmt: skip
    if probe.returncode:
        pytest.skip(f"{host.name} does not take {flag}")
    run(host, flag, "-Wall", "-Werror", source, "-o", program)
    assert run(program) == "100"


def test_the_kernel_in_opencl_compiles(tmp_path: Path) -> None:
    clang = shutil.which("clang")
    if clang is None:
        pytest.skip("no compiler for OpenCL C")
    fence = section("OpenCL")[0]
    kernel = "".join(re.findall(r'"(kernel .*|  .*)"(?:;)?$', fence.code, re.MULTILINE))
    assert kernel.count("{") == kernel.count("}") == 1, "where is the kernel's text?"
    name = re.search(r"void (\w+)\(", kernel)
    assert name, "the kernel has no name"
    assert f'clCreateKernel(program, "{name[1]}", NULL)' in fence.code
    source = tmp_path / "add.cl"
    source.write_text(kernel, encoding="utf-8")
    run(clang, "-x", "cl", "-cl-std=CL1.2", "-Xclang", "-finclude-default-header", "-fsyntax-only", "-Werror", source)


def test_the_host_part_of_opencl_compiles(tmp_path: Path) -> None:
    host = toolchain.find(LAYOUT).host
    source = tmp_path / "host.c"
    parameters = (
        "cl_context context, cl_device_id device, cl_command_queue queue, const size_t threads, const size_t block, "
        "size_t bytes, float* a, float* c, cl_mem d_c"
    )
    head = "#define CL_TARGET_OPENCL_VERSION 120\n#include <CL/cl.h>\n"
    source.write_text(head + inside(section("OpenCL")[0], parameters), encoding="utf-8")
    probe = subprocess.run([host, "-E", "-x", "c", source], capture_output=True, check=False)
    if probe.returncode:
        pytest.skip("the headers of OpenCL are not here")
    run(host, "-x", "c", "-fsyntax-only", source)


def test_sycl_compiles(tmp_path: Path) -> None:
    compiler = shutil.which("acpp") or shutil.which("icpx")
    if compiler is None:
        pytest.skip("no compiler for SYCL")
    source = tmp_path / "snippet.cpp"
    parameters = f"{ARRAYS}, float* d_b, float* d_c"
    source.write_text("#include <sycl/sycl.hpp>\n" + inside(section("SYCL")[0], parameters), encoding="utf-8")
    run(compiler, *(["-fsycl"] if compiler.endswith("icpx") else []), "-fsyntax-only", source)
