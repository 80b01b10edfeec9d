"""The sandbox as the grader uses it: a program of the C++ build that wraps a command."""

import os
import re
import shutil
import subprocess
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from warpgrade.machine import facts
from warpgrade.machine.errors import GraderError
from warpgrade.machine.text import bounded, clean

OUT_OF_TIME = 124
COULD_NOT_START = 125
CPU_LIMIT = 128 + 24
FILE_SIZE_LIMIT = 128 + 25
KILLED = 128 + 9
# The whole environment of a compiler; /tmp is a file system of the sandbox's own.
TOOLS_ENVIRONMENT = {
    "PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/tmp", "TMPDIR": "/tmp", "LC_ALL": "C.UTF-8",  # noqa: S108
}  # fmt: skip
# How much a sandbox keeps apart: docs/security.md. "plain" is for where namespaces are not to be had.
Kind = Literal["namespaces", "plain", "none"]
_CHOICE = "WARPGRADE_SANDBOX"  # in the environment: which one to use (grader/sandbox/main.cpp)
_PROBE_SECONDS = 30
_PATIENCE_SECONDS = 20  # beyond the limit that the sandbox itself keeps
_CHUNK_BYTES = 1 << 16


@dataclass(frozen=True)
class Limits:
    """What one command may use; wall-clock and CPU time in seconds."""

    seconds: float
    cpu_seconds: int
    memory_mib: int
    file_size_mib: int
    processes: int
    tmp_mib: int


@dataclass(frozen=True)
class Run:
    """One command: what it sees of the host, read-only and writable, as {path in the sandbox: path of the host}.

    `files` are single files, which no other user of the host needs to be able to read.
    """

    command: Sequence[str]
    limits: Limits
    directory: str
    read_only: Mapping[str, Path] = field(default_factory=dict)
    writable: Mapping[str, Path] = field(default_factory=dict)
    files: Mapping[str, Path] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Done:
    """How a command ended, the first of what it said, and the processor time that it and all in it took."""

    status: int
    words: bytes
    cpu_seconds: float = 0.0


@dataclass(frozen=True)
class Sandbox:
    """The sandbox program; not confined means limits only (`--no-sandbox`), plain means without namespaces."""

    program: Path
    confined: bool = True
    plain: bool = False

    @property
    def kind(self) -> Kind:
        """What keeps a command apart."""
        return "none" if not self.confined else "plain" if self.plain else "namespaces"

    @property
    def has_own_paths(self) -> bool:
        """Whether a command sees files where `Run` puts them; else it sees the host's paths."""
        return self.confined and not self.plain

    def probe(self) -> str:
        """Return nothing when a sandbox works here, else why it does not and what to do."""
        return self._ask()[1]

    def strongest(self) -> "Sandbox":
        """Return the strongest sandbox that works; refuse to go on without one: nothing falls back below it."""
        if not self.confined:
            return self
        helper = shutil.which("bwrap")
        words = facts.cached_answer(
            ("sandbox", os.getuid(), helper, os.environ.get(_CHOICE)),
            [self.program, *([Path(helper)] if helper else [])],
            self._require,
        )
        return replace(self, plain=re.match(r"the sandbox works \(plain\)", words) is not None)

    def _require(self) -> str:
        words, reason = self._ask()
        if reason:
            raise GraderError(
                "the sandbox does not work on this machine, and students' code does not run without it",
                hint="`warpgrade doctor` says more; use --no-sandbox for your own code only",
                detail=bounded(reason, lines=8),
            )
        return words

    def _ask(self) -> tuple[str, str]:
        """Return what the program says of the sandbox that works, or nothing and why none does."""
        try:
            done = subprocess.run(
                [str(self.program), "--probe"], capture_output=True, timeout=_PROBE_SECONDS, check=False,
                stdin=subprocess.DEVNULL,
            )  # fmt: skip
        except FileNotFoundError:
            return "", f"{self.program.name} is not built"
        except subprocess.TimeoutExpired:
            return "", f"the probe did not finish within {_PROBE_SECONDS} s"
        if done.returncode == 0:
            return clean(done.stdout), ""
        return "", clean(done.stderr or done.stdout).strip() or f"the probe ended with status {done.returncode}"

    def command_line(self, profile: str, run: Run) -> list[str]:
        """Return the command line that runs `run` in the sandbox."""
        limits = run.limits
        line = [str(self.program), "--profile", profile]
        if not self.confined:
            line.append("--unconfined")
        else:
            if self.plain:
                line += ["--sandbox", "plain"]
            for option, places in (("--ro-bind", run.read_only), ("--bind", run.writable), ("--file", run.files)):
                for inside, host in places.items():
                    line += [option, str(host), inside]
        for key, value in run.environment.items():
            line += ["--setenv", key, value]
        line += ["--chdir", run.directory, "--seconds", f"{limits.seconds:g}"]
        line += ["--cpu-seconds", str(limits.cpu_seconds), "--memory-mib", str(limits.memory_mib)]
        line += ["--file-size-mib", str(limits.file_size_mib), "--processes", str(limits.processes)]
        line += ["--tmp-mib", str(limits.tmp_mib), "--", *run.command]
        return line

    def execute(self, profile: str, run: Run, most_bytes: int = 1 << 20, *, errors: bool = True) -> Done:
        """Run it to its end; what it says (on stderr too, if `errors`) beyond `most_bytes` is read and dropped."""
        try:
            process = subprocess.Popen(
                self.command_line(profile, run), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT if errors else subprocess.DEVNULL,
            )  # fmt: skip
        except OSError as error:
            return Done(COULD_NOT_START, f"{self.program.name}: {error.strerror}".encode())
        out_of_patience = threading.Event()

        def end() -> None:
            out_of_patience.set()
            process.kill()

        watch = threading.Timer(run.limits.seconds + _PATIENCE_SECONDS, end)
        watch.start()
        kept = bytearray()
        try:
            with process:
                while process.stdout is not None and (chunk := process.stdout.read1(_CHUNK_BYTES)):  # type: ignore[attr-defined]
                    kept += chunk[: most_bytes - len(kept)]
                cpu_seconds = _wait(process)
        except BaseException:
            process.kill()
            raise
        finally:
            watch.cancel()
        status = OUT_OF_TIME if out_of_patience.is_set() else process.returncode
        return Done(status, bytes(kept), cpu_seconds)


def _wait(process: subprocess.Popen[bytes]) -> float:
    """Wait for its end, and return the processor time that it took with all that it waited for itself."""
    try:
        _, status, used = os.wait4(process.pid, 0)
    except ChildProcessError:  # somebody else has waited for it
        process.wait()
        return 0.0
    process.returncode = os.waitstatus_to_exitcode(status)
    return used.ru_utime + used.ru_stime
