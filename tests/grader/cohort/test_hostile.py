"""What students can name and pack to harm others: nobody else's submission is lost, and nothing is too large."""

import csv
import gzip
import io
import os
import stat
import tarfile
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from classes import CODE, laid, outcomes, packed, read
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from warpgrade.cohort.attempts import ClassAttempts
from warpgrade.cohort.collect import collect
from warpgrade.cohort.names import file_name
from warpgrade.intake import archives, intake
from warpgrade.intake.intake import LENIENT
from warpgrade.lab.labs import Lab
from warpgrade.machine.errors import BadInput
from warpgrade.machine.text import clean

MINE = {"toy.cu": CODE}
NAMES = [
    "=HYPERLINK(1)", "+1", "@SUM(1)", "-rf", "--help", "$(touch x)", "`id`", "a;b|c&d", "a b'c\"d", "<b>ada</b>",
    "\u202eada", "ad\u200ba", "x" * 250, "::error::x", "%s%n", "~root", "*", "con", "a\\b", "e\u0301", "\U0001f600",
]  # fmt: skip
DISK_NAMES = [*NAMES, "a\nb", "a\tb", "\x1b[2J", "a\rb", "\udcff\udcfe"]


def check(found: ClassAttempts) -> None:
    """What is shown of a class has nothing in it that is more than text, and each student has a file of their own."""
    shown = [*found.others]
    for one in found.submissions:
        shown += [one.student, one.name, one.source, *one.identifiers]
    for text in shown:
        assert clean(text) == text
        assert not {"\n", "\t"} & set(text)
        assert len(text) < 1000
    keys = {one.student for one in found.submissions}
    assert len({file_name(key).casefold() for key in keys}) == len(keys)


def test_names_on_disk(lab: Lab, tmp_path: Path) -> None:
    home = tmp_path / "class"
    for name in DISK_NAMES:
        folder = home / name
        folder.mkdir(parents=True)
        (folder / "toy.cu").write_bytes(CODE)
    found = collect(lab, home)
    check(found)
    assert len(found.submissions) == len(DISK_NAMES)
    assert all(read(one) == MINE for one in found.submissions)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["class", "project"]


@pytest.mark.parametrize("kind", ["zip", "tar", "tar.gz"])
def test_names_in_archives(lab: Lab, tmp_path: Path, kind: str) -> None:
    names = [name for name in NAMES if "\\" not in name]
    tree = {f"{name}/toy.cu": CODE for name in names} | {
        "../out/toy.cu": b"evil", "/abs/toy.cu": b"evil", "ada/../bob/toy.cu": b"evil", "bob/toy.cu": CODE,
        "C:/toy.cu": b"evil", "../../etc/passwd": b"evil", "new\nline/toy.cu": CODE, "cyd/a\x1bb.cu": b"evil",
        "cyd/toy.cu": CODE,
    }  # fmt: skip
    found = collect(lab, laid(tmp_path, kind, tree))
    check(found)
    results = outcomes(found)
    assert sum(result == MINE for result in results.values()) == len(names) + 1
    assert results["bob"] == MINE
    assert "points outside the archive" in str(results["ada"])
    assert "control characters" in str(results["cyd"])
    assert sorted(len(other) > 10 and "points outside" in other for other in found.others) == [True] * 4


def raw_zip(path: Path, *names: bytes, flags: int = 0x800) -> Path:
    """Make a zip whose names are these bytes."""
    buffer = io.BytesIO()
    places = [f"{number:060d}" for number in range(len(names))]
    with zipfile.ZipFile(buffer, "w") as archive:
        for place in places:
            archive.writestr(place, CODE)
    raw = buffer.getvalue()
    for place, name in zip(places, names, strict=True):
        raw = raw.replace(place.encode(), name.ljust(60, b"_"))
    for mark, at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        parts = raw.split(mark)
        raw = mark.join([parts[0], *(bytearray(part[: at - 4]) + flags.to_bytes(2, "little") + part[at - 2 :]
                                     for part in parts[1:])])  # fmt: skip
    path.write_bytes(raw)
    return path


