"""Reads hostile input in processes with limits: sources, archives, names, logs and object files can be made so that
reading them takes hours or gigabytes, and would block all other submissions.

`call` runs a function of this package in a confined process and returns what it returns. One helper
(confined_helper.py), which holds no text, makes a process for each call: it has limits on processor time and memory,
opens files for reading alone, has no network and starts no program. What comes back is data of the types that the
function declares, and no more of it than allowed. docs/security.md says what this is worth.
"""

import atexit
import contextlib
import functools
import math
import os
import socket
import subprocess
import sys
import tempfile
import threading
import typing
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, NoReturn, ParamSpec, TypeVar

import msgspec

from warpgrade.machine.errors import BadInput, GraderError, WarpgradeError
from warpgrade.machine.text import clean

P = ParamSpec("P")
R = TypeVar("R")

_CHUNK_BYTES = 1 << 16
_CPU_SIGNAL, _KILL_SIGNAL = 24, 9
_KINDS: dict[str, type[WarpgradeError]] = {"BadInput": BadInput, "GraderError": GraderError}


class OverBudget(Exception):  # noqa: N818 - a verdict on the text
    """A limit has ended the work. `str()` continues a sentence that begins with the work: "took more than …"."""


@dataclass
class Allowance:
    """The limits of all calls for one submission together, and what they have used; times are processor seconds.

    where: names the place of the time limit in messages.
    """

    seconds: float = 10
    memory_mib: int = 2048
    output_mib: int = 256
    where: str = ""
    used: float = 0.0
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False, compare=False)

    @property
    def left(self) -> float:
        """How many processor seconds are left."""
        return self.seconds - self.used

    def add(self, seconds: float) -> None:
        """Note that a call has used so many."""
        with self._lock:
            self.used += seconds

    @property
    def too_long(self) -> str:
        """What a message says of work that takes too long."""
        return f"takes more than {self.seconds:g} s of processor time" + (f" ({self.where})" if self.where else "")


class Head(msgspec.Struct):
    """What the helper is told of a call. serves: the process stays, for calls of what it has made."""

    function: str
    cpu_seconds: int
    memory_mib: int
    directory: str
    serves: bool = False


class Answer(msgspec.Struct):
    """What a function returned, encoded, or the kind and the words of what it raised."""

    value: bytes = b""
    raised: list[str] = []


class End(msgspec.Struct):
    """How a confined process ended, and the processor time that it took."""

    status: int = 0
    signal: int = 0
    seconds: float = 0.0


def call(allowance: Allowance, function: Callable[P, R], /, *arguments: P.args, **named: P.kwargs) -> R:
    """Return what a function of this package makes of its arguments, in a confined process.

    Its parameters and its result are declared with types that msgspec knows, or Path; a BadInput or GraderError that it
    raises is raised here. Raises OverBudget where a limit has ended it.
    """
    assert not named  # noqa: S101 - arguments go by their places
    raw = msgspec.msgpack.encode(arguments, enc_hook=as_text)
    answer = _start_helper().call(f"{function.__module__}:{function.__qualname__}", raw, allowance)
    return typing.cast(R, _value(answer, types_of(function)["return"]))


