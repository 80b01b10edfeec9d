"""The helper of confined.py: it waits for calls, and for each it makes a process that is confined and answers it.

This process itself reads nothing but what the grader tells it. It has one thread, so that a fork of it is whole.
"""

import contextlib
import ctypes
import functools
import gc
import importlib
import os
import resource
import select
import socket
import struct
import sys
import tempfile
import traceback
import types
import typing
from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from warpgrade.machine import confined
from warpgrade.machine.confined import Answer, End, Head, as_text, from_text, types_of
from warpgrade.machine.errors import WarpgradeError

_MAX_HEAD_BYTES = 16384
_CHUNK_BYTES = 1 << 16
_MEMORY_STATUS = 3
_MAX_TRACE_LENGTH = 4000

# System calls of x86-64 that Python needs to compute, to read files and to answer. Of some an argument must have none
# of these bits: opening for writing and making files; namespaces.
_MAY = {
    "read": 0, "write": 1, "close": 3, "stat": 4, "fstat": 5, "lstat": 6, "poll": 7, "lseek": 8, "mmap": 9,
    "mprotect": 10, "munmap": 11, "brk": 12, "rt_sigaction": 13, "rt_sigprocmask": 14, "rt_sigreturn": 15,
    "pread64": 17, "readv": 19, "access": 21, "sched_yield": 24, "mremap": 25, "madvise": 28, "dup": 32, "getpid": 39,
    "sendto": 44, "recvfrom": 45, "getsockname": 51, "getsockopt": 55, "exit": 60, "uname": 63, "fcntl": 72,
    "getcwd": 79, "readlink": 89, "gettimeofday": 96, "getuid": 102, "getgid": 104, "geteuid": 107, "getegid": 108,
    "sigaltstack": 131, "gettid": 186, "futex": 202, "getdents64": 217, "clock_gettime": 228, "exit_group": 231,
    "openat": 257, "newfstatat": 262, "readlinkat": 267, "set_robust_list": 273, "getrandom": 318, "statx": 332,
    "rseq": 334, "faccessat2": 439,
}  # fmt: skip
_MAY_SERVE = {
    "pwrite64": 18, "sendmsg": 46, "recvmsg": 47, "clone": 56, "wait4": 61, "prctl": 157, "setrlimit": 160,
    "prlimit64": 302, "pidfd_open": 434,
}  # fmt: skip
_FORBIDDEN_BITS = {
    _MAY["openat"]: (
        2,
        os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND | (os.O_TMPFILE & ~os.O_DIRECTORY),
    ),
    _MAY_SERVE["clone"]: (0, 0x7E020000 | 0x80),  # CLONE_NEW…
}
_X86_64, _ENOSYS, _X32 = 0xC000003E, 38, 0x40000000
_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _KILL, _ERROR = 0x7FFF0000, 0x80000000, 0x00050000
_NO_NEW_PRIVILEGES, _SECCOMP, _FILTER_MODE = 38, 22, 2


def _program(calls: Sequence[int]) -> bytes:
    """Return the filter, in the form of the kernel: code, where to go on if true and if false, operand."""
    steps = [(_LOAD, 0, 0, 4), (_EQUAL, 1, 0, _X86_64), (_RETURN, 0, 0, _KILL), (_LOAD, 0, 0, 0),
             (_AT_LEAST, 0, 1, _X32), (_RETURN, 0, 0, _KILL)]  # fmt: skip
    for number in calls:
        if number in _FORBIDDEN_BITS:
            argument, bits = _FORBIDDEN_BITS[number]
            steps += [(_EQUAL, 0, 4, number), (_LOAD, 0, 0, 16 + 8 * argument), (_ANY_BIT, 1, 0, bits),
                      (_RETURN, 0, 0, _ALLOW), (_RETURN, 0, 0, _ERROR | _ENOSYS)]  # fmt: skip
        else:
            steps += [(_EQUAL, 0, 1, number), (_RETURN, 0, 0, _ALLOW)]
    steps.append((_RETURN, 0, 0, _ERROR | _ENOSYS))
    return b"".join(struct.pack("HBBI", *step) for step in steps)


