"""`warpgrade doctor`: what this machine has, what is missing and how to get it."""

import os
import platform
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from warpgrade import __version__
from warpgrade.compiling import toolchain
from warpgrade.course import course as courses
from warpgrade.course import reader
from warpgrade.lab import labs
from warpgrade.machine import device, disk_space
from warpgrade.machine.errors import WarpgradeError
from warpgrade.machine.paths import Layout
from warpgrade.machine.sandbox import Sandbox
from warpgrade.machine.text import bounded, clean
from warpgrade.running import run

_MIN_FREE_BYTES = 200 << 20  # of compiling and grading one submission, with some to spare
_PROGRAM = """\
__global__ void add(int* value) { *value += 40; }
int main() {
    int value = 2, *there = nullptr;
    cudaMalloc(&there, sizeof value);
    cudaMemcpy(there, &value, sizeof value, cudaMemcpyHostToDevice);
    add<<<1, 1>>>(there);
    cudaMemcpy(&value, there, sizeof value, cudaMemcpyDeviceToHost);
    cudaFree(there);
    return value == 42 ? 0 : 1;
}
"""


@dataclass(frozen=True)
class Finding:
    """One line: what was looked at, what was found, and what to do when it is not good."""

    what: str
    found: str
    remedy: str = ""
    good: bool = True


def examine(layout: Layout) -> list[Finding]:
    """Look at everything that grading needs."""
    findings = [
        Finding("warpgrade", f"{__version__}, " + ("installed" if layout.native else f"preset {layout.preset}")),
        Finding("machine", f"{_system()}, {platform.machine()}, {len(os.sched_getaffinity(0))} CPU cores"),
        Finding("python", platform.python_version()),
    ]
    for check in (_compilers, _tools, _programs, _disks, _virtual_gpu, _sandbox, _gpu, _labs, _course):
        findings += _guarded(check, layout)
    if all(finding.good for finding in findings):  # else it fails of what is told already
        findings += _guarded(_trial, layout)
    return findings


def show(console: Console, findings: list[Finding]) -> None:
    """Print the findings."""
    table = Table(
        box=box.SIMPLE_HEAD, show_header=False, show_edge=False, pad_edge=False, width=min(console.width, 112)
    )
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True, style="bold")
    table.add_column(ratio=1, overflow="fold")
    for finding in findings:
        text = Text(finding.found)
        if finding.remedy:
            text.append(f"\n{finding.remedy}", style="cyan")
        table.add_row(Text("ok", style="green") if finding.good else Text("no", style="red"), finding.what, text)
    console.print(table)


def _guarded(check: Callable[[Layout], list[Finding]], layout: Layout) -> list[Finding]:
    what = check.__name__.strip("_").replace("_", " ")
    try:
        return check(layout)
    except WarpgradeError as problem:
        return [Finding(what, "\n".join(filter(None, (problem.message, problem.detail))), problem.hint, good=False)]
    except OSError as error:
        known = disk_space.trouble(error, _written_to(layout))
        return [Finding(what, known.message if known else str(error), known.hint if known else "", good=False)]


def _system() -> str:
    try:
        return platform.freedesktop_os_release().get("PRETTY_NAME", platform.system())
    except OSError:
        return platform.system()


def _compilers(layout: Layout) -> list[Finding]:
    found = toolchain.find(layout)
    wheels = " (CUDA wheels)" if "nvidia" in found.nvcc.parts else ""
    return [
        Finding("nvcc", f"{found.nvcc_version} at {found.nvcc}{wheels}"),
        Finding("c++", f"{found.host_version} at {found.host}"),
    ]


def _tools(layout: Layout) -> list[Finding]:
    findings = []
    builds = [] if layout.native else [("cmake", "cmake"), ("ninja", "ninja-build")]
    for program, package in (*builds, ("bwrap", "bubblewrap"), ("nm", "binutils")):
        path = shutil.which(program)
        if path is None:
            findings.append(Finding(program, "not found", f"apt-get install {package}", good=False))
        else:
            findings.append(Finding(program, f"{_version(path)} at {path}"))
    return findings


