"""A head start makes nvcc faster and changes nothing: the same object files, warnings and errors as without it."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import shutil
import struct
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from warpgrade.compiling import head_start, parsers, toolchain
from warpgrade.compiling.build import Builder
from warpgrade.compiling.failure import BuildFailure
from warpgrade.compiling.toolchain import Compilers
from warpgrade.lab import labs, starter
from warpgrade.machine import device
from warpgrade.machine.paths import Layout, find_layout
from warpgrade.machine.sandbox import COULD_NOT_START, Done, Run, Sandbox

LAYOUT = find_layout()
LAB = labs.find(LAYOUT, "reduction")
IMAGES = [f"parse.{parser}.{level}" for parser in ("cicc", "cudafe++") for level in (0, 1)]
CUDAFE = """# 1 "sums.cu"
#pragma GCC diagnostic ignored "-Wattributes"
#pragma GCC diagnostic push
# 1
#pragma GCC diagnostic ignored "-Wunused-function"
static int given;
# 3
#pragma GCC diagnostic pop
# 61 "/usr/include/a \\"b\\".h" 3
extern int theirs;
# 8 "sums.cu"
int mine;
# 1 "sums.cudafe1.stub.c"
"""
ORIGINS = """# 0 "sums.cu"
# 0 "<built-in>"
#define __linux__ 1
# 1 "/usr/include/limits.h" 1 3 4
#define CHAR_BIT 8
#define MOVED 1
# 1 "/opt/cuda/include/cuda.h" 1
#define CUDA 13
#undef MOVED
#define MOVED 2
#define GONE
#undef GONE
"""
FINAL = "#define __linux__ 1\n#define CHAR_BIT 8\n#define CUDA 13\n#define MOVED 2\n#define WITHOUT_ORIGIN 1\n"


def test_a_beginning_ends_before_the_first_line_of_the_units_own() -> None:
    text = head_start.prefix(CUDAFE, "sums.cu")
    assert text.endswith("extern int theirs;\n")
    assert CUDAFE.startswith(text)
    assert head_start.prefix(CUDAFE, "other.cu") == CUDAFE[: CUDAFE.index("# 8")] + '# 8 "sums.cu"\nint mine;\n'


def test_pragmas_that_still_hold_at_its_end_are_said_again() -> None:
    assert head_start.pragmas(CUDAFE) == ['#pragma GCC diagnostic ignored "-Wattributes"']
    assert head_start.pragmas("#pragma GCC diagnostic pop\n") == []


def test_macros_are_those_that_are_left_and_know_what_kind_of_header_they_are_of() -> None:
    assert list(head_start._macros(FINAL, ORIGINS)) == [
        ("#define CHAR_BIT 8", True), ("#define CUDA 13", False), ("#define MOVED 2", False),
    ]  # fmt: skip


def test_steps_that_were_not_recorded_whole_are_left_out(tmp_path: Path) -> None:
    for step in ("preprocess", "host"):
        (tmp_path / "recorded" / step / "abc").mkdir(parents=True)
        (tmp_path / "recorded" / step / "abc" / "asked").write_text("-c")
    (tmp_path / "kept").mkdir()
    head_start.keep_preprocessed(tmp_path / "recorded", tmp_path / "kept")
    assert not list((tmp_path / "kept").iterdir())
    assert not list(head_start.beginnings(tmp_path / "recorded", "sums.cu"))


def test_it_is_made_once_by_who_compiles_many() -> None:
    told = [head_start.is_worth_while(Path("/one")) for _ in range(8)]
    assert told.count(True) == 1
    assert not told[0]
    assert not head_start.is_worth_while(Path("/other"))


@pytest.fixture(scope="module")
def builders(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Builder, Builder]]:
    """With a head start of its own, which tests may spoil, and without."""
    state = tmp_path_factory.mktemp("state")
    (state / "setup").symlink_to(LAYOUT.state / "setup")
    layout = dataclasses.replace(LAYOUT, state_home=state)
    sandbox = Sandbox(LAYOUT.program("warpgrade-sandbox")).strongest()
    if not sandbox.has_own_paths:
        pytest.skip("there is no head start without namespaces")
    target = device.resolve(LAYOUT, "vgpu")
    made = [
        Builder(layout, LAB, toolchain.find(LAYOUT), sandbox, target.architecture, LAYOUT.library("binding-reduction"))
        for _ in range(2)
    ]
    made[0].prepare()
    made[1].__dict__["_may_have_head_start"] = False
    yield made[0], made[1]


def _compiled(builder: Builder, source: str, target: Path) -> tuple[bytes | str, bytes]:
    """Return the object file, or what is said instead, and the warnings."""
    target.mkdir()
    try:
        builder._compile(LAB.main_file, {LAB.main_file: source.encode()}, target, time.monotonic() + 120)
    except BuildFailure as failure:
        return f"{failure.problem.message}\n{failure.problem.detail}\n{failure.problem.hint}", b""
    return (target / f"{LAB.main_file}.o").read_bytes(), (target / "warnings.json").read_bytes()


REFERENCE = next(path for path in starter.reference_files(LAB) if path.name == LAB.main_file).read_text()


@pytest.mark.labs
@pytest.mark.parametrize(
    "source",
    [
        REFERENCE,
        "#include <cooperative_groups.h>\n#include <cstdio>\n" + REFERENCE,
        "// Moved\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n" + REFERENCE.replace("\n#include", "\n\n\n#include"),
        "int before_all_headers;\n" + REFERENCE,
        "#define NDEBUG\n#include <cassert>\n#define EXIT_FAILURE 3\n#include <vector>\n" + REFERENCE,
        REFERENCE + "\n#include <climits>\nstatic int unused() { return CHAR_BIT + __COUNTER__; }\n",
        REFERENCE + "\nint compared(unsigned a, int b) { int c; return a == (unsigned)b ? c : __LINE__; }\n",
        REFERENCE + "\n#pragma GCC diagnostic ignored \"-Wunused-function\"\nstatic int unused() { return 1; }\n",
        REFERENCE.replace("{", "{ missing_name;", 1),
        REFERENCE + "\n#error \"no\"\n",
        REFERENCE + "\n__global__ void f(int* x) { asm(\"nonsense %0;\" : \"=r\"(*x)); }\n",
        "#include \"no_such.h\"\n" + REFERENCE,
        "",
    ],
    ids=[
        "reference", "other headers first", "other lines", "own line first", "macros of headers", "an unused function",
        "an uninitialised variable", "a pragma", "an error", "an error of the preprocessor", "an error of ptxas",
        "no such header", "nothing",
    ],
)  # fmt: skip
def test_nothing_is_different(builders: tuple[Builder, Builder], tmp_path: Path, source: str) -> None:
    with_start, without = (
        _compiled(builder, source, tmp_path / str(number)) for number, builder in enumerate(builders)
    )
    assert with_start == without


@pytest.mark.labs
def test_it_is_used_and_what_does_not_fit_is_left_to_the_compiler(
    builders: tuple[Builder, Builder], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = builders[0]._head_start_folder
    made = sorted(path.name for path in folder.iterdir())
    assert made == ["compiler", "g++", "host.0", "host.1", *IMAGES, "preprocess.0", "preprocess.1"]
    assert [(folder / f"host.{n}" / "prefix.hpp.gch").is_file() for n in (0, 1)] == [True, True]
    right, _ = _compiled(builders[1], REFERENCE, tmp_path / "right")
    # Seen through what was kept: what a head start alone reads.
    with _added(folder / "host.0" / "pragmas", "int seen_by_the_host_compiler;"):
        kept, _ = _compiled(builders[0], REFERENCE, tmp_path / "kept")
        assert isinstance(kept, bytes) and b"seen_by_the_host_compiler" in kept
    with _added(folder / "host.0" / "pragmas", "a word that no compiler takes"):
        assert _compiled(builders[0], REFERENCE, tmp_path / "host")[0] == right
    with _added(folder / "preprocess.0" / "text.ii", "a word that no compiler takes"):
        nvcc = _runs(monkeypatch)
        assert _compiled(builders[0], REFERENCE, tmp_path / "preprocess")[0] == right
        assert nvcc[0] != 0 and nvcc[1:] == [0]  # a second time, without a head start


MOVED = "// The headers come later\n\n" + REFERENCE


@pytest.fixture(scope="module")
def no_programs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Return the parsers as files that images are of, and that cannot be started."""
    folder = tmp_path_factory.mktemp("parsers")
    known = parsers.stand_ins(LAYOUT, toolchain.find(LAYOUT))
    return {
        inside: Path(shutil.copyfile(path, folder / path.name)) if inside.startswith("/parse/") else path
        for inside, path in known.items()
    }


