"""A copy of the checkout to plant faults in: built, tested in a sandbox, and put right again."""

import functools
import hashlib
import html
import os
import re
import shutil
import subprocess
import sys
import time
import tomllib
from dataclasses import dataclass, field
from pathlib import Path

from fault import Fault

ROOT = Path(__file__).resolve().parents[2]
BUILD_SECONDS = 900
MEMORY_BYTES = 12 << 30  # a fault may allocate without end
# Long enough that a busy machine is not taken for a loop without end.
LEAST_SECONDS, SLOWER = 30.0, 6.0
_NAMESPACES = ["--pid", "--mount", "--fork", "--kill-child", "--mount-proc"]
_GIVE_UP_RIGHTS = [] if os.geteuid() == 0 else ["setpriv", "--ambient-caps", "-all", "--inh-caps", "-all", "--"]
# The copy, and the checkout whose Python runs the tests, may lie in /tmp: they stay when an empty one takes its place.
_WALL = (
    'cd "$1" && mount --bind "$2" /mnt && mount -t tmpfs none /tmp && mkdir -p "$1" "$2" && mount --bind /mnt "$2" && '
    'umount /mnt && mount -o remount,bind,ro "$2" && mount -c --bind . "$1" && mount -o remount,bind,ro / && '
    'cd "$1" && shift 2 && exec "$@"'
)
# A copy is seen where the first one lies, whose build names that folder.
_PLACE = 'mount --bind "$1" "$2" && cd "$2" && shift 2 && exec "$@"'


def escape(name: str) -> str:
    """Return a test's name as Catch2's command line takes it."""
    return re.sub(r'([\\,\[\]"*])', r"\\\1", name)


_PYTEST = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider"]


@dataclass(frozen=True)
class Part:
    """A folder whose faults the same tests must notice."""

    name: str
    folder: str
    targets: tuple[str, ...] = ()
    tests: tuple[str, ...] = ()
    later: tuple[str, ...] = ()  # slow tests, which run when all others have passed
    pytest: tuple[str, ...] = ()
    whole_targets: tuple[str, ...] = ()
    whole: tuple[str, ...] = ()  # of pytest: run when all others have passed, after these targets are built

    def commands(self) -> list[list[str]]:
        """Return what runs, relative to a tree."""
        if self.pytest:
            return [[*_PYTEST, "-m", "not labs", *names] for names in (self.pytest, self.later) if names]
        # A program alone, or with a tag of those of its tests that count.
        tests = [one.partition(" ") for one in self.tests]
        programs = [[f"build/release/bin/{name}", "--abort", "--reporter", "xml"] for name, _, _ in tests]
        slow = [name.split(": ", 1) for name in self.later]  # of which program
        names = [[escape(name) for program, name in slow if program == one] for one, _, _ in tests]
        quick = [
            [*program, *([tag] if tag else []), *(f"~{name}" for name in own)]
            for program, own, (_, _, tag) in zip(programs, names, tests, strict=True)
        ]
        return [*quick, *([*program, ",".join(own)] for program, own in zip(programs, names, strict=True) if own)]

    def last_commands(self) -> list[list[str]]:
        """Return what runs last, when `whole_targets` are built."""
        return [[*_PYTEST, *self.whole]] if self.whole else []

    def sources(self, root: Path) -> list[Path]:
        """Return its files, by name."""
        kinds = {".py"} if self.pytest else {".cpp", ".hpp"}
        return sorted(path for path in (root / self.folder).rglob("*") if path.suffix in kinds)


@functools.cache
def find_wall() -> list[str]:
    """Return how to start a program in namespaces of its own; raises RuntimeError where there are none.

    Without it, a fault in the sandbox or the judge could end any process of this user, and delete any file.
    """
    for user in ([], ["--user", "--map-current-user", "--keep-caps"], ["--user", "--map-root-user"]):
        wall = ["unshare", *user, *_NAMESPACES]
        if subprocess.run([*wall, "true"], capture_output=True, check=False).returncode == 0:
            return wall
    raise RuntimeError(
        "faults are planted only where unshare(1) can make namespaces: allow user namespaces, or be root"
    )


def read_parts() -> list[Part]:
    """Return the parts of parts.toml."""
    document = tomllib.loads((Path(__file__).parent / "parts.toml").read_text(encoding="utf-8"))
    whole = {"whole": tuple(document["whole"]["pytest"]), "whole_targets": tuple(document["whole"]["targets"])}
    return [
        Part(
            row["folder"].removeprefix("grader/").removeprefix("warpgrade/"),
            row["folder"],
            targets=tuple(test.partition(" ")[0] for test in row.get("tests", ())),
            **{key: tuple(row.get(key, ())) for key in ("tests", "later", "pytest")},
            **(whole if "tests" in row else {}),
        )
        for row in document["part"]
    ]


