"""Where a barrier is missing, and where one must not stand, read from the source."""

import pytest

from warpgrade.findings.barriers import Kernels
from warpgrade.findings.structure import Code
from warpgrade.machine.paths import find_layout

ROOT = find_layout().root

TILED = """\
__global__ void tiled(const float* a, float* c, int n) {
    __shared__ float tile[16][17];
    float sum = 0;
    for (int first = 0; first < n; first += 16) {
        tile[threadIdx.y][threadIdx.x] = a[first];
        AFTER_LOAD
        for (int i = 0; i < 16; ++i) {
            sum += tile[threadIdx.y][i];
        }
        AFTER_USE
    }
    c[threadIdx.x] = sum;
}
"""


def test_between_load_and_use() -> None:
    kernels = Kernels(TILED.replace("AFTER_LOAD", "").replace("AFTER_USE", "__syncthreads();"))
    assert kernels.gaps(5, 8)[0] == (5, 7)
    assert kernels.gaps(8, 5) == kernels.gaps(5, 8)


def test_between_use_and_the_next_load_it_is_the_end_of_the_loop_not_of_the_inner_one() -> None:
    gaps = Kernels(TILED.replace("AFTER_LOAD", "__syncthreads();").replace("AFTER_USE", "")).gaps(5, 8)
    assert gaps[0] == (9, 11)
    assert gaps[-1] == (8, 9)
    assert (5, 6) not in gaps


def test_with_all_barriers_there_is_no_place_to_name() -> None:
    assert Kernels(TILED.replace("AFTER_LOAD", "__syncthreads();").replace("AFTER_USE", "__syncthreads();")).gaps(
        5, 8
    ) == []  # fmt: skip


def test_a_barrier_is_only_advised_where_all_threads_come() -> None:
    text = """\
__device__ int scan(int value) {
    __shared__ int sums[8];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    if (lane == 31) sums[warp] = value;
    if (warp == 0) {
        value = sums[lane];
    }
    return value;
}
__global__ void halo(const int* x, int* y, int n) {
    __shared__ int tile[64];
    for (int i = threadIdx.x; i < 64; i += blockDim.x) {
        tile[i] = x[i];
    }
    const int j = threadIdx.x;
    if (j >= n) return;
    const int more = 1;
    y[j] = tile[j + more];
}
"""
    kernels = Kernels(text)
    assert kernels.gaps(4, 6) == [(4, 5)]
    assert kernels.gaps(13, 18) == [(14, 15), (15, 16)]
    assert kernels.gaps(4, 18) == []  # two functions
    assert kernels.is_for_warps(6)
    assert not kernels.is_for_warps(18)


def test_rounds_of_a_loop() -> None:
    text = """\
__global__ void sum(int* s) {
    int t = threadIdx.x;
    s[t] = 1;
    for (int stride = 32; stride > 0; stride /= 2) {
        if (t < stride) s[t] += s[t + stride];
    }
}
"""
    kernels = Kernels(text)
    assert set(kernels.gaps(3, 5)) & set(kernels.gaps(5, 5)) == {(4, 5)}
    assert kernels.gaps(3, 3) == []


# --- barriers under conditions ---

MERGED = """\
__global__ void reverse(int* d, int n) {
    __shared__ int s[64];
    int t = threadIdx.x;
    if (t < n) {
        s[t] = d[t];
        __syncthreads();
        d[t] = s[n - 1 - t];
    }
}
"""


def found(body: str, before: str = "") -> list[tuple[str, str]]:
    text = f"{before}__global__ void k(int* d, int n) {{ {body} }}"
    return [(one.kind, one.condition) for one in Kernels(text).conditional()]


def test_the_barrier_its_line_and_its_condition() -> None:
    (one,) = Kernels(MERGED).conditional()
    assert (one.function, one.line, one.kind, one.condition, one.asked_at) == ("reverse", 6, "if", "t < n", 4)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("if (threadIdx.x < n) __syncthreads();", [("if", "threadIdx.x < n")]),
        ("int i = blockIdx.x * 64 + threadIdx.x; if (i < n) ; else { __syncthreads(); }", [("else", "i < n")]),
        ("int a = threadIdx.x, b = 0; b += a; while (b < n) { __syncthreads(); ++b; }", [("loop", "b < n")]),
        ("for (int i = threadIdx.x; i < n; i += 32) { { __syncthreads(); } }", [("loop", "i < n")]),
        ("unsigned t(threadIdx.x); switch (t) { case 0: __syncthreads(); break; default: ; }", [("switch", "t")]),
        ("int t{threadIdx.x}; do { __syncthreads(); } while (t++ < n);", [("loop", "t++ < n")]),
        ("auto g = cg::this_thread_block(); if (g.thread_rank() < 4) g.sync();", [("if", "g.thread_rank() < 4")]),
        ("auto g = cg::this_thread_block(); if (threadIdx.x) cg::sync(g);", [("if", "threadIdx.x")]),
        ("if (threadIdx.x == 0 && __syncthreads_or(n)) d[0] = 1;", [("if", "threadIdx.x == 0 && __syncthreads_or(n)")]),
        ("if (threadIdx.x) { if (__syncthreads_or(n)) d[0] = 1; }", [("if", "threadIdx.x")]),
        ("if (n) { if (threadIdx.y == 0) { d[0] = 1; if (n > 1) __syncthreads(); } }", [("if", "threadIdx.y == 0")]),
    ],
)
def test_conditions_on_the_thread(body: str, expected: list[tuple[str, str]]) -> None:
    assert found(body) == expected


