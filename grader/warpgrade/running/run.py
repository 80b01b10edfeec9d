"""Compiles an ordinary CUDA program, its own main() and all, and runs it on the virtual GPU.

The program runs as its user would run it: in their folder, on their terminal, with their rights. Only the device
server, which reads the compiled kernels, is confined.
"""

import os
import re
import signal
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from warpgrade.compiling import compile_errors, toolchain
from warpgrade.findings import accesses, conditional, diagnosis, sources
from warpgrade.findings.accesses import Traces
from warpgrade.findings.diagnosis import Diagnostic
from warpgrade.machine import device, fidelity
from warpgrade.machine.device_server import CLIENT_VARIABLE, DeviceServer, ServerPlan
from warpgrade.machine.errors import BadInput, GraderError
from warpgrade.machine.paths import Layout
from warpgrade.machine.sandbox import TOOLS_ENVIRONMENT, Limits, Run, Sandbox
from warpgrade.machine.text import bounded, clean, printable_name
from warpgrade.running import time_budget
from warpgrade.running.profile import Collector, Profile

_ELF = b"\x7fELF"
# nvcc's ways to ask for separate compilation.
_SEPARATE = {"-rdc=true", "--rdc=true", "-rdc", "--relocatable-device-code=true", "--relocatable-device-code", "-dc"}
_SOURCES = {".cu", ".c", ".cc", ".cpp", ".cxx", ".o", ".a"}
_ENTRY_POINTS = "cuGetProcAddress_v2"
_MISSING = re.compile(r"undefined reference to [`'‘](?P<symbol>.+?)['’]")
_HINTS = (
    (re.compile(r"^cublas"), "cuBLAS is not available: the virtual GPU runs kernels that nvcc compiles from source"),
    (re.compile(r"^(cufft|curand|cusolver|cusparse|cudnn|nppi?)"),
     "NVIDIA's closed-source libraries are not available: the virtual GPU runs kernels that nvcc compiles from source"),
    (re.compile(r"^cu[A-Z]"), "Warpgrade's driver API does not have this function: see docs/supported.md"),
    (re.compile(r"^(omp_|GOMP_)"), "the program uses OpenMP: add -X -Xcompiler -X -fopenmp"),
    (re.compile(r"^_*cuda"), "Warpgrade's CUDA runtime does not have this function yet: see docs/supported.md"),
)  # fmt: skip

# What books and samples use that CUDA 13 took away, or has for an option: in the compiler's words, and what to write.
_OLD_PROPERTIES = {
    "clockRate": "ClockRate",
    "memoryClockRate": "MemoryClockRate",
    "deviceOverlap": "GpuOverlap",
    "kernelExecTimeoutEnabled": "KernelExecTimeout",
    "computeMode": "ComputeMode",
    "singleToDoublePrecisionPerfRatio": "SingleToDoublePrecisionPerfRatio",
    "cooperativeMultiDeviceLaunch": "CooperativeMultiDeviceLaunch",
}
_OLD_PROPERTY = re.compile(r'"cudaDeviceProp" has no member "(?P<name>\w+)"')
_OLD = (
    (re.compile(r'identifier "cudaThreadSynchronize" is undefined'),
     "cudaThreadSynchronize is now called cudaDeviceSynchronize"),
    (re.compile(r'identifier "cudaThreadExit" is undefined'), "cudaThreadExit is now called cudaDeviceReset"),
    (re.compile(r'texture is not a template|identifier "cuda(Unb|B)indTexture\w*" is undefined'),
     "CUDA 12 removed texture references: create a texture object with cudaCreateTextureObject"),
    (re.compile(r'to "cudaMemLocation"'),
     "cudaMemPrefetchAsync and cudaMemAdvise now take a cudaMemLocation: {cudaMemLocationTypeDevice, 0} or "
     "{cudaMemLocationTypeHost, 0}"),
    (re.compile(r'identifier "__(shfl\w*|any|all|ballot)" is undefined'),
     "warp functions now end in _sync and take the mask of participating lanes as their first argument"),
    (re.compile(r"kernel launch from __device__ or __global__ functions requires separate compilation"),
     "a kernel launches a kernel: add -X -rdc=true"),
)  # fmt: skip


