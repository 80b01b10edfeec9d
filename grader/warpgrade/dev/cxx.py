"""What reads all of the C++ with clang: clang-tidy, and fuzzing.

    python -m warpgrade.dev.cxx clang-tidy

is how `warpgrade test` starts the first beside its other steps; `fuzzing`, which builds its targets first, runs at
night.
"""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import click

from warpgrade.machine.paths import Layout, find_layout

_SUFFIXES = {".cpp", ".hpp", ".h"}
_FOLDERS = ("grader", "labs", "tests")
_FUZZ_SECONDS = 120
_TIDY_LIMITS = [f"--extra-arg={word}" for word in ("-Xclang", "-analyzer-config", "-Xclang", "max-nodes=20000")]
# clang-tidy's path analyzer takes most of its time, a minute for a file of opcode bodies alone. It looks at what stands
# between us and hostile input, and no longer than is worth it; the rest runs under sanitizers in the fuzz targets. All
# other checks hold everywhere.
_ANALYZED = ("grader/device", "grader/server", "grader/sandbox", "grader/worker", "grader/vgpu/ptx")


def cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0))


def cxx_files(layout: Layout) -> list[Path]:
    """Return all sources and headers of ours."""
    return sorted(
        path
        for folder in _FOLDERS
        for path in (layout.root / folder).rglob("*")
        if path.suffix in _SUFFIXES and path.is_file()
    )


