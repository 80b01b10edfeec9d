"""Intake: honest submissions in every wrapping, and hostile ones."""

import dataclasses
import io
import os
import stat
import string
import zipfile
from pathlib import Path

import msgspec
import pytest
from handed_in import CODE, folder_of, refused, zip_of
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from stand_ins import TOY_LAB

from warpgrade.intake import archives, intake
from warpgrade.intake.intake import STRICT, Leniency
from warpgrade.lab import labs
from warpgrade.lab.labs import Lab
from warpgrade.machine.errors import BadInput
from warpgrade.machine.paths import Layout


def test_a_folder_gives_the_labs_files_only(lab: Lab, tmp_path: Path) -> None:
    folder = folder_of(
        tmp_path / "work", toy__cu=CODE, tile__cuh=b"// tile\n", notes__txt=b"x", other__cu=b"y", toy__h=b"z"
    )
    (folder / ".git").mkdir()
    taken = intake.read(lab, folder)
    assert taken.files == {"tile.cuh": b"// tile\n", "toy.cu": CODE}
    assert taken.ignored == ["other.cu"]


def test_a_folder_in_the_folder_is_forgiven(lab: Lab, tmp_path: Path) -> None:
    (tmp_path / "outer").mkdir()
    folder_of(tmp_path / "outer" / "work", toy__cu=CODE)
    assert intake.read(lab, tmp_path / "outer").files == {"toy.cu": CODE}


def test_a_single_file_and_zips_give_the_same(lab: Lab, tmp_path: Path) -> None:
    file = tmp_path / "toy.cu"
    file.write_bytes(CODE)
    flat = zip_of(tmp_path / "flat.zip", ("toy.cu", CODE), ("__MACOSX/._toy.cu", b"x"), (".DS_Store", b"x"))
    deep = zip_of(tmp_path / "deep.ZIP", ("jane/", b""), ("jane/toy.cu", CODE), ("jane/report.pdf", b"x"))
    digests = {intake.read(lab, path).digest for path in (file, flat, deep)}
    assert len(digests) == 1


def test_wrong_names_are_explained(lab: Lab, tmp_path: Path) -> None:
    assert "expected toy.cu, found Toy.cu | rename Toy.cu to toy.cu" in refused(
        lab, folder_of(tmp_path / "a", Toy__cu=CODE), STRICT
    )
    assert "expected toy.cu, found toy.cpp" in refused(lab, folder_of(tmp_path / "b", toy__cpp=CODE), STRICT)
    assert "expected toy.cu, found main.cu" in refused(lab, folder_of(tmp_path / "c", main__cu=CODE), STRICT)
    # A header is no main file with another name.
    assert "expected toy.cu, found toy.h | the lab accepts toy.cu" in refused(
        lab, folder_of(tmp_path / "d", toy__h=CODE, tile__cuh=CODE)
    )
    single = tmp_path / "toy_v2.cpp"
    single.write_bytes(CODE)
    assert "expected toy.cu, found toy_v2.cpp" in refused(lab, single)
    deep = zip_of(tmp_path / "deep.zip", ("a/b/toy.cu", CODE), ("a/x.txt", b""))
    assert "is in a subfolder of" in refused(lab, deep, STRICT)


@pytest.mark.parametrize(
    ("files", "taken"),
    [
        ({"Toy.cu": CODE}, "Toy.cu"),
        ({"toy.cpp": CODE, "tile.cuh": b"// tile\n"}, "toy.cpp"),
        ({"Toy_final.cu": CODE, "report.pdf": b"x"}, "Toy_final.cu"),
        ({"toy.cu.txt": CODE}, "toy.cu.txt"),
        ({"project/src/toy.cu": CODE, "project/Makefile": b"all:", "readme.md": b"x"}, "project/src/toy.cu"),
        ({"a/toy.cu": CODE, "b/toy.cu": CODE}, "a/toy.cu"),  # the same twice
        ({"notes.cu": b"x", "work/toy.cu": CODE}, "work/toy.cu"),
    ],
)
def test_what_can_be_meant_in_one_way_only_is_taken(
    lab: Lab, tmp_path: Path, files: dict[str, bytes], taken: str
) -> None:
    folder = tmp_path / "work"
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    inner = taken.removeprefix("project/")  # the only folder is left out of a path
    for path in (folder, zip_of(tmp_path / "work.zip", *files.items())):
        found = intake.read(lab, path)
        assert found.files["toy.cu"] == CODE
        assert found.files.get("tile.cuh") == files.get("tile.cuh")
        assert found.repairs in ([f"{taken} is graded as toy.cu"], [f"{inner} is graded as toy.cu"])
        assert found.notes == found.repairs
        assert found.folder is None
        assert refused(lab, path, STRICT)