@pytest.mark.parametrize(
    "body",
    [
        "if (blockIdx.x < n) __syncthreads();",
        "for (int i = 0; i < n; ++i) __syncthreads();",
        "int t = threadIdx.x; for (int s = 64; s > 0; s /= 2) { if (t < s) d[t] += d[t + s]; __syncthreads(); }",
        # The same name is another variable.
        "for (int i = threadIdx.x; i < n; i += 32) d[i] = 0; for (int i = 0; i < n; ++i) __syncthreads();",
        "{ int i = threadIdx.x; d[i] = 0; } int i = 0; if (i < n) __syncthreads();",
        "while (__syncthreads_or(threadIdx.x < n)) __syncthreads();",
        "if (__syncthreads_or(d[threadIdx.x]) && threadIdx.x == 0) d[0] = 1;",
        "if (n > 1 && __syncthreads_and(n) == threadIdx.x) d[0] = 1;",
        "int any = __syncthreads_count(d[threadIdx.x] > 0); if (any) __syncthreads();",
        "__shared__ int last; if (threadIdx.x == 0) last = d[threadIdx.x]; __syncthreads(); if (last) __syncthreads();",
        "__shared__ int s[4]; s[threadIdx.x] = threadIdx.x; if (s[0]) __syncthreads();",
        "int t = threadIdx.x; p.t = n; d[t] = t; *d = t; if (d[0] + p.t) __syncthreads();",
        "auto warp = cg::tiled_partition<32>(cg::this_thread_block()); if (threadIdx.x < 32) warp.sync();",
        "if (threadIdx.x < 32) __syncwarp();",
        "if (threadIdx.x < n) { /* __syncthreads(); */ } // __syncthreads();",
        'if (threadIdx.x < n) { printf("__syncthreads();"); }',
        "if (threadIdx.x < n) { auto later = [&] { __syncthreads(); }; }",
        "if (threadIdx.x == 0) d[0] = 1; __syncthreads();",
        "int i = threadIdx.x; if (i >= n) return; __syncthreads();",
        "BEGIN_IF(threadIdx.x) __syncthreads(); }",
    ],
)
def test_what_is_the_same_for_all_threads_raises_nothing(body: str) -> None:
    assert found(body) == []


def test_code_that_is_not_compiled_and_host_code_raise_nothing() -> None:
    assert found("#\n", "#if 0\n" + MERGED + "#endif\n") == []
    assert found("", "#if 0\n#ifdef A\n#else\n#endif\n" + MERGED + "#endif\n") == []
    assert found("", "#if 0\n#else\n" + MERGED + "#endif\n") == found("", MERGED)
    assert found("", "#define K \\\n __global__ void m() { if (threadIdx.x) __syncthreads(); }\n") == []
    assert found("", "void host(int threadIdx) { if (threadIdx) __syncthreads(); }\n") == []
    assert found("", "__device__ int table[2] = {1, 2}; __device__ void later(int);\n") == []


EXPECTED = {"barrier_for_odd_threads", "barrier_in_both_branches", "barrier_in_if", "group_sync_in_if", "trip_counts",
            "merged_barrier"}  # fmt: skip
MISTAKES = ROOT / "starter" / "debug" / "debug.cu"  # a lab of mistakes, this one among them


def test_no_false_alarm_in_any_program_of_the_project() -> None:
    folders = ("reference", "starter", "labs", "tests")
    files = [path for folder in folders for suffix in ("cu", "cuh") for path in (ROOT / folder).rglob(f"*.{suffix}")]
    assert len(files) > 200
    alarms = {path for path in files if Kernels(path.read_text(encoding="utf-8", errors="replace")).conditional()}
    assert MISTAKES in alarms
    assert {path.stem for path in alarms - {MISTAKES}} <= EXPECTED


def test_lines_of_functions() -> None:
    code = Code("\n\n" + MERGED)
    (function,) = code.functions
    assert (function.name, code.line(function.start), code.line(function.last)) == ("reverse", 3, 11)
