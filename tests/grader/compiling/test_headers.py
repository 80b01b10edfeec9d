"""Headers that do a lab's work are refused however they are included; what labs may use stays."""

from pathlib import Path

import pytest
from lab_builder import lab_builder
from stand_ins import changed

from warpgrade.compiling import headers
from warpgrade.compiling.build import Builder
from warpgrade.compiling.failure import BuildFailure, Problem
from warpgrade.lab import labs
from warpgrade.lab.labs import USUALLY_REFUSED, Lab
from warpgrade.machine.errors import GraderError
from warpgrade.machine.paths import Layout, find_layout

LAYOUT = find_layout()
RECORD = """tmp-2.o: /usr/include/stdc-predef.h
toy.o: /usr/include/stdc-predef.h \\
 /opt/cuda/include/cuda_runtime.h toy.cu my\\ tile.cuh \\
 /opt/cuda/include/cccl/cub/cub.cuh
toy.o: /x$$y.h
"""


def test_a_record_is_read_rule_by_rule() -> None:
    assert list(headers.read_files(RECORD)) == [
        "/usr/include/stdc-predef.h", "/usr/include/stdc-predef.h", "/opt/cuda/include/cuda_runtime.h", "toy.cu",
        "my tile.cuh", "/opt/cuda/include/cccl/cub/cub.cuh", "/x$y.h",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("file", "found"),
    [
        ("/usr/local/cuda/include/cccl/cub/cub.cuh", "cub/cub.cuh"),
        ("/usr/include/thrust/detail/config.h", "thrust/detail/config.h"),
        ("../opt/elsewhere/cub/block/block_scan.cuh", "cub/block/block_scan.cuh"),
        ("/opt/elsewhere/x/../cub/cub.cuh", "cub/cub.cuh"),
        ("/opt/cuda_occupancy.h", "cuda_occupancy.h"),
        # Folders of the toolkit's own place, other names, the submission's own files.
        ("/home/cub/cuda/include/cuda_runtime.h", None),
        ("/opt/cubic/cub.cuh", None),
        ("/opt/cub", None),
        ("/opt/my_cuda_occupancy.h", None),
        ("cuda_occupancy.h", None),
    ],
)
def test_a_name_is_a_header_or_a_folder(file: str, found: str | None) -> None:
    names = ["cub/", "thrust/", "cuda_occupancy.h"]
    assert headers.first_of(names, [file], folder="/submission", toolkits=[Path("/home/cub/cuda")]) == found


def test_a_record_that_is_too_long_to_read_hides_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(headers, "_MOST_BYTES", 1000)
    record = tmp_path / "record"
    record.write_text("toy.o: toy.cu " + "./././toy.cuh " * 100 + "/opt/cub/cub.cuh\n")
    found = headers.refused(record, "toy.cu", ["cub/"], folder="/submission", toolkits=[], compiled=True)
    assert found is not None
    assert found.message == "toy.cu includes too many files"


def test_a_compiler_that_keeps_no_record_is_our_trouble(tmp_path: Path) -> None:
    def of(*names: str, compiled: bool) -> Problem | None:
        return headers.refused(tmp_path / "none", "toy.cu", names, folder="/submission", toolkits=[], compiled=compiled)

    with pytest.raises(GraderError, match="which headers it reads"):
        of("cub/", compiled=True)
    assert of("cub/", compiled=False) is None
    assert of(compiled=True) is None


def test_a_lab_adds_and_allows(layout: Layout, lab: Lab) -> None:
    assert lab.refused_headers == list(USUALLY_REFUSED)
    path = layout.labs / "toy" / "lab.toml"
    text = '[headers]\nrefused = ["a/b.h", "mine/"]\nallowed = ["cub/"]\n'
    path.write_text(path.read_text(encoding="utf-8") + text, encoding="utf-8")
    assert labs.find(layout, "toy").refused_headers == ["thrust/", "a/b.h", "mine/"]