def test_a_folder_gives_what_a_zip_of_it_gives(lab: Lab, tmp_path: Path) -> None:
    files = {"tile.cuh": b"// tile\n", "src/toy.cu": CODE}
    (tmp_path / "work" / "src").mkdir(parents=True)
    for name, content in files.items():
        (tmp_path / "work" / name).write_bytes(content)
    for path in (tmp_path / "work", zip_of(tmp_path / "work.zip", *files.items())):
        found = intake.read(lab, path)
        assert (found.files, found.repairs) == ({"toy.cu": CODE}, ["src/toy.cu is graded as toy.cu"])


def test_a_cpp_beside_the_cu_of_its_name_is_told_what_to_do(lab: Lab, tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "work", toy__cu=CODE, toy__cpp=CODE, other__cpp=CODE, toy__h=b"z")
    taken = intake.read(lab, folder)
    assert taken.files == {"toy.cu": CODE}
    assert taken.ignored == ["other.cpp", "toy.cpp"]
    assert taken.notes == ["toy.cpp was not graded, but toy.cu was: if your work is in toy.cpp, rename it to toy.cu"]
    assert (taken.folder, taken.repairs) == (folder, [])


def test_other_files_of_the_lab_are_taken_from_where_they_are(lab: Lab, tmp_path: Path) -> None:
    """A prelab.cpp at the top was called not handed in, and lost its points, where the main file was further down."""
    described = msgspec.structs.replace(lab.file.lab, files=["toy.cu", "prelab.cpp"])
    lab = dataclasses.replace(lab, file=msgspec.structs.replace(lab.file, lab=described))
    answers = b"// answers\n"
    for name, files in {
        "main": {"project/src/toy.cu": CODE, "prelab.cpp": answers},
        "answers": {"toy.cu": CODE, "answers/prelab.cpp": answers},
    }.items():
        found = intake.read(lab, zip_of(tmp_path / f"{name}.zip", *files.items()))
        assert found.files == {"toy.cu": CODE, "prelab.cpp": answers}
        assert any("prelab.cpp" in note or "toy.cu" in note for note in found.repairs)
        assert found.ignored == []
    several = {"toy.cu": CODE, "a/prelab.cpp": answers, "b/prelab.cpp": b"// other answers\n"}
    found = intake.read(lab, zip_of(tmp_path / "several.zip", *several.items()))
    assert found.files == {"toy.cu": CODE}
    assert "prelab.cpp is in several folders" in found.notes[0]
    assert intake.read(lab, zip_of(tmp_path / "strict.zip", *several.items()), how=STRICT).files == {"toy.cu": CODE}


@pytest.mark.parametrize("names", [["v1.cu", "v2.cu"], ["a/toy.cu", "b/toy.cu"], ["toy.c", "toy.cpp"]])
def test_of_several_that_it_could_be_a_person_chooses(lab: Lab, tmp_path: Path, names: list[str]) -> None:
    path = zip_of(tmp_path / "work.zip", *((name, CODE + name.encode()) for name in names), ("x.txt", b""))
    told = f"each of {', '.join(names)} could be toy.cu | hand in only the one to grade, as toy.cu"
    assert refused(lab, path) == told
    found = intake.read(lab, path, how=Leniency(main=names[1]))
    assert found.files == {"toy.cu": CODE + names[1].encode()}
    assert found.repairs == [f"{names[1]} is graded as toy.cu: accepted by the person who grades"]
    missing = refused(lab, path, Leniency(main="v3.cu"))
    assert missing.startswith("the accepted file v3.cu is not in the hand-in | there are ")


def test_text_of_windows_is_taken(lab: Lab, tmp_path: Path) -> None:
    for encoding in ("utf-16-le", "utf-16-be"):
        content = "\ufeff// ä\nvoid toy() {}\n".encode(encoding)
        found = intake.read(lab, folder_of(tmp_path / encoding, toy__cu=content))
        assert found.files == {"toy.cu": "// ä\nvoid toy() {}\n".encode()}
        assert found.notes == found.repairs == ["toy.cu was saved as UTF-16 and is graded as UTF-8"]
        assert "toy.cu is saved as UTF-16" in refused(lab, tmp_path / encoding, STRICT)