class Session:
    """A confined process that has read something too large to return, and answers calls about it.

    Each call runs in a fork of that process.
    """

    def __init__(self, allowance: Allowance, function: Callable[..., Any], *arguments: Any) -> None:
        """Have `function` make it: it returns what to say of it, and a function that answers calls."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._connection = _Connection(ours)
        raw = msgspec.msgpack.encode(arguments, enc_hook=as_text)
        name = f"{function.__module__}:{function.__qualname__}"
        with theirs:
            answer = _start_helper().call(name, raw, allowance, serving=theirs)
        self._kind, caller = typing.get_args(types_of(function)["return"])
        self._types = typing.get_args(caller)
        self.made: Any = _value(answer, self._kind)

    def call(self, allowance: Allowance, *arguments: Any) -> Any:
        """Return what it answers."""
        raw = msgspec.msgpack.encode(arguments, enc_hook=as_text)
        return _value(self._connection.call("", raw, allowance), self._types[1])


def types_of(function: Callable[..., Any]) -> dict[str, Any]:
    """Return the types that a function declares."""
    return _types_of(function)


@functools.cache
def _types_of(function: Callable[..., Any]) -> dict[str, Any]:
    return typing.get_type_hints(function)


def as_text(value: Any) -> Any:
    """Return what stands for a value that msgspec does not know."""
    if isinstance(value, Path):
        return os.fsencode(value)
    raise NotImplementedError(type(value))


def from_text(kind: type, value: Any) -> Any:
    """Return the value again."""
    if kind is Path:
        return Path(os.fsdecode(value))
    raise NotImplementedError(kind)


def _value(answer: Answer, kind: Any) -> Any:
    if not answer.raised:
        try:
            return msgspec.msgpack.decode(answer.value, type=kind, dec_hook=from_text)
        except msgspec.DecodeError:
            raise OverBudget("gives nothing that can be read") from None
    name, *words = answer.raised
    if name in _KINDS:
        raise _KINDS[name](*words[:4])
    raise GraderError(f"unexpected {name} while a submission was read", detail=clean("\n".join(words)))


# --- the helper, as the grader sees it -------------------------------------------------------------------------------


class _Connection:
    """To the helper, or to a process that serves. Many threads may call at a time."""

    def __init__(self, control: socket.socket) -> None:
        self._control = control

    def call(
        self, function: str, raw: bytes, allowance: Allowance, serving: socket.socket | None = None
    ) -> Answer:  # fmt: skip
        if allowance.left <= 0:
            raise OverBudget(allowance.too_long)
        seconds = max(1, math.ceil(allowance.left))
        head = Head(function, seconds, allowance.memory_mib, _directory(), serving is not None)
        try:
            reply, end = self._exchange(head, raw, allowance.output_mib << 20, serving)
        except OSError as error:
            raise GraderError(f"the process that reads submissions cannot be reached: {error.strerror}") from None
        if end is not None:
            allowance.add(end.seconds)
        if len(reply) > allowance.output_mib << 20:
            raise OverBudget(f"gives more than {allowance.output_mib} MiB")
        if end is not None and (end.signal or end.status):
            _explain(end, allowance)
        try:
            answer = msgspec.msgpack.decode(reply, type=Answer)
        except msgspec.DecodeError:
            raise GraderError("the process that reads submissions has ended", hint="run the command again") from None
        if answer.raised[:1] == ["MemoryError"]:
            raise OverBudget(f"needs more than {allowance.memory_mib:,} MiB of memory")
        if answer.raised[:1] == ["RecursionError"]:
            raise OverBudget("goes too deep")
        return answer

    def _exchange(
        self, head: Head, raw: bytes, most: int, serving: socket.socket | None
    ) -> tuple[bytes, End | None]:  # fmt: skip
        data, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        read_end, write_end = os.pipe()
        with data, os.fdopen(read_end, "rb") as ending:
            with theirs, os.fdopen(write_end, "wb"):
                descriptors = [theirs.fileno(), write_end, *([serving.fileno()] if serving else [])]
                socket.send_fds(self._control, [msgspec.json.encode(head)], descriptors)
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                data.sendall(raw)
                data.shutdown(socket.SHUT_WR)
            reply = _read(data, most)
            data.close()  # a process that has more to say ends here
            if serving is not None and reply:
                return reply, None  # it goes on
            words = ending.read()
        return reply, msgspec.json.decode(words, type=End) if words else None


def _directory() -> str:
    try:
        return str(Path.cwd())
    except OSError:  # it has gone
        return "/"


def _read(data: socket.socket, most: int) -> bytes:
    parts, size = [], 0
    with contextlib.suppress(ConnectionResetError):
        while size <= most and (part := data.recv(_CHUNK_BYTES)):
            parts.append(part)
            size += len(part)
    return b"".join(parts)


def _explain(end: End, allowance: Allowance) -> NoReturn:
    if end.signal == _CPU_SIGNAL:
        allowance.add(max(allowance.left, 0))  # the kernel counts in ticks
        raise OverBudget(allowance.too_long)
    if end.signal == _KILL_SIGNAL:
        raise GraderError("the system has killed the process that reads submissions", hint="is there memory left?")
    raise OverBudget(f"ends early, by signal {end.signal}" if end.signal else f"ends early, with status {end.status}")


class _Helper(_Connection):
    """The process that makes one for each call."""

    def __init__(self) -> None:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        path = os.pathsep.join(each for each in sys.path if each)
        environment = {"PYTHONPATH": path, "LC_ALL": "C.UTF-8", "TMPDIR": tempfile.gettempdir()}
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", "warpgrade.machine.confined_helper", str(theirs.fileno())],
                pass_fds=[theirs.fileno()], env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                start_new_session=True,
            )  # fmt: skip
        super().__init__(ours)
        self._owner = os.getpid()
        atexit.register(self._end)

    def _end(self) -> None:
        """Let it go, and wait for it."""
        self._control.close()
        if self._owner == os.getpid():
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(timeout=1)

    @property
    def lives(self) -> bool:
        return self._owner == os.getpid() and self._process.poll() is None


_lock = threading.Lock()
_helpers: list[_Helper] = []


def _start_helper() -> _Helper:
    with _lock:
        if not _helpers or not _helpers[-1].lives:
            _helpers[:] = [_Helper()]
        return _helpers[-1]


def begin() -> None:
    """Start the helper, where there is something else to do until it is needed."""
    _start_helper()


# --- inside of a confined process ------------------------------------------------------------------------------------

scratch: list[IO[bytes]] = []  # the one file that a process which serves may write to


def temporary_file() -> IO[bytes]:
    """Return a file without a name; a confined process opens none itself."""
    return scratch.pop() if scratch else tempfile.TemporaryFile()