@pytest.fixture
def parsers_fail(no_programs: dict[str, Path], monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Let a parser fail that does not go on from an image; return how nvcc ends each time."""

    def stand_ins(layout: Layout, compilers: Compilers, *, recorded: bool = False) -> dict[str, Path]:
        return no_programs

    monkeypatch.setattr(parsers, "stand_ins", stand_ins)
    return _runs(monkeypatch)


@pytest.mark.labs
@pytest.mark.parametrize(
    ("source", "is_whole"),
    [
        (REFERENCE, True), (MOVED, True), (REFERENCE + "\n#include <vector>\n", True),
        ("#include <vector>\n" + REFERENCE, False), ("struct Own {};\n" + REFERENCE, False),
        ("#define NDEBUG\n" + REFERENCE, True), ("#define _GLIBCXX_ALGORITHM 1\n" + REFERENCE, False),
    ],
    ids=["reference", "other lines", "a header later", "a header first", "own line first", "a macro",
         "its headers differ"],
)  # fmt: skip
def test_parsers_go_on_from_their_images(
    builders: tuple[Builder, Builder], tmp_path: Path, parsers_fail: list[int], source: str, is_whole: bool
) -> None:
    """All from that of cuda_runtime.h at least; with the same headers first, also where there is no other."""
    assert isinstance(_compiled(builders[0], source, tmp_path / "kept")[0], bytes)
    assert parsers_fail == [0]
    with _hidden(builders[0]._head_start_folder, "parse.*.1"):
        assert isinstance(_compiled(builders[0], source, tmp_path / "again")[0], bytes)
    assert parsers_fail == [0, 0]
    # What lies in the first image belongs to the second as well: it is the text that does not fit.
    texts = [builders[0]._head_start_folder / name for name in IMAGES if name.endswith(".0")]
    with contextlib.ExitStack() as stack:
        for image in texts:
            stack.enter_context(_spoilt(image, 0))
        assert isinstance(_compiled(builders[0], source, tmp_path / "last")[0], bytes)
    assert parsers_fail[2:] == [0] if is_whole else len(parsers_fail) == 4


@pytest.mark.labs
def test_parsers_are_those_that_nvcc_calls_also_when_it_is_a_script(tmp_path: Path) -> None:
    real = toolchain.find(LAYOUT)
    assert [path.name for path in real.parsers] == ["cudafe++", "cicc"]
    (tmp_path / "bin").mkdir()
    for name in ("nvcc", "cudafe++"):
        (tmp_path / "bin" / name).write_text(f'#!/bin/sh\nexec {real.parsers[0].with_name(name)} "$@"\n')
        (tmp_path / "bin" / name).chmod(0o755)
    script = dataclasses.replace(real, nvcc=tmp_path / "bin" / "nvcc")
    assert script.parsers == ()  # a sandbox sees none of them: there is no folder for it
    assert dataclasses.replace(real, nvcc=tmp_path / "none").parsers == ()


@pytest.mark.labs
def test_a_sandbox_that_cannot_be_set_up_so_is_set_up_without_images(
    builders: tuple[Builder, Builder], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parsers, "stand_ins", lambda *_, **__: {"/usr/lib/no-such-folder/cicc": Path(__file__)})
    ends = _runs(monkeypatch)
    assert isinstance(_compiled(builders[0], REFERENCE, tmp_path / "kept")[0], bytes)
    assert ends == [COULD_NOT_START, 0]


@pytest.mark.labs
@pytest.mark.parametrize("place", ["head", "words", "kernel", "text", "size"])
def test_an_image_that_does_not_fit_is_not_used(
    builders: tuple[Builder, Builder], tmp_path: Path, parsers_fail: list[int], place: str
) -> None:
    right, _ = _compiled(builders[1], REFERENCE, tmp_path / "right")
    parsers_fail.clear()
    with contextlib.ExitStack() as stack:
        for image in (builders[0]._head_start_folder / name for name in IMAGES if "cudafe" in name):
            kernel, words, text = struct.unpack_from("<QQ8xQ", image.read_bytes(), 192)  # grader/resume/image.hpp
            first = {"head": 0, "words": words, "text": text, "kernel": kernel, "size": None}[place]
            stack.enter_context(_spoilt(image, first))
        assert _compiled(builders[0], REFERENCE, tmp_path / "kept")[0] == right
    assert len(parsers_fail) == 2
    assert parsers_fail[0] != 0


@contextlib.contextmanager
def _spoilt(image: Path, first: int | None) -> Iterator[None]:
    """Change what lies there, or cut the image short."""
    kept = image.read_bytes()
    if first is None:
        os.truncate(image, 4096)
    else:
        with image.open("r+b") as file:
            file.seek(first)
            file.write(bytes(value ^ 1 for value in kept[first : first + 3000]))
    try:
        yield
    finally:
        image.write_bytes(kept)


@contextlib.contextmanager
def _hidden(folder: Path, pattern: str) -> Iterator[None]:
    hidden = sorted(folder.glob(pattern))
    assert hidden
    for path in hidden:
        path.rename(path.with_name(f"hidden-{path.name}"))
    try:
        yield
    finally:
        for path in hidden:
            path.with_name(f"hidden-{path.name}").rename(path)


@contextlib.contextmanager
def _added(path: Path, line: str) -> Iterator[None]:
    kept = path.read_bytes()
    path.write_bytes(kept + f"{line}\n".encode())
    try:
        yield
    finally:
        path.write_bytes(kept)


def _runs(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return a list that gets how each program of the sandbox ends."""
    ends: list[int] = []
    execute = Sandbox.execute

    def noted(self: Sandbox, profile: str, run: Run) -> Done:
        done = execute(self, profile, run)
        ends.append(done.status)
        return done

    monkeypatch.setattr(Sandbox, "execute", noted)
    return ends


@pytest.mark.labs
def test_it_holds_nothing_of_a_submission_or_the_reference(builders: tuple[Builder, Builder]) -> None:
    for path in builders[0]._head_start_folder.rglob("*"):
        if path.is_file():
            content = path.read_bytes()
            assert b"SOLUTION" not in content
            assert b"reduce_shuffle_kernel" not in content