@dataclass(frozen=True)
class Outcome:
    """killed, survived, equivalent, or does not compile; `by` is the test that noticed."""

    status: str
    by: str = ""
    seconds: float = 0.0


@dataclass
class Tree:
    """One copy. `under` comes in front of each command, such as `nice`."""

    home: Path
    under: list[str] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)  # of each command without a fault
    programs: dict[str, bytes] = field(default_factory=dict)  # digests of what is built without a fault
    place: Path | None = None  # where its commands see it, if not at home

    @property
    def seen(self) -> Path:
        """Where its commands see it."""
        return self.place or self.home

    def copy(self, home: Path) -> "Tree":
        """Copy this tree with all that is built in it; commands of the copy see it in this one's place."""
        shutil.rmtree(home, ignore_errors=True)
        subprocess.run(["cp", "-a", "--reflink=auto", str(self.home), str(home)], check=True)
        return Tree(home, self.under, self.seconds, self.programs, self.home)

    def update(self) -> None:
        """Copy what the checkout has and this tree has not."""
        listed = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            cwd=ROOT, capture_output=True, check=True,
        ).stdout.decode()  # fmt: skip
        wanted = {name for name in listed.split("\0") if name and (ROOT / name).is_file()}
        for name in wanted:
            source, copy = ROOT / name, self.home / name
            if not copy.is_file() or copy.read_bytes() != source.read_bytes():
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(source, copy)
        # Never in build/, which the checkout does not list.
        for folder in sorted({name.partition("/")[0] for name in wanted if "/" in name}):
            for path in sorted((self.home / folder).rglob("*")):
                if path.is_file() and str(path.relative_to(self.home)) not in wanted:
                    path.unlink()

    def configure(self) -> None:
        """Prepare a build of single files, which takes the least time for each fault."""
        found = Path(".state") / "setup" / "toolchain"  # where nvcc is
        if (ROOT / found).exists():
            (self.home / found).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / found, self.home / found)
        if (self.home / "build" / "release" / "build.ninja").exists():
            return
        cache = ROOT / "build" / "release" / "CMakeCache.txt"
        known = cache.read_text(encoding="utf-8") if cache.exists() else ""
        options = [
            f"-D{option}={match[1]}"
            for option, name in (
                ("WARPGRADE_CUDA_INCLUDE", "WG_CUDA_INCLUDE_DIR:PATH"),
                ("WG_NVCC", "WG_NVCC:FILEPATH"),
            )
            if (match := re.search(rf"^{name}=(.*)$", known, re.MULTILINE)) is not None
        ]
        self._run_or_raise(
            ["cmake", "-S", ".", "-B", "build/release", "-G", "Ninja", "-DCMAKE_BUILD_TYPE=None",
             "-DCMAKE_CXX_FLAGS=-O1", "-DWARPGRADE_TESTS=ON", "-DWARPGRADE_UNITY=OFF", *options]
        )  # fmt: skip

    def build(self, targets: tuple[str, ...], jobs: int) -> bool:
        """Build; False when it does not compile."""
        if not targets:
            return True
        command = [*self.under, "ninja", "-C", "build/release", f"-j{jobs}", *targets]
        return self._call(command, BUILD_SECONDS)[0] == 0

    def prepare(self, parts: list[Part], jobs: int) -> None:
        """Build what these parts need, and measure their tests; raises RuntimeError when one fails without a fault."""
        targets = tuple(sorted({target for part in parts for target in (*part.targets, *part.whole_targets)}))
        if targets:
            self.configure()
            self._run_or_raise([*self.under, "ninja", "-C", "build/release", f"-j{jobs}", *targets])
            self.programs = self._digest_programs()
        for part in parts:
            for command in [*part.commands(), *part.last_commands()]:
                name = " ".join(command)
                if name in self.seconds:
                    continue
                started = time.monotonic()
                status, output = self.test(command, BUILD_SECONDS)
                if status != 0 and not self._passes_again(command, output, BUILD_SECONDS):
                    raise RuntimeError(f"{name} fails without any fault:\n{output[-4000:]}")
                self.seconds[name] = time.monotonic() - started
                print(f"{self.seconds[name]:7.1f} s  {name}", flush=True)

    def _digest_programs(self) -> dict[str, bytes]:
        programs = (self.home / "build" / "release" / "bin").glob("*")
        return {path.name: hashlib.sha256(path.read_bytes()).digest() for path in programs}

    def _is_same_program(self, part: Part, jobs: int) -> bool:
        """Whether the compiler makes the same of it: code for another processor, or a value that nothing reads."""
        for targets in part.targets, part.whole_targets:
            if not targets or not self.build(targets, jobs) or self._digest_programs() != self.programs:
                return False
        return True

    def judge(self, fault: Fault, part: Part, jobs: int) -> Outcome:
        """Plant the fault, build, test, and take it out again."""
        path = self.home / fault.path
        source = path.read_bytes()
        started = time.monotonic()
        try:
            path.write_bytes(fault.plant(source))
            return self._judge(part, jobs, started)
        finally:
            path.write_bytes(source)

    def _judge(self, part: Part, jobs: int, started: float) -> Outcome:
        for targets, commands in (part.targets, part.commands()), (part.whole_targets, part.last_commands()):
            if not self.build(targets, jobs):
                return Outcome("does not compile", "", time.monotonic() - started)
            if targets == part.targets and self._is_same_program(part, jobs):
                return Outcome("equivalent", "the compiler makes the same program", time.monotonic() - started)
            noticed = self._notice(commands, started)
            if noticed is not None:
                return noticed
        return Outcome("survived", "", time.monotonic() - started)

    def _notice(self, commands: list[list[str]], started: float) -> Outcome | None:
        """Return which test noticed, if one did."""
        for command in commands:
            limit = max(LEAST_SECONDS, SLOWER * self.seconds[" ".join(command)])
            status, output = self.test(command, limit)
            if status == 1 and command[0] == sys.executable and not _failed_test(command, output):
                raise RuntimeError(f"pytest could not run:\n{output[-2000:]}")  # which is not what a fault does
            if status != 0 and not self._passes_again(command, output, limit):
                ended = "runs without end: " if status is None else ""
                return Outcome("killed", ended + _failed_test(command, output), time.monotonic() - started)
        return None

    def _passes_again(self, command: list[str], output: str, limit: float) -> bool:
        """Whether it was the machine, not the fault."""
        name = _failed_test(command, output)
        if not name or command[0] == sys.executable:
            return False
        return self.test([command[0], "--abort", escape(name)], limit)[0] == 0 and self.test(command, limit)[0] == 0

    def test(self, command: list[str], limit: float) -> tuple[int | None, str]:
        """Run a test where it sees no other process and can write to this tree alone: faults may kill and delete."""
        wall = [*find_wall(), "sh", "-c", _WALL, "sh", str(self.seen), str(ROOT)]
        bounded = ["prlimit", f"--as={MEMORY_BYTES}", "--core=0:", "--", *command]
        return self._call([*self.under, *wall, *_GIVE_UP_RIGHTS, *bounded], limit)

    def _run_or_raise(self, command: list[str]) -> None:
        status, output = self._call(command, 4 * BUILD_SECONDS)
        if status != 0:
            raise RuntimeError(f"{' '.join(command)} fails without any fault:\n{output[-4000:]}")

    def _call(self, command: list[str], limit: float) -> tuple[int | None, str]:
        """Return the exit status, None when it took too long, and the output."""
        if self.place is not None:
            command = [*find_wall(), "sh", "-c", _PLACE, "sh", str(self.home), str(self.seen), *command]
        environment = {
            **os.environ, "PYTHONPATH": str(self.seen / "grader"), "PYTHONDONTWRITEBYTECODE": "1",
            "CMAKE_CXX_COMPILER_LAUNCHER": "ccache" if shutil.which("ccache") else "",
            "CCACHE_SLOPPINESS": "pch_defines,time_macros,include_file_mtime,include_file_ctime",
            "CCACHE_DEPEND": "true",
        }  # fmt: skip
        process = subprocess.Popen(
            command, cwd=self.home, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )  # fmt: skip
        try:
            output, _ = process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            process.kill()
            output, _ = process.communicate()
            return None, output.decode(errors="replace")
        return process.returncode, output.decode(errors="replace")


def _failed_test(command: list[str], output: str) -> str:
    """Return the name of the test that failed first, or ran when the program ended."""
    if command[0] == sys.executable:
        failed = re.search(r"^(?:FAILED|ERROR) (\S+)", output, re.MULTILINE)
        return failed[1] if failed else ""
    names: list[str] = re.findall(r'<TestCase name="([^"]*)"', output)
    return html.unescape(names[-1]) if names else ""
