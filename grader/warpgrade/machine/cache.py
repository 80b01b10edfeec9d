"""A cache of folders, named by a hash of their inputs and bounded in number and bytes; the oldest are removed."""

import contextlib
import errno
import fcntl
import hashlib
import os
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from warpgrade.machine import disk_space

_MAX_ENTRIES = 300
_MAX_BYTES = 2 << 30
_UNFINISHED = ".new-"
_ADDED_BETWEEN_LOOKS = 32  # by this process, to one folder
_UNFINISHED_SECONDS = 24 * 3600.0  # no build takes as long: its maker was killed

_lock = threading.Lock()
_added: dict[Path, int] = {}


def key(words: Iterable[str], contents: Mapping[str, bytes]) -> str:
    """Return a hash of words and files as the name of a cache entry."""
    total = hashlib.sha256()
    for word in words:
        total.update(f"{len(word)}:{word}".encode())
    for name in sorted(contents):
        total.update(f"{name}\0{len(contents[name])}\0".encode())
        total.update(contents[name])
    return total.hexdigest()[:40]


def cached(folder: Path, make: Callable[[Path], None]) -> Path:
    """Return the entry's folder; if it does not exist, `make` fills it under another name first."""
    with contextlib.suppress(FileNotFoundError):
        os.utime(folder)  # the latest use: what is old goes first
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    if _is_time_to_forget(folder.parent):
        _forget_oldest(folder.parent)
    scratch = Path(tempfile.mkdtemp(prefix=_UNFINISHED, dir=folder.parent))
    try:
        make(scratch)
        _put(scratch, folder)
    except OSError as error:
        if known := disk_space.trouble(error, [folder.parent]):
            raise known from None
        raise
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    return folder


def _put(scratch: Path, folder: Path) -> None:
    """Give the finished entry its name, unless another grader was faster."""
    while not folder.is_dir():
        try:
            scratch.rename(folder)
            break
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):  # else there now, and perhaps gone again
                raise


@contextlib.contextmanager
def held(*folders: Path) -> Iterator[None]:
    """Keep entries from being removed, also by other graders, while they are in use."""
    with contextlib.ExitStack() as stack:
        for folder in folders:
            descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            stack.callback(os.close, descriptor)
            fcntl.flock(descriptor, fcntl.LOCK_SH)
        yield


def _is_time_to_forget(folder: Path) -> bool:
    """Whether enough entries were added since the last look at all of them, which takes time with many entries."""
    with _lock:
        count = _added.get(folder, 0)
        _added[folder] = (count + 1) % _ADDED_BETWEEN_LOOKS
    return count == 0


def _forget(entry: Path, last_use: float) -> None:
    try:
        descriptor = os.open(entry, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError:
        return
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if entry.stat().st_mtime == last_use:
            gone = entry.with_name(f"{_UNFINISHED}{entry.name}-{os.getpid()}-{threading.get_ident()}")
            entry.rename(gone)  # at once: nobody finds an entry with half of its files
            shutil.rmtree(gone, ignore_errors=True)
    except (BlockingIOError, FileNotFoundError):
        pass  # somebody works with it, or has forgotten it
    finally:
        os.close(descriptor)


def _forget_oldest(folder: Path) -> None:
    """Remove the oldest entries; other graders may be removing them at the same time."""
    entries: list[tuple[float, int, Path]] = []
    for entry in folder.iterdir():
        with contextlib.suppress(FileNotFoundError):
            used = entry.stat().st_mtime
            if not entry.name.startswith(_UNFINISHED):
                entries.append((used, sum(file.lstat().st_size for file in entry.rglob("*")), entry))
            elif used < time.time() - _UNFINISHED_SECONDS:
                shutil.rmtree(entry, ignore_errors=True)
    kept = total = 0
    for used, size, entry in sorted(entries, reverse=True):  # the latest first
        kept, total = kept + 1, total + size
        if kept > _MAX_ENTRIES or total > _MAX_BYTES:
            _forget(entry, used)
