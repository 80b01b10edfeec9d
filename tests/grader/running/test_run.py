"""`warpgrade run`: an ordinary program, compiled by nvcc, on the virtual GPU."""

import csv
import itertools
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner
from samples import LEAK, RACE

from warpgrade.cli.main import main
from warpgrade.compiling import toolchain
from warpgrade.machine import device
from warpgrade.machine.device import Device
from warpgrade.machine.errors import BadInput
from warpgrade.machine.paths import find_layout
from warpgrade.running import run
from warpgrade.running.profile import Collector, Profile

pytestmark = pytest.mark.labs

LAYOUT = find_layout()
PROGRAM = Path(__file__).parent / "programs" / "vectors.cu"
_KERNEL_LINE = next(n for n, text in enumerate(PROGRAM.read_text().splitlines(), 1) if "c[i] = a[i]" in text)
_CRASH_LINE = next(n for n, text in enumerate(PROGRAM.read_text().splitlines(), 1) if "cast<int>(*da)" in text)
_LOOP_LINE = next(n for n, text in enumerate(PROGRAM.read_text().splitlines(), 1) if "while (*c" in text)


def warpgrade(*words: object, stdin: str = "", cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "warpgrade", "run", *map(str, words)],
        input=stdin, capture_output=True, text=True, check=False, cwd=cwd, timeout=240,
        env={**os.environ, "PYTHONPATH": str(LAYOUT.root / "grader"), "COLUMNS": "100"},
    )  # fmt: skip