@pytest.mark.parametrize("flags", [0, 0x800])
def test_names_that_are_no_text(lab: Lab, tmp_path: Path, flags: int) -> None:
    path = raw_zip(tmp_path / "a.zip", b"\xff\xfe.cu", b"ada/toy.cu\0.txt", b"bob.zip/\xc3\x28.cu", flags=flags)
    path = raw_zip(
        tmp_path / "a.zip", b"a" * 49 + b"/\xff\xfe\xc3(.cuh", b"b" * 53 + b"/toy.cu", b"c" * 49 + b"/toy.cu\0.cu",
        b"d\xff\xfe" + b"d" * 50 + b"/toy.cu", flags=flags,
    )  # fmt: skip
    found = collect(lab, path)
    check(found)
    results = outcomes(found)
    assert results["b" * 53] == MINE
    assert "control characters" in str(results["c" * 49])
    (wrong,) = [result for name, result in results.items() if name.startswith("d")]
    assert wrong == MINE or (flags and "is not a readable file" in str(wrong))  # its own header says what it is not
    with tarfile.open(tmp_path / "a.tar", "w") as tar:
        for name in ("\udcff/toy.cu", "ada/toy.cu"):
            entry = tarfile.TarInfo(name)
            entry.size = len(CODE)
            tar.addfile(entry, io.BytesIO(CODE))
    found = collect(lab, tmp_path / "a.tar")
    check(found)
    assert [*outcomes(found).values()] == [MINE, MINE]


