"""The files that a command writes: found out before the work whether they can be, and never half written."""

from __future__ import annotations

import fcntl
import os
import shutil
import sys
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from warpgrade.machine import space
from warpgrade.machine.errors import BadInput
from warpgrade.machine.text import printable_name

_DATE = (2020, 1, 1, 0, 0, 0)  # in archives, so that the same files make the same bytes


@contextmanager
def alone(lock: Path) -> Iterator[None]:
    """Let one process at a time do what `lock` stands for; the others wait."""
    lock.parent.mkdir(parents=True, exist_ok=True)
    with lock.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def write_zip(archive: Path, files: Iterable[Path], root: Path) -> None:
    """Pack files under their names below `root`, with their rights."""
    with whole(archive) as unfinished, zipfile.ZipFile(unfinished, "w", zipfile.ZIP_DEFLATED) as packed:
        for path in files:
            entry = zipfile.ZipInfo(path.relative_to(root).as_posix(), _DATE)
            entry.external_attr = (0o100000 | (path.stat().st_mode & 0o777)) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            packed.writestr(entry, path.read_bytes())


@contextmanager
def whole(target: Path) -> Iterator[Path]:
    """Give a name beside `target` for a file or a folder, which becomes `target` when all went well, and else goes."""
    target.parent.mkdir(parents=True, exist_ok=True)
    unfinished = target.with_name(f".{target.name}.{os.getpid()}.new")
    try:
        yield unfinished
        unfinished.rename(target)
    except BaseException as error:
        remove(unfinished)
        if known := space.trouble(error, [target.parent]):
            raise known from None
        raise


def remove(path: Path) -> None:
    """Remove a file, or a folder with all that is in it, where it is there."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with suppress(OSError):
            path.unlink(missing_ok=True)


def check_writable(option: str, name: str) -> None:
    """Find out before the work, not after it."""
    if name == "-":
        return
    folder = Path(name).absolute().parent
    if not folder.is_dir():
        raise BadInput(f"{option} {printable_name(name)}: the folder {printable_name(str(folder))} does not exist")
    if Path(name).is_dir() or not os.access(folder, os.W_OK):
        raise BadInput(f"{option} {printable_name(name)} cannot be written")


def write(name: str | None, option: str, content: bytes) -> None:
    """Write to the file of that name; - is stdout, and None nowhere."""
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
        # Under another name first: whoever reads it never sees half a result.
        with whole(path) as unfinished:
            unfinished.write_bytes(content)
    except OSError as error:
        raise BadInput(f"{option} {printable_name(name)} cannot be written: {error.strerror}") from None
