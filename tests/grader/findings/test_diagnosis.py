"""What the device says of a program, read, cleaned and given the user's own source lines."""

import re
import subprocess
from pathlib import Path
from typing import Any

import msgspec
import pytest
from samples import LEAK, RACE, advice

from warpgrade.findings import diagnosis, sources
from warpgrade.findings.diagnosis import Diagnostic, Memory, Place
from warpgrade.machine.errors import GraderError
from warpgrade.machine.sandbox import Sandbox

SOURCE = """\
// comment
__device__ float table[4];
void f() {
    CHECK(cudaMalloc(&d_a, bytes));
    cudaMalloc((void **)&p->x[i], bytes);
    cudaMalloc(reinterpret_cast<void**>(&d_b), 4); cudaMalloc(&d_c, 4);
    cudaMallocManaged<float>(
        &managed, bytes);
    cudaMalloc(pointer_to_pointer, bytes);
\tcudaMallocPitch((void**) &this->rows.first, &pitch, 8, 8);
    CHECK(
        cudaMalloc(&wrapped, bytes));
    other(1);
    cudaMalloc(&later, bytes);
}
"""
FOLDER = re.compile(r"(?:/[^\s/:'\"]+)*/submission/")
OWN = sources.submission_sources(
    {"my.cu": SOURCE.encode(), "a.cuh": b"\x1b[31mred\x1b[0m\tline\n"}, FOLDER, lambda path: path.startswith("/usr/")
)


def sample(**changes: Any) -> Diagnostic:
    return msgspec.structs.replace(RACE, **changes)


def located(one: Diagnostic, frames: dict[int, list[sources.Frame]] | None = None) -> Diagnostic:
    (result,) = diagnosis.locate([one], OWN, lambda codes: frames or {})
    return result


def test_what_a_device_sends_is_read_and_what_it_must_not_send_is_refused() -> None:
    raw = msgspec.to_builtins([RACE, LEAK])
    for one in raw:
        for place in (one["place"], *(other["place"] for other in one["related"])):
            del place["source"]  # the device does not know it
    read = diagnosis.read(raw)
    assert [one.rule for one in read] == ["racecheck/shared", "memcheck/leak"]
    for change in ({"severity": "fatal"}, {"count": "many"}, {"more": 1}, {"thread": {"thread": [1], "block": [1]}}):
        with pytest.raises(GraderError, match="cannot be read"):
            diagnosis.read([{**raw[0], **change}])


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/submission/my.cu", "my.cu"),
        ("/scratch/x/submission/my.cu", "my.cu"),
        ("my.cu", "my.cu"),
        ("./a.cuh", "a.cuh"),
        ("/etc/passwd", "<elsewhere>"),
        ("/submission/../etc/passwd", "<elsewhere>"),
        ("/submission/other.cu", "<elsewhere>"),
        ("/usr/local/cuda/include/cuda_fp16.hpp", "<cuda_fp16.hpp>"),
        ("/usr/\x1b[31mred\n.cu", "<red?.cu>"),
    ],
)
def test_only_the_submissions_own_files_are_named_and_quoted(path: str, name: str) -> None:
    place = located(sample(place=Place(path, 1))).place
    assert place.file == name
    assert place.own == (name in ("my.cu", "a.cuh"))
    assert bool(place.source) == place.own


def test_lines_that_are_not_there_and_texts_that_are_hostile() -> None:
    assert located(sample(place=Place("my.cu", 4_000_000_000))).place.source == ""
    assert located(sample(place=Place("a.cuh", 1))).place.source == "red line"
    hostile = located(sample(message="\x1b]0;x\x07a\nb\u202e" + "c" * 5000, kernel="k\r\n::error::x"))
    assert hostile.message.startswith("a bc")
    assert len(hostile.message) <= 600
    assert hostile.kernel == "k ::error::x"


@pytest.mark.parametrize(
    ("line", "name"),
    [(4, "d_a"), (5, "p->x[i]"), (6, ""), (7, "managed"), (8, ""), (9, ""), (10, "this->rows.first"), (1, ""),
     (11, "wrapped"), (13, ""), (99, "")],
)  # fmt: skip
def test_the_variable_is_that_of_the_one_allocation_of_the_line(line: int, name: str) -> None:
    assert OWN.allocated_variable("my.cu", line) == name


CONSTANTS = """\
__constant__ float mask[4], filter[2][2];
namespace a { static __constant__ int width; }
__constant__ int none = 0, one[2] = {};
__constant__ float three{0};
"""


@pytest.mark.parametrize(
    ("name", "told"),
    [("mask", True), ("filter", True), ("a::width", True), ("none", False), ("one", False), ("three", False),
     ("somewhere_else", False)],
)  # fmt: skip
def test_a_constant_that_the_source_sets_to_zero_is_set(name: str, told: bool) -> None:
    own = sources.submission_sources({"my.cu": CONSTANTS.encode()}, FOLDER, lambda path: False)
    one = sample(rule="initcheck/constant", place=Place("my.cu", 2), memory=Memory(name, True, 4, Place()), related=[])
    assert bool(diagnosis.locate([one], own, lambda codes: {})) == told
    elsewhere = msgspec.structs.replace(one, place=Place("/usr/include/a.h", 2))
    assert diagnosis.locate([elsewhere], own, lambda codes: {}) == []


