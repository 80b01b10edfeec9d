"""`submit`: hands in a lab where the course collects work with git."""

import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from warpgrade.cli.grading import lab_of_folder
from warpgrade.intake import receive
from warpgrade.intake.intake import STRICT
from warpgrade.machine import paths
from warpgrade.machine.errors import EXIT_DONE, BadInput
from warpgrade.machine.text import bounded, clean, listing, printable_name
from warpgrade.report.stream import say

_LOGIN = re.compile(r"(?<=://)[^/@]*@")  # may hold a password


@click.command("submit", epilog="Exit status: 0 handed in, 2 not handed in.")
@click.argument("lab_name", metavar="[LAB]", required=False)
@click.option("-m", "--message", default="", help="What the commit says; the lab's name otherwise.")
def submit_command(lab_name: str | None, message: str) -> int:
    """Hand in the lab in the folder you are in: commit its files and push them.

    For courses that collect work with git. Only the lab's files are committed; `check` them first.
    """
    folder = Path.cwd()
    lab = lab_of_folder(paths.find_layout(), folder, lab_name)
    taken = receive.read(lab, folder, how=STRICT)
    files = sorted([*taken.files, *([lab.answers] if taken.answers else [])])
    repository = _Repository(folder)
    target = repository.find_target()
    others = repository.commit(files, message or f"Submit {lab.name}")
    repository.push(target)
    say(f"handed in: {listing(files)} as commit {repository.head()} on branch {target.branch} of {target.shown_url}")
    if others:
        say(f"not handed in, as {lab.name} does not take them: {listing(others)}; they have changed too")
    return EXIT_DONE


@dataclass(frozen=True)
class _Target:
    """Where work goes: the remote, its branch, and its address."""

    remote: str
    branch: str
    url: str

    @property
    def shown_url(self) -> str:
        return printable_name(_LOGIN.sub("", self.url), 200)


@dataclass(frozen=True)
class _Repository:
    """The git repository around a folder."""

    folder: Path

    def find_target(self) -> _Target:
        """Return where the branch is pushed to; raises BadInput if nothing can be handed in from here."""
        if shutil.which("git") is None:
            raise BadInput("git is not installed", hint="install it, or hand in as your course says")
        if self._ask("rev-parse", "--is-inside-work-tree") != "true":
            raise BadInput(
                "this folder is in no git repository",
                hint="work in the clone of the repository that your course gave you, or hand in as your course says",
            )
        branch = self._ask("symbolic-ref", "--short", "HEAD")
        if not branch:
            raise BadInput("no branch is checked out", hint="git switch main")
        if self._ask("ls-files", "--unmerged") or self._is_under_way():
            raise BadInput(
                "a merge or rebase is not finished", hint="resolve it, or git merge --abort (git rebase --abort)"
            )
        remotes = (self._ask("remote") or "").split()
        remote = self._ask("config", f"branch.{branch}.remote") or (remotes[0] if len(remotes) == 1 else "origin")
        if remote not in remotes:
            raise BadInput(
                "the repository has no remote to push to"
                if not remotes
                else f"which of {listing(remotes)} to push to?",
                hint="git remote add origin URL, with the address that your course gave you"
                if not remotes
                else f"git branch --set-upstream-to={remotes[0]}/{branch}",
            )
        merge = self._ask("config", f"branch.{branch}.merge")
        upstream = merge.removeprefix("refs/heads/") if merge else branch
        return _Target(remote, upstream, self._ask("remote", "get-url", "--push", remote) or remote)

    def commit(self, files: Sequence[str], message: str) -> list[str]:
        """Commit these files if they have changed; return what else has changed."""
        self._do("these files cannot be added", "look at .gitignore", "add", "--", *files)
        changed = (self._ask("status", "--porcelain", "-z", "--no-renames", "--untracked-files=no") or "").split("\0")
        names = [self._from_here(line[3:]) for line in changed if len(line) > 3]
        if any(name in files for name in names):
            self._do("git could not commit", "do what it says above, then submit again",
                     "commit", "--quiet", "-m", message, "--", *files)  # fmt: skip
        return [name for name in names if name not in files]

    def push(self, target: _Target) -> None:
        """Push the branch; raises BadInput if that fails, with what git said."""
        done = self._run("push", "--quiet", "--set-upstream", target.remote, f"HEAD:refs/heads/{target.branch}")
        if done.returncode == 0:
            return
        behind = "rejected" in done.stderr and ("fetch first" in done.stderr or "non-fast-forward" in done.stderr)
        raise BadInput(
            f"not handed in: git could not push to {target.shown_url}", detail=_said(done),
            hint="git pull, look at what came, then submit again" if behind
            else "your work is committed; when git can push, submit again",
        )  # fmt: skip

    def head(self) -> str:
        return self._ask("rev-parse", "--short", "HEAD") or ""

    def _is_under_way(self) -> bool:
        names = ("MERGE_HEAD", "rebase-merge", "rebase-apply", "CHERRY_PICK_HEAD")
        found = (self._ask("rev-parse", "--git-path", name) for name in names)
        return any(place and (self.folder / place).exists() for place in found)

    def _from_here(self, name: str) -> str:
        """Return a name that is from the top of the repository as it is from this folder."""
        top = self._ask("rev-parse", "--show-cdup") or "."
        return os.path.relpath(self.folder / top / name, self.folder)

    def _do(self, what: str, hint: str, *words: str) -> None:
        done = self._run(*words)
        if done.returncode != 0:
            raise BadInput(f"not handed in: {what}", detail=_said(done), hint=hint)

    def _ask(self, *words: str) -> str | None:
        done = self._run(*words)
        return done.stdout.strip("\n") if done.returncode == 0 else None

    def _run(self, *words: str) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "LC_ALL": "C"}  # so that its words can be recognised
        return subprocess.run(
            ["git", *words], cwd=self.folder, env=environment, capture_output=True, text=True, errors="replace",
            check=False,
        )  # fmt: skip


def _said(done: subprocess.CompletedProcess[str]) -> str:
    return bounded(_LOGIN.sub("", clean(done.stderr or done.stdout)).strip(), lines=12, width=200)