def _confine(head: Head) -> None:
    """Set the limits of this process, for good unless it serves."""
    no_more = resource.RLIM_INFINITY if head.serves else head.cpu_seconds + 1
    resource.setrlimit(resource.RLIMIT_CPU, (head.cpu_seconds, no_more))
    memory = head.memory_mib << 20
    resource.setrlimit(resource.RLIMIT_AS, (memory, resource.RLIM_INFINITY if head.serves else memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if not head.serves:
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    if os.uname().machine != "x86_64":
        return
    prctl, wanted, _ = _filter_of(head.serves)
    prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    prctl(_SECCOMP, _FILTER_MODE, wanted, 0, 0)  # where there is none, limits and read-only use remain


@functools.cache
def _filter_of(serves: bool) -> tuple[Callable[..., int], bytes, object]:
    """Return prctl(), what it is to be told, and the memory to which that points."""
    program = ctypes.create_string_buffer(_program([*_MAY.values(), *(_MAY_SERVE.values() if serves else ())]))
    wanted = struct.pack("HxxxxxxP", (len(program) - 1) // 8, ctypes.addressof(program))
    return ctypes.CDLL(None, use_errno=True).prctl, wanted, program


def _lift_limits() -> None:
    """Lift the limits of a process that serves: its calls have their own."""
    for limit in (resource.RLIMIT_CPU, resource.RLIMIT_AS):
        resource.setrlimit(limit, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))


# --- one call --------------------------------------------------------------------------------------------------------

Function = Callable[..., Any]


def _answer(head: Head, function: Function, data: socket.socket) -> Function | None:
    """Compute and answer; return what answers further calls, if the process serves."""
    more: Function | None = None
    try:
        declared = types_of(function)
        kinds = tuple(kind for name, kind in declared.items() if name != "return")
        wanted = types.GenericAlias(tuple, kinds)
        arguments = msgspec.msgpack.decode(_receive(data), type=wanted, dec_hook=from_text)
        made = function(*arguments)
        if head.serves:
            made, more = made
        reply = Answer(msgspec.msgpack.encode(made, enc_hook=as_text))
    except WarpgradeError as error:
        reply = Answer(raised=[type(error).__name__, error.message, error.hint, error.detail, error.review])
    except MemoryError:
        reply = Answer(raised=["MemoryError"])
    except RecursionError:
        reply = Answer(raised=["RecursionError"])
    except Exception as error:
        reply = Answer(raised=[type(error).__name__, "".join(traceback.format_exception(error))[-_MAX_TRACE_LENGTH:]])
    data.sendall(msgspec.msgpack.encode(reply))
    return more


def _receive(data: socket.socket) -> bytes:
    parts = []
    while part := data.recv(_CHUNK_BYTES):
        parts.append(part)
    return b"".join(parts)


# --- the loop --------------------------------------------------------------------------------------------------------


def serve(control: socket.socket, function_of: Callable[[str], Function]) -> None:
    """Answer calls until nobody can make any."""
    ends: dict[int, tuple[int, int]] = {}  # by a process's descriptor: its number, and where its end is written
    waiting = select.poll()
    waiting.register(control, select.POLLIN)
    while True:
        for descriptor, _ in waiting.poll():
            if descriptor in ends:
                waiting.unregister(descriptor)
                _report_end(descriptor, *ends.pop(descriptor))
                continue
            words, descriptors, _, _ = socket.recv_fds(control, _MAX_HEAD_BYTES, 3)
            if not words:
                return
            head = msgspec.json.decode(words, type=Head)
            function = function_of(head.function)
            number = os.fork()
            if number == 0:
                _run(
                    head,
                    function,
                    descriptors,
                    [control.fileno(), *(each for pair in ends.items() for each in (pair[0], pair[1][1]))],
                )
            handle = os.pidfd_open(number)
            for each in (descriptors[0], *descriptors[2:]):
                os.close(each)
            ends[handle] = (number, descriptors[1])
            waiting.register(handle, select.POLLIN)


def _run(head: Head, function: Function, descriptors: list[int], foreign: list[int]) -> typing.NoReturn:
    status = 1
    try:
        for each in foreign:
            os.close(each)
        with contextlib.suppress(OSError):  # which may have gone since
            os.chdir(head.directory)
        if head.serves:
            confined.scratch[:] = [tempfile.TemporaryFile()]  # noqa: SIM115 - it lasts as long as the process
        else:
            os.close(descriptors[1])
        _confine(head)
        with socket.socket(fileno=descriptors[0]) as data:
            more = _answer(head, function, data)
        if more is not None:
            os.close(descriptors[1])
            _lift_limits()
            serve(socket.socket(fileno=descriptors[2]), lambda name: more)
        status = 0
    except MemoryError:
        status = _MEMORY_STATUS
    finally:
        os._exit(status)


def _report_end(handle: int, number: int, ending: int) -> None:
    os.close(handle)
    _, status, used = os.wait4(number, 0)
    end = End(
        os.WEXITSTATUS(status) if os.WIFEXITED(status) else 0, os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0,
        used.ru_utime + used.ru_stime,
    )  # fmt: skip
    with contextlib.suppress(BrokenPipeError), os.fdopen(ending, "wb") as file:
        file.write(msgspec.json.encode(end))


@functools.cache
def _find_function(name: str) -> Function:
    module, _, function = name.partition(":")
    found: Function = getattr(importlib.import_module(module), function)
    types_of(found)
    for serves in (False, True):
        _filter_of(serves)  # here, and not in each process
    gc.collect()
    gc.freeze()
    return found


if __name__ == "__main__":
    os.dup2(sys.stdout.fileno(), sys.stderr.fileno())  # what a process says of its end is for nobody
    serve(socket.socket(fileno=int(sys.argv[1])), _find_function)
