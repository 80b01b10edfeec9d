"""What a class handed in, in every wrapping and as each platform exports it."""

import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from classes import CODE, laid, outcomes, packed, read, students

from warpgrade.cohort.collect import collect
from warpgrade.intake.intake import LENIENT
from warpgrade.lab.labs import Lab
from warpgrade.machine.errors import BadInput
from warpgrade.platforms.github import git_time
from warpgrade.platforms.gradescope.metadata import moment

KINDS = ["folder", "zip", "tar", "tar.gz", "tar.bz2", "tar.xz"]
MINE = {"toy.cu": CODE}


@pytest.mark.parametrize("kind", KINDS)
def test_folders_files_and_archives_side_by_side(lab: Lab, tmp_path: Path, kind: str) -> None:
    tar = laid(tmp_path, "tar.xz", {"toy.cu": CODE}, "any").read_bytes()
    path = laid(
        tmp_path, kind, {
            "ada/toy.cu": CODE, "ada/tile.cuh": b"// tile\n", "bob.cu": CODE, "cyd_toy.cu": CODE, "cyd_tile.cuh": b"x",
            "dan.zip": packed(toy__cu=CODE), "eve_toy.tar.xz": tar, "fay/work.zip": packed(toy__cu=CODE),
            "gil-toy (1).cu": CODE, "hal/sub/toy.cu": CODE, "ida.cpp": CODE, "lou_tile.cuh": b"x", "lou.cu": CODE,
            "lou_m.cu": CODE, "grades.csv": b"x", "toy.cu": CODE,
            ".hidden": b"x", "__MACOSX/ada/._toy.cu": b"x", "jo/toy.cu": b"", "toy_ken/toy.cu": CODE,
        },
    )  # fmt: skip
    found = collect(lab, path)
    tiled = {"tile.cuh": b"x", "toy.cu": CODE}
    assert outcomes(found) == {
        "ada": {"tile.cuh": b"// tile\n", "toy.cu": CODE}, "bob": MINE, "cyd": tiled, "dan": MINE, "eve": MINE,
        "fay": MINE, "gil": MINE, "hal": MINE, "ida": "expected toy.cu, found ida.cpp",
        "jo": "toy.cu is empty", "lou": tiled, "lou_m": MINE, "toy_ken": MINE,
    }  # fmt: skip
    assert found.platform == "plain"
    assert found.others == ["grades.csv: neither source code nor an archive"]
    assert found.unclaimed == ["toy.cu: nothing says whose it is"]
    assert {one.source for one in found.submissions} >= {"ada/", "bob.cu", "cyd_toy.cu, cyd_tile.cuh", "dan.zip"}
    notes = {one.student: one.read(LENIENT).notes for one in found.submissions if one.student in ("bob", "cyd", "fay")}
    assert notes == {
        "bob": ["bob.cu is graded as toy.cu"], "fay": ["taken from work.zip"],
        "cyd": ["cyd_toy.cu is graded as toy.cu", "cyd_tile.cuh is graded as tile.cuh"],
    }  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_a_folder_around_all_of_it(lab: Lab, tmp_path: Path, kind: str) -> None:
    path = laid(tmp_path, kind, {"all/submissions/ada/toy.cu": CODE, "all/submissions/bob.cu": CODE})
    assert outcomes(collect(lab, path)) == {"ada": MINE, "bob": MINE}
    alone = laid(tmp_path, kind, {"ada/toy.cu": CODE}, "alone")
    assert outcomes(collect(lab, alone)) == {"ada": MINE}