_READ_LIMITS = Limits(seconds=20, cpu_seconds=20, memory_mib=1024, file_size_mib=1, processes=8, tmp_mib=1)

# Warp instructions of one launch, at some 50 million a second: a loop without end stops by itself after some minutes.
MAX_INSTRUCTIONS = 20_000_000_000


@dataclass(frozen=True)
class Options:
    """How to compile and run."""

    device: str = "auto"
    threads: int | None = None
    instructions: int = MAX_INSTRUCTIONS  # 0: no limit
    confined: bool = True
    lines: bool = False
    checks: str = "all"
    budget: float | None = None  # seconds after which the program is stopped
    sample: int = 0  # run no more blocks of a launch, and scale what is counted; 0: all
    tell: Callable[[str], None] | None = field(default=None, compare=False)  # gets how far a long run is
    order: str = "forward"  # of blocks and warps, as ServerPlan has it
    nvcc: tuple[str, ...] = ()  # further words for nvcc

    @property
    def own_folders(self) -> list[Path]:
        """The folders of headers that were named: their lines may be quoted."""
        return [Path(word[2:]) for word in self.nvcc if word.startswith("-I") and len(word) > 2]


def run(
    layout: Layout, files: Sequence[Path], arguments: Sequence[str], options: Options, traces: Traces | None = None
) -> Profile:
    """Run the program and return what the device did; raises BadInput when it does not compile.

    `traces` gets accesses that its kernels made.
    """
    target = device.resolve(layout, options.device, whole=True)
    on_gpu = target.kind == "gpu"
    if on_gpu and (options.lines or options.sample or options.order != "forward" or traces is not None):
        raise BadInput(
            "--lines, --sample, --order and recorded accesses are the virtual GPU's: a real one tells times only",
            hint="leave --device out",
        )
    if not (target.analysed or on_gpu):
        raise BadInput(f"device {target.spec} tells no counters, and nothing else that run shows", hint="use vgpu")
    sandbox = Sandbox(layout.program("warpgrade-sandbox"), confined=options.confined).strongest()
    with tempfile.TemporaryDirectory(prefix="warpgrade-run-") as scratch:
        program = _program(layout, sandbox, files, target.architecture, options, Path(scratch))
        collector = Collector()
        plan = ServerPlan(
            device=target.spec,
            threads=options.threads or len(os.sched_getaffinity(0)),
            instructions=options.instructions,
            confined=options.confined,
            plain=sandbox.plain,
            lines=options.lines,
            checks=options.checks,
            order=options.order,
            traced=traces is not None,
            sample=options.sample,
            on_gpu=on_gpu,
        )

        def collect(report: dict[str, Any]) -> None:
            collector.add(report)
            if traces is not None:
                for launch in report["launches"]:
                    traces.add(launch)

        server = DeviceServer(layout, plan, collect)
        # The program may have ended while the device still works for it.
        with (
            device.hold_device(layout, target),
            time_budget.Watch(server.progress, options.budget, options.tell) as watch,
            server,
        ):
            status = _execute(layout, program, arguments, server, watch)
        profile = collector.finish(target.properties, time_budget.EXIT_STATUS if watch.stopped else status)
        profile.stopped = watch.stopped
        profile.fidelity = fidelity.state(target, collector.unsupported)
        lookup, own = sources.HostCode(program, sandbox), _own_sources(layout, files, options)
        profile.diagnostics = _with_own_lines(files, options, profile, own, lookup)
        if traces is not None:
            traces.kept = accesses.locate(traces.kept, own, lookup(accesses.codes(traces.kept)))
        return profile


