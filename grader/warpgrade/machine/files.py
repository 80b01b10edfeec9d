"""Writes files so that no reader sees half of one, and checks before the work that they can be written."""

import errno
import fcntl
import os
import shutil
import sys
import threading
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from warpgrade.machine import disk_space
from warpgrade.machine.errors import BadInput, GraderError
from warpgrade.machine.text import printable_name

_MACHINE_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EIO)
_DATE = (2020, 1, 1, 0, 0, 0)  # in archives, so that the same files make the same bytes


@contextmanager
def hold_lock(lock: Path) -> Iterator[None]:
    """Hold a lock file; other processes that want it wait."""
    lock.parent.mkdir(parents=True, exist_ok=True)
    with lock.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def write_zip(archive: Path, files: Iterable[Path], root: Path) -> None:
    """Pack files under their paths relative to `root`, with their permissions."""
    with unfinished_path(archive) as unfinished, zipfile.ZipFile(unfinished, "w", zipfile.ZIP_DEFLATED) as packed:
        for path in files:
            _add(packed, path.relative_to(root).as_posix(), path.read_bytes(), path.stat().st_mode & 0o777)


def pack(archive: IO[bytes], entries: Iterable[tuple[str, bytes]]) -> int:
    """Write a zip of names and contents; the same entries always make the same bytes. Return how many there are."""
    count = 0
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, content in entries:
            _add(packed, name, content, 0o644)
            count += 1
    return count


def _add(packed: zipfile.ZipFile, name: str, content: bytes, rights: int) -> None:
    entry = zipfile.ZipInfo(name, _DATE)
    entry.create_system = 3  # its rights are those of Unix, wherever it is made
    entry.external_attr = (0o100000 | rights) << 16
    entry.compress_type = zipfile.ZIP_DEFLATED
    packed.writestr(entry, content)


@contextmanager
def unfinished_path(target: Path) -> Iterator[Path]:
    """Give a path beside `target` for a new file or folder; it is renamed to `target`, or removed on errors."""
    target.parent.mkdir(parents=True, exist_ok=True)
    unfinished = target.with_name(f".{target.name[:100]}.{os.getpid()}-{threading.get_ident()}.new")
    try:
        yield unfinished
        unfinished.rename(target)
    except BaseException as error:
        remove(unfinished)
        if known := disk_space.trouble(error, [target.parent]):
            raise known from None
        raise


def remove(path: Path) -> None:
    """Remove a file or a whole folder, if it exists."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with suppress(OSError):
            path.unlink(missing_ok=True)


def check_writable(option: str, name: str) -> None:
    """Raise BadInput before the work if the file cannot be written after it."""
    if name == "-":
        return
    folder = Path(name).absolute().parent
    if not folder.is_dir():
        raise BadInput(f"{option} {printable_name(name)}: the folder {printable_name(str(folder))} does not exist")
    if Path(name).is_dir() or not os.access(folder, os.W_OK):
        raise BadInput(f"{option} {printable_name(name)} cannot be written")


def replace(path: Path, content: bytes) -> None:
    """Replace a file's content at once: readers see the old content or the new one."""
    with replacing_file(path) as file:
        file.write(content)


def write(name: str | None, option: str, content: bytes) -> None:
    """Write to the named file; - is stdout, and None writes nothing."""
    if name is None:
        return
    if name == "-":
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()
        return
    path = Path(name).absolute()
    try:
        if path.exists() and not path.is_file():  # /dev/stderr and the like
            path.write_bytes(content)
            return
        replace(path, content)
    except OSError as error:
        kind = GraderError if error.errno in _MACHINE_ERRORS else BadInput
        raise kind(f"{option} {printable_name(name)} cannot be written: {error.strerror}") from None


@contextmanager
def replacing_file(path: Path) -> Iterator[IO[bytes]]:
    """Give a file to write that replaces `path` at the end: readers never see half of it."""
    with unfinished_path(path) as unfinished, unfinished.open("wb") as file:
        yield file