@pytest.mark.parametrize("kind", KINDS)
def test_canvas(lab: Lab, tmp_path: Path, kind: str) -> None:
    path = laid(
        tmp_path, kind, {
            "lovelaceada_LATE_12345_678910_toy.cu": CODE, "lovelaceada_LATE_12345_678911_report.pdf": b"x",
            "bauerbob_12346_678920_toy.cu": b"// first\n", "bauerbob_12346_678925_toy-1.cu": b"// second\n",
            "bauerbob_12346_678921_tile.cuh": b"// tile\n", "bauerbob_12346_678930_toy-2.cu": b"// third\n",
            "curiemarie_12347_678940_work.zip": packed(toy__cu=CODE),
            "curiemarie_12347_678950_work-1.zip": packed(toy__cu=b"// again\n"),
            "deodan_12348_678960_solution.cu": CODE, "evee_12349_678970_report.pdf": b"x",
            "fayf_12350_text.html": b"x", "notes.txt": b"x", "anon_x1Y2z_678980_toy.cu": CODE,
            "LATE_anon_a1b2c_678981_toy.cu": CODE,
        },
    )  # fmt: skip
    found = collect(lab, path)
    assert found.platform == "canvas"
    assert [(one.student, one.number, one.late, one.name) for one in found.submissions] == [
        ("12345", 1, True, "lovelaceada"), ("12346", 1, False, "bauerbob"), ("12346", 2, False, "bauerbob"),
        ("12346", 3, False, "bauerbob"), ("12347", 1, False, "curiemarie"), ("12347", 2, False, "curiemarie"),
        ("12348", 1, False, "deodan"), ("12349", 1, False, "evee"), ("anon_a1b2c", 1, True, "anon_a1b2c"),
        ("anon_x1Y2z", 1, False, "anon_x1Y2z"),
    ]  # fmt: skip
    bob = [read(one) for one in found.submissions if one.student == "12346"]
    assert bob == [
        {"toy.cu": b"// first\n", "tile.cuh": b"// tile\n"}, {"toy.cu": b"// second\n", "tile.cuh": b"// tile\n"},
        {"toy.cu": b"// third\n", "tile.cuh": b"// tile\n"},
    ]  # fmt: skip
    assert [read(one) for one in found.submissions if one.student == "12347"] == [MINE, {"toy.cu": b"// again\n"}]
    assert read(found.submissions[6]) == MINE
    assert "expected toy.cu, found lovelaceada" not in str(read(found.submissions[0]))
    assert "evee_12349_678970_report.pdf" in str(read(found.submissions[7]))
    assert sorted(found.others) == [
        "fayf_12350_text.html: typed in the browser", "notes.txt: not named as Canvas names files",
    ]  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_moodle(lab: Lab, tmp_path: Path, kind: str) -> None:
    path = laid(
        tmp_path, kind, {
            "Ada Lovelace_1234567_assignsubmission_file_/toy.cu": CODE,
            "Ada Lovelace_1234567_assignsubmission_onlinetext_/onlinetext.html": b"x",
            "Bob Bauer_1234568_assignsubmission_file/work.zip": packed(toy__cu=CODE),
            "Curie Marie_1234569_assignsubmission_file_toy.cu": CODE,
            "Curie Marie_1234569_assignsubmission_file_tile.cuh": b"x",
            "Participant_1234570_assignsubmission_file_/sub/toy.cu": CODE,
            "Default group_assignsubmission_file_/toy.cu": CODE,
        },
    )  # fmt: skip
    found = collect(lab, path)
    assert found.platform == "moodle"
    assert students(found) == [
        ("1234567", "Ada Lovelace"), ("1234568", "Bob Bauer"), ("1234569", "Curie Marie"), ("1234570", "Participant"),
        ("Default group", "Default group"),
    ]  # fmt: skip
    both = {"tile.cuh": b"x", "toy.cu": CODE}
    assert [*outcomes(found).values()] == [MINE, MINE, both, MINE, MINE]
    assert found.others == ["Ada Lovelace_1234567_assignsubmission_onlinetext_/: typed in the browser"]
    assert found.submissions[0].identifiers == ("1234567", "Participant 1234567")


METADATA = """---
submission_409194023:
  :submitters:
  - :name: &1 Ada Lovelace
    :sid: '123456'
    :email: ada@example.edu
  :created_at: 2026-04-26 17:34:00.861687000 Z
  :score: 2.0
  :results:
    output: |-
      submission_9:
        :submitters:
        - :sid: forged
  :history:
  - :created_at: 2026-04-01 10:00:00 Z
    :submitters:
    - :sid: older
submission_500000001:
  :submitters:
  - :name: *1
    :email: other@example.edu
  - :name: "Bob\\nBauer"
    :sid: 222
  :created_at: !ruby/object:ActiveSupport::TimeWithZone
    utc: &2 2026-04-26 17:34:00.500000000 Z
    zone: !ruby/object:ActiveSupport::TimeZone
      name: America/Los_Angeles
    time: *2
submission_600000002:
  :submitters:
  - :name: Cyd
    :sid: ~
    :email: ''
submission_700000003:
  :submitters: []
? [odd]
: ignored
"""