def linked_zip(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("ada/toy.cu", CODE)
        for name, kind in (("bob/toy.cu", stat.S_IFLNK), ("cyd/toy.cu", stat.S_IFCHR), ("eve.cu", stat.S_IFLNK)):
            entry = zipfile.ZipInfo(name)
            entry.external_attr = (kind | 0o777) << 16
            archive.writestr(entry, b"/etc/passwd")
        entry = zipfile.ZipInfo("ada/.git/link")
        entry.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(entry, b"/etc/passwd")


def linked_tar(path: Path) -> None:
    with tarfile.open(path, "w") as archive:
        for name, kind in (
            ("ada/toy.cu", tarfile.REGTYPE), ("bob/toy.cu", tarfile.LNKTYPE), ("cyd/toy.cu", tarfile.CHRTYPE),
            ("eve.cu", tarfile.SYMTYPE), ("ada/.git/link", tarfile.SYMTYPE),
        ):  # fmt: skip
            entry = tarfile.TarInfo(name)
            entry.type, entry.linkname = kind, "/etc/passwd"
            entry.size = len(CODE) if kind == tarfile.REGTYPE else 0
            archive.addfile(entry, io.BytesIO(CODE))


@pytest.mark.parametrize(("name", "make"), [("a.zip", linked_zip), ("a.tar", linked_tar)])
def test_links_and_devices_in_archives(lab: Lab, tmp_path: Path, name: str, make: Callable[[Path], None]) -> None:
    make(tmp_path / name)
    results = outcomes(collect(lab, tmp_path / name))
    assert results["ada"] == MINE
    assert "is a link" in str(results["bob"])
    assert "is not a regular file" in str(results["cyd"])
    assert "is a link" in str(results["eve"])


def test_links_and_pipes_on_disk(lab: Lab, tmp_path: Path) -> None:
    secret = laid(tmp_path, "folder", {"toy.cu": CODE, "toy.zip": packed(toy__cu=CODE)}, "secret")
    home = laid(tmp_path, "folder", {"ada/toy.cu": CODE, "bob/x.txt": b"", "cyd_tile.cuh": b"x"}, "class")
    (home / "bob" / "toy.cu").symlink_to(secret / "toy.cu")
    (home / "cyd_toy.cu").symlink_to(secret / "toy.cu")
    (home / "dan.zip").symlink_to(secret / "toy.zip")
    (home / "eve").symlink_to(secret)
    (home / "fay.cu").symlink_to(secret / "toy.cu")
    os.mkfifo(home / "gil.cu")
    os.mkfifo(home / "hal.zip")
    found = collect(lab, home)
    results = outcomes(found)
    assert results.pop("ada") == MINE
    for name in ("bob", "cyd", "dan", "fay"):
        assert "is a symbolic link" in str(results.pop(name)), name
    assert all("neither a folder nor a file" in str(result) for result in results.values())
    assert sorted(results) == ["gil", "hal"]
    assert found.others == ["eve: a link, or nothing that can be read"]


def test_the_same_name_twice(lab: Lab, tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match="Duplicate name"), zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        for name in ("ada/toy.cu", "ada/toy.cu", "bob.cu", "bob.cu", "cyd/toy.cu", "cyd/TOY.CU", "dan/toy.cu", "eve"):
            archive.writestr(name, CODE)
        archive.writestr("eve/toy.cu", CODE)
    results = outcomes(collect(lab, tmp_path / "a.zip"))
    assert results["ada"] == "ada/ contains toy.cu twice"
    assert results["bob"] == "bob.cu is twice in the archive"
    assert results["cyd"] == "toy.cu and TOY.CU differ only in capital letters"
    assert results["dan"] == MINE
    assert "eve" not in results or isinstance(results["eve"], str)
    folder = laid(tmp_path, "folder", {"ada/toy.cu": CODE, "ada/Toy.cu": b"x"}, "folder")
    assert "differ only in capital letters" in str(outcomes(collect(lab, folder)))


@pytest.mark.parametrize("kind", ["folder", "zip", "tar", "tar.gz"])
def test_bombs(lab: Lab, tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "_MAX_UNPACKED_BYTES", 8 << 20)
    monkeypatch.setattr(intake, "MAX_ARCHIVE_BYTES", 2 << 20)
    tar = laid(tmp_path, "tar.gz", {"toy.cu": CODE, "data.bin": bytes(30 << 20)}, "bomb").read_bytes()
    nested = packed(toy__zip=packed(toy__cu=CODE))
    path = laid(
        tmp_path, kind, {
            "ada/toy.cu": CODE, "bob/toy.cu": bytes(30 << 20), "cyd.zip": packed(toy__cu=bytes(30 << 20)),
            "dan.tgz": tar, "eve.zip": bytes(30 << 20), "fay.zip": nested, "gil/work.zip": nested, "hal.zip": b"junk",
            "ida.tar.gz": gzip.compress(bytes(30 << 20)),
        },
    )  # fmt: skip
    tracemalloc.start()
    try:
        results = outcomes(collect(lab, path))
        assert tracemalloc.get_traced_memory()[1] < 24 << 20
    finally:
        tracemalloc.stop()
    assert results.pop("ada") == MINE
    assert "toy.cu is larger than 1 MiB" in str(results.pop("bob"))
    assert "toy.cu is larger than 1 MiB" in str(results.pop("cyd"))
    assert "unpacks to more than 8 MiB" in str(results.pop("dan"))
    eve = str(results.pop("eve"))
    assert "eve.zip is larger than 2 MiB" in eve or "not a readable zip" in eve
    assert (results.pop("fay"), results.pop("gil")) == (MINE, MINE)
    assert "hal.zip is not a readable zip archive" in str(results.pop("hal"))
    assert "ida" in str(results.pop("ida")) or kind == "folder"
    assert not results


def test_too_many_files_of_one_student(lab: Lab, tmp_path: Path) -> None:
    tree = {"bob/toy.cu": CODE} | {f"ada/{number}.txt": b"" for number in range(archives.MAX_ENTRIES)}
    results = outcomes(collect(lab, laid(tmp_path, "zip", tree | {"ada/toy.cu": CODE})))
    assert results == {"ada": "ada/ contains more than 2000 files", "bob": MINE}


PIECES = ["ada", "..", ".", "", "toy.cu", "Toy.cu", "bob.zip", "\u202e", "a\nb", "C:", "x_12_34_toy.cu", "é", ".git"]
PATHS = st.lists(st.sampled_from(PIECES), min_size=1, max_size=4).map("/".join)


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(paths=st.lists(PATHS, max_size=8, unique=True), kind=st.sampled_from(["zip", "tar", "tar.gz"]))
def test_any_archive_gives_submissions_or_a_refusal(lab: Lab, tmp_path: Path, paths: list[str], kind: str) -> None:
    path = laid(tmp_path, kind, {each or "x": CODE for each in paths}, "any")
    try:
        found = collect(lab, path)
    except BadInput as problem:
        assert clean(problem.message) == problem.message
        return
    check(found)
    for one in found.submissions:
        files = read(one)
        assert isinstance(files, str) or files == MINE


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    position=st.integers(0, 2000),
    bits=st.integers(1, 255),
    cut=st.integers(0, 100),
    kind=st.sampled_from(["zip", "tar.gz"]),
)
def test_any_damage_is_survived(lab: Lab, tmp_path: Path, position: int, bits: int, cut: int, kind: str) -> None:
    path = laid(tmp_path, kind, {"ada/toy.cu": CODE, "bob.zip": packed(toy__cu=CODE), "cyd.cu": CODE}, "any")
    raw = bytearray(path.read_bytes())
    raw[position % len(raw)] ^= bits
    path.write_bytes(raw[: len(raw) - cut])
    try:
        found = collect(lab, path)
    except BadInput as problem:
        assert problem.message
        return
    check(found)
    for one in found.submissions:
        read(one)


