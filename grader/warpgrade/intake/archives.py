"""Lists the files in a student's archive under safe names; their contents are read on demand.

Nothing is unpacked to disk. Archives with links, devices, paths outside the archive, or huge lists are refused.
"""

import io
import lzma
import os
import re
import stat
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import PurePosixPath
from typing import IO

from warpgrade.intake import tars
from warpgrade.machine.errors import BadInput
from warpgrade.machine.text import printable_name

MAX_ENTRIES = 2000
_MAX_DIRECTORY_BYTES = 2 << 20
_MAX_UNPACKED_BYTES = 256 << 20  # of a tar, which is read from its beginning to its end
_MAX_HELD_BYTES = 32 << 20
_END_RECORD = 22  # bytes of a zip's last record, without its comment
_END_MARK, _ZIP64_MARK = b"PK\x05\x06", b"PK\x06\x07"
_CLUTTER = {"__MACOSX", ".DS_Store", "Thumbs.db", "desktop.ini"}
_KINDS: dict[int, tars.Kind] = {0: "file", stat.S_IFREG: "file", stat.S_IFDIR: "folder", stat.S_IFLNK: "link"}


@dataclass(frozen=True, slots=True)
class Member:
    """A file in an archive or a folder: its path there, with slashes, and how to open it."""

    path: str
    open: Callable[[], AbstractContextManager[IO[bytes]]]

    @property
    def name(self) -> str:
        """The last part of its path."""
        return self.path.rpartition("/")[2]

    def read(self, most: int) -> bytes:
        """Return its content, or one byte more than `most` of it."""
        with self.open() as file:
            return file.read(most + 1)


def is_clutter(name: str) -> bool:
    """Whether a file or folder of that name is hidden, or left there by an operating system."""
    return name.startswith(".") or name in _CLUTTER


def safe_path(raw: str, kind: tars.Kind, shown: str, what: str) -> str | None:
    """Return an entry's path, or None for folders and clutter; raises BadInput for hostile names and kinds."""
    name = printable_name(raw)
    if any(ord(char) < 32 or ord(char) == 127 for char in raw):
        raise BadInput(
            f"{shown}: the entry “{name}” has control characters in its name", review=f"a {what} with hostile names"
        )
    inner = PurePosixPath(raw.replace("\\", "/"))
    if inner.is_absolute() or ".." in inner.parts or re.match(r"[A-Za-z]:", raw):
        raise BadInput(f"{shown}: the entry “{name}” points outside the archive", review=f"a {what} with hostile names")
    if kind == "link":
        raise BadInput(f"{shown}: the entry “{name}” is a link; hand in the file itself")
    if kind == "other":
        raise BadInput(f"{shown}: the entry “{name}” is not a regular file")
    if kind == "folder" or not inner.parts:
        return None
    if any(is_clutter(part) for part in inner.parts):
        return None
    return str(inner)


@contextmanager
def as_bad_input(shown: str, what: str) -> Iterator[None]:
    """Turn the exceptions that readers raise for broken archives into BadInput."""
    try:
        yield
    except tars.TooMuchError as error:
        raise BadInput(f"{shown} {error}", review=f"a {what} that unpacks to too much") from None
    except (
        zipfile.BadZipFile, tarfile.TarError, zlib.error, lzma.LZMAError, struct.error, EOFError, NotImplementedError,
        ValueError,
    ) as error:  # fmt: skip
        reason = printable_name(str(error)) if str(error) else "damaged"
        raise BadInput(
            f"{shown} is not a readable {what}: {reason}", hint="pack the files again as a plain zip"
        ) from None
    except (RuntimeError, OSError) as error:  # RuntimeError: encrypted
        raise BadInput(f"{shown} cannot be read: {printable_name(str(error))}") from None


