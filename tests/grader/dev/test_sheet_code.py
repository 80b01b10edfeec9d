"""C++ in task sheets and slides compiles as it stands there; what leaves something out shows it by an ellipsis."""

import re
import subprocess
from pathlib import Path

import pytest
from dev.pages import Fence, fences

from warpgrade.compiling import toolchain
from warpgrade.machine.paths import find_layout

LAYOUT = find_layout()
ROOT = LAYOUT.root
PAGES = sorted(path for name in ("README.md", "slides.md") for path in (ROOT / "labs").glob(f"*/{name}"))
FENCES = [fence for page in PAGES for fence in fences(page)]
CODE = [fence for fence in FENCES if fence.language in {"cpp", "cuda"}]
WHOLE = [fence for fence in CODE if not fence.is_fragment]

# What a fence needs around it, by lab and its first line: declarations before it, and for statements their function.
DECLARED = {
    ("convolution", "__constant__ float weights[SIZE];"): "constexpr int SIZE = 225;",
    ("convolution", "__constant__ float mask[SIZE];"): "constexpr int SIZE = 225;",
    ("convolution", "CHECK(cudaMemcpyToSymbol(mask, M, count * sizeof(float)));"): "__constant__ float mask[225];",
    ("first", "CHECK(cudaMalloc(&d_x, n * sizeof(float)));"): "__global__ void kernel(float*, int) {}",
    ("occupancy", "int least_blocks, block_threads;"): (
        "__global__ void kernel(float*) {}\nconst auto bytes_for_threads = [](int threads) { return 8 * threads; };"
    ),
}
FUNCTIONS = {
    ("convolution", "CHECK(cudaMemcpyToSymbol(mask, M, count * sizeof(float)));"): (
        "void statements(const float* M, int count)"
    ),
    ("first", "CHECK(cudaMalloc(&d_x, n * sizeof(float)));"): (
        "void statements(float* x, float* d_x, int n, int blocks, int threads)"
    ),
    ("occupancy", "int least_blocks, block_threads;"): "void statements(int limit)",
    ("reverse", "extern __shared__ float both[];"): "__global__ void statements(int k)",
    ("vecadd", "const cudaMemLocation device = {cudaMemLocationTypeDevice, 0}, host = {cudaMemLocationTypeHost, 0};"): (
        "void statements(float* m_a, float* m_c, size_t bytes)"
    ),
}


def key(fence: Fence) -> tuple[str, str]:
    return fence.page.parent.name, fence.begin


def whole(fence: Fence) -> str:
    """Return a fence with what it needs around it; its lines are those of the page."""
    function = FUNCTIONS.get(key(fence))
    code = f'#line {fence.line} "{fence.place.partition(":")[0]}"\n{fence.code}'
    return f"{DECLARED.get(key(fence), '')}\n" + (f"{function} {{\n{code}}}\n" if function else code)


def compiles(source: Path, *labs: str) -> None:
    """Fail with the compiler's words, whose lines are those of the page, if a file does not compile."""
    includes = [word for lab in ("common", *labs) for word in ("-I", str(ROOT / "labs" / lab))]
    starters = [word for lab in labs for word in ("-I", str(ROOT / "starter" / lab))]
    done = subprocess.run(
        [str(toolchain.find(LAYOUT).nvcc), "-std=c++17", "-w", "-arch=sm_90", *includes, *starters, "-c", str(source),
         "-o", str(source.with_suffix(".o"))],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr + done.stdout


@pytest.mark.labs
def test_what_is_whole_compiles(tmp_path: Path) -> None:
    alone = [fence for fence in WHOLE if "#include" in fence.code]
    together = [fence for fence in WHOLE if fence not in alone]
    assert len(together) > 12
    parts = [f"namespace fence_{number} {{\n{whole(fence)}}}\n" for number, fence in enumerate(together)]
    source = tmp_path / "together.cu"
    source.write_text('#include "check.cuh"\n#include <cmath>\n' + "".join(parts), encoding="utf-8")
    compiles(source)
    for number, fence in enumerate(alone):
        source = tmp_path / f"alone{number}.cu"
        source.write_text(whole(fence), encoding="utf-8")
        compiles(source, fence.page.parent.name)


def test_what_fences_need_around_them_is_theirs() -> None:
    keys = {key(fence) for fence in WHOLE}
    assert sorted((set(DECLARED) | set(FUNCTIONS)) - keys) == [], "these fences are gone"


@pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_code_is_marked_as_code(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert text.count("\n```") % 2 == 0, "a fence without an end"
    unmarked = [fence.code for fence in fences(page) if fence.language not in {"cpp", "cuda"}]
    without = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    indented = re.findall(r"^ {4,}\S.*$", without, re.MULTILINE)
    code = re.compile(r"__(?:global|device|shared|constant|managed)__ |cuda[A-Z]\w+\(|<<<.*>>>\(")
    assert [block for block in [*unmarked, *indented] if code.search(block)] == [], "mark C++ as ```cpp"
