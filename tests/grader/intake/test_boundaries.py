"""Limits of what is read, exactly at them and one beyond; and what tells one kind of entry from another."""

import functools
import gzip
import io
import stat
import struct
import tarfile
import zipfile
from pathlib import Path

import pytest
from handed_in import CODE, folder_of, refused, tar_of, zip_of

from warpgrade.grading.submission import Submission
from warpgrade.intake import archives, intake, tars
from warpgrade.intake.archives import Member
from warpgrade.lab.labs import Lab
from warpgrade.machine.errors import BadInput
from warpgrade.platforms import file_names


def packed(*entries: tuple[str, bytes], comment: bytes = b"") -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.comment = comment
        for name, content in entries:
            archive.writestr(name, content)
    return file.getvalue()


@pytest.mark.parametrize("comment", [b"", b"x", b"x" * 20, b"x" * 65535])
def test_the_length_of_a_zips_list_is_known_before_it_is_read(comment: bytes) -> None:
    raw = packed(("toy.cu", CODE), ("b.txt", b"y" * 999), comment=comment)
    with zipfile.ZipFile(io.BytesIO(raw)) as archive:
        listed = len(raw) - len(comment) - 22 - archive.start_dir
    assert archives.directory_bytes(io.BytesIO(raw)) == listed
    assert archives.directory_bytes(io.BytesIO(b"no zip at all" + raw)) == listed


@pytest.mark.parametrize("raw", [b"", b"PK\x05\x06", b"x" * 21, b"x" * 22, b"x" * 1000])
def test_what_is_no_zip_has_no_list(raw: bytes) -> None:
    assert archives.directory_bytes(io.BytesIO(raw)) == 0


@pytest.mark.parametrize("gap", [0, 9])
@pytest.mark.parametrize("small", [7, 0xFFFFFFFF])
def test_a_large_zips_list_is_endless_or_as_long_as_its_records_say(gap: int, small: int) -> None:
    """gap: bytes between the larger record and what says where it is."""
    before = b"z" * 100
    record = b"PK\x06\x06" + struct.pack("<QHHIIQQQQ", 44, 45, 45, 0, 0, 1, 1, 123_456_789_012, 0)
    locator = b"PK\x06\x07" + struct.pack("<IQI", 0, len(before), 1)
    end = b"PK\x05\x06" + struct.pack("<HHHHIIH", 0, 0, 0xFFFF, 0xFFFF, small, 0xFFFFFFFF, 0)
    raw = before + record + b"z" * gap + locator + end
    assert len(record) == 56
    assert archives.directory_bytes(io.BytesIO(raw)) == 1 << 62
    assert archives.directory_bytes(io.BytesIO(raw), large=True) == 123_456_789_012


def test_a_large_zips_record_is_also_looked_for_where_zipfile_looks() -> None:
    record = b"PK\x06\x06" + struct.pack("<QHHIIQQQQ", 44, 45, 45, 0, 0, 1, 1, 98_765_432_109, 0)
    locator = b"PK\x06\x07" + struct.pack("<IQI", 0, 1 << 40, 1)  # says that it is elsewhere
    end = b"PK\x05\x06" + struct.pack("<HHHHIIH", 0, 0, 0xFFFF, 0xFFFF, 7, 0xFFFFFFFF, 0)
    assert archives.directory_bytes(io.BytesIO(b"z" * 50 + record + locator + end), large=True) == 98_765_432_109


def test_a_large_zips_records_may_be_all_that_there_is() -> None:
    locator = b"PK\x06\x07" + struct.pack("<IQI", 0, 1 << 40, 1)
    end = b"PK\x05\x06" + struct.pack("<HHHHIIH", 0, 0, 0, 0, 7, 0, 0)
    assert archives.directory_bytes(io.BytesIO(locator + end)) == 1 << 62
    assert archives.directory_bytes(io.BytesIO(locator[1:] + end)) == 7
    assert archives.directory_bytes(io.BytesIO(end)) == 7


@pytest.mark.parametrize(
    ("text", "found"),
    [(b"4 =\n", ("n", -1, False)), (b"9 path=x\n", ("x", -1, False)), (b"11 path=x\n", None),
     (b"8 path=x\n", None), (b"3 \n", None), (b"9 size=7\n", ("n", 7, False)),
     (b"9 size=x\n", None), (b"0", None), (b"x 9 path=x\n", None), (b"\0 anything", ("n", -1, False)),
     (b"9 path=x\n9 size=7\n", ("x", 7, False)), (b"20 GNU.sparse.map=0\n", ("n", -1, True))],
)  # fmt: skip
def test_lines_of_extended_headers(text: bytes, found: tuple[str, int, bool] | None) -> None:
    if found is None:
        with pytest.raises(tarfile.HeaderError):
            tars._extended(text, "n")
    else:
        assert tars._extended(text, "n") == found


