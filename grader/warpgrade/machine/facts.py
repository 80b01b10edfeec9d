"""What is asked of a program once a process: its version, its device, whether it works here.

The answer holds as long as the files that it depends on stay as they are; one that is replaced is asked again.
"""

from __future__ import annotations

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
    """Return what `ask` finds out of `what`; from an earlier call, if the files are the same as then.

    What ends in an exception is asked again, as is what depends on a file that is no compiled program: a script can
    call any other.
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
