"""`submit`: what is committed and pushed, and what is told where that is not possible."""

import subprocess
from pathlib import Path

import pytest
from stand_ins import run

from warpgrade.machine.paths import Layout

CODE = "void toy(float*, int) {}\n"


@pytest.fixture(autouse=True)
def identity(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name, value in {
        "GIT_CONFIG_GLOBAL": str(tmp_path / "gitconfig"), "GIT_CONFIG_NOSYSTEM": "1", "GIT_CEILING_DIRECTORIES": "/tmp",
        "GIT_AUTHOR_NAME": "Ada", "GIT_AUTHOR_EMAIL": "a@x", "GIT_COMMITTER_NAME": "Ada", "GIT_COMMITTER_EMAIL": "a@x",
    }.items():  # fmt: skip
        monkeypatch.setenv(name, value)
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"):
        monkeypatch.delenv(name, raising=False)


def git(folder: Path, *words: str) -> str:
    return subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True, text=True).stdout


@pytest.fixture
def clone(in_project: Layout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A student's clone, whose lab is in a folder of it, and which the student is in."""
    git(tmp_path, "init", "--quiet", "--bare", "--initial-branch=main", "course.git")
    git(tmp_path, "clone", "--quiet", "course.git", "clone")
    top = tmp_path / "clone"
    git(top, "switch", "--quiet", "-c", "main")
    folder = top / "labs" / "toy"
    folder.mkdir(parents=True)
    (folder / "toy.cu").write_text(CODE, encoding="utf-8")
    (top / "notes.txt").write_text("mine\n", encoding="utf-8")
    git(top, "add", ".")
    git(top, "commit", "--quiet", "-m", "Begin")
    git(top, "push", "--quiet", "-u", "origin", "main")
    monkeypatch.chdir(folder)
    return folder


def handed_in(clone: Path, name: str = "labs/toy/toy.cu") -> str:
    return git(clone.parents[2] / "course.git", "show", f"main:{name}")


def test_the_labs_files_are_committed_and_pushed_and_nothing_else(
    clone: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (clone / "toy.cu").write_text(CODE + "// better\n", encoding="utf-8")
    (clone.parents[1] / "notes.txt").write_text("not for the teacher\n", encoding="utf-8")
    git(clone, "add", "../../notes.txt")
    status, out, err = run(capsys, "submit")
    assert (status, err) == (0, "")
    commit = git(clone, "rev-parse", "--short", "HEAD").strip()
    assert f"handed in: toy.cu as commit {commit} on branch main of " in out
    assert "not handed in, as toy does not take them: ../../notes.txt; they have changed too" in out
    assert handed_in(clone) == CODE + "// better\n"
    assert handed_in(clone, "notes.txt") == "mine\n"
    assert git(clone, "log", "-1", "--format=%s").strip() == "Submit toy"
    assert git(clone, "diff", "--cached", "--name-only").split() == ["notes.txt"]


def test_what_has_not_changed_is_pushed_without_a_commit(clone: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = git(clone, "rev-parse", "HEAD")
    assert run(capsys, "submit", "toy")[0] == 0
    assert git(clone, "rev-parse", "HEAD") == before
    (clone / "toy.cu").write_text(CODE + "// by hand\n", encoding="utf-8")
    git(clone, "commit", "--quiet", "-am", "Mine")
    assert run(capsys, "submit", "toy")[0] == 0
    assert handed_in(clone) == CODE + "// by hand\n"
    assert git(clone, "log", "-1", "--format=%s").strip() == "Mine"


def test_a_file_that_git_does_not_know_yet_and_a_message(clone: Path, capsys: pytest.CaptureFixture[str]) -> None:
    git(clone, "rm", "--quiet", "--cached", "toy.cu")
    git(clone, "commit", "--quiet", "-m", "Gone")
    assert run(capsys, "submit", "-m", "second try")[0] == 0
    assert handed_in(clone) == CODE
    assert git(clone, "log", "-1", "--format=%s").strip() == "second try"


def test_a_branch_of_its_own_and_a_remote_that_is_called_otherwise(
    clone: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    git(clone, "remote", "rename", "origin", "school")
    git(clone, "switch", "--quiet", "-c", "tuesday")
    status, out, _ = run(capsys, "submit")
    assert (status, "on branch tuesday of " in out) == (0, True)
    assert git(clone, "rev-parse", "school/tuesday") == git(clone, "rev-parse", "HEAD")


def test_a_password_in_the_address_is_not_shown(clone: Path, capsys: pytest.CaptureFixture[str]) -> None:
    git(clone, "remote", "set-url", "origin", "https://ada:s3cret@127.0.0.1:9/x.git")
    status, out, err = run(capsys, "submit")
    assert status == 2
    assert "s3cret" not in out + err
    assert "not handed in: git could not push to https://127.0.0.1:9/x.git" in err
    assert "your work is committed; when git can push, submit again" in err


def test_what_git_says_is_passed_on(clone: Path, capsys: pytest.CaptureFixture[str]) -> None:
    hook = clone.parents[1] / ".git" / "hooks" / "pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\necho 'format it first' >&2\nexit 1\n", encoding="utf-8")
    hook.chmod(0o755)
    (clone / "toy.cu").write_text(CODE + "// better\n", encoding="utf-8")
    status, _, err = run(capsys, "submit")
    assert status == 2
    assert "not handed in: git could not commit\n    format it first\nwarpgrade: do what it says" in err
    assert handed_in(clone) == CODE


def test_without_a_repository(in_project: Layout, submission: Path, capsys: pytest.CaptureFixture[str],
                              monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    monkeypatch.chdir(submission)
    status, _, err = run(capsys, "submit", "toy")
    assert status == 2
    assert "this folder is in no git repository\nwarpgrade: work in the clone" in err
    monkeypatch.setenv("PATH", "/nowhere")
    assert "git is not installed" in run(capsys, "submit", "toy")[2]


def test_what_stands_in_the_way_is_named_with_what_to_do(clone: Path, capsys: pytest.CaptureFixture[str]) -> None:
    url = git(clone, "remote", "get-url", "origin").strip()
    git(clone, "remote", "remove", "origin")
    assert "has no remote to push to\nwarpgrade: git remote add origin URL" in run(capsys, "submit")[2]
    git(clone, "remote", "add", "a", url)
    git(clone, "remote", "add", "b", url)
    assert "which of a, b to push to?\nwarpgrade: git branch --set-upstream-to=a/main" in run(capsys, "submit")[2]
    git(clone, "remote", "remove", "b")
    git(clone, "checkout", "--quiet", "--detach")
    assert "no branch is checked out\nwarpgrade: git switch main" in run(capsys, "submit")[2]
    git(clone, "switch", "--quiet", "main")
    (clone / "toy.cu").rename(clone / "mine.txt")
    assert "toy.cu" in run(capsys, "submit", "toy")[2]


def test_what_others_have_pushed_comes_first(clone: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    git(tmp_path, "clone", "--quiet", "--branch", "main", "course.git", "partner")
    partner = tmp_path / "partner"
    (partner / "labs" / "toy" / "toy.cu").write_text(CODE + "// partner\n", encoding="utf-8")
    git(partner, "commit", "--quiet", "-am", "Partner")
    git(partner, "push", "--quiet", "origin", "main")
    (clone / "toy.cu").write_text(CODE + "// me\n", encoding="utf-8")
    status, _, err = run(capsys, "submit")
    assert status == 2
    assert "git pull, look at what came, then submit again" in err
    subprocess.run(["git", "pull", "--quiet", "--no-rebase", "--no-edit"], cwd=clone, check=False, capture_output=True)
    status, _, err = run(capsys, "submit")
    assert status == 2
    assert "a merge or rebase is not finished" in err
    assert handed_in(clone) == CODE + "// partner\n"
    git(clone, "checkout", "--quiet", "--ours", "toy.cu")
    git(clone, "add", "toy.cu")
    assert "a merge or rebase is not finished" in run(capsys, "submit")[2]
    git(clone, "commit", "--quiet", "-am", "Merged")
    assert run(capsys, "submit")[0] == 0
    assert handed_in(clone) == CODE + "// me\n"