def test_a_single_file_is_meant_whatever_it_is_called(lab: Lab) -> None:
    def read(*paths: str) -> Submission:
        return intake.read_members(lab, [Member(path, lambda: io.BytesIO(CODE)) for path in paths], "jane")

    assert read("jane.cu").files == {"toy.cu": CODE}
    assert read("jane.cu").notes == ["jane.cu is graded as toy.cu"]
    assert read("jane.cu", "notes.txt").repairs == ["jane.cu is graded as toy.cu"]
    assert read("work/jane.cu").repairs == ["work/jane.cu is graded as toy.cu"]
    assert read("work/toy.cu").files == {"toy.cu": CODE}
    assert read("toy.cu", "notes.txt").files == {"toy.cu": CODE}


def test_an_archive_counts_where_no_source_is_beside_it(lab: Lab) -> None:
    zipped = packed(("toy.cu", CODE))

    def read(**contents: bytes) -> Submission:
        members = [
            Member(name.replace("__", "."), functools.partial(io.BytesIO, raw)) for name, raw in contents.items()
        ]
        return intake.read_members(lab, members, "jane")

    assert read(a__zip=zipped).notes == ["taken from a.zip"]
    assert read(a__zip=zipped, notes__txt=b"x").notes == ["taken from a.zip"]
    taken = read(a__zip=zipped, toy__cu=b"// mine\n")
    assert (taken.files, taken.notes) == ({"toy.cu": b"// mine\n"}, [])
    with pytest.raises(BadInput, match=r"expected toy\.cu"):
        read(a__zip=zipped, b__zip=zipped)


