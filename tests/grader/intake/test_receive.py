"""Taking a submission in: what is in it is read in a confined process, and refused where that takes too much."""

import dataclasses
import functools
import io
from pathlib import Path

import msgspec
import pytest
from handed_in import CODE, tar_of

from warpgrade.grading.submission import Submission
from warpgrade.intake import intake, receive
from warpgrade.intake.archives import Member
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


def test_how_large_a_file_all_files_and_an_archive_among_others_may_be(lab: Lab) -> None:
    mib = 1 << 20

    def read(**contents: bytes) -> Submission:
        members = [
            Member(name.replace("__", "."), functools.partial(io.BytesIO, raw)) for name, raw in contents.items()
        ]
        return intake.read_members(lab, members, "jane")

    full = CODE.ljust(mib, b" ")
    assert read(toy__cu=full).files == {"toy.cu": full}
    with pytest.raises(BadInput, match=r"toy\.cu is larger than 1 MiB"):
        read(toy__cu=full + b" ")
    more = {f"{name}__cuh": full for name in "abc"}
    assert len(read(toy__cu=full, **more).files) == 4
    with pytest.raises(BadInput, match="larger than 4 MiB"):
        read(toy__cu=full, **more, d__cuh=b" x")
    with pytest.raises(BadInput, match=r"a\.zip is not a readable zip archive"):
        read(a__zip=bytes(64 * mib))
    with pytest.raises(BadInput, match=r"a\.zip is larger than 64 MiB"):
        read(a__zip=bytes(64 * mib + 1))
