"""A disk that is full or not to be written: the machine's trouble, told in one sentence, and never a zero."""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from warpgrade.machine.errors import GraderError
from warpgrade.machine.text import listing, printable_name

# Below this a build may have failed for want of space, whatever its words are: more than any file that it writes.
_MIN_FREE_BYTES = 80 << 20
_FULL = (errno.ENOSPC, errno.EDQUOT)
_CLOSED = (errno.EROFS, errno.EACCES, errno.EPERM)
_NO_SCRATCH = "No usable temporary directory"
_HINT = "free some space, and run the same command again; nothing half written is left"


class NoSpace(GraderError):  # noqa: N818 - reads as what it is
    """A disk is full: whatever is done next fails as well."""


def trouble(error: BaseException, folders: Iterable[Path] = ()) -> GraderError | None:
    """Return what to tell of an error of the file system; None where it is of another kind.

    folders: those that are written to, for an error does not always say where it happened.
    """
    if isinstance(error, shutil.Error):  # of a tree: for each file why it could not be copied, in words
        words = str(error.args)
        return _full("", folders) if any(os.strerror(number) in words for number in _FULL) else None
    if not isinstance(error, OSError):
        return None
    name = error.filename2 or error.filename  # of a copy the second is what was written
    if error.errno in _FULL:
        return _full(printable_name(str(_mounted(Path(name)))) if isinstance(name, str) else "", folders)
    if error.errno in _CLOSED and name:
        return GraderError(
            f"{printable_name(str(name))} cannot be read or written: {error.strerror}",
            hint="run the command as the user to whom it belongs, or in a folder of your own",
        )
    if error.errno == errno.ENOENT and _NO_SCRATCH in str(error.strerror):
        return GraderError("no folder for temporary files can be written: are their disks full?", hint="set TMPDIR")
    return None


def require(folder: Path, what: str, little: int = _MIN_FREE_BYTES) -> None:
    """Raise GraderError where `what` has failed and there is little space left: then its own words do not count."""
    for disk, free in _nearly_full([folder], little):
        raise NoSpace(f"{what} has failed: the disk at {disk} is full ({free >> 20} MiB left)", hint=_HINT)


def _full(place: str, folders: Iterable[Path]) -> GraderError:
    with suppress(OSError):
        folders = [*folders, Path(tempfile.gettempdir())]
    where = place or listing([*dict.fromkeys(disk for disk, _ in _nearly_full(folders))])
    return NoSpace("no space is left on the disk" + (f" at {where}" if where else ""), hint=_HINT)


def _nearly_full(folders: Iterable[Path], little: int = _MIN_FREE_BYTES) -> Iterator[tuple[str, int]]:
    for folder in folders:
        with suppress(OSError):
            if (free := shutil.disk_usage(folder).free) < little:
                yield printable_name(str(_mounted(folder))), free


def _mounted(folder: Path) -> Path:
    """Return where the disk of a folder begins, which says more than a folder of ours."""
    folder = folder.absolute()
    return next((each for each in (folder, *folder.parents) if each.is_mount()), folder)
