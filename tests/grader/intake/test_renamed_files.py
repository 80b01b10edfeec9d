"""What browsers and course platforms do to file names, and the wrappings in which files arrive."""

import os
import time
import zipfile
from pathlib import Path

import msgspec
import pytest
from handed_in import CODE, folder_of, refused, zip_of
from stand_ins import Script, case, end, run, speed, start

from warpgrade.intake import intake
from warpgrade.intake.intake import STRICT
from warpgrade.lab.labs import Lab
from warpgrade.platforms.registry import original_names

RENAMED = [
    "lovelaceada_12345_678910_toy.cu",
    "lovelaceada_LATE_12345_678910_toy.cu",
    "lovelaceada_12345_678910_toy-1.cu",
    "lovelaceada_LATE_12345_678910_toy-12.cu",
    "de_la_cruz_12345_678910_toy (1).cu",
    "anon_x1Y2z_678910_toy.cu",
    "LATE_anon_x1Y2z_678910_toy-2.cu",
    "Ada Lovelace_1234567_assignsubmission_file_toy.cu",
    "Ada Lovelace_7_assignsubmission_file_toy.cu",
    "Group A_assignsubmission_file_toy.cu",
    "toy (1).cu",
    "toy(2).cu",
]


def written(folder: Path, *names: str, content: bytes = CODE) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        (folder / name).write_bytes(content)
    return folder


@pytest.mark.parametrize("name", RENAMED)
def test_a_platforms_name_is_taken_with_a_note(lab: Lab, tmp_path: Path, name: str) -> None:
    folder = written(tmp_path / "work", name, "lovelaceada_12345_678911_report.pdf")
    packed = zip_of(tmp_path / "work.zip", (f"Ada Lovelace_1234567_assignsubmission_file_/{name}", CODE))
    for path in (folder, folder / name, packed):
        taken = intake.read(lab, path)
        assert taken.files == {"toy.cu": CODE}
        assert taken.notes == [f"{name} is graded as toy.cu"]
        assert (taken.folder, taken.ignored) == (None, [])


def test_moodles_folder_is_a_folder(lab: Lab, tmp_path: Path) -> None:
    folder = written(tmp_path / "Ada Lovelace_1234567_assignsubmission_file_", "toy.cu")
    taken = intake.read(lab, folder)
    assert (taken.files, taken.notes, taken.folder) == ({"toy.cu": CODE}, [], folder)


@pytest.mark.parametrize("name", ["toy-1.cu", "toy (x).cu", "ada_1_2_toy.cu", "12345_678910_toy.cu"])
def test_other_names_in_a_folder_are_not_guessed(lab: Lab, tmp_path: Path, name: str) -> None:
    assert "expected toy.cu, found " in refused(lab, written(tmp_path / "work", name), STRICT)


def test_files_that_go_with_it_get_their_names_back(lab: Lab, tmp_path: Path) -> None:
    prefix = "lovelaceada_12345_67891"
    folder = written(
        tmp_path / "work", f"{prefix}0_toy.cu", f"{prefix}1_tile-1.cuh", f"{prefix}2_toy.h", f"{prefix}3_x.cu"
    )
    taken = intake.read(lab, folder)
    assert sorted(taken.files) == ["tile.cuh", "toy.cu"]
    assert taken.ignored == [f"{prefix}3_x.cu"]  # the contract is given, and no news
    assert taken.notes == [f"{prefix}0_toy.cu is graded as toy.cu", f"{prefix}1_tile-1.cuh is graded as tile.cuh"]


def test_of_two_that_it_could_be_none_is_chosen(lab: Lab, tmp_path: Path) -> None:
    names = ["lovelaceada_12345_678910_toy.cu", "toy (1).cu"]
    folder = written(tmp_path / "work", *names)
    both = f"each of {', '.join(names)} could be toy.cu | keep the one to grade, and name it toy.cu"
    assert refused(lab, folder) == both
    assert refused(lab, zip_of(tmp_path / "work.zip", *((name, CODE) for name in names))) == both
    # The right name is no question; what else is there is named.
    written(folder, "toy.cu", content=b"// mine\n")
    taken = intake.read(lab, folder)
    assert (taken.files, taken.ignored, taken.notes) == ({"toy.cu": b"// mine\n"}, names, [])
    assert taken.folder == folder


def test_one_file_that_is_named_may_have_any_name(lab: Lab, tmp_path: Path) -> None:
    folder = written(tmp_path, "my best try.cu", "x.cpp", "tile.cuh")
    taken = intake.read(lab, folder / "my best try.cu")
    assert (taken.files, taken.notes) == ({"toy.cu": CODE}, ["my best try.cu is graded as toy.cu"])
    assert "expected toy.cu, found x.cpp" in refused(lab, folder / "x.cpp")
    assert "expected toy.cu" in refused(lab, folder / "tile.cuh")
    several = msgspec.structs.replace(lab.file.lab, files=["toy.cu", "more.cu"])
    wide = Lab(lab.name, lab.folder, msgspec.structs.replace(lab.file, lab=several))
    assert "expected toy.cu, found my best try.cu" in refused(wide, folder / "my best try.cu")
    written(folder, "evil\x1b[31m\u202e.cu")
    (note,) = intake.read(lab, folder / "evil\x1b[31m\u202e.cu").notes
    assert note == "evil.cu is graded as toy.cu"


