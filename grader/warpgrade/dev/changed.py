"""Which tests a change can break, by the arrows between folders (dev/layers.py)."""

import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from warpgrade.dev import layers
from warpgrade.machine.errors import BadInput

# Programs and grades whose counters are compared with recorded ones.
_PROGRAMS = "tests/grader/running/test_checks.py"
_GRADES = (
    "tests/grader/grading/test_grade.py::"
    "test_a_replay_gives_the_same_whatever_the_number_of_threads_and_the_machine"
)  # fmt: skip
_RUN_PROGRAMS = {"device", "vgpu", "server", "cudart"}
_PAGES = {"report", "cohort"}  # folders that write pages
_SUFFIXES = {".cpp", ".hpp", ".def", ".txt", ".cmake"}


@dataclass
class Affected:
    """The tests that a change can break.

    programs: names of C++ test programs. quick: files and folders of which pytest runs the quick tests. whole: files
    and tests that pytest runs completely. everything: run all quick tests.
    """

    programs: set[str] = field(default_factory=set)
    quick: set[str] = field(default_factory=set)
    whole: set[str] = field(default_factory=set)
    labs: set[str] = field(default_factory=set)
    everything: bool = False


def files_since(root: Path, revision: str) -> list[str]:
    """Return the files that differ from a revision, and those not in git yet."""

    def git(*words: str) -> list[str]:
        done = subprocess.run(["git", *words], cwd=root, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise BadInput(f"git does not know {revision}", hint="name a commit or a branch, such as main")
        return done.stdout.split("\0")[:-1]

    return git("diff", "--name-only", "-z", revision, "--") + git("ls-files", "-z", "--others", "--exclude-standard")


def affected_by(root: Path, files: Iterable[str]) -> Affected:
    """Return the tests that changes of these files, named from the root, can break."""
    order = layers.read_order(root)
    cpp = _users(layers.read_cpp(root, order.cpp).uses)
    python = _users(layers.read_python(root, order.python).uses)
    found = Affected()
    for file in files:
        path = PurePosixPath(file)
        head, folder = path.parts[0], path.parent.as_posix()
        if file.startswith("grader/warpgrade/"):
            _add_python(found, root, python, folder.removeprefix("grader/warpgrade").lstrip("/"))
        elif head == "grader" and path.suffix in _SUFFIXES:
            _add_cpp(found, cpp, folder.removeprefix("grader").lstrip("/"))
        elif file.startswith("tests/grader/") and path.name.startswith("test_"):
            tests = found.whole if file == _PROGRAMS else found.quick
            tests.add(file if (root / file).exists() else folder)
        elif folder == "tests/browser":
            found.quick.add(folder)
        elif file.startswith("tests/checks/"):
            found.whole.add(_PROGRAMS)
        elif head == "tests" and path.suffix in {".cpp", ".cu", ".ptx"} and len(path.parts) > 2:
            found.programs.add(path.parts[1])
        elif head in ("labs", "starter", "reference") and len(path.parts) > 2:
            found.labs.add(path.parts[1])
        elif path.suffix == ".md" or head == "docs":
            found.quick |= {"tests/grader/dev", "tests/grader/report"}
        else:
            found.everything = True
    return found


def _users(uses: Mapping[str, set[str]]) -> dict[str, set[str]]:
    """Return for each folder itself and the folders that use it, directly or through others."""
    users = {name: {name} for name in uses} | {name: {name} for used in uses.values() for name in used}
    for start in uses:
        seen, left = {start}, [start]
        while left:
            for used in uses.get(left.pop(), ()):
                if used not in seen:
                    seen.add(used)
                    left.append(used)
        for used in seen:
            users[used].add(start)
    return users


def _add_python(found: Affected, root: Path, users: Mapping[str, set[str]], folder: str) -> None:
    for name in users.get(folder, {folder}):
        if name in _PAGES:
            found.quick.add("tests/browser")
        if (root / "tests" / "grader" / name.split("/")[0]).is_dir():
            found.quick.add(f"tests/grader/{name.split('/')[0]}")


def _add_cpp(found: Affected, users: Mapping[str, set[str]], folder: str) -> None:
    while folder and folder not in users:
        folder = folder.rpartition("/")[0]
    tops = {name.split("/")[0] for name in users.get(folder, {folder})}
    found.programs |= tops
    if tops & _RUN_PROGRAMS:
        found.whole.add(_PROGRAMS)
    found.whole.add(_GRADES)