def _own_sources(layout: Layout, files: Sequence[Path], options: Options) -> sources.Sources:
    """The user's own sources: of the folders here, of the program, and of its headers."""
    try:
        compiler = toolchain.find(layout).folders
    except GraderError:
        compiler = []  # the program was compiled elsewhere
    return sources.folder_sources([Path.cwd(), *(path.parent for path in files), *options.own_folders], compiler)


def _with_own_lines(
    files: Sequence[Path], options: Options, profile: Profile, own: sources.Sources, lookup: sources.HostCode
) -> list[Diagnostic]:
    """Show what the checks found in the user's own lines."""
    found = diagnosis.locate(profile.diagnostics, own, lookup)
    if conditional.is_wanted(options.checks):
        names = [name for name in map(own.own_name, map(str, files)) if name]
        launched = [kernel.name for kernel in profile.kernels]
        found += conditional.find_conditional_barriers(found, launched, own, list(conditional.own_files(names)))
    return diagnosis.merge(found)


def _program(
    layout: Layout, sandbox: Sandbox, files: Sequence[Path], architecture: int, options: Options, scratch: Path
) -> Path:
    """Return the executable: compiled from sources, or given as it is."""
    for path in files:
        if not path.is_file():
            raise BadInput(
                f"{printable_name(str(path))} does not exist",
                hint="put the program's arguments after --, as in: warpgrade run prog.cu -- 1024",
            )
    if len(files) == 1 and _is_elf_program(files[0]):
        _check_runtime(files[0], sandbox)
        return files[0].resolve()
    for path in files:
        if path.suffix.lower() not in _SOURCES:
            raise BadInput(
                f"{printable_name(path.name)} is not a CUDA or C++ source file",
                hint="give .cu files, or one program that nvcc linked with -cudart shared",
            )
    return _compile(layout, files, architecture, options, scratch)


