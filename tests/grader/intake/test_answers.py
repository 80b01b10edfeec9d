"""Answers to a lab's short questions: collected with the code, never part of it, whatever is saved under their name."""

import dataclasses
import io
import zipfile
from pathlib import Path

import msgspec
import pytest

from warpgrade.intake import answers, intake
from warpgrade.lab.labs import Lab

CODE = b"void toy(float* a, int n) {}\n"


@pytest.fixture
def asking(lab: Lab) -> Lab:
    (lab.folder / "answers.md").write_text("# Questions\n", encoding="utf-8")
    head = msgspec.structs.replace(lab.file.lab, answers="answers.md")
    return dataclasses.replace(lab, file=msgspec.structs.replace(lab.file, lab=head))


def hand_in(folder: Path, content: bytes | None, name: str = "answers.md") -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "toy.cu").write_bytes(CODE)
    if content is not None:
        (folder / name).write_bytes(content)
    return folder


def test_answers_are_collected_and_are_no_part_of_what_is_graded(asking: Lab, tmp_path: Path) -> None:
    folder = hand_in(tmp_path / "work", b"Because\r\nwarps wait.\n")
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.write(folder / "toy.cu", "ada/toy.cu")
        archive.write(folder / "answers.md", "ada/answers.md")
    (tmp_path / "ada.zip").write_bytes(packed.getvalue())
    for path in (folder, tmp_path / "ada.zip"):
        found = intake.read(asking, path)
        assert (found.answers, found.files, found.notes) == ("Because\nwarps wait.", {"toy.cu": CODE}, [])


def test_without_the_key_a_file_of_that_name_is_left_alone(lab: Lab, tmp_path: Path) -> None:
    found = intake.read(lab, hand_in(tmp_path / "work", b"Because"))
    assert (found.answers, found.files) == ("", {"toy.cu": CODE})


def test_who_rewrites_answers_hands_in_something_else(asking: Lab, tmp_path: Path) -> None:
    digests = [
        intake.read(asking, hand_in(tmp_path / f"{number}", content)).digest
        for number, content in enumerate((None, b"", b"one", b"two", b"two\r\n"))
    ]
    assert digests[0] == digests[1]
    assert digests[3] == digests[4]
    assert len(set(digests)) == 3


def test_a_copy_of_the_browser_and_a_folder_further_down_are_found(asking: Lab, tmp_path: Path) -> None:
    assert intake.read(asking, hand_in(tmp_path / "a", b"one", "answers (1).md")).answers == "one"
    folder = hand_in(tmp_path / "b", None)
    (folder / "text").mkdir()
    (folder / "text" / "answers.md").write_bytes(b"two")
    (folder / "toy.cu").rename(folder / "text" / "toy.cu")
    assert intake.read(asking, folder).answers == "two"


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (b"", ""),
        (b" \n\n", ""),
        ("Größe".encode("utf-16"), "Größe"),
        ("\ufeffGröße".encode(), "Größe"),
        (b"\xff\xfe\x00", "\ufffd"),
        (b"a\x00b\x1b[31mc", "abc"),
        (b"a\xe2\x80\xaeb", "ab"),
        (b"\x7fELF\xc3", "ELF\ufffd"),
    ],
)
def test_whatever_is_saved_becomes_text(content: bytes, text: str) -> None:
    assert answers.read(content) == text


def test_what_is_read_is_bounded() -> None:
    assert len(answers.read(b"x" * 1_000_000)) == 1000
    assert answers.read(b"x\n" * 1000).endswith("… and 800 more lines")