@pytest.mark.parametrize(
    ("memory", "words"),
    [
        (Memory("cudaMalloc", False, 1024, Place(code=77)), "`d_a` (1,024 bytes, allocated at my.cu:4)"),
        (Memory("cudaMalloc", False, 1, Place(code=78)), "an allocation of 1 byte (made at my.cu:6)"),
        (Memory("cudaMalloc", False, 8, Place(code=79)), "an allocation of 8 bytes (cudaMalloc)"),
        (Memory("", False, 8, Place()), "an allocation of 8 bytes"),
        (Memory("", False, 0, Place()), "an allocation"),
        (Memory("s", True, 0, Place()), "`s`"),
        (Memory("table", True, 16, Place()), "`table` (16 bytes)"),
        (Memory("s", True, 16, Place("my.cu", 2)), "`s` (16 bytes, allocated at my.cu:2)"),
        (None, "memory"),
    ],
)
def test_memory_is_named_as_well_as_it_is_known(memory: Memory | None, words: str) -> None:
    frames = {77: [("/usr/include/cuda_runtime.h", 879), ("/submission/my.cu", 4)], 78: [("my.cu", 6)], 79: []}
    result = located(sample(message="reads past {memory}", memory=memory), frames)
    assert result.message == f"reads past {words}"


def test_host_code_is_placed_in_the_users_innermost_frame() -> None:
    frames = {77: [("/usr/include/cuda_runtime.h", 879), ("/submission/my.cu", 4), ("/submission/my.cu", 9)]}
    place = located(sample(place=Place(code=77)), frames).place
    assert place == Place("my.cu", 4, source="    CHECK(cudaMalloc(&d_a, bytes));")
    assert located(sample(place=Place(code=78)), frames).place == Place(code=78)


def test_copies_of_a_call_that_the_compiler_made_are_one_line() -> None:
    calls = [sample(place=Place(code=code), related=[]) for code in (77, 78)]
    frames: dict[int, list[sources.Frame]] = {77: [("my.cu", 4)], 78: [("my.cu", 4)]}
    assert len(diagnosis.merge(diagnosis.locate(calls, OWN, lambda codes: frames))) == 1


def test_the_same_finding_counts_up_and_the_worst_come_first() -> None:
    found = diagnosis.merge([advice(1, 5), advice(2, 7), LEAK, RACE, advice(1, 6), RACE])
    assert [one.rule.partition("/")[0] for one in found] == ["racecheck", "memcheck", "advice", "advice"]
    assert found[0].count == 2 * RACE.count
    assert [(one.place.line, one.weight) for one in found[2:]] == [(1, 11), (2, 7)]


def test_errors_and_the_first_of_a_rule_are_never_crowded_out() -> None:
    many = [advice(line, 1) for line in range(1, 1000)]
    frees = [sample(rule="memcheck/bad-free", place=Place("a.cu", line)) for line in range(1, 1000)]
    assert RACE in diagnosis.merge([*many, RACE])
    found = diagnosis.merge([*many, *frees, RACE, LEAK])
    assert len(found) < 500
    assert {one.rule for one in found} == {"memcheck/bad-free", RACE.rule}
    assert sample(rule="memcheck/bad-free", place=Place("a.cu", 1)) in found
    assert LEAK in diagnosis.merge([*many, LEAK])


def test_folders_are_the_users_own_without_what_lies_in_them_of_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("prog.cu", "deep/part.cuh", "toolkit/include/cuda.h", "secret.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(f"{name}\n")
    (tmp_path / "link.cu").symlink_to("/etc/passwd")
    monkeypatch.chdir(tmp_path)
    own = sources.folder_sources([tmp_path], [tmp_path / "toolkit"])
    assert own.own_name(str(tmp_path / "deep" / "part.cuh")) == "deep/part.cuh"
    assert own.line("prog.cu", 1) == "prog.cu"
    for path in (
        "toolkit/include/cuda.h",
        "secret.txt",
        "link.cu",
        "/etc/passwd",
        "none.cu",
        "a\0b.cu",
        "x" * 5000 + ".cu",
    ):
        assert own.own_name(path) == "", path


HOST_PROGRAM = """\
#include <cstdio>
__attribute__((noinline)) void* here() { asm volatile(""); return __builtin_return_address(0); }
static inline __attribute__((always_inline)) void* wrapper() { return here(); }
int main() {
    std::printf("%p\\n",
                wrapper());
    std::printf("%p\\n", here());
}
char large[2 << 20] = {1};  // as a program that is linked statically
"""


@pytest.mark.labs
def test_addresses_of_a_real_program_become_lines(tmp_path: Path) -> None:
    from warpgrade.machine.paths import find_layout  # noqa: PLC0415

    (tmp_path / "host.cpp").write_text(HOST_PROGRAM)
    program = tmp_path / "host"
    subprocess.run(["g++", "-g1", "-O2", "-no-pie", "host.cpp", "-o", str(program)], cwd=tmp_path, check=True)
    said = subprocess.run([str(program)], check=True, capture_output=True, text=True).stdout
    inlined, plain = (int(word, 16) for word in said.split())
    found = sources.HostCode(program, Sandbox(find_layout().program("warpgrade-sandbox")))([inlined, plain, 1, 2**64])
    assert [(Path(file).name, line) for file, line in found[inlined]] == [("host.cpp", 3), ("host.cpp", 5)]
    assert [(Path(file).name, line) for file, line in found[plain]] == [("host.cpp", 7)]
    assert not found.get(1)


def test_a_program_that_cannot_be_read_has_no_lines(tmp_path: Path) -> None:
    (tmp_path / "broken").write_bytes(b"\x7fELF" + b"\xff" * 500)
    lookup = sources.HostCode(tmp_path / "broken", Sandbox(tmp_path / "no-sandbox-here"))
    assert lookup([1, 2]) == {}