@pytest.mark.parametrize("name", [b"\0\0", b"//", b"::", b".."])
def test_names_that_are_hardly_any(lab: Lab, tmp_path: Path, name: bytes) -> None:
    path = laid(tmp_path, "zip", {"QQ": CODE, "ada/toy.cu": CODE}, "any")
    path.write_bytes(path.read_bytes().replace(b"QQ", name))
    found = collect(lab, path)
    assert [one.student for one in found.submissions if not isinstance(read(one), str)] == ["ada"]


@pytest.mark.parametrize("kind", ["folder", "zip"])
def test_thousands_in_bounded_memory(lab: Lab, tmp_path: Path, kind: str) -> None:
    count = 3_000
    body = CODE + b"// " + b"x" * 5000 + b"\n"
    names = (f"student{number}_1{number:05d}_2{number:05d}_toy.cu" for number in range(count))
    path = laid(tmp_path, kind, dict.fromkeys(names, body))
    sheet = tmp_path / "roster.csv"
    with sheet.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(
            [["id", "name"], *([f"1{number:05d}", f"Student {number}"] for number in range(count))]
        )
    tracemalloc.start()
    try:
        found = collect(lab, path, roster=sheet)
        assert len(found.submissions) == count
        assert not found.missing
        held, most = tracemalloc.get_traced_memory()
        tracemalloc.reset_peak()
        read_ones = found.submissions[::3]
        assert sum(len(one.read(LENIENT).files["toy.cu"]) for one in read_ones) == len(read_ones) * len(body)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert held < 12 << 20
    assert most < 80 << 20
    assert peak - held < 3 << 20  # 1000 submissions have 5 MB; a file's buffer is 1 MiB


def test_a_folder_with_controls_in_its_name_is_refused_and_not_lost(lab: Lab, tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "a.tar", "w") as tar:
        for name, kind in (("new\nline", tarfile.DIRTYPE), ("new\nline/toy.cu", tarfile.REGTYPE)):
            entry = tarfile.TarInfo(name)
            entry.type, entry.size = kind, len(CODE) if kind == tarfile.REGTYPE else 0
            tar.addfile(entry, io.BytesIO(CODE))
    found = collect(lab, tmp_path / "a.tar")
    (why,) = outcomes(found).values()
    assert "control characters" in str(why)
    assert found.others == []
