"""How much an archive may hold, in the numbers that are told: what just fits is read, one more is refused."""

import io
import tarfile
from pathlib import Path

import pytest
from handed_in import CODE, refused, tar_of, zip_of

from warpgrade.grading import baseline, review
from warpgrade.intake import archives, intake, tars
from warpgrade.lab.labs import Lab
from warpgrade.machine.paths import Layout


def test_two_thousand_entries(lab: Lab, tmp_path: Path) -> None:
    entries = [("toy.cu", CODE), *((f"{i}.txt", b"x") for i in range(1999))]
    assert intake.read(lab, zip_of(tmp_path / "a.zip", *entries)).files == {"toy.cu": CODE}
    assert intake.read(lab, tar_of(tmp_path / "a.tar", *entries)).files == {"toy.cu": CODE}
    more = [*entries, ("more.txt", b"x")]
    assert "contains 2001 entries; the limit is 2000" in refused(lab, zip_of(tmp_path / "b.zip", *more))
    assert "contains more than 2000 entries" in refused(lab, tar_of(tmp_path / "b.tar", *more))


def test_sixteen_headers_in_a_row() -> None:
    def names(skipped: int) -> list[str]:
        label = tarfile.TarInfo("label")
        label.type = b"V"
        file = tarfile.TarInfo("toy.cu")
        raw = (label.tobuf() * skipped + file.tobuf()) * 2 + bytes(1024)
        return [entry.name for entry in tars.entries(tars.Stream(io.BytesIO(raw), 1 << 20))]

    assert names(15) == ["toy.cu", "toy.cu"]
    with pytest.raises(tars.TooMuchError, match="many headers without a file"):
        names(16)


def test_a_thousand_words_about_the_next_file() -> None:
    assert tars._extended(b"9 path=x\n" * 1000, "n") == ("x", -1, False)
    with pytest.raises(tars.TooMuchError, match="huge header"):
        tars._extended(b"9 path=x\n" * 1001, "n")


def test_thirty_two_mebibytes_of_sources(lab: Lab, tmp_path: Path) -> None:
    def told(count: int) -> str:
        sources = [(f"{i}.cuh", b" " * (1 << 20)) for i in range(count)]
        return refused(lab, tar_of(tmp_path / f"{count}.tar", *sources))

    assert "holds more than 32 MiB of sources" not in told(32)
    assert "holds more than 32 MiB of sources" in told(33)


def test_a_list_of_two_mebibytes(monkeypatch: pytest.MonkeyPatch, lab: Lab, tmp_path: Path) -> None:
    path = zip_of(tmp_path / "a.zip", ("toy.cu", CODE))
    monkeypatch.setattr(archives, "directory_bytes", lambda file: 2 << 20)
    assert intake.read(lab, path).files == {"toy.cu": CODE}
    monkeypatch.setattr(archives, "directory_bytes", lambda file: (2 << 20) + 1)
    assert "huge list of entries" in refused(lab, path)


def test_two_hundred_baselines(layout: Layout) -> None:
    folder = layout.cache / "baselines"
    folder.mkdir(parents=True)
    for i in range(200):
        (folder / str(i)).touch()
    baseline._forget_oldest(folder)
    assert len(list(folder.iterdir())) == 199  # with the one that comes now, it is 200


def test_thirty_two_notes_of_three_hundred_letters() -> None:
    listed = review.list_notes(["x" * 301, *map(str, range(32))])
    assert len(listed) == 33
    assert listed[-1] == "and 1 more"
    assert len(listed[0]) == len(review.list_notes(["x" * 5000])[0])
    assert review.list_notes(["x" * 300]) == ["x" * 300]