def _is_elf_program(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(4) == _ELF and path.suffix.lower() not in _SOURCES


def _check_runtime(path: Path, sandbox: Sandbox) -> None:
    """A program that holds NVIDIA's runtime looks for NVIDIA's driver, not for us."""
    inside = "/program" if sandbox.has_own_paths else str(path.resolve())
    done = sandbox.execute(
        "compile",
        Run(
            command=["readelf", "-d", inside], limits=_READ_LIMITS, directory="/",
            read_only={inside: path.resolve()}, environment=TOOLS_ENVIRONMENT,
        ),
        errors=False,
    )  # fmt: skip
    needed = re.findall(r"\(NEEDED\)[^\n\[]{0,200}\[(libcudart\.so[^\]\n]{0,80})\]", clean(done.words))
    if needed == ["libcudart.so.13"]:
        return
    if needed:
        raise BadInput(
            f"{printable_name(path.name)} is linked with {needed[0]}; Warpgrade's CUDA runtime is libcudart.so.13",
            hint="compile it with CUDA 13, or give the .cu files",
        )
    raise BadInput(
        f"{printable_name(path.name)} contains NVIDIA's own CUDA runtime, which needs a real GPU's driver",
        hint="link it with `nvcc -cudart shared`, or give the .cu files",
    )


def _compile(layout: Layout, files: Sequence[Path], architecture: int, options: Options, scratch: Path) -> Path:
    compilers = toolchain.find(layout)
    program = scratch / files[0].stem
    runtime, driver = layout.library("warpgrade_cudart"), layout.library("warpgrade_cuda")
    # Our archives under the names that nvcc and -lcuda look for. Whoever asks for the driver API by
    # cudaGetDriverEntryPoint has it without -lcuda.
    link = [f"-L{runtime.parent / 'nvcc'}", "-Xlinker", f"--undefined={_ENTRY_POINTS}", str(driver)]
    # With -cudart none, nvcc leaves out the device link step, which files compiled separately need.
    link += ["-cudart", "static"] if _SEPARATE.intersection(options.nvcc) else ["-cudart", "none", str(runtime)]
    command = [
        str(compilers.nvcc), "-lineinfo", *host_line_flags(options.nvcc),
        "-gencode", f"arch=compute_{architecture},code=[compute_{architecture},sm_{architecture}]",
        "-ccbin", str(compilers.host), *options.nvcc, *map(str, files), "-o", str(program),
        *link, "-lpthread", "-ldl", "-lrt",
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, check=False, stdin=subprocess.DEVNULL)
    words = clean(done.stderr + done.stdout).strip()
    if done.returncode != 0:
        raise _refusal(files, words)
    if words:  # warnings
        os.write(2, (words + "\n").encode())
    return program


def host_line_flags(words: Sequence[str]) -> list[str]:
    """Return nvcc's options for lines of host code, where a call was made, with `words` the user's own options.

    The runtime's calls in cuda_runtime.h are templates, which must be part of the function that uses them, as they are
    in every optimized program.
    """
    optimized = [] if _optimizes(words) else ["-Xcompiler", "-Og"]
    return [*toolchain.HOST_LINES, *optimized]


def _optimizes(words: Sequence[str]) -> bool:
    """Whether the user chose how the host compiler optimizes."""
    return any(re.search(r"(?:^|[\s,])-O\w*|^--optimize", word) for word in words)


def _refusal(files: Sequence[Path], words: str) -> BadInput:
    symbols = list(dict.fromkeys(match["symbol"] for match in _MISSING.finditer(words)))
    if not symbols:
        return BadInput(
            f"{printable_name(files[0].name)} does not compile",
            hint=_for_older_cuda(words) or compile_errors.advice(words),
            detail=bounded(words),
        )
    hint = ""
    for pattern, text in _HINTS:
        if any(pattern.match(symbol) for symbol in symbols):
            hint = text
            break
    shown = ", ".join(symbols[:6]) + (f" and {len(symbols) - 6} more" if len(symbols) > 6 else "")
    return BadInput(f"the program does not link: {shown} is not defined", hint=hint)


def _for_older_cuda(words: str) -> str:
    """Return how CUDA 13 says what the program says as older versions did; nothing where that is not the trouble."""
    told = [text for pattern, text in _OLD if pattern.search(words)]
    gone = list(
        dict.fromkeys(match["name"] for match in _OLD_PROPERTY.finditer(words) if match["name"] in _OLD_PROPERTIES)
    )
    if gone:
        names, attributes = ", ".join(gone), ", ".join("cudaDevAttr" + _OLD_PROPERTIES[name] for name in gone)
        told.append(f"CUDA 13 removed {names} from cudaDeviceProp: use cudaDeviceGetAttribute with {attributes}")
    return "; ".join(told)


def _execute(
    layout: Layout, program: Path, arguments: Sequence[str], server: DeviceServer, watch: time_budget.Watch
) -> int:
    """Run it on our terminal and return its exit status as a shell would have it."""
    descriptor = server.client.fileno()
    libraries = str(layout.libraries)
    path = ":".join(filter(None, [libraries, os.environ.get("LD_LIBRARY_PATH", "")]))
    environment = {**os.environ, CLIENT_VARIABLE: str(descriptor), "LD_LIBRARY_PATH": path}
    try:
        process = subprocess.Popen([str(program), *arguments], env=environment, pass_fds=(descriptor,))
    except PermissionError:
        raise GraderError(
            f"no program may be started in {program.parent}", hint="set TMPDIR to a folder where programs may run"
        ) from None
    except OSError as error:
        raise GraderError(f"the program cannot be started: {error.strerror}") from None
    server.close_client()
    watch.ends(process)
    try:
        status = process.wait()
    except KeyboardInterrupt:
        # The terminal has told the program as well.
        try:
            process.wait(timeout=2)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        raise
    return status if status >= 0 else 128 - status


def describe_exit(status: int) -> str:
    """Return nothing for an ordinary end, else which signal ended the program and what that often means."""
    try:
        name = signal.Signals(status - 128).name if status > 128 else ""
    except ValueError:
        name = ""
    if not name:
        return ""
    if name in ("SIGSEGV", "SIGBUS"):
        return f"the program was killed by {name}: does host code use a pointer from cudaMalloc?"
    return f"the program was killed by {name}"
