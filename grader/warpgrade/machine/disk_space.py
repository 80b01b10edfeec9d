"""Full or read-only disks: errors of the machine, explained in one sentence; they never cost a student points."""

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
    """Return the GraderError for an error of a full or read-only disk; None for other errors.

    folders: the folders written to, because an error does not always name one.
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
    """Raise GraderError if `what` has failed and the disk is nearly full, which explains more than its own message."""
    for disk, free in nearly_full([folder], little):
        raise NoSpace(f"{what} has failed: the disk at {disk} is full ({free >> 20} MiB left)", hint=_HINT)


def _full(place: str, folders: Iterable[Path]) -> GraderError:
    with suppress(OSError):
        folders = [*folders, Path(tempfile.gettempdir())]
    where = place or listing([*dict.fromkeys(disk for disk, _ in nearly_full(folders))])
    return NoSpace("no space is left on the disk" + (f" at {where}" if where else ""), hint=_HINT)


def nearly_full(folders: Iterable[Path], little: int = _MIN_FREE_BYTES) -> Iterator[tuple[str, int]]:
    """Yield the disk of each folder that has fewer free bytes than `little`, and how many it has."""
    for folder in folders:
        with suppress(OSError):
            if (free := shutil.disk_usage(folder).free) < little:
                yield printable_name(str(_mounted(folder))), free


def _mounted(folder: Path) -> Path:
    """Return the mount point of a folder's disk, which tells users more than a folder of Warpgrade's."""
    folder = folder.absolute()
    return next((each for each in (folder, *folder.parents) if each.is_mount()), folder)