@pytest.mark.parametrize("kind", KINDS)
def test_gradescope(lab: Lab, tmp_path: Path, kind: str) -> None:
    home = "assignment_123_export/"
    path = laid(
        tmp_path, kind, {
            f"{home}submission_metadata.yml": METADATA.encode(),
            f"{home}submission_409194023/toy.cu": CODE, f"{home}submission_500000001/toy.cu": b"// pair\n",
            f"{home}submission_700000003/toy.cu": CODE, f"{home}submission_8/toy.cu": CODE,
        },
    )  # fmt: skip
    found = collect(lab, path)
    assert found.platform == "gradescope"
    pair = {"toy.cu": b"// pair\n"}
    assert outcomes(found) == {"123456": MINE, "222": pair, "other@example.edu": pair}
    by_student = {one.student: one for one in found.submissions}
    assert by_student["123456"].submitted == datetime(2026, 4, 26, 17, 34, 0, 861687, UTC)
    assert by_student["222"].submitted == datetime(2026, 4, 26, 17, 34, 0, 500000, UTC)
    assert by_student["123456"].identifiers == ("123456", "ada@example.edu")
    assert (by_student["other@example.edu"].name, by_student["222"].name) == ("Ada Lovelace", "Bob Bauer")
    assert found.unclaimed == [
        "submission_700000003/: submission_metadata.yml names no student",
        "submission_8/: not in submission_metadata.yml",
        "submission_600000002: it is in submission_metadata.yml, but not in the export; export it again",
    ]  # fmt: skip


def test_a_time_with_its_zone() -> None:
    assert moment("2026-04-26 10:34:00.5 -07:00") == datetime(2026, 4, 26, 17, 34, 0, 500000, UTC)
    assert moment("2026-04-26T17:34:00Z") == datetime(2026, 4, 26, 17, 34, tzinfo=UTC)


@pytest.mark.parametrize("text", ["", "yesterday", "2026-13-01 00:00:00 Z", "2026-04-26", "9" * 500])
def test_no_time(text: str) -> None:
    assert moment(text) is None


@pytest.mark.parametrize("text", ["a: b: c", "[", "a: &x [*x", "\x00", "- 1\n- 2\n", "submission_1: &a [*a]\n"])
def test_metadata_that_is_none(lab: Lab, tmp_path: Path, text: str) -> None:
    path = laid(tmp_path, "folder", {"submission_metadata.yml": text.encode(), "submission_1/toy.cu": CODE})
    with pytest.raises(BadInput) as caught:
        collect(lab, path)
    assert "submission_metadata.yml" in caught.value.message


def git(folder: Path, *arguments: str, when: int = 1_790_000_000) -> None:
    stamp = {f"GIT_{who}_DATE": f"{when} +0200" for who in ("AUTHOR", "COMMITTER")}
    subprocess.run(
        ["git", "-c", "user.name=A", "-c", "user.email=a@example.edu", "-c", "init.defaultBranch=main", *arguments],
        cwd=folder, check=True, capture_output=True,
        env={**os.environ, **stamp, "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null"},
    )  # fmt: skip


def checkout(folder: Path, commits: int = 1) -> Path:
    folder.mkdir(parents=True)
    git(folder, "init")
    (folder / "toy.cu").write_bytes(CODE)
    git(folder, "add", ".")
    for number in range(commits):
        git(folder, "commit", "--allow-empty", "-m", f"{number}", when=1_790_000_000 + 60 * number)
    return folder