def test_a_zip_in_a_zip_is_opened_once(lab: Lab, tmp_path: Path) -> None:
    once = zip_of(tmp_path / "once.zip", ("toy.cu", CODE))
    twice = zip_of(tmp_path / "twice.zip", ("once.zip", once.read_bytes()), ("report.pdf", b"x"))
    found = intake.read(lab, twice)
    assert (found.files, found.notes) == ({"toy.cu": CODE}, ["taken from once.zip"])
    assert "expected toy.cu" in refused(lab, twice, STRICT)
    thrice = zip_of(tmp_path / "thrice.zip", ("twice.zip", twice.read_bytes()))
    assert "expected toy.cu, found once.zip, report.pdf" in refused(lab, thrice)


def test_a_whole_disk_is_not_looked_through(lab: Lab, tmp_path: Path) -> None:
    deep = tmp_path / "work"
    for number in range(10):
        deep /= str(number)
    deep.mkdir(parents=True)
    (deep / "toy.cu").write_bytes(CODE)
    assert refused(lab, tmp_path / "work")
    for number in range(3):
        folder = tmp_path / "wide" / f"a{number}"
        folder.mkdir(parents=True)
        for other in range(700):
            (folder / f"{other}.txt").touch()
    assert "contains more than 2000 files" in refused(lab, tmp_path / "wide")


def test_what_is_no_submission(lab: Lab, tmp_path: Path) -> None:
    assert "does not exist" in refused(lab, tmp_path / "nowhere")
    assert "is empty | it should contain toy.cu" in refused(lab, folder_of(tmp_path / "empty"))
    odd = tmp_path / "report.pdf"
    odd.write_bytes(b"%PDF")
    assert "is not a submission" in refused(lab, odd)
    os.mkfifo(tmp_path / "pipe")
    assert "neither a folder nor a file" in refused(lab, tmp_path / "pipe")


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"", "toy.cu is empty"),
        (b" \n\t\n", "toy.cu is empty"),
        (b"\x7fELF\0\0\0", "toy.cu is not a text file"),
        (b"\xff\xfev", "saved as UTF-16"),
        (b"x" * (intake.MAX_FILE_BYTES + 1), "larger than 1 MiB"),
    ],
)
def test_contents_that_are_no_source(lab: Lab, tmp_path: Path, content: bytes, complaint: str) -> None:
    assert complaint in refused(lab, folder_of(tmp_path / "work", toy__cu=content))
    assert complaint in refused(lab, zip_of(tmp_path / "work.zip", ("toy.cu", content)))