def _version(path: str) -> str:
    try:
        done = subprocess.run(
            [path, "--version"], capture_output=True, timeout=20, check=False, stdin=subprocess.DEVNULL
        )
    except (OSError, subprocess.TimeoutExpired):
        return "does not run"
    words = clean(done.stdout).partition("\n")[0].split()
    return next((word for word in reversed(words) if word[0].isdigit()), " ".join(words))


def _programs(layout: Layout) -> list[Finding]:
    if layout.native:
        missing = [
            path.name for path in (layout.device_server, layout.program("warpgrade-sandbox")) if not path.is_file()
        ]
        if missing:
            return [Finding("programs", f"missing: {', '.join(missing)}", "install the package again", good=False)]
        return [Finding("programs", f"{layout.device_server.name} of the package")]
    names = ["warpgrade-device", "warpgrade-sandbox", *(f"judge-{lab.name}" for lab in labs.discover(layout))]
    missing = [name for name in names if not layout.program(name).is_file()]
    if missing:
        log = layout.logs / f"build-{layout.preset}.log"
        return [Finding("C++ build", f"not built: {', '.join(missing)}", f"see {log}", good=False)]
    return [Finding("C++ build", f"{len(names)} programs in build/{layout.preset}")]


def _written_to(layout: Layout) -> list[Path]:
    return [Path(tempfile.gettempdir()), next(each for each in (layout.state, *layout.state.parents) if each.is_dir())]


def _disks(layout: Layout) -> list[Finding]:
    full = dict(disk_space.nearly_full(_written_to(layout), _MIN_FREE_BYTES))
    if full:
        text = ", ".join(f"the disk at {disk} is nearly full ({free >> 20} MiB left)" for disk, free in full.items())
        return [Finding("disks", text, f"free {_MIN_FREE_BYTES >> 20} MiB there", good=False)]
    return [Finding("disks", "have space")]


def _trial(layout: Layout) -> list[Finding]:
    """Compile a program and run it: what no list of parts can tell."""
    with tempfile.TemporaryDirectory(prefix="warpgrade-doctor-") as folder:
        source = Path(folder, "trial.cu")
        source.write_text(_PROGRAM, encoding="utf-8")
        status = run.run(layout, [source], [], run.Options(checks="none")).exit_status
    if status != 0:
        return [Finding("trial", f"a program that adds on the virtual GPU ended with status {status}", good=False)]
    return [Finding("trial", "a program was compiled, and ran on the virtual GPU")]


def _virtual_gpu(layout: Layout) -> list[Finding]:
    target = device.resolve(layout, "auto")
    multiprocessors = target.properties.get("multi_processor_count", "?")
    text = f"{target.title}, {multiprocessors} multiprocessors, compiles for sm_{target.architecture}"
    return [Finding("virtual GPU", text)]


def _sandbox(layout: Layout) -> list[Finding]:
    sandbox = Sandbox(layout.program("warpgrade-sandbox"))
    reason = sandbox.probe()
    if reason:
        return [Finding("sandbox", "does not work", bounded(reason, lines=6), good=False)]
    if sandbox.strongest().plain:
        return [Finding("sandbox", "works, without namespaces (Landlock, seccomp, limits)")]
    return [Finding("sandbox", "works (bubblewrap, seccomp, limits)")]


def _gpu(_: Layout) -> list[Finding]:
    gpus = device.machine_gpus()
    return [Finding("NVIDIA GPU", "; ".join(gpus) if gpus else "none (none is needed)")]


def _labs(layout: Layout) -> list[Finding]:
    found = labs.discover(layout)
    return [Finding("labs", ", ".join(f"{lab.name} ({lab.max_points:g} points)" for lab in found) or "none")]


def _course(layout: Layout) -> list[Finding]:
    course = courses.find_course(layout)
    if course is None:
        return []
    reader.refuse(course.mistakes(layout))
    head = course.file.course
    findings = [Finding("course", f"{head.title} ({len(course.file.lab)} labs)")]
    here = toolchain.find(layout).nvcc_version
    if not course.is_pinned_compiler(here):
        remedy = "install that version and set WARPGRADE_NVCC, or change `compiler`; until then results carry a note"
        findings.append(Finding("its compiler", f"nvcc {head.compiler}, but here {here}", remedy, good=False))
    return findings
