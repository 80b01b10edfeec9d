"""Remembers answers of programs within this process: their version, their device, whether they work here.

An answer is valid until a file that it depends on changes.
"""

import hashlib
import threading
from collections.abc import Callable, Hashable, Iterable
from pathlib import Path
from typing import TypeVar, cast

T = TypeVar("T")

_ELF = b"\x7fELF"
_lock = threading.Lock()
_known: dict[Hashable, object] = {}


def cached_answer(what: Hashable, files: Iterable[Path], ask: Callable[[], T]) -> T:
    """Return the answer of `ask`, or that of an earlier call about `what` if the files have not changed since.

    Exceptions are not remembered, nor answers of scripts, because a script can call any other program.
    """
    stamps = [_stamp(path) for path in files]
    if None in stamps:
        return ask()
    key = (what, tuple(stamps))
    with _lock:
        if key in _known:
            return cast("T", _known[key])
    found = ask()
    with _lock:
        _known[key] = found
    return found


def digest(program: Path) -> str:
    """Return a hash of a program's content."""
    return cached_answer("content", [program], lambda: hashlib.sha256(program.read_bytes()).hexdigest())


def _stamp(path: Path) -> tuple[str, int, int, int] | None:
    try:
        real = path.resolve(strict=True)
        with real.open("rb") as file:
            if file.read(len(_ELF)) != _ELF:
                return None
        state = real.stat()
    except OSError:
        return None
    return str(real), state.st_mtime_ns, state.st_size, state.st_ino