def test_a_zip_in_a_folder(lab: Lab, tmp_path: Path) -> None:
    folder = written(tmp_path / "Ada Lovelace_1234567_assignsubmission_file_", "report.pdf", ".DS_Store", "._work.zip")
    written(folder / "__MACOSX", "._toy.cu")
    inner = (
        ("work/toy.cu", CODE),
        ("__MACOSX/work/._toy.cu", b"\0"),
        ("work/.DS_Store", b"\0"),
        ("work/._toy.cu", b"\0"),
    )
    zip_of(folder / "work.zip", *inner)
    outer = written(tmp_path / "outer" / "inner")
    (outer / "work.zip").write_bytes((folder / "work.zip").read_bytes())
    for path in (folder, outer, outer.parent):
        taken = intake.read(lab, path)
        assert (taken.files, taken.ignored, taken.folder) == ({"toy.cu": CODE}, [], None)
        assert taken.notes == ["taken from work.zip"]
    # A source beside it is what was handed in, and of two archives none is chosen.
    written(folder, "toy.cu", content=b"// beside\n")
    assert intake.read(lab, folder).files == {"toy.cu": b"// beside\n"}
    (folder / "toy.cu").rename(folder / "other.zip")
    assert "expected toy.cu, found other.zip, report.pdf, work.zip" in refused(lab, folder)


def test_a_zip_in_a_folder_is_as_dangerous_as_one_alone(lab: Lab, tmp_path: Path) -> None:
    def handed_in(name: str) -> Path:
        return folder_of(tmp_path / name)

    zip_of(handed_in("bomb") / "a.zip", ("toy.cu", b"/" * (intake.MAX_FILE_BYTES + 1)))
    assert "toy.cu is larger than 1 MiB" in refused(lab, tmp_path / "bomb")
    zip_of(handed_in("bomb again") / "a.zip", ("toy (1).cu", b"/" * (intake.MAX_FILE_BYTES + 1)))
    assert "toy (1).cu is larger than 1 MiB" in refused(lab, tmp_path / "bomb again")
    zip_of(handed_in("up") / "a.zip", ("../toy (1).cu", CODE))
    assert "points outside the archive" in refused(lab, tmp_path / "up")
    link = zipfile.ZipInfo("toy (1).cu")
    link.external_attr = 0o120777 << 16
    zip_of(handed_in("link in it") / "a.zip", (link, b"/etc/passwd"))
    assert "is a link; hand in" in refused(lab, tmp_path / "link in it")
    secret = zip_of(tmp_path / "secret.zip", ("toy.cu", CODE))
    (handed_in("link") / "a.zip").symlink_to(secret)
    assert "a.zip is a symbolic link; hand in the file itself" in refused(lab, tmp_path / "link")
    os.mkfifo(handed_in("pipe") / "a.zip")
    assert "a.zip is not a regular file" in refused(lab, tmp_path / "pipe")
    zip_of(handed_in("nested") / "a.zip", ("b.zip", secret.read_bytes()))
    assert "expected toy.cu, found b.zip" in refused(lab, tmp_path / "nested", STRICT)
    (handed_in("renamed link") / "toy (1).cu").symlink_to("/etc/passwd")
    assert "toy (1).cu is a symbolic link" in refused(lab, tmp_path / "renamed link")


def test_names_made_to_take_long_do_not() -> None:
    began = time.process_time()
    for name in ("a_" * 5000, "a_12" * 60 + ".cu", "1_" * 127, "(1)" * 80, "-1" * 120 + ".cu", "_" * 255):
        assert original_names(name)[0] == name
    assert time.process_time() - began < 1


def test_what_was_taken_is_told(
    submission: Path, script: object, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    steps: Script = [[start(), case("adds"), case("adds odd sizes"), speed(9.0), end()]]
    script(steps)  # type: ignore[operator]
    (submission / "toy.cu").rename(submission / "toy (1).cu")
    file = tmp_path / "result.json"
    status, out, _ = run(capsys, "grade", "toy", submission, "--json", file)
    assert status == 0
    assert "note: toy (1).cu is graded as toy.cu" in out
    taken = msgspec.json.decode(file.read_bytes())["submission"]
    assert taken["notes"] == ["toy (1).cu is graded as toy.cu"]
    assert taken["files"][0]["name"] == "toy.cu"
