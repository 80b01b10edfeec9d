"""What task sheets say that the virtual GPU counts, counted again: claims/ has a program for each claim.

Numbers that depend on the compiler are those of the toolkit that the project pins; with another one they are skipped.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from warpgrade.compiling import toolchain
from warpgrade.machine.paths import find_layout

pytestmark = pytest.mark.labs

LAYOUT = find_layout()
ROOT = LAYOUT.root
CLAIMS = Path(__file__).parent / "claims"
VERSION_3 = "__global__ void __launch_bounds__(THREADS * THREADS, 8) step_v3_kernel("


def run(name: str, folder: Path, *words: str) -> tuple[str, dict[str, Any]]:
    """Run a program of claims/ on the virtual GPU; return what it prints, and the profile of each kernel."""
    profile = folder / "profile.json"
    labs = [word for lab in ("common", "convolution", "step") for word in ("-I", str(ROOT / "labs" / lab))]
    done = subprocess.run(
        [sys.executable, "-m", "warpgrade", "run", "-q", *labs, *words, "--json", str(profile), str(CLAIMS / name)],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=400,
        env={**os.environ, "PYTHONPATH": str(ROOT / "grader")},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout, {kernel["name"]: kernel for kernel in json.loads(profile.read_text())["kernels"]}


def sheet(lab: str) -> str:
    return (ROOT / "labs" / lab / "README.md").read_text(encoding="utf-8")


@pytest.fixture
def pinned() -> None:
    """Skip a test whose numbers another nvcc would change."""
    lock = (ROOT / "cuda.lock").read_text(encoding="utf-8")
    version = re.search(r"nvcc\S*==(\d+\.\d+)", lock)
    assert version, "cuda.lock names no nvcc"
    if not toolchain.find(LAYOUT).nvcc_version.startswith(version[1]):
        pytest.skip(f"the sheets have the numbers of nvcc {version[1]}")


def test_loads_that_overlap_are_hits_in_the_first_cache_or_in_the_second(tmp_path: Path) -> None:
    _, kernels = run("caches.cu", tmp_path)
    through, past = kernels["through_l1"]["counters"], kernels["past_l1"]["counters"]
    assert [count["global_load_sectors"] for count in (through, past)] == [39, 39]
    assert [count["l2_read_sectors"] for count in (through, past)] == [5, 39]
    assert round(100 * through["global_load_l1_hits"] / through["global_load_sectors"]) == 87
    assert "39 sectors in all. Through L1 five of them come from L2, and 87 % are hits; past L1, all 39" in sheet(
        "transpose"
    )
    assert "touch 39 sectors (of 32 bytes) either way. Through L1, five of them come from L2; past it, 39." in sheet(
        "convolution"
    )


@pytest.mark.usefixtures("pinned")
def test_fast_math_halves_the_instructions_and_costs_a_digit(tmp_path: Path) -> None:
    printed, kernels = run("fast_math.cu", tmp_path)
    exact, fast = printed.split()
    counted = [f"{kernels[name]['counters']['inst_executed']:,}" for name in ("fast", "exact")]
    assert (
        f"the virtual GPU counts {counted[0]} warp instructions instead of {counted[1]}, and the largest relative "
        f"error grows from {exact} to {fast}" in sheet("convolution")
    )


@pytest.mark.usefixtures("pinned")
def test_fused_multiply_add_is_why_products_differ(tmp_path: Path) -> None:
    fused, _ = run("rounding.cu", tmp_path)
    found = re.fullmatch(r"(\d+) elements differ, by at most (\S+)\n", fused)
    assert found
    assert f"{int(found[1]):,} differ from those of a plain loop on the CPU, by at most {found[2]}." in sheet("matmul")
    separate, _ = run("rounding.cu", tmp_path, "-X", "-fmad=false")
    assert separate.startswith("0 elements differ")


def test_what_nsight_compute_is_asked_for_is_what_the_virtual_gpu_counts(tmp_path: Path) -> None:
    page = sheet("matmul")
    main = re.search(r'```cpp\n(#include "matmul.cu".*?)```', page, re.DOTALL)
    asked = re.search(r"ncu --csv --metrics (\S+) ", page)
    told = re.search(r"counts ([\d,]+) sectors in ([\d,]+) requests, no bank conflicts, and ([\d,]+) arrivals", page)
    assert main and asked and told
    program = tmp_path / "main.cu"
    program.write_text(main[1], encoding="utf-8")
    _, kernels = run(str(program), tmp_path, "-I", str(ROOT / "labs/matmul"), "-I", str(ROOT / "reference/matmul"))
    counters = re.findall(r'WG_COUNTER\((\w+), "([^"]+)"', (ROOT / "grader/device/counters.def").read_text("utf-8"))
    names = {metric: name for name, metric in counters}
    counted = [kernels["tiled_kernel"]["counters"].get(names[metric], 0) for metric in asked[1].split(",")]
    sectors, requests, barriers = (int(number.replace(",", "")) for number in told.groups())
    assert counted == [sectors, requests, 0]
    assert kernels["tiled_kernel"]["counters"]["barriers"] == barriers


def test_a_shared_pointer_loses_all_allocations_but_one(tmp_path: Path) -> None:
    printed, _ = run("shared_pointer.cu", tmp_path)
    assert printed == "63 of 64 allocations are lost\n"
    assert "All other allocations are lost, and what `p` points to is global memory" in sheet("reverse")


def test_banks_stay_four_bytes_wide(tmp_path: Path) -> None:
    printed, _ = run("banks.cu", tmp_path)
    assert printed == "4\n"
    assert "`cudaDeviceGetSharedMemConfig` still says four bytes. The virtual GPU does the same." in sheet("reverse")


def test_all_five_directions_of_a_copy(tmp_path: Path) -> None:
    printed, _ = run("directions.cu", tmp_path)
    assert printed == "42 42\n"
    program = (CLAIMS / "directions.cu").read_text(encoding="utf-8")
    for direction in ("HostToDevice", "DeviceToHost", "DeviceToDevice", "HostToHost", "Default"):
        assert f"cudaMemcpy{direction}" in program
        assert f"`cudaMemcpy{direction}`" in sheet("first")


@pytest.mark.usefixtures("pinned")
def test_the_table_of_the_chapters_convolution(tmp_path: Path) -> None:
    _, kernels = run("convolution.cu", tmp_path)
    rows = {
        "naive": "naive_kernel",
        "constant memory": "constant_kernel",
        "tile with halo": "tiled_kernel",
        "listing 8.16": "listing_kernel",
    }
    for row, kernel in rows.items():
        count = kernels[kernel]["counters"]
        numbers = [count[name] for name in ("global_load_requests", "divergent_branches", "inst_executed")]
        assert f"| {row} | {' | '.join(f'{number:,}' for number in numbers)} |" in sheet("convolution")


@pytest.mark.usefixtures("pinned")
@pytest.mark.parametrize(("mask", "won"), [(5, -11), (9, 1)])
def test_how_kind_the_model_of_time_is_to_a_tile(tmp_path: Path, mask: int, won: int) -> None:
    sizes = ("-D", "ELEMENTS=262144", "-D", f"MASK={mask}", "--device", "vgpu:h100:4")
    _, kernels = run("convolution.cu", tmp_path, *sizes)
    saved = 1 - kernels["tiled_kernel"]["total_ns"] / kernels["constant_kernel"]["total_ns"]
    assert round(100 * saved) == won
    claim = "with a mask of 5 it takes 11 % longer than constant memory, and with 9 it wins by 1 %"
    assert claim in sheet("convolution")


@pytest.mark.usefixtures("pinned")
def test_how_many_instructions_the_kernel_for_tensor_cores_executes(tmp_path: Path) -> None:
    printed, kernels = run("tensor_cores.cu", tmp_path)
    assert printed == "0 of 4096 elements are wrong\n"
    program = (CLAIMS / "tensor_cores.cu").read_text(encoding="utf-8")
    assert program[program.index("__global__") : program.index("int main")].strip() in sheet("matmul")
    executed = kernels["tensor_kernel"]["counters"]["inst_executed"]
    assert f"For `n` = 64 the virtual GPU counts {executed:,} warp instructions." in sheet("matmul")


@pytest.mark.usefixtures("pinned")
def test_loading_ahead_halves_the_barriers_and_gains_nothing_in_the_model(tmp_path: Path) -> None:
    _, kernels = run("prefetching.cu", tmp_path, "--device", "vgpu:h100:4")
    tiled, prefetched = kernels["tiled"], kernels["prefetched"]
    assert tiled["counters"]["barriers"] == 2 * prefetched["counters"]["barriers"]
    assert prefetched["total_ns"] >= tiled["total_ns"]
    assert "With two pairs of tiles in shared memory one barrier a pair is enough." in sheet("matmul")
    assert "The virtual GPU's modelled time shows no gain." in sheet("matmul")


@pytest.mark.usefixtures("pinned")
def test_what_unrolling_gains_in_the_third_version_of_step(tmp_path: Path) -> None:
    reference = (ROOT / "reference" / "step" / "step.cu").read_text(encoding="utf-8")
    four, eight = "constexpr int CHUNK = 4;", "constexpr int CHUNK = 8;"
    assert eight in reference
    before, kernel = reference.replace(eight, four).split(VERSION_3)
    kernel, rest = kernel.split("\n}\n", 1)
    kernel = kernel.replace("#pragma unroll\n", "") + "\n}\n" + rest
    loop, rows = "for (int f = 0; f < CHUNK; ++f) {\n            float y", "for (int a = 0; a < EACH; ++a) {\n     "
    assert loop in kernel, "the reference has changed: where is its loop over the 4 k?"
    at = kernel.index(loop)
    unrolled = kernel[:at] + "\n#pragma unroll\n" + kernel[at:]
    at = kernel.index(rows, at)
    rolled = kernel[:at] + "\n#pragma unroll 1\n" + kernel[at:]
    counted = []
    for changed in (kernel, unrolled, rolled):
        (tmp_path / "step.cu").write_text(before + VERSION_3 + changed, encoding="utf-8")
        _, kernels = run("unrolling.cu", tmp_path, "-I", str(tmp_path))
        counted.append(kernels["step_v3_kernel"])
    plain, flat, local = counted
    branches = [f"{profile['counters']['branches']:,}" for profile in (plain, flat)]
    saved = 1 - flat["counters"]["inst_executed"] / plain["counters"]["inst_executed"]
    text = sheet("step")
    assert f"version 3 with 4 `k` at a time takes {branches[0]} branches. With `#pragma unroll`" in text
    assert f"it takes {branches[1]}, and {100 * saved:.0f} % fewer instructions" in text
    assert plain["counters"]["local_load_requests"] == 0 < local["counters"]["local_load_requests"]
    assert 3 < local["total_ns"] / plain["total_ns"] < 4
    assert "the array moves to local memory, and the kernel takes more than three times as long" in text


def test_the_stages_of_the_compiler(tmp_path: Path) -> None:
    source = tmp_path / "empty.cu"
    source.write_text("__global__ void nothing() {}\n", encoding="utf-8")
    stages = subprocess.run(
        [toolchain.find(LAYOUT).nvcc, "--dryrun", "-arch=sm_80", "-c", source, "-o", tmp_path / "empty.o"],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True, timeout=60,
    ).stderr  # fmt: skip
    table = re.findall(r"^\| (\S+) \| .*\| .* \|$", sheet("first").partition("| stage |")[2], re.MULTILINE)
    assert sorted(table) == ["cicc", "cudafe++", "fatbinary", "ptxas"]
    ran = [re.search(rf"^#\$.*?\b{re.escape(stage)}\W", stages, re.MULTILINE) for stage in table]
    places = [match.start() for match in ran if match]
    assert len(places) == len(table)
    assert places == sorted(places), "nvcc runs its stages in another order than the table's"
