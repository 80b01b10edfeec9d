"""Tar archives that students hand in: honest ones of every kind, and hostile ones."""

import bz2
import gzip
import io
import lzma
import tarfile
import tracemalloc
from pathlib import Path

import pytest
from handed_in import CODE, refused, tar_of
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from warpgrade.intake import archives, intake, tars
from warpgrade.lab.labs import Lab
from warpgrade.machine.errors import BadInput

SUFFIXES = ["tar", "tar.gz", "tgz", "tar.bz2", "tbz", "tar.xz", "txz", "TAR.GZ"]


def member(name: str, kind: bytes, target: str = "") -> tarfile.TarInfo:
    entry = tarfile.TarInfo(name)
    entry.type, entry.linkname = kind, target
    return entry


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("style", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
def test_tars_of_every_kind(lab: Lab, tmp_path: Path, suffix: str, style: int) -> None:
    path = tar_of(
        tmp_path / f"work.{suffix}", ("./ada/toy.cu", CODE), ("ada/._toy.cu", b"x"), ("ada/notes.txt", b"n" * 90_000),
        (member("ada", tarfile.DIRTYPE), b""), ("ada/other.cu", b"y"), style=style,
    )  # fmt: skip
    taken = intake.read(lab, path)
    assert (taken.files, taken.ignored) == ({"toy.cu": CODE}, ["other.cu"])
    folder = tmp_path / "folder"
    folder.mkdir()
    path.rename(folder / path.name)
    assert intake.read(lab, folder).notes == [f"taken from {path.name}"]


def test_the_packing_counts_and_not_the_name(lab: Lab, tmp_path: Path) -> None:
    whole = tar_of(tmp_path / "a.tar", ("toy.cu", CODE)).read_bytes()
    for number, raw in enumerate((whole, gzip.compress(whole), bz2.compress(whole), lzma.compress(whole))):
        path = tmp_path / f"{number}.tgz"
        path.write_bytes(raw)
        assert intake.read(lab, path).files == {"toy.cu": CODE}


def test_pieces_that_were_packed_one_by_one(lab: Lab, tmp_path: Path) -> None:
    whole = tar_of(tmp_path / "a.tar", ("toy.cu", CODE)).read_bytes()
    for pack in (gzip.compress, bz2.compress, lzma.compress):
        path = tmp_path / "pieces.tar"
        path.write_bytes(pack(whole[:700]) + pack(b"") + pack(whole[700:]) + bytes(512))
        assert intake.read(lab, path).files == {"toy.cu": CODE}


def test_long_names(lab: Lab, tmp_path: Path) -> None:
    for style in (tarfile.GNU_FORMAT, tarfile.PAX_FORMAT):
        path = tar_of(tmp_path / "long.tar", ("d" * 150 + "/toy.cu", CODE), ("d" * 150 + "/x" * 60, b""), style=style)
        assert intake.read(lab, path).files == {"toy.cu": CODE}


@pytest.mark.parametrize("name", ["../toy.cu", "/etc/toy.cu", "a/../../toy.cu", "..\\toy.cu", "C:\\toy.cu"])
def test_names_that_point_outside(lab: Lab, tmp_path: Path, name: str) -> None:
    assert "points outside the archive" in refused(lab, tar_of(tmp_path / "a.tar", (name, CODE)))


def test_what_is_no_file(lab: Lab, tmp_path: Path) -> None:
    for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE):
        path = tar_of(tmp_path / "a.tar", (member("toy.cu", kind, "/etc/passwd"), b""))
        assert "“toy.cu” is a link; hand in the file itself" in refused(lab, path)
    for kind in (tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.FIFOTYPE, tarfile.GNUTYPE_SPARSE):
        path = tar_of(tmp_path / "a.tar", (member("toy.cu", kind), b""))
        assert "“toy.cu” is not a regular file" in refused(lab, path)
    holes = member("toy.cu", tarfile.REGTYPE)
    holes.pax_headers = {"GNU.sparse.realsize": "99999999999"}
    assert "is not a regular file" in refused(lab, tar_of(tmp_path / "a.tar", (holes, b""), style=tarfile.PAX_FORMAT))
    assert "control characters" in refused(lab, tar_of(tmp_path / "a.tar", ("toy\n.cu", CODE)))


def test_names_twice(lab: Lab, tmp_path: Path) -> None:
    assert "contains toy.cu twice" in refused(lab, tar_of(tmp_path / "a.tar", ("toy.cu", CODE), ("./toy.cu", b"x")))
    path = tar_of(tmp_path / "b.tar", ("toy.cu", CODE), ("TOY.cu", b"x"))
    assert "toy.cu and TOY.cu differ only in capital letters" in refused(lab, path)


