"""A head start makes nvcc faster and changes nothing: the same object files, warnings and errors as without it."""

import contextlib
import dataclasses
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from warpgrade.compiling import head_start, toolchain
from warpgrade.compiling.build import Builder
from warpgrade.compiling.failure import BuildFailure
from warpgrade.lab import labs, starter
from warpgrade.machine import device
from warpgrade.machine.paths import find_layout
from warpgrade.machine.sandbox import Sandbox

LAYOUT = find_layout()
LAB = labs.find(LAYOUT, "reduction")
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


def _compiled(builder: Builder, source: str, target: Path, unit: str = LAB.main_file) -> tuple[bytes | str, bytes]:
    """Return the object file, or what is said instead, and the warnings."""
    target.mkdir()
    try:
        builder._compile(unit, {unit: source.encode()}, target, time.monotonic() + 120)
    except BuildFailure as failure:
        return f"{failure.problem.message}\n{failure.problem.detail}\n{failure.problem.hint}", b""
    return (target / f"{unit}.o").read_bytes(), (target / "warnings.json").read_bytes()


REFERENCE, PRELAB = (
    next(path for path in starter.reference_files(LAB) if path.name == name).read_text()
    for name in (LAB.main_file, "prelab.cpp")
)


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
    builders: tuple[Builder, Builder], tmp_path: Path
) -> None:
    folder = builders[0]._head_start_folder
    made = sorted(path.name for path in folder.iterdir())
    assert made == ["alone", "compiler", "g++", "host.0", "host.1", "preprocess.0", "preprocess.1"]
    assert [(folder / f"host.{n}" / "prefix.hpp.gch").is_file() for n in (0, 1)] == [True, True]
    right, _ = _compiled(builders[1], REFERENCE, tmp_path / "right")
    # Seen through what was kept: what a head start alone reads.
    with _added(folder / "host.0" / "pragmas", "int seen_by_the_host_compiler;"):
        kept, _ = _compiled(builders[0], REFERENCE, tmp_path / "kept")
        assert isinstance(kept, bytes) and b"seen_by_the_host_compiler" in kept
    with _added(folder / "host.0" / "pragmas", "a word that no compiler takes"):
        assert _compiled(builders[0], REFERENCE, tmp_path / "host")[0] == right
    with _added(folder / "preprocess.0" / "text.ii", "a word that no compiler takes"):
        said, _ = _compiled(builders[0], REFERENCE, tmp_path / "preprocess")
        assert isinstance(said, str) and "does not compile" in said


@pytest.mark.labs
@pytest.mark.parametrize(
    "source",
    [
        PRELAB, "#include <vector>\n" + PRELAB, PRELAB + "\nstatic int unused() { return __LINE__; }\n",
        PRELAB.replace("{", "{ missing_name;", 1), PRELAB + "\n#error \"no\"\n", "#include <thrust/scan.h>\n" + PRELAB,
        "",
    ],
    ids=[
        "reference", "headers", "an unused function", "an error", "an error of the preprocessor", "a refused header",
        "nothing",
    ],
)  # fmt: skip
def test_nothing_is_different_in_a_unit_without_kernels(
    builders: tuple[Builder, Builder], tmp_path: Path, source: str
) -> None:
    with_start, without = (
        _compiled(builder, source, tmp_path / str(number), "prelab.cpp") for number, builder in enumerate(builders)
    )
    assert with_start == without


@pytest.mark.labs
def test_a_unit_without_kernels_is_the_host_compilers_alone_where_it_says_nothing(
    builders: tuple[Builder, Builder], tmp_path: Path
) -> None:
    words = builders[0]._head_start_folder / "alone" / "prelab.cpp"
    right, _ = _compiled(builders[1], PRELAB, tmp_path / "right", "prelab.cpp")
    with _added(words, "-O0"):  # seen in the object file: these words were used
        made, _ = _compiled(builders[0], PRELAB, tmp_path / "made", "prelab.cpp")
        assert isinstance(made, bytes) and made != right
    with _added(words, "-DNO_SUCH=1\nno_such_file.cpp"):
        assert _compiled(builders[0], PRELAB, tmp_path / "refused", "prelab.cpp")[0] == right


def test_what_nvcc_does_in_several_steps_stays_its_own(tmp_path: Path) -> None:
    host = '#$ _HERE_=/cuda/bin\n#$ "/usr/bin"/g++ -O1 -I"/a b" "one.cpp" -o "one.o" \n'
    head_start.keep_host_words(tmp_path, "one.cpp", "one.o", host)
    assert head_start.host_words(tmp_path, "one.cpp") == ["-O1", "-I/a b", "one.cpp", "-o", "one.o"]
    head_start.keep_host_words(tmp_path, "two.cu", "two.o", '#$ cicc "two.cu"\n#$ g++ "two.cu" -o "two.o"\n')
    head_start.keep_host_words(tmp_path, "three.cpp", "three.o", "nvcc fatal   : Unknown option\n")
    assert [head_start.host_words(tmp_path, unit) for unit in ("two.cu", "three.cpp")] == [[], []]


@contextlib.contextmanager
def _added(path: Path, line: str) -> Iterator[None]:
    kept = path.read_bytes()
    path.write_bytes(kept + f"{line}\n".encode())
    try:
        yield
    finally:
        path.write_bytes(kept)


@pytest.mark.labs
def test_it_holds_nothing_of_a_submission_or_the_reference(builders: tuple[Builder, Builder]) -> None:
    for path in builders[0]._head_start_folder.rglob("*"):
        if path.is_file():
            content = path.read_bytes()
            assert b"SOLUTION" not in content
            assert b"reduce_shuffle_kernel" not in content