def test_checkouts(lab: Lab, tmp_path: Path) -> None:
    home = tmp_path / "hw3-submissions"
    checkout(home / "hw3-ada-l", 2)
    packed_one = checkout(home / "hw3-bob", 30)
    git(packed_one, "gc", "-q")
    loose = checkout(home / "hw3-cyd")
    git(loose, "checkout", "--detach")
    ran = tmp_path / "ran"
    for folder in home.iterdir():
        with (folder / ".git" / "config").open("a", encoding="utf-8") as config:
            config.write(
                f'[core]\n\tfsmonitor = "touch {ran}"\n\tpager = "touch {ran}"\n[alias]\n\tlog = "!touch {ran}"\n'
            )
    linked = home / "hw3-dan"
    linked.mkdir()
    (linked / "toy.cu").write_bytes(CODE)
    (linked / ".git").symlink_to(loose / ".git")
    (home / "README.md").write_text("x", encoding="utf-8")
    found = collect(lab, home)
    assert found.platform == "github"
    assert outcomes(found) == {"ada-l": MINE, "bob": MINE, "cyd": MINE, "dan": MINE}
    first = datetime(2026, 9, 21, 14, 13, 20, tzinfo=UTC)
    times = [first + timedelta(minutes=1), first + timedelta(minutes=29), first, None]
    assert [one.submitted for one in found.submissions] == times
    assert found.others == ["README.md: not a repository"]
    assert not ran.exists()


@pytest.mark.parametrize("kind", ["zip", "tar.gz"])
@pytest.mark.parametrize("wrapping", ["", "hw3/"])
def test_checkouts_in_an_archive(lab: Lab, tmp_path: Path, kind: str, wrapping: str) -> None:
    tree = {
        f"{wrapping}hw3-{user}/{file}": content
        for user in ("ada-l", "bob")
        for file, content in ((".git/HEAD", b"ref: refs/heads/main\n"), (".git/config", b""), ("toy.cu", CODE))
    }
    found = collect(lab, laid(tmp_path, kind, tree))
    assert (found.platform, found.others) == ("github", [])
    assert outcomes(found) == {"ada-l": MINE, "bob": MINE}
    assert [one.submitted for one in found.submissions] == [None, None]


@pytest.mark.parametrize("kind", KINDS)
def test_several_may_read_at_a_time(lab: Lab, tmp_path: Path, kind: str) -> None:
    bodies = {f"s{number:03d}": CODE + b"// %d\n" % number * 500 for number in range(200)}
    found = collect(lab, laid(tmp_path, kind, {f"{name}.cu": body for name, body in bodies.items()}))
    with ThreadPoolExecutor(8) as pool:
        read_ones = dict(pool.map(lambda one: (one.student, read(one)), found.submissions))
    assert read_ones == {name: {"toy.cu": body} for name, body in bodies.items()}


def test_a_commit_that_is_a_delta(tmp_path: Path) -> None:
    folder = checkout(tmp_path / "ada")
    message = "the same words again and again, " * 60
    for number in range(20):
        git(folder, "commit", "--allow-empty", "-m", f"{message}{number}", when=1_790_001_000 + number)
    git(folder, "repack", "-adf", "--depth=50", "--window=50")
    heads = subprocess.run(
        ["git", "cat-file", "--batch-all-objects", "--batch-check=%(objecttype) %(deltabase) %(objectname)"],
        cwd=folder, check=True, capture_output=True, text=True,
    ).stdout  # fmt: skip
    deltas = [line.split()[2] for line in heads.splitlines() if line.startswith("commit ") and "0" * 40 not in line]
    assert deltas
    seen = set()
    for name in deltas:
        (folder / ".git" / "HEAD").write_text(name + "\n", encoding="utf-8")
        seen.add(git_time.last_commit(folder))
    assert None not in seen
    assert len(seen) == len(deltas)


def test_checkouts_that_are_none(tmp_path: Path) -> None:
    folder = checkout(tmp_path / "ada")
    head = folder / ".git" / "HEAD"
    for text in ("ref: refs/heads/../../../etc/passwd", "ref: /etc/passwd", "0" * 40, "junk", "", "ref: refs/heads/no"):
        head.write_text(text, encoding="utf-8")
        assert git_time.last_commit(folder) is None
    head.unlink()
    os.mkfifo(head)
    assert git_time.last_commit(folder) is None
    assert git_time.last_commit(tmp_path) is None