@pytest.fixture(scope="module")
def shared_program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program compiled once, for the tests that only run it."""
    folder = tmp_path_factory.mktemp("program")
    return run._compile(LAYOUT, [PROGRAM], 90, run.Options(), folder)


@pytest.fixture
def execute(shared_program: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(run, "_program", lambda *_: shared_program)
    return lambda *words, **options: run.run(LAYOUT, [PROGRAM], [str(w) for w in words], run.Options(**options))


def test_a_program_is_compiled_run_and_profiled(tmp_path: Path) -> None:
    profile, trace, stacks, table = (tmp_path / name for name in ("profile.json", "trace.json", "stacks", "ncu.csv"))
    done = warpgrade(PROGRAM, "--json", profile, "--trace", trace, "--stacks", stacks, "--csv", table, "--lines")
    assert done.returncode == 0, done.stderr
    assert done.stdout == "added 1000 numbers\nright\n"  # and nothing of ours

    kernel = json.loads(profile.read_text())["kernels"][0]
    assert (kernel["name"], kernel["launches"], kernel["grid"], kernel["block"]) == ("add", 1, [4, 1, 1], [256, 1, 1])
    counters = kernel["counters"]
    # 1,000 floats are 31 full warps and one of 8 lanes: 32 requests an array, 31 × 4 + 1 sectors.
    assert (counters["global_load_requests"], counters["global_load_sectors"]) == (64, 250)
    assert (counters["global_store_requests"], counters["global_store_sectors"]) == (32, 125)
    # i < n in the last warp, i == 0 in the first
    assert counters["divergent_branches"] == 2
    at_line = {line["line"]: line["counters"] for line in kernel["lines"] if line["file"].endswith("vectors.cu")}
    assert at_line[_KERNEL_LINE]["global_load_sectors"] == 250

    for words in ("add", "64 requests, 250 sectors", "copies to the device", "c[i] = a[i] + b[i];", "100 % limited by"):
        assert words in done.stderr
    rows = json.loads(trace.read_text())["traceEvents"]
    named = {row["name"]: row["args"] for row in rows if row["ph"] == "M" and row["pid"] == 0}
    assert "H100" in named["process_name"]["name"]
    assert named["thread_name"] == {"name": "default stream"}
    events = [row for row in rows if row["ph"] == "X" and row["pid"] == 0]
    assert [event["cat"] for event in events] == ["to_device", "to_device", "kernel", "to_host"]
    picosecond = 1e-6  # more than sums of such numbers are rounded
    assert all(a["ts"] + a["dur"] <= b["ts"] + picosecond for a, b in itertools.pairwise(events))
    # Four blocks on 132 multiprocessors: four of them work.
    assert [row["args"]["blocks"] for row in rows if row["ph"] == "X" and row["pid"]] == [1, 1, 1, 1]

    weights = [int(row.rpartition(" ")[2]) for row in stacks.read_text().splitlines()]
    assert sum(weights) == counters["inst_executed"]
    assert f"vectors.cu:{_KERNEL_LINE} " in stacks.read_text()
    metrics = {row["Metric Name"]: row for row in csv.DictReader(table.open())}
    assert metrics["l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"]["Metric Value"] == "250"
    assert metrics["gpu__time_duration.sum"]["CC"] == "9.0"


def test_the_exit_status_is_the_programs(execute: Any) -> None:
    assert execute("-s", 0).exit_status == 0
    assert execute("-s", 37).exit_status == 37


def test_options_behind_the_dashes_and_standard_input_are_the_programs() -> None:
    done = warpgrade(PROGRAM, "-q", "--", "echo", "--lines", "-q", stdin="one\ntwo\n")
    assert (done.returncode, done.stdout, done.stderr) == (0, "one\ntwo\n", "")


def test_a_crash_on_a_device_pointer_is_explained(execute: Any) -> None:
    profile = execute("crash")
    status = profile.exit_status
    assert status == 128 + 11
    assert [(one.rule, one.place.line) for one in profile.diagnostics] == [("launch/host-dereference", _CRASH_LINE)]
    assert "SIGSEGV" in run.describe_exit(status)
    assert "cudaMalloc" in run.describe_exit(status)


def test_a_fault_names_its_line(execute: Any) -> None:
    profile = execute("beyond")
    assert profile.exit_status == 5
    assert "vectors.cu:" in profile.kernels[0].error
    assert "allocation of 4,000 bytes" in profile.kernels[0].error


def test_a_fault_is_told_once() -> None:
    done = warpgrade(PROGRAM, "--", "beyond")
    assert done.returncode == 5
    assert "stopped: the error is below" in done.stderr
    assert done.stderr.count("past the end of") == 1, done.stderr
    assert done.stderr.count("[memcheck/out-of-bounds]") == 1


def test_a_loop_without_end_is_stopped_and_its_line_named(execute: Any) -> None:
    profile = execute("forever", instructions=1_000_000)
    assert profile.exit_status == 6
    assert f"vectors.cu:{_LOOP_LINE}" in profile.kernels[0].error


@pytest.mark.parametrize(("words", "limit"), [((), 20_000_000_000), (("--instructions", "0"), 0)])
def test_a_launch_is_limited_unless_the_user_says_otherwise(
    words: tuple[str, ...], limit: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[run.Options] = []

    def stop(_layout: Any, _files: Any, _arguments: Any, options: run.Options, _traces: Any) -> Profile:
        asked.append(options)
        raise BadInput("enough")

    monkeypatch.setattr(run, "run", stop)
    CliRunner().invoke(main, ["run", str(PROGRAM), *words])
    assert [options.instructions for options in asked] == [limit]


def test_what_the_device_lacks_is_said_even_if_the_program_does_not_look(tmp_path: Path) -> None:
    source = tmp_path / "lacks.cu"
    source.write_text(
        '__global__ void k(float* p) { asm volatile("multimem.red.relaxed.gpu.global.add.u32 [%0], 1;" :: "l"(p)); }\n'
        "int main() { k<<<1, 1>>>(nullptr); cudaDeviceSynchronize(); }\n"
    )
    done = warpgrade("-q", source)
    assert "not supported" in done.stderr
    assert "lacks.cu:1" in done.stderr
    assert "multimem.red.relaxed.gpu.global.add.u32" in done.stderr
    assert "several GPUs" in done.stderr


def test_more_launches_than_the_journal_holds(execute: Any) -> None:
    profile = execute("launches", 20_000)
    assert profile.exit_status == 0
    assert [(kernel.name, kernel.launches) for kernel in profile.kernels] == [("nothing", 20_000)]


def test_the_profile_does_not_depend_on_who_looks(execute: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def look(seconds: float) -> Any:
        monkeypatch.setattr("warpgrade.machine.device_server._TAKE_SECONDS", seconds)
        return execute("launches", 3000)

    assert look(0.0005) == look(5)


def test_the_whole_device_unless_a_slice_is_named(execute: Any) -> None:
    assert execute("-s", 0).device["multi_processor_count"] == 132
    assert execute("-s", 0, device="vgpu:t4:2").device["multi_processor_count"] == 2


def test_what_does_not_compile_is_told_by_nvcc(tmp_path: Path) -> None:
    source = tmp_path / "broken.cu"
    source.write_text("__global__ void k() { int x = ; }\nint main() {}\n")
    done = warpgrade("broken.cu", cwd=tmp_path)
    assert done.returncode == 2
    assert "broken.cu does not compile" in done.stderr
    assert "broken.cu(1): error: expected an expression" in done.stderr
    source.write_text("__global__ void k() {}\nint main() { k(); }\n")
    assert "k<<<blocks, threads>>>(…)" in warpgrade("broken.cu", cwd=tmp_path).stderr
    source.rename(tmp_path / "broken.cpp")
    assert "the ending .cu" in warpgrade("broken.cpp", cwd=tmp_path).stderr


def test_what_newer_cuda_took_away_is_told_with_its_successor(tmp_path: Path) -> None:
    source = tmp_path / "old.cu"
    source.write_text(
        "texture<float, 1, cudaReadModeElementType> numbers;\n"
        "int main() {\n  cudaDeviceProp p;\n  cudaGetDeviceProperties(&p, 0);\n  cudaThreadSynchronize();\n"
        "  cudaMemPrefetchAsync(nullptr, 0, 0, 0);\n  return p.clockRate + p.deviceOverlap;\n}\n"
    )
    with pytest.raises(BadInput, match=r"old\.cu does not compile") as refused:
        run.run(LAYOUT, [source], [], run.Options())
    hint = refused.value.hint
    assert "cudaDeviceGetAttribute with cudaDevAttrClockRate, cudaDevAttrGpuOverlap" in hint
    assert all(word in hint for word in ("cudaDeviceSynchronize", "cudaCreateTextureObject", "cudaMemLocationTypeHost"))
    source.write_text("__global__ void a() {}\n__global__ void b() { a<<<1, 1>>>(); }\nint main() {}\n")
    with pytest.raises(BadInput) as refused:
        run.run(LAYOUT, [source], [], run.Options())
    assert refused.value.hint == "a kernel launches a kernel: add -X -rdc=true"
    source.write_text("int main() { return nothing; }\n")
    with pytest.raises(BadInput, match=r"old\.cu does not compile") as refused:
        run.run(LAYOUT, [source], [], run.Options())
    assert refused.value.hint == ""


def test_what_only_the_virtual_gpu_tells_is_refused_on_a_real_one(monkeypatch: pytest.MonkeyPatch) -> None:
    real = Device("gpu", "gpu:0", "gpu", {}, repeatable=False, analysed=False)
    monkeypatch.setattr(device, "resolve", lambda layout, spec, whole: real)
    for options in (run.Options(lines=True), run.Options(sample=4), run.Options(order="reverse")):
        with pytest.raises(BadInput, match="a real one tells times only"):
            run.run(LAYOUT, [Path("a.cu")], [], options)
    with pytest.raises(BadInput, match=r"a\.cu does not exist"):  # and nothing else is refused
        run.run(LAYOUT, [Path("a.cu")], [], run.Options())


_LOADS = r"""
#include <cuda.h>
int main(int, char** words) {
    CUcontext context;
    CUmodule module;
    CUfunction function;
    CUdeviceptr x;
    int failed = cuInit(0) || cuCtxCreate(&context, nullptr, 0, 0) || cuModuleLoad(&module, words[1]) ||
                 cuModuleGetFunction(&function, module, "write") || cuMemAlloc(&x, 40);
    void* arguments[] = {&x};
    failed = failed || cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, nullptr, arguments, nullptr);
    return failed ? 1 : 10 + (cuCtxSynchronize() == CUDA_ERROR_ILLEGAL_ADDRESS);
}
"""


@pytest.mark.parametrize("how", [["-ptx", "-arch=compute_90"], ["-fatbin", "-gencode=arch=compute_90,code=compute_90"]])
def test_findings_in_a_module_that_the_program_loads_name_its_line(tmp_path: Path, how: list[str]) -> None:
    (tmp_path / "kernel.cu").write_text('extern "C" __global__ void write(int* x) {\n    x[threadIdx.x] = 1;\n}\n')
    (tmp_path / "loads.cpp").write_text(_LOADS)
    nvcc = str(toolchain.find(LAYOUT).nvcc)
    subprocess.run([nvcc, "-lineinfo", *how, "kernel.cu", "-o", "kernel"], cwd=tmp_path, check=True)
    done = warpgrade("loads.cpp", "-X", "-lcuda", "--", "kernel", cwd=tmp_path)
    assert done.returncode == 11, done.stderr
    words = " ".join(done.stderr.split())
    assert "--> kernel.cu:2, kernel write" in words
    assert "past the end of an allocation of 40 bytes (made at loads.cpp:9)" in words


def test_what_does_not_link_is_named(tmp_path: Path) -> None:
    source = tmp_path / "driver.cu"
    source.write_text("#include <cuda.h>\nint main() { return cuArrayDestroy(nullptr); }\n")
    with pytest.raises(BadInput, match="does not link: cuArrayDestroy is not defined") as refused:
        run.run(LAYOUT, [source], [], run.Options())
    assert "driver API does not have this function" in refused.value.hint


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("absent.cu", None, "does not exist"),
        ("notes.txt", b"hello", "not a CUDA or C.. source"),
        ("program", Path("/bin/true").read_bytes(), "contains NVIDIA's own CUDA runtime"),
    ],
)
def test_what_is_no_program(tmp_path: Path, name: str, content: bytes | None, message: str) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(BadInput, match=message):
        run.run(LAYOUT, [tmp_path / name], [], run.Options())


def test_kernels_are_summed_by_name_and_shapes_kept_where_they_agree() -> None:
    collector = Collector()
    launch = {
        "kernel": "_Z1k", "name": "k", "grid": [2, 1, 1], "block": [32, 1, 1], "duration_ns": 5.0, "start_ns": 0.0,
        "stream": 0, "registers_per_thread": 8, "static_shared_bytes": 0, "dynamic_shared_bytes": 0,
        "occupancy": {"theoretical": 1.0, "achieved": 0.5, "limiter": "warps"}, "counters": {"inst_executed": 4},
        "error": None, "lines": [{"file": "k.cu", "line": 3, "counters": {"inst_executed": 4}}],
        "costs": {"divergence": 0.2, "all": 0.2},
    }  # fmt: skip
    report = {
        "launches": [launch, {**launch, "grid": [4, 1, 1], "duration_ns": 15.0, "costs": {"divergence": 0.4}}],
        "call_errors": [],
        "diagnostics": [],
        "clock_ns": 9,
    }
    collector.add(report)
    kernel = collector.finish({}, 0).kernels[0]
    assert (kernel.launches, kernel.total_ns, kernel.shortest_ns, kernel.longest_ns) == (2, 20, 5, 15)
    assert (kernel.grid, kernel.block) == (None, (32, 1, 1))
    assert (kernel.occupancy, kernel.achieved_occupancy) == (1.0, 0.5)
    assert kernel.lines[0].counters == kernel.counters == {"inst_executed": 8}
    assert kernel.costs == {"divergence": 7, "all": 1}


def test_findings_of_all_reports_are_summed() -> None:
    collector = Collector()
    report = {"launches": [], "call_errors": [], "clock_ns": 0, "diagnostics": msgspec.to_builtins([LEAK, RACE])}
    collector.add(report)
    collector.add(report)
    found = collector.finish({}, 0).diagnostics
    assert [(one.rule, one.count) for one in found] == [("racecheck/shared", 2 * RACE.count), ("memcheck/leak", 2)]


RACY = """\
__global__ void reverse(int* d, int n) {
    __shared__ int s[64];
    const int t = threadIdx.x;
    s[t] = d[t];
    d[t] = s[n - 1 - t];
}
int main() {
    int* d = nullptr;
    cudaMalloc(&d, 64 * sizeof(int));
    cudaMemset(d, 0, 64 * sizeof(int));
    reverse<<<1, 64>>>(d, 64);
    cudaDeviceSynchronize();
    cudaFree(d);
}
"""


def test_a_race_is_shown_with_both_lines(tmp_path: Path) -> None:
    (tmp_path / "racy.cu").write_text(RACY)
    done = warpgrade("racy.cu", "--json", "profile.json", "--sarif", "found.sarif", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    diagnostics = json.loads((tmp_path / "profile.json").read_text())["diagnostics"]
    found = next(one for one in diagnostics if one["rule"] == "racecheck/shared")
    lines = {place["line"]: place["source"] for place in (found["place"], found["related"][0]["place"])}
    assert lines == {5: "    d[t] = s[n - 1 - t];", 4: "    s[t] = d[t];"}
    assert found["place"]["file"] == "racy.cu"
    assert done.stderr.count("error: race in shared memory [racecheck/shared]") == 1
    for words in ("5 |     d[t] = s[n - 1 - t];", "4 |     s[t] = d[t];"):
        assert words in done.stderr
    result = json.loads((tmp_path / "found.sarif").read_text())["runs"][0]["results"][0]
    assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "racy.cu"
    quiet = warpgrade("racy.cu", "-q", cwd=tmp_path)
    assert (quiet.stdout, quiet.stderr) == ("", "")
    assert warpgrade("racy.cu", "-q", "--fail-on", "error", cwd=tmp_path).returncode == 1
    none = warpgrade("racy.cu", "--checks", "none", "--fail-on", "warning", cwd=tmp_path)
    assert none.returncode == 0
    assert "racecheck" not in none.stderr


def test_a_grid_that_is_small_for_the_device_is_named() -> None:
    folder = Path(__file__).parents[2] / "checks" / "advice"
    done = warpgrade("small_grid.cu", cwd=folder)
    assert "the grid has 2 blocks, the device 132 multiprocessors" in " ".join(done.stderr.split())


def test_files_compiled_separately_are_linked_and_share_managed_memory() -> None:
    folder = LAYOUT.root / "tests" / "cudart" / "programs" / "separate"
    done = warpgrade(folder / "main.cu", folder / "other.cu", "-q", "-X", "-rdc=true", "--", "linked")
    assert (done.returncode, done.stdout) == (0, "from main\nfrom other\nok\n"), done.stderr


@pytest.fixture(scope="module")
def nested_program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    program = PROGRAM.with_name("nested.cu")
    return run._compile(LAYOUT, [program], 90, run.Options(nvcc=("-rdc=true",)), tmp_path_factory.mktemp("nested"))


@pytest.fixture
def nested(nested_program: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(run, "_program", lambda *_: nested_program)
    return lambda *words: run.run(LAYOUT, [PROGRAM.with_name("nested.cu")], list(words), run.Options())


def test_kernels_launch_kernels_which_are_counted(nested: Any, capfd: pytest.CaptureFixture[str]) -> None:
    profile = nested()
    assert capfd.readouterr().out == "launched: cudaSuccess\ndone: cudaSuccess\nerror 0, 0 wrong\n"
    assert profile.diagnostics == []
    kernels = {kernel.name: kernel for kernel in profile.kernels}
    assert {name: kernel.launches for name, kernel in kernels.items()} == {
        "parent": 1, "scale": 4, "middle": 1, "reverse": 1,
    }  # fmt: skip
    # Each of four launches loads 50 doubles: one warp all of 32, the other 18.
    assert kernels["scale"].counters["global_load_requests"] == 8


@pytest.mark.parametrize(
    ("mistake", "said", "rule", "message"),
    [
        ("too many", "done: cudaSuccess", "launch/configuration", "2000 threads"),
        ("endless", "done: cudaSuccess\n25 deep", "launch/configuration", "more than 24 deep"),
        ("beyond", "done: cudaErrorIllegalAddress", "memcheck/out-of-bounds", "past the end"),
    ],
)
def test_mistakes_in_launches_of_kernels_are_found(
    nested: Any, capfd: pytest.CaptureFixture[str], mistake: str, said: str, rule: str, message: str
) -> None:
    found = nested(mistake).diagnostics
    assert capfd.readouterr().out == f"launched: cudaSuccess\n{said}\n"
    assert [each.rule for each in found if each.severity == "error"] == [rule]
    assert any(message in each.message for each in found), found


def test_what_kernels_cannot_ask_of_the_runtime_is_refused_by_name(
    nested: Any, capfd: pytest.CaptureFixture[str]
) -> None:
    nested("stream")
    out, said = capfd.readouterr()
    assert out.startswith("launched: cudaErrorNotSupported\n")
    assert "kernel 'makes_stream'" in said
    assert "__cudaCDP2StreamCreateWithFlags" in said


def test_a_graph_fills_as_the_runtime_does(tmp_path: Path) -> None:
    profile = tmp_path / "profile.json"
    done = warpgrade(PROGRAM.with_name("graph_fills.cu"), "--json", profile)
    assert done.stdout == "5050505 5050505 7 7\n", done.stderr
    copies = json.loads(profile.read_text())["transfers"]
    # Only the elements whose bytes differ have to be copied.
    assert (copies["fill"]["count"], copies["to_device"]["count"]) == (1, 1)


def test_managed_memory_that_moves_has_rows_of_its_own(tmp_path: Path) -> None:
    profile = tmp_path / "profile.json"
    done = warpgrade(PROGRAM.with_name("managed.cu"), "--json", profile)
    assert (done.returncode, done.stdout.splitlines()[0]) == (0, "12"), done.stderr
    assert json.loads(profile.read_text())["migrations"] == {
        "to_device": {"pages": 24, "bytes": 24 << 16},  # 16 of x, then the 8 that the host has written again
        "to_host": {"pages": 8, "bytes": 8 << 16},
        "prefetched_to_host": {"pages": 16, "bytes": 16 << 16},
    }
    shown = done.stdout + done.stderr
    for row in (
        "unified memory to the device  1.5 MiB, 24 pages",
        "unified memory to the host  512 KiB, 8 pages",
        "prefetches to the host  1 MiB, 16 pages",
    ):
        assert row in shown


def test_a_program_that_reads_too_early_goes_on_whatever_its_handlers_and_status() -> None:
    program = PROGRAM.with_name("managed.cu")
    own = warpgrade(program, "-q", "--", "handler")
    assert (own.returncode, own.stdout.splitlines()[0]) == (0, "6"), own.stderr
    failed = warpgrade(program, "--", "fail")
    assert (failed.returncode, failed.stdout.splitlines()[0]) == (1, "6"), failed.stderr
    assert "call cudaDeviceSynchronize() before the host reads" in failed.stdout + failed.stderr
