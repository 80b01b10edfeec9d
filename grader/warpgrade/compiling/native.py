"""Builds a submission into an ordinary program: NVIDIA's own runtime, no sandbox, for debuggers and profilers.

Its main() (grader/worker/native_main.cpp) makes the calls again that public tests have made on the virtual GPU.
The compiler runs outside of the sandbox as well: this is for one's own code.
"""

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from warpgrade.compiling.build import UNITS
from warpgrade.compiling.toolchain import HOST_LINES, Compilers
from warpgrade.lab.labs import Lab
from warpgrade.machine.device import machine_gpus
from warpgrade.machine.errors import BadInput
from warpgrade.machine.paths import Layout
from warpgrade.machine.text import bounded, clean

CALLS = ".calls"  # after the program's name: where it finds the calls


def build(
    layout: Layout, lab: Lab, compilers: Compilers, binding: Path, files: Mapping[str, bytes], target: Path,
    architecture: int, *, debug: bool, words: Sequence[str] = (),
) -> None:  # fmt: skip
    """Write the program `target`, and beside it the sources of which it is made, which debuggers show."""
    sources = target.with_name(f"{target.name}.src")
    sources.mkdir(exist_ok=True)
    all_files = {**{path.name: path.read_bytes() for path in lab.given}, **files}
    for name, content in all_files.items():
        (sources / name).write_bytes(content)
    units = [str(sources / name) for name in all_files if Path(name).suffix in UNITS]
    device_flags = ["-G", "-O0"] if debug else ["-lineinfo", "-O3"]
    runtime = [] if any("cudart" in word for word in words) else ["-cudart", "static"]
    arch = ["native"] if machine_gpus() else [f"sm_{architecture}"]
    command = [
        str(compilers.nvcc), "-std=c++17", "-g", *device_flags, *HOST_LINES, "-arch", *arch, "-ccbin",
        str(compilers.host), *runtime, *words, *units, str(binding),
        str(layout.library("warpgrade_native")), "-o", str(target), "-lpthread", "-ldl", "-lrt",
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, check=False, stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        raise BadInput(
            f"nvcc does not make an ordinary program of {lab.main_file}",
            detail=bounded(clean(done.stderr + done.stdout)),
        )