@contextmanager
def open_archive(
    file: IO[bytes], name: str, shown: str, wanted: Callable[[str], bool], most: int
) -> Iterator[list[Member]]:
    """Open a student's archive and give its files, which can be read while it is open.

    name: its suffix tells the format. wanted: whether a file of that name will be read; most: how many bytes of it.
    """
    what = "zip archive" if name.lower().endswith(".zip") else "tar archive"
    with as_bad_input(shown, what):
        if what == "tar archive":
            yield _list_tar(file, shown, wanted, most)
            return
        if directory_bytes(file) > _MAX_DIRECTORY_BYTES:
            raise BadInput(
                f"{shown} has a huge list of entries", hint="pack the files again as a plain zip",
                review="a zip with a huge list of entries",
            )  # fmt: skip
        with zipfile.ZipFile(file) as archive:
            yield _list_zip(archive, shown)


# --- zip -------------------------------------------------------------------------------------------------------------


def directory_bytes(file: IO[bytes], *, large: bool = False) -> int:
    """Return the size of a zip's directory before anything reads it; 0 if there is none.

    large: accept ZIP64 archives (more than 65,535 entries or 4 GiB); otherwise their directory counts as endless.
    """
    size = file.seek(0, os.SEEK_END)
    start = file.seek(max(size - _END_RECORD - (1 << 16) - 76, 0))
    tail = file.read()
    # As zipfile looks for it: at the very end, else the last in what a comment may cover.
    at = len(tail) - _END_RECORD
    if at < 0:
        return 0  # no zip, as zipfile will say
    if tail[at : at + 4] != _END_MARK or tail[-2:] != b"\0\0":
        at = tail.rfind(_END_MARK)
    if at < 0 or len(tail) - at < _END_RECORD:
        return 0
    length = int.from_bytes(tail[at + 12 : at + 16], "little")
    if at < 20 or tail[at - 20 : at - 16] != _ZIP64_MARK:
        return length
    if not large:
        return 1 << 62
    # Where zipfile reads the larger record: right before, or where it is said to be.
    told_at = int.from_bytes(tail[at - 12 : at - 4], "little")
    for place in (start + at - 76, told_at):
        if 0 <= place <= size:
            file.seek(place)
            length = max(length % 0xFFFFFFFF, int.from_bytes(file.read(56)[40:48], "little"))
    return length


def zip_kind(entry: zipfile.ZipInfo) -> tars.Kind:
    """Return what an entry is."""
    if entry.filename.endswith("/"):  # is_dir() of Python 3.11 fails on an empty name
        return "folder"
    return _KINDS.get(stat.S_IFMT(entry.external_attr >> 16), "other")


def _list_zip(archive: zipfile.ZipFile, shown: str) -> list[Member]:
    entries = archive.infolist()
    if len(entries) > MAX_ENTRIES:
        raise BadInput(f"{shown} contains {len(entries)} entries; the limit is {MAX_ENTRIES}")
    members = []
    for entry in entries:
        path = safe_path(entry.orig_filename, zip_kind(entry), shown, "zip")
        if path is not None:
            members.append(Member(path, partial(open_entry, archive, entry)))
    return members


def open_entry(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> IO[bytes]:
    """Open one entry without trusting the size in its header."""
    if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        # bzip2 and LZMA make gigabytes of a few bytes, in one step that nothing bounds.
        name = printable_name(PurePosixPath(entry.filename).name)
        raise BadInput(f"{name} is packed in an unusual way", hint="pack the files again as a plain zip")
    return archive.open(entry)


# --- tar -------------------------------------------------------------------------------------------------------------


def _list_tar(file: IO[bytes], shown: str, wanted: Callable[[str], bool], most: int) -> list[Member]:
    stream = tars.Stream(file, _MAX_UNPACKED_BYTES)
    members, held = [], 0
    for count, entry in enumerate(tars.entries(stream)):
        if count >= MAX_ENTRIES:
            raise BadInput(f"{shown} contains more than {MAX_ENTRIES} entries")
        path = safe_path(entry.name, entry.kind, shown, "tar")
        if path is None:
            continue
        content = b""
        if wanted(path.rpartition("/")[2]):
            content = stream.exactly(min(entry.size, most + 1))
            held += len(content)
        if held > _MAX_HELD_BYTES:
            raise tars.TooMuchError(f"holds more than {_MAX_HELD_BYTES >> 20} MiB of sources")
        members.append(Member(path, partial(io.BytesIO, content)))
    return members
