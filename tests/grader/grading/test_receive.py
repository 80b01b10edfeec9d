"""Taking a submission in: what is in it is read in a confined process, and refused where that takes too much."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import msgspec
import pytest
from handed_in import CODE, tar_of

from warpgrade.grading import receive
from warpgrade.lab.labs import Lab
from warpgrade.machine.errors import BadInput


def with_limits(lab: Lab, **limits: float) -> Lab:
    return dataclasses.replace(
        lab, file=msgspec.structs.replace(lab.file, limits=msgspec.structs.replace(lab.file.limits, **limits))
    )


def test_it_reads_what_intake_reads_and_says_how_long_it_took(lab: Lab, tmp_path: Path) -> None:
    (tmp_path / "ada.cu").write_bytes(CODE)
    taken = receive.read(lab, tmp_path / "ada.cu")
    assert (taken.files, taken.notes) == ({"toy.cu": CODE}, ["ada.cu is graded as toy.cu"])
    assert taken.seconds > 0


def test_names_are_from_where_the_grader_is(lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "toy.cu").write_bytes(CODE)
    monkeypatch.chdir(tmp_path)
    assert receive.read(lab, Path("work")).folder == Path("work")
    with pytest.raises(BadInput, match=r"^nowhere does not exist"):
        receive.read(lab, Path("nowhere"))


def test_an_archive_that_takes_too_long_is_refused(lab: Lab, tmp_path: Path) -> None:
    path = tar_of(tmp_path / "ada.tar.gz", ("toy.cu", CODE))
    assert receive.read(with_limits(lab, analysis_seconds=1), path).files == {"toy.cu": CODE}
    with pytest.raises(BadInput) as caught:
        receive.read(with_limits(lab, analysis_seconds=0.0), path)
    assert "reading it takes more than 0 s of processor time (limits.analysis_seconds in lab.toml)" in str(caught.value)
    assert caught.value.review
