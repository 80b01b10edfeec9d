"""A class is taken in by confined processes: what one student hands in costs the others nothing."""

import gzip
import io
import tarfile
import zipfile
from pathlib import Path

import pytest
from classes import CODE, laid, packed

from warpgrade.cohort import collect, receive
from warpgrade.cohort.attempts import StudentAttempt
from warpgrade.intake.intake import LENIENT
from warpgrade.lab.labs import Lab
from warpgrade.machine.errors import BadInput

TREE = {
    "ada/toy.cu": CODE, "bob.zip": packed(toy__cu=CODE), "cyd_toy.cu": CODE, "dan/toy.cu": b"", "eve/a.txt": b"x",
    "notes.pdf": b"x", "fay/work.zip": packed(work__toy__cu=CODE),
}  # fmt: skip


def outcome(one: StudentAttempt) -> object:
    try:
        taken = one.read(LENIENT)
    except BadInput as problem:
        return (problem.message, problem.hint, problem.review)
    return (taken.files, taken.notes, taken.ignored, taken.name, taken.folder)


@pytest.mark.parametrize("kind", ["folder", "zip", "tar", "tar.gz"])
def test_a_class_is_the_same_as_in_this_process(lab: Lab, tmp_path: Path, kind: str) -> None:
    path = laid(tmp_path, kind, TREE)
    roster = tmp_path / "roster.csv"
    roster.write_text("id,name\nada,Ada Byron\nzoe,Zoë\n", encoding="utf-8")
    here, there = collect.collect(lab, path, roster=roster), receive.read(lab, path, roster=roster)
    assert (here.platform, here.others, here.missing, here.unknown) == (
        there.platform, there.others, there.missing, there.unknown,
    )  # fmt: skip
    for one, other in zip(here.submissions, there.submissions, strict=True):
        assert (one.student, one.name, one.source, one.submitted, one.number, one.late, one.identifiers) == (
            other.student, other.name, other.source, other.submitted, other.number, other.late, other.identifiers,
        )  # fmt: skip
        assert outcome(one) == outcome(other)


def test_what_is_no_class_is_refused_alike(lab: Lab, tmp_path: Path) -> None:
    for path in (tmp_path / "nowhere", laid(tmp_path, "zip", {"notes.pdf": b"x"})):
        with pytest.raises(BadInput) as here:
            collect.collect(lab, path)
        with pytest.raises(BadInput) as there:
            receive.read(lab, path)
        assert (here.value.message, here.value.hint) == (there.value.message, there.value.hint)


def test_a_hostile_submission_costs_the_others_nothing(lab: Lab, tmp_path: Path) -> None:
    header = tarfile.TarInfo("x")
    header.type = tarfile.XGLTYPE
    bombs = {
        "headers.tar.gz": gzip.compress(header.tobuf(tarfile.USTAR_FORMAT) * 50_000, 1),
        "directory.zip": _many_entries(3000), "nothing.tar": b"\xff" * 5000,
    }  # fmt: skip
    path = laid(tmp_path, "zip", {**bombs, **{f"ada{number}.cu": CODE for number in range(20)}})
    found = {one.student: outcome(one) for one in receive.read(lab, path).submissions}
    honest = [each for student, each in found.items() if student.startswith("ada")]
    assert all(each[0] == {"toy.cu": CODE} for each in honest)  # type: ignore[index]
    assert len(honest) == 20
    assert all(isinstance(found[name.partition(".")[0]][0], str) for name in bombs)  # type: ignore[index]


def _many_entries(count: int) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for number in range(count):
            archive.writestr(f"{number}", b"")
    return buffer.getvalue()