def clang_tidy(layout: Layout) -> bool:
    """Check the sources, several at a time; a file is one process, and says nothing when it is clean."""
    tool = _clang_tidy_program()
    if not Path(tool).exists():
        click.echo("clang-tidy is not installed; run ./warpgrade test, which installs it")
        return False
    clean = layout.state / "clang-tidy"
    clean.mkdir(parents=True, exist_ok=True)
    commands = _commands_file_by_file(layout)
    if commands is None:
        return False
    common = _digest_of_what_all_depend_on(layout)
    sources = [
        path for path in cxx_files(layout) if path.suffix == ".cpp" and path.is_relative_to(layout.root / "grader")
    ]

    def check(path: Path) -> bool:
        # Files that were clean before, with the same headers and checks, are clean.
        stamp = clean / hashlib.sha256(common + str(path).encode() + path.read_bytes()).hexdigest()
        if stamp.exists():
            return True
        analyzed = any(path.is_relative_to(layout.root / folder) for folder in _ANALYZED)
        fewer = [] if analyzed else ["--checks=-clang-analyzer-*"]
        done = subprocess.run(
            [tool, "--quiet", "-p", str(commands), *_TIDY_LIMITS, *fewer, str(path)],
            cwd=layout.root, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        if done.returncode != 0:
            click.echo(done.stdout.strip() or done.stderr.strip())
            return False
        stamp.touch()
        return True

    with ThreadPoolExecutor(cores()) as pool:
        good = sum(pool.map(check, sources))
    click.echo(f"clang-tidy: {good} of {len(sources)} files clean")
    return good == len(sources)


def _commands_file_by_file(layout: Layout) -> Path | None:
    """Configure a build of our own that is never run, for its compile_commands.json; return its folder.

    In it, each source is compiled alone and finds no precompiled header: g++'s are nothing to clang, and so a file
    shows what it forgot to include.
    """
    folder = layout.state / "clang-tidy" / "commands"
    unlike = ["-DWARPGRADE_UNITY=OFF", "-DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON"]
    done = _said(layout, ["cmake", "--preset", "dev", "-B", str(folder), *unlike, *_cuda_headers(layout)])
    if done.returncode != 0:
        click.echo(done.stderr)
        return None
    # Some sources are compiled several times, for other processors: clang-tidy would read them as often.
    database = folder / "compile_commands.json"
    commands = {entry["file"]: entry for entry in reversed(json.loads(database.read_text(encoding="utf-8")))}
    database.write_text(json.dumps(list(commands.values())), encoding="utf-8")
    return folder


def _clang_tidy_program() -> str:
    """Return the one that pip installed: since version 21 it leaves out the system's headers, most of what there is."""
    return str(Path(sys.executable).parent / "clang-tidy")


def _digest_of_what_all_depend_on(layout: Layout) -> bytes:
    total = hashlib.sha256((layout.root / ".clang-tidy").read_bytes())
    total.update(subprocess.run([_clang_tidy_program(), "--version"], capture_output=True, check=False).stdout)
    for path in cxx_files(layout):
        if path.suffix != ".cpp":
            total.update(str(path).encode() + path.read_bytes())
    return total.digest()


def _build_fuzz_targets(layout: Layout) -> bool:
    """Configure and build them, with clang, where the launcher has installed it."""
    folder = layout.root / "build" / "fuzz"
    configured = (folder / "CMakeCache.txt").exists()
    # A folder keeps how it began: another command line would mean to compile everything anew.
    with_ccache = "" if configured or not shutil.which("ccache") else "ccache"
    launchers = [f"-DCMAKE_{name}_COMPILER_LAUNCHER={with_ccache}" for name in ("C", "CXX") if with_ccache]
    configure = ["cmake", "--preset", "fuzz", *launchers, *_cuda_headers(layout)]
    done = _said(layout, configure)
    if done.returncode != 0 and configured:
        shutil.rmtree(folder)  # of a checkout that was moved, or of another compiler: CMake cannot go on from there
        done = _said(layout, configure)
    if done.returncode == 0:
        done = _said(layout, ["cmake", "--build", str(folder), "--target", "fuzz-targets"])
    if done.returncode != 0:
        click.echo((done.stdout + done.stderr)[-4000:])
    return done.returncode == 0


def _said(layout: Layout, command: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, cwd=layout.root, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL
    )


def _cuda_headers(layout: Layout) -> list[str]:
    """Return CMake's option for the headers that this checkout's build has."""
    cache = (layout.build / "CMakeCache.txt").read_text(encoding="utf-8")
    found = re.search(r"^WG_CUDA_INCLUDE_DIR:PATH=(.*)$", cache, re.MULTILINE)
    return [f"-DWARPGRADE_CUDA_INCLUDE={found[1]}"] if found else []


def fuzz(layout: Layout) -> bool:
    """Build and run each fuzz target for a while, from the same start every time; keep findings beside the logs."""
    if not _build_fuzz_targets(layout):
        return False

    def run(name: str) -> bool:
        program = layout.root / "build" / "fuzz" / "bin" / f"fuzz-{name}"
        if not program.exists():
            click.echo(f"fuzz-{name}: not built")
            return False
        home = layout.root / "tests" / "fuzz"
        folder = layout.logs / f"fuzz-{name}"
        corpus = layout.state / "fuzz" / name
        for path in (folder, corpus):
            path.mkdir(parents=True, exist_ok=True)
        dictionary = home / f"{name}.dict"
        seeds = [home / "found" / name, *(root / "tests" / "vgpu" / name for root in (layout.root, layout.build))]
        done = subprocess.run(
            [str(program), "-seed=1", "-timeout=20", "-rss_limit_mb=4096", f"-max_total_time={_FUZZ_SECONDS}",
             "-print_final_stats=1",
             f"-artifact_prefix={folder}/",
             *([f"-dict={dictionary}"] if dictionary.exists() else []),
             str(corpus), *(str(path) for path in seeds if path.is_dir())],
            cwd=layout.root, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        executed = re.search(r"number_of_executed_units: (\d+)", done.stderr)
        click.echo(f"fuzz-{name}: {executed[1] if executed else 'no'} inputs, status {done.returncode}")
        if done.returncode != 0:
            click.echo(done.stderr[-4000:])
        return done.returncode == 0

    targets = ("ptx", "fatbin", "protocol", "report", "arena")
    with ThreadPoolExecutor(len(targets)) as pool:
        return all(list(pool.map(run, targets)))


BESIDE = {"clang-tidy": clang_tidy}

if __name__ == "__main__":
    sys.exit(not {**BESIDE, "fuzzing": fuzz}[sys.argv[1]](find_layout()))
