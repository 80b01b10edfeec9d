"""Each reader of a class's export takes 10,000 submissions: time grows as they do, and memory with their names alone.

A reader's time is compared with its own for a tenth of the submissions, in processor time of this process, and with a
factor that no busy machine makes up: what is quadratic takes a hundred times as long.
"""

import gc
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest
from classes import CODE, Tree, laid, packed, read

from warpgrade.cohort import roster
from warpgrade.cohort.attempts import ClassAttempts
from warpgrade.cohort.collect import collect
from warpgrade.lab.labs import Lab
from warpgrade.platforms.gradescope.metadata import read_metadata

FEW, MANY = 1_000, 10_000
MOST_TIMES = 40  # as long for ten times as many
MOST_BYTES_EACH = 8_000  # while it is read


def canvas(count: int) -> Tree:
    return {f"student{number}_{50_000 + number}_{900_000 + number}_toy.cu": CODE for number in range(count)}


def moodle(count: int) -> Tree:
    return {f"Ada {number}_{number}_assignsubmission_file_/toy.cu": CODE for number in range(count)}


def gradescope_export(count: int) -> Tree:
    return {
        "export/submission_metadata.yml": metadata(count),
        **{f"export/submission_{number}/toy.cu": CODE for number in range(count)},
    }


def metadata(count: int) -> bytes:
    return b"---\n" + b"".join(
        b"submission_%d:\n  :submitters:\n  - :name: Ada %d\n    :sid: s%d\n  :created_at: 2026-04-26 17:34:00.86 Z\n"
        b"  :results:\n    tests:\n    - output: |\n        right\n  :history:\n  - :id: 7\n" % (number, number, number)
        for number in range(count)
    )


def github(count: int) -> Tree:
    tree: dict[str, bytes] = {}
    for number in range(count):
        tree[f"toy-user{number}/.git/HEAD"] = b"ref: refs/heads/main\n"
        tree[f"toy-user{number}/toy.cu"] = CODE
    return tree


def plain_files(count: int) -> Tree:
    return {f"ada{number}_{name}": CODE for number in range(count) for name in ("toy.cu", "tile.cuh")}


def plain_folders(count: int) -> Tree:
    return {f"ada{number}/toy.cu": CODE for number in range(count)}


def plain_archives(count: int) -> Tree:
    content = packed(toy__cu=CODE)
    return {f"ada{number}.zip": content for number in range(count)}


EXPORTS = {
    "canvas": canvas, "moodle": moodle, "gradescope": gradescope_export, "github": github, "files": plain_files,
    "folders": plain_folders, "archives": plain_archives,
}  # fmt: skip
# Each export as it comes, which is a zip; the other containers once.
READERS = [*((name, "zip") for name in EXPORTS), ("folders", "tar"), ("moodle", "tar.gz")]


def seconds_of(work: Callable[[], object]) -> float:
    gc.collect()
    start = time.process_time()
    work()
    return time.process_time() - start


def check_growth(few: Callable[[], object], many: Callable[[], object]) -> None:
    assert seconds_of(many) <= MOST_TIMES * max(seconds_of(few), 0.002)


@pytest.mark.parametrize(("name", "kind"), [pytest.param(*each, id="-".join(each)) for each in READERS])
def test_an_export_of_ten_thousand_is_read_in_proportion(lab: Lab, tmp_path: Path, name: str, kind: str) -> None:
    few, many = (laid(tmp_path, kind, EXPORTS[name](count), f"toy{count}") for count in (FEW, MANY))
    found: list[ClassAttempts] = []
    check_growth(lambda: collect(lab, few), lambda: found.append(collect(lab, many)))
    submissions = found[0].submissions
    assert len({one.student for one in submissions}) == len(submissions) == MANY
    assert not found[0].others
    assert read(submissions[0])["toy.cu"] == CODE == read(submissions[-1])["toy.cu"]  # type: ignore[index]


def test_ten_thousand_git_checkouts_on_disk_are_read_in_proportion(lab: Lab, tmp_path: Path) -> None:
    few, many = (laid(tmp_path, "folder", github(count), f"toy-{count}") for count in (FEW // 10, MANY // 10))
    found: list[ClassAttempts] = []
    check_growth(lambda: collect(lab, few), lambda: found.append(collect(lab, many)))
    assert (found[0].platform, len(found[0].submissions)) == ("github", MANY // 10)


def test_a_roster_of_ten_thousand_is_read_in_proportion(lab: Lab, tmp_path: Path) -> None:
    for count in (FEW, MANY):
        rows = (f"s{number},user{number},Ada,Byron {number},ada{number}@example.org\n" for number in range(count))
        (tmp_path / f"{count}.csv").write_text("sid,github,first,last,email\n" + "".join(rows), encoding="utf-8")
    check_growth(lambda: roster.read(tmp_path / f"{FEW}.csv"), lambda: roster.read(tmp_path / f"{MANY}.csv"))
    export = laid(tmp_path, "zip", gradescope_export(FEW))
    found = collect(lab, export, roster=tmp_path / f"{MANY}.csv")
    assert (len(found.submissions), len(found.missing), found.unknown) == (FEW, MANY - FEW, [])


@pytest.mark.parametrize("name", ["canvas", "gradescope"])
def test_memory_is_for_names_and_not_for_contents(lab: Lab, tmp_path: Path, name: str) -> None:
    path = laid(tmp_path, "zip", {**EXPORTS[name](FEW), "large.pdf": bytes(16 << 20)})
    tracemalloc.start()
    try:
        collect(lab, path)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < MOST_BYTES_EACH * FEW


def test_metadata_keeps_nothing_of_what_autograders_printed(tmp_path: Path) -> None:
    path = tmp_path / "metadata.yml"
    path.write_bytes(metadata(200).replace(b"right\n", b"x" * 100_000 + b"\n"))
    tracemalloc.start()
    try:
        with path.open("rb") as file:
            assert len(read_metadata(file)) == 200
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 2 << 20