def test_links_pipes_and_folders_in_a_folder_are_not_followed(lab: Lab, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_bytes(b"secret")
    linked = folder_of(tmp_path / "linked")
    (linked / "toy.cu").symlink_to(secret)
    assert "toy.cu is a symbolic link" in refused(lab, linked)
    piped = folder_of(tmp_path / "piped")
    os.mkfifo(piped / "toy.cu")
    assert "toy.cu is not a regular file" in refused(lab, piped)
    nested = folder_of(tmp_path / "nested", x__cu=CODE)
    (nested / "toy.cu").mkdir()
    assert "expected toy.cu" in refused(lab, nested, STRICT)


def test_a_link_to_a_folder_is_no_folder(lab: Lab, tmp_path: Path) -> None:
    elsewhere = folder_of(tmp_path / "elsewhere", toy__cu=CODE)
    outer = folder_of(tmp_path / "outer")
    (outer / "work").symlink_to(elsewhere)
    assert "expected toy.cu, found work" in refused(lab, outer)


def test_folders_alone_are_named(lab: Lab, tmp_path: Path) -> None:
    outer = folder_of(tmp_path / "outer")
    for name in ("a", "b"):
        folder_of(outer / name, toy__cu=CODE)
        (outer / name / "toy.cu").write_bytes(CODE + name.encode())
    assert "each of a/toy.cu, b/toy.cu could be toy.cu" in refused(lab, outer)
    assert intake.read(lab, outer / "a").seconds == 0


def test_a_folder_beside_a_source_is_not_the_submission(lab: Lab, tmp_path: Path) -> None:
    zipped = zip_of(tmp_path / "a.zip", ("notes.cu", b"x"), ("work/toy.cu", CODE))
    assert f"toy.cu is in a subfolder of {zipped}" in refused(lab, zipped, STRICT)
    outer = folder_of(tmp_path / "outer")
    (outer / "notes.cu").write_bytes(b"x")
    folder_of(outer / "work", toy__cu=CODE)
    assert refused(lab, outer, STRICT)
    (outer / "notes.cu").rename(outer / "notes.txt")
    assert intake.read(lab, outer).notes == []
    assert intake.read(lab, zip_of(tmp_path / "b.zip", ("notes.txt", b"x"), ("work/toy.cu", CODE))).notes == []


def test_an_archive_without_files_is_empty(lab: Lab, tmp_path: Path) -> None:
    path = zip_of(tmp_path / "a.zip", (".DS_Store", b"x"), ("work/", b""))
    assert refused(lab, path) == f"{path} is empty | it should contain toy.cu"


def test_hostile_zip_names(lab: Lab, tmp_path: Path) -> None:
    for number, name in enumerate(
        ["../toy.cu", "/etc/toy.cu", "a/../../toy.cu", "..\\toy.cu", "C:\\toy.cu", "C:toy.cu"]
    ):
        assert "points outside" in refused(lab, zip_of(tmp_path / f"{number}.zip", (name, CODE)))
    assert "control characters" in refused(lab, zip_of(tmp_path / "esc.zip", ("toy\x1b[2J.cu", CODE)))
    link = zipfile.ZipInfo("toy.cu")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    assert "is a link; hand in the file itself" in refused(lab, zip_of(tmp_path / "link.zip", (link, b"/etc/passwd")))
    device = zipfile.ZipInfo("toy.cu")
    device.external_attr = (stat.S_IFCHR | 0o666) << 16
    assert "not a regular file" in refused(lab, zip_of(tmp_path / "device.zip", (device, b"")))


def test_names_that_could_be_options_are_never_taken(lab: Lab, tmp_path: Path) -> None:
    archive = zip_of(tmp_path / "o.zip", ("toy.cu", CODE), ("--help.cuh", b"x"), ("-o.cuh", b"x"), ("a b.cuh", b"x"))
    assert list(intake.read(lab, archive).files) == ["toy.cu"]


def test_zip_bombs_are_cut_off(lab: Lab, tmp_path: Path) -> None:
    bomb = zip_of(tmp_path / "bomb.zip", ("toy.cu", bytes(200 << 20)))
    assert bomb.stat().st_size < 1 << 20
    assert "larger than 1 MiB" in refused(lab, bomb)
    # A header that lies about the size is not believed either.
    raw = bytearray(zip_of(tmp_path / "lie.zip", ("toy.cu", bytes(20 << 20))).read_bytes())
    at = raw.rindex(b"PK\x01\x02") + 24
    raw[at : at + 4] = (100).to_bytes(4, "little")
    (tmp_path / "lie.zip").write_bytes(raw)
    assert "lie.zip" in refused(lab, tmp_path / "lie.zip") or "toy.cu" in refused(lab, tmp_path / "lie.zip")
    many = zip_of(tmp_path / "many.zip", *((f"{n}.txt", b"") for n in range(archives.MAX_ENTRIES + 1)))
    assert "entries; the limit is" in refused(lab, many)
    parts = zip_of(tmp_path / "parts.zip", *((f"{n}.cuh", b"x" * (1 << 20)) for n in range(6)), ("toy.cu", CODE))
    assert "together, the submission" in refused(lab, parts)


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_other_packings_are_not_unpacked(lab: Lab, tmp_path: Path, method: int) -> None:
    with zipfile.ZipFile(tmp_path / "odd.zip", "w", method) as archive:
        archive.writestr("toy.cu", bytes(40 << 20) if method == zipfile.ZIP_BZIP2 else CODE)
    assert "toy.cu is packed in an unusual way | pack the files again" in refused(lab, tmp_path / "odd.zip")


def test_a_list_of_entries_that_is_huge_is_not_read(lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = zip_of(tmp_path / "whole.zip", ("toy.cu", CODE)).read_bytes()
    at = whole.rindex(b"PK\x05\x06")
    long = whole[:at] + bytes(3 << 20) + whole[at : at + 12] + (3 << 20).to_bytes(4, "little") + whole[at + 16 :]
    wide = whole[:at] + b"PK\x06\x07" + bytes(16) + whole[at:]
    # The mark stands in the last record itself: where zipfile looks first, it is that record all the same.
    sly = bytearray(long)
    sly[-6:-2] = b"PK\x05\x06"
    monkeypatch.setattr(zipfile, "ZipFile", lambda path: pytest.fail("the list was read"))
    for number, raw in enumerate((long, long[:-2] + b"\x03\0abc", wide, bytes(sly))):
        (tmp_path / f"{number}.zip").write_bytes(raw)
        assert "has a huge list of entries" in refused(lab, tmp_path / f"{number}.zip"), number


def test_names_that_are_no_text_are_shown_as_text(lab: Lab, tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "work", toy__cu=CODE)
    for name in (b"\xff\xfe.cu", b"\x1b[2J\x9b2Jred.cu", "\u202euc.x\u200b.cu".encode(), b"::error::x.cu", b"[red].cu"):
        Path(os.fsdecode(bytes(folder) + b"/" + name)).write_bytes(b"x")
    ignored = intake.read(lab, folder).ignored
    assert sorted(ignored) == sorted(["\ufffd\ufffd.cu", "\ufffd2Jred.cu", "uc.x.cu", ": :error::x.cu", "[red].cu"])


def test_unreadable_zips(lab: Lab, tmp_path: Path) -> None:
    junk = tmp_path / "junk.zip"
    junk.write_bytes(os.urandom(5000))
    assert "not a readable zip archive" in refused(lab, junk)
    whole = zip_of(tmp_path / "whole.zip", ("toy.cu", CODE * 100)).read_bytes()
    (tmp_path / "cut.zip").write_bytes(whole[: len(whole) // 2])
    assert "not a readable zip archive" in refused(lab, tmp_path / "cut.zip")
    damaged = bytearray(whole)
    damaged[45] ^= 0xFF
    (tmp_path / "damaged.zip").write_bytes(damaged)
    assert "damaged.zip" in refused(lab, tmp_path / "damaged.zip")
    encrypted = bytearray(whole)
    for signature, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        encrypted[encrypted.index(signature) + offset] |= 1
    (tmp_path / "encrypted.zip").write_bytes(encrypted)
    assert "encrypted" in refused(lab, tmp_path / "encrypted.zip")


def test_the_same_name_twice(lab: Lab, tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match="Duplicate name"):
        twice = zip_of(tmp_path / "twice.zip", ("toy.cu", CODE), ("toy.cu", b"other"))
    assert "contains toy.cu twice" in refused(lab, twice)


@pytest.fixture(scope="module")
def module_lab(tmp_path_factory: pytest.TempPathFactory) -> Lab:
    folder = tmp_path_factory.mktemp("project") / "labs" / "toy"
    folder.mkdir(parents=True)
    (folder / "lab.toml").write_text(TOY_LAB, encoding="utf-8")
    (folder / "toy.h").touch()
    return labs.find(Layout(folder.parents[1]), "toy")


NAMES = st.one_of(
    st.sampled_from(["toy.cu", "a/toy.cu", "tile.cuh", "../toy.cu", "toy.h", "a/b.cu", "-x.cuh"]),
    st.text(string.printable + "é\x1b\u202e", min_size=1, max_size=20),
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(entries=st.lists(st.tuples(NAMES, st.binary(max_size=50)), max_size=6, unique_by=lambda entry: entry[0]))
def test_any_zip_gives_allowed_files_or_a_refusal(
    module_lab: Lab, tmp_path: Path, entries: list[tuple[str, bytes]]
) -> None:
    path = zip_of(tmp_path / "any.zip", *entries)
    check_invariants(module_lab, path)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(position=st.integers(0, 400), bits=st.integers(1, 255), cut=st.integers(0, 60))
def test_any_damage_to_a_zip_is_survived(module_lab: Lab, tmp_path: Path, position: int, bits: int, cut: int) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("toy.cu", CODE * 3)
        archive.writestr("tile.cuh", b"// tile\n")
    raw = bytearray(buffer.getvalue())
    raw[position % len(raw)] ^= bits
    path = tmp_path / "any.zip"
    path.write_bytes(raw[: len(raw) - cut])
    check_invariants(module_lab, path)


def check_invariants(lab: Lab, path: Path) -> None:
    try:
        taken = intake.read(lab, path)
    except BadInput as problem:
        assert problem.message
        assert "\x1b" not in problem.message + problem.hint
        return
    assert "toy.cu" in taken.files
    for name, content in taken.files.items():
        assert lab.allows(name)
        assert "/" not in name
        assert not name.startswith(("-", "."))
        assert b"\0" not in content
