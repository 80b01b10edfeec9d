"""Results that tests of reports and schema share."""

from warpgrade.compiling.failure import Problem
from warpgrade.findings.diagnosis import Diagnostic, Memory, Place, Related, Thread
from warpgrade.grading.result import (
    DeviceInfo,
    FileInfo,
    LabInfo,
    Measurement,
    Result,
    Score,
    Seconds,
    SubmissionInfo,
    TestResult,
    Toolchain,
)
from warpgrade.machine import fidelity
from warpgrade.machine.device import Device

GRADED = Result(
    lab=LabInfo(name="matmul", title="Matrix multiplication in shared memory"),
    submission=SubmissionInfo(
        name="hand-ins/jane",
        digest="ab12",
        files=[FileInfo(name="matmul.cu", bytes=2210, sha256="cd34")],
        ignored=["old.cu"],
    ),
    status="error",
    score=Score(points=58.3, max_points=110, percent=53, error_points=5, pending_points=10),
    tests=[
        TestResult("multiplies sizes that are multiples of the tile", "test", "pass", 30, 30, hidden=False),
        TestResult(
            "each element is loaded once per tile", "test", "fail", 0, 10, hidden=False,
            message="16777216 sectors were loaded from global memory; at most 1048576 are needed",
            hint="Which threads of a block need the same element?",
        ),
        TestResult(
            "multiplies sizes that are no multiples of the tile", "test", "fail", 0, 10, hidden=False,
            message="C: 7 of 63 elements are wrong (9 × 7), all in the last row\n"
            "  [row 8, column 0] expected 1, got 0\n"
            "  in matmul(A: 45 float, B: 35 float, C: 63 float, m = 9, k = 5, n = 7)",
            hint="Which threads have an element of C?", signs=["wrong", "tail"],
            output="\n".join(f"block {i} of 12" for i in range(12)),
        ),
        TestResult(
            "keeps NaN and infinity", "test", "fail", 0, 10, hidden=True,
            message="C[5] is 0, expected NaN", hint="What is 0 times infinity?",
        ),
        TestResult(
            "speed on 256 × 256", "speed", "pass", 8.3, 15, hidden=False,
            message="2.66× as fast as the starter; points begin above 1×, all 15 at 4×", hint="Reuse what you load.",
            measurements=[Measurement("speedup", 2.66, "x")],
        ),
        TestResult(
            "speed on 512 × 512", "speed", "pass", 20, 20, hidden=False,
            measurements=[Measurement("speedup", 4.52, "x")],
        ),
        TestResult("sizes of one", "test", "error", 0, 5, hidden=True, message="the device server did not start"),
        TestResult("overlaps copies", "test", "pending", 0, 10, hidden=False),
    ],
    device=DeviceInfo(requested="auto", kind="vgpu", properties={"name": "NVIDIA H100 (virtual, 4 multiprocessors)"}),
    started_at="2026-11-21T08:00:00Z",
    seconds=Seconds(build=1.5, judge=2.25),
    warpgrade="0.1.0",
    fidelity=fidelity.state(Device("auto", "vgpu:h100", "vgpu", {"name": "NVIDIA H100 (virtual, 4 multiprocessors)"})),
    seed=81985529216486895,
    toolchain=Toolchain(nvcc="13.0.88", host_compiler="g++ 12.2.0", architecture="sm_90"),
)  # fmt: skip

REJECTED = Result(
    lab=GRADED.lab,
    submission=SubmissionInfo(name="hand-ins/joe"),
    status="rejected",
    score=Score(points=0, max_points=100, percent=0, error_points=0, pending_points=0),
    tests=[],
    device=DeviceInfo(requested="vgpu:h100", kind="vgpu"),
    started_at="2026-11-21T08:00:00Z",
    seconds=Seconds(build=0.6, judge=0),
    sandboxed=False,
    scope="public",
    problem=Problem(
        stage="compile",
        message="matmul.cu does not compile (2 errors)",
        detail="""\
matmul.cu(22): error: identifier "flot" is undefined
  void matmul(const float* A, flot* C, int m, int k, int n) {
                              ^
""",
        hint="fix the first error first; it often causes the later ones",
    ),
)

RACE = Diagnostic(
    rule="racecheck/shared", severity="error", title="race in shared memory",
    help="Put __syncthreads() between the two accesses, where all threads of the block reach it.",
    message="reads 4 bytes of `s` that another thread writes, with no barrier between", kernel="reverse(int*, int)",
    place=Place("reverse.cu", 18, source="    d[t] = s[n - t - 1];"), thread=Thread((33, 0, 0), (0, 0, 0)),
    related=[Related("written by", Place("reverse.cu", 17, source="    s[t] = d[t];"), Thread((30, 0, 0), (0, 0, 0)))],
    memory=Memory("s", variable=True, bytes=256, allocated=Place()), count=1031, weight=0,
)  # fmt: skip
LEAK = Diagnostic(
    rule="memcheck/leak", severity="warning", title="memory never freed", help="Call cudaFree for each cudaMalloc.",
    message="`d_a` (1,024 bytes, allocated at reverse.cu:41) was never freed", kernel="",
    place=Place("reverse.cu", 41, code=4711, source="    cudaMalloc(&d_a, 1024);"), thread=None, related=[],
    memory=None, count=1, weight=0,
)  # fmt: skip


def advice(line: int, weight: float) -> Diagnostic:
    """Advice about a line."""
    return Diagnostic(
        rule="advice/uncoalesced", severity="advice", title="uncoalesced access",
        help="Let neighbouring threads (threadIdx.x) access neighbouring elements.",
        message="touches 32 sectors a request, where 4 would do", kernel="copy",
        place=Place("copy.cu", line, source="    out[i] = in[32 * i];"), thread=None, related=[], memory=None,
        count=1, weight=weight,
    )  # fmt: skip