def test_a_folder_may_hold_as_many_files_as_an_archive(
    lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = folder_of(tmp_path / "work", toy__cu=CODE, a__txt=b"x", b__txt=b"x")
    monkeypatch.setattr(intake, "MAX_ENTRIES", 3)
    assert intake.read(lab, folder).files == {"toy.cu": CODE}
    monkeypatch.setattr(intake, "MAX_ENTRIES", 2)
    assert "contains more than 2 files" in refused(lab, folder)


def test_files_up_to_their_limits(lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = folder_of(tmp_path / "work", toy__cu=CODE, tile__cuh=b"// tile\n")
    paths = [folder]
    paths.append(zip_of(tmp_path / "a.zip", ("toy.cu", CODE), ("tile.cuh", b"// tile\n")))
    paths.append(tar_of(tmp_path / "a.tar.gz", ("toy.cu", CODE), ("tile.cuh", b"// tile\n")))
    monkeypatch.setattr(intake, "MAX_FILE_BYTES", len(CODE))
    monkeypatch.setattr(intake, "MAX_TOTAL_BYTES", len(CODE) + 8)
    for path in paths:
        assert len(intake.read(lab, path).files) == 2
    monkeypatch.setattr(intake, "MAX_TOTAL_BYTES", len(CODE) + 7)
    for path in paths:
        assert "together, the submission's files are larger" in refused(lab, path)
    monkeypatch.setattr(intake, "MAX_FILE_BYTES", len(CODE) - 1)
    for path in paths:
        assert "toy.cu is larger than" in refused(lab, path)


def test_a_member_is_read_a_byte_beyond_what_is_wanted() -> None:
    member = Member("a/b/toy.cu", lambda: io.BytesIO(b"12345"))
    assert member.name == "toy.cu"
    assert [member.read(most) for most in (3, 4, 5)] == [b"1234", b"12345", b"12345"]


@pytest.mark.parametrize(
    ("mode", "kind"),
    [(0, "file"), (stat.S_IFREG, "file"), (stat.S_IFDIR, "folder"), (stat.S_IFLNK, "link"), (stat.S_IFIFO, "other"),
     (stat.S_IFCHR, "other"), (stat.S_IFSOCK, "other")],
)  # fmt: skip
def test_a_zips_entries_are_told_apart_by_their_modes(mode: int, kind: str) -> None:
    entry = zipfile.ZipInfo("toy.cu")
    entry.external_attr = (mode | 0o644) << 16
    assert archives.zip_kind(entry) == kind
    entry.filename = "toy/"
    assert archives.zip_kind(entry) == "folder"


@pytest.mark.parametrize(
    ("name", "is_archive", "stem"),
    [("a.zip", True, "a"), ("a.ZIP", True, "a"), ("a.tar", True, "a"), ("a.tar.gz", True, "a"), ("a.TGZ", True, "a"),
     ("a.tbz", True, "a"), ("a.tbz2", True, "a"), ("a.tar.bz2", True, "a"), ("a.txz", True, "a"),
     ("a.tar.xz", True, "a"), ("a.gz", False, "a.gz"), ("tar", False, "tar"), ("a.tar.gz.txt", False, "a.tar.gz.txt"),
     ("a.xtar", False, "a.xtar"), ("azip", False, "azip")],
)  # fmt: skip
def test_archives_are_known_by_their_names(name: str, is_archive: bool, stem: str) -> None:
    assert file_names.is_archive(name) is is_archive
    assert file_names.without_archive_suffix(name) == stem


@pytest.mark.parametrize(
    ("raw", "path"),
    [("toy.cu", "toy.cu"), ("a/toy.cu", "a/toy.cu"), ("a\\toy.cu", "a/toy.cu"), ("./a//toy.cu", "a/toy.cu"),
     ("a..b/toy.cu", "a..b/toy.cu"), (".", None), ("a/.git/x", None), ("__MACOSX/toy.cu", None),
     ("a/.DS_Store", None), ("Thumbs.db", None), ("a/desktop.ini", None)],
)  # fmt: skip
def test_safe_names(raw: str, path: str | None) -> None:
    assert archives.safe_path(raw, "file", "x.zip", "zip") == path


@pytest.mark.parametrize(
    ("raw", "complaint"),
    [("/toy.cu", "outside"), ("../toy.cu", "outside"), ("a/../toy.cu", "outside"), ("a\\..\\toy.cu", "outside"),
     ("C:toy.cu", "outside"), ("z:/toy.cu", "outside"), ("toy\x1f.cu", "control"), ("toy\x7f.cu", "control"),
     ("toy\n.cu", "control")],
)  # fmt: skip
def test_names_that_nobody_honest_has(raw: str, complaint: str) -> None:
    with pytest.raises(BadInput, match=complaint) as caught:
        archives.safe_path(raw, "file", "x.zip", "zip")
    assert caught.value.review == "a zip with hostile names"


def test_a_stream_ends_exactly_where_it_may(tmp_path: Path) -> None:
    def stream(raw: bytes, most: int) -> tars.Stream:
        return tars.Stream(io.BytesIO(raw), most)

    exact = stream(b"x" * 100, 100)
    assert exact.exactly(60) == b"x" * 60
    assert exact.at == 60
    exact.skip(40)
    assert (exact.at, exact.read(1)) == (100, b"")
    with pytest.raises(EOFError):
        exact.skip(1)
    beyond = stream(b"x" * 101, 100)
    beyond.skip(100)
    with pytest.raises(tars.TooMuchError, match="unpacks to more than"):
        beyond.read(1)
    assert stream(b"x" * 100, 1000).exactly(101) == b"x" * 100


def test_headers_that_describe_the_next_file_have_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w", format=tarfile.GNU_FORMAT) as archive:
        archive.addfile(tarfile.TarInfo("x" * 200))
    raw = file.getvalue()
    monkeypatch.setattr(tars, "_MAX_HEADER_BYTES", 201)  # the name and its end
    assert [entry.name for entry in tars.entries(tars.Stream(io.BytesIO(raw), 1 << 20))] == ["x" * 200]
    monkeypatch.setattr(tars, "_MAX_HEADER_BYTES", 200)
    with pytest.raises(tars.TooMuchError, match="huge header"):
        list(tars.entries(tars.Stream(io.BytesIO(raw), 1 << 20)))


def test_a_description_is_a_quarter_of_a_mebibyte_at_most_and_all_there() -> None:
    def described(held: int, size: int) -> int:
        return len(tars._described(tars.Stream(io.BytesIO(b"x" * held), 1 << 30), size))

    assert described(1 << 19, 1 << 18) == 1 << 18
    with pytest.raises(tars.TooMuchError, match="huge header"):
        described(1 << 19, (1 << 18) + 1)
    with pytest.raises(EOFError, match="ends too early"):
        described(199, 200)


@pytest.mark.parametrize("together", [0, 1, 4, 7, 8, 20])
def test_packed_pieces_follow_each_other_wherever_a_chunk_ends(together: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """together: bytes of the second piece that are read with the first."""
    first, second = gzip.compress(b"a" * 1000), gzip.compress(b"b" * 1000)
    monkeypatch.setattr(tars, "_CHUNK_BYTES", len(first) + together)
    stream = tars.Stream(io.BytesIO(first + second), 1 << 20)
    assert stream.exactly(3000) == b"a" * 1000 + b"b" * 1000


@pytest.mark.parametrize("size", [0, 1, 511, 512, 513, 1024])
def test_what_follows_a_file_is_found_behind_its_padding(size: int) -> None:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name in ("a.cu", "ä" * 120 + ".cu", "b.cu"):
            header = tarfile.TarInfo(name)
            header.size = size
            archive.addfile(header, io.BytesIO(b"c" * size))
    stream = tars.Stream(io.BytesIO(file.getvalue()), 1 << 20)
    found = []
    for entry in tars.entries(stream):
        content = stream.exactly(entry.size // 2)  # not all of it
        found.append((entry.name, entry.kind, entry.size, content))
    assert found == [(name, "file", size, b"c" * (size // 2)) for name in ("a.cu", "ä" * 120 + ".cu", "b.cu")]