def test_damaged_packs_are_survived(tmp_path: Path) -> None:
    folder = checkout(tmp_path / "ada", 5)
    git(folder, "gc", "-q")
    for suffix in ("idx", "pack"):
        (file,) = (folder / ".git" / "objects" / "pack").glob(f"*.{suffix}")
        whole = file.read_bytes()
        file.chmod(0o600)
        for at in range(0, len(whole), max(len(whole) // 200, 1)):
            damaged = bytearray(whole)
            damaged[at] ^= 0xFF
            file.write_bytes(damaged)
            git_time.last_commit(folder)
        for length in (0, 1, 7, 100, len(whole) // 2):
            file.write_bytes(whole[:length])
            git_time.last_commit(folder)
        file.write_bytes(whole)
    assert git_time.last_commit(folder) is not None


def test_the_platform_can_be_said(lab: Lab, tmp_path: Path) -> None:
    path = laid(tmp_path, "folder", {"matmul-ada/toy.cu": CODE, "matmul-bob/toy.cu": CODE})
    assert sorted(outcomes(collect(lab, path))) == ["matmul-ada", "matmul-bob"]
    assert sorted(outcomes(collect(lab, path, platform="github"))) == ["ada", "bob"]
    with pytest.raises(BadInput, match="holds no submission of Canvas"):
        collect(lab, path, platform="canvas")
    with pytest.raises(BadInput, match=r"has no submission_metadata\.yml"):
        collect(lab, path, platform="gradescope")


def test_nothing_there(lab: Lab, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(BadInput, match="holds no submission, it is empty"):
        collect(lab, tmp_path / "empty")
    with pytest.raises(BadInput, match="does not exist"):
        collect(lab, tmp_path / "nowhere")
    (tmp_path / "x.pdf").write_bytes(b"x")
    with pytest.raises(BadInput, match="holds no submissions of a class"):
        collect(lab, tmp_path / "x.pdf")
    (tmp_path / "x.zip").write_bytes(b"x")
    with pytest.raises(BadInput, match="is not a readable archive"):
        collect(lab, tmp_path / "x.zip")


def test_one_student_twice(lab: Lab, tmp_path: Path) -> None:
    path = laid(
        tmp_path, "folder",
        {"ada/toy.cu": CODE, "ada.cu": CODE, "bob.cu": CODE, "Bob_toy.cu": CODE, "cyd.zip": b"", "cyd.tar": b""},
    )  # fmt: skip
    found = outcomes(collect(lab, path))
    assert found["ada"] == "handed in as ada/, ada.cu"
    assert "handed in as" in str(found["cyd"])
    assert len(found) == 3
    assert isinstance(next(value for key, value in found.items() if key.casefold() == "bob"), str)


@pytest.mark.parametrize("kind", ["folder", "zip", "tar"])
def test_the_same_is_taken_of_a_class_packed_or_unpacked(lab: Lab, tmp_path: Path, kind: str) -> None:
    tree = {
        "bob/one/toy.cu": CODE, "bob/two/toy.cu": CODE + b"// 2", "ada/README.md": b"x", "ada/src/toy.cu": CODE,
        "cyd/toy.cu": CODE, "cyd/src/toy.cu": b"// old\n", "Dan/toy.cu": CODE, "dan/toy.cu": CODE,
        "ada/.vscode/settings.json": b"{}",
        "eve.zip": packed(**{"README__md": b"x", ".git/HEAD": b"x", "src/toy__cu": CODE}),
    }  # fmt: skip
    found = outcomes(collect(lab, laid(tmp_path, kind, tree)))
    assert (found["ada"], found["cyd"], found["eve"]) == (MINE, MINE, MINE)
    assert found["Dan"] == "handed in as Dan/, dan/"
    assert "each of one/toy.cu, two/toy.cu could be toy.cu" in str(found["bob"])
    assert str(tmp_path) not in str(found["bob"])
    assert "is empty" not in str(found["bob"])