@pytest.mark.parametrize("suffix", ["tar.gz", "tar.bz2", "tar.xz"])
def test_bombs_stop_early(lab: Lab, tmp_path: Path, suffix: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "_MAX_UNPACKED_BYTES", 24 << 20)
    paths = [
        tar_of(tmp_path / f"one.{suffix}", ("toy.cu", bytes(60 << 20))),
        tar_of(tmp_path / f"beside.{suffix}", ("data.bin", bytes(60 << 20)), ("toy.cu", CODE)),
    ]
    tracemalloc.start()
    try:
        for path in paths:
            assert path.stat().st_size < 1 << 20
            assert "unpacks to more than 24 MiB" in refused(lab, path)
        assert tracemalloc.get_traced_memory()[1] < 30 << 20
    finally:
        tracemalloc.stop()


def test_headers_without_files_are_few(lab: Lab, tmp_path: Path) -> None:
    note = member("note", tarfile.XGLTYPE)
    file = tarfile.TarInfo("toy.cu")
    file.size = len(CODE)
    for count in (10, 100_000):
        raw = note.tobuf(tarfile.USTAR_FORMAT) * count + file.tobuf() + CODE.ljust(512, b"\0") + bytes(1024)
        (tmp_path / f"{count}.tar.gz").write_bytes(gzip.compress(raw, 1))
    assert intake.read(lab, tmp_path / "10.tar.gz").files == {"toy.cu": CODE}
    assert "has many headers without a file" in refused(lab, tmp_path / "100000.tar.gz")
    words = {f"a{number}": "b" for number in range(2000)}
    several = member("toy.cu", tarfile.REGTYPE)
    several.pax_headers = words
    path = tar_of(tmp_path / "words.tar", (several, CODE), style=tarfile.PAX_FORMAT)
    assert "has a huge header" in refused(lab, path)


def test_large_files_and_large_headers(lab: Lab, tmp_path: Path) -> None:
    assert "larger than 1 MiB" in refused(lab, tar_of(tmp_path / "a.tar", ("toy.cu", bytes(2 << 20))))
    header = member("././@LongLink", tarfile.GNUTYPE_LONGNAME)
    assert "has a huge header" in refused(lab, tar_of(tmp_path / "d.tar", (header, b"a" * (1 << 20)), ("toy.cu", CODE)))


def test_broken_tars(lab: Lab, tmp_path: Path) -> None:
    whole = tar_of(tmp_path / "a.tar", ("toy.cu", CODE * 100)).read_bytes()
    packed = gzip.compress(whole)
    negative = bytearray(whole)
    negative[124:136] = b"\xff" * 12  # a size in base 256, with a checksum that fits
    negative[148:156] = b" " * 8
    negative[148:156] = b"%06o\0 " % sum(negative[:512])
    for number, raw in enumerate((b"", b"junk" * 300, whole[:700], packed[: len(packed) // 2], bytes(negative))):
        path = tmp_path / f"{number}.tar"
        path.write_bytes(raw)
        said = refused(lab, path)
        assert f"{number}.tar is not a readable tar archive" in said or (raw == b"" and "is empty" in said)
    # What asks for gigabytes to be unpacked is refused by the memory that it names.
    filters = [{"id": lzma.FILTER_LZMA2, "dict_size": 1 << 30}]
    path.write_bytes(lzma.compress(whole, filters=filters))
    assert "not a readable tar archive" in refused(lab, path)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(position=st.integers(0, 4000), bits=st.integers(1, 255), cut=st.integers(0, 3000), pack=st.booleans())
def test_any_damage_is_survived(lab: Lab, tmp_path: Path, position: int, bits: int, cut: int, pack: bool) -> None:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name in ("toy.cu", "é/tile.cuh"):
            entry = tarfile.TarInfo(name)
            entry.size = len(CODE)
            archive.addfile(entry, io.BytesIO(CODE))
    raw = bytearray(gzip.compress(buffer.getvalue()) if pack else buffer.getvalue())
    raw[position % len(raw)] ^= bits
    path = tmp_path / "any.tar"
    path.write_bytes(raw[: len(raw) - cut])
    try:
        taken = intake.read(lab, path)
    except BadInput as problem:
        assert problem.message
        assert "\x1b" not in problem.message
        return
    assert set(taken.files) <= {"toy.cu", "tile.cuh"}


def test_a_stream_gives_no_more_than_is_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "a.tar.xz"
    path.write_bytes(lzma.compress(bytes(50 << 20)))
    with path.open("rb") as file:
        stream = tars.Stream(file, 60 << 20)
        sizes = [len(stream.read(1000)) for _ in range(20)]
    assert max(sizes) <= 1000
    assert min(sizes) > 0