@pytest.mark.parametrize(
    ("table", "complaint"),
    [
        ('refused = ["<cub>"]', "headers.refused: “<cub>” is neither a header"),
        ('refused = ["../cub/"]', "is neither a header"),
        ('refused = ["/usr/x.h"]', "is neither a header"),
        ('refused = ["cub/"]', "cub/ is always refused"),
        ('allowed = ["cub"]', "headers.allowed: “cub” is allowed anyway; only cub/ and thrust/ are always refused"),
        ('refuse = ["x.h"]', "[headers]: unknown key `refuse`"),
    ],
)
def test_mistakes_in_the_table_are_named(layout: Layout, table: str, complaint: str) -> None:
    assert complaint in changed(layout, "[baseline]", f"[headers]\n{table}\n[baseline]")


@pytest.fixture(scope="module")
def builder() -> Builder:
    return lab_builder(labs.find(LAYOUT, "occupancy"))


@pytest.mark.labs
def test_refused_headers_are_there_to_be_refused(builder: Builder) -> None:
    home = builder.compilers.nvcc.resolve().parents[1]
    for lab in labs.discover(LAYOUT):
        for name in lab.refused_headers:
            assert any((home / "include" / place / name).exists() for place in ("", "cccl")), (lab.name, name)


@pytest.mark.labs
@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("#define X <cub/version.cuh>\n#include X\n", "cub/version.cuh"),
        ("%:incl\\\nude <thru\\\nst/version.h>\n", "thrust/version.h"),
        ("#if __has_include(<cub/version.cuh>)\n#include_next <cub/version.cuh>\n#endif\n", "cub/version.cuh"),
        ("#ifdef __CUDA_ARCH__\n#include <cub/version.cuh>\n#endif\n", "cub/version.cuh"),
        ("#ifndef __CUDA_ARCH__\n#include <cub/version.cuh>\n#endif\n", "cub/version.cuh"),
        ('#line 1 "a.h"\n#include "{home}/include/cccl/cub/../cub/version.cuh"\n', "cub/version.cuh"),
        ("#include <cuda_occupancy.h>\n", "cuda_occupancy.h"),
        ("#include <cub/version.cuh>\nnot C++\n", "cub/version.cuh"),  # before the compiler's own complaint
    ],
)
def test_no_way_to_include_hides_a_header(builder: Builder, source: str, found: str, tmp_path: Path) -> None:
    text = source.replace("{home}", str(builder.compilers.nvcc.resolve().parents[1]))
    with pytest.raises(BuildFailure) as caught:
        builder._compile("occupancy.cu", {"occupancy.cu": text.encode()}, tmp_path, builder._deadline())
    assert not caught.value.unsupported
    assert caught.value.problem.stage == "compile"
    assert (
        caught.value.problem.message
        == f"occupancy.cu uses <{found}>, which this lab does not allow: it does the lab's work"
    )


@pytest.mark.labs
def test_there_is_no_proc_to_go_around_by(builder: Builder, tmp_path: Path) -> None:
    home = builder.compilers.nvcc.resolve().parents[1]
    text = f'#include "/proc/self/root{home}/include/cccl/thrust/version.h"\n'
    with pytest.raises(BuildFailure) as caught:
        builder._compile("occupancy.cu", {"occupancy.cu": text.encode()}, tmp_path, builder._deadline())
    assert caught.value.problem.message == "occupancy.cu does not compile"
    assert "No such file" in caught.value.problem.detail


@pytest.mark.labs
def test_what_labs_may_use_still_compiles(builder: Builder, tmp_path: Path) -> None:
    allowed = [
        "cooperative_groups.h", "cooperative_groups/reduce.h", "cooperative_groups/scan.h",
        "cooperative_groups/memcpy_async.h", "cuda/atomic", "cuda/barrier", "cuda/pipeline", "cuda/std/limits",
        "cuda_fp16.h", "cuda_bf16.h", "mma.h", "algorithm", "vector",
    ]  # fmt: skip
    builder._compile(
        "occupancy.cu",
        {"occupancy.cu": "".join(f"#include <{name}>\n" for name in allowed).encode()},
        tmp_path,
        builder._deadline(),
    )
    assert (tmp_path / "occupancy.cu.o").is_file()
