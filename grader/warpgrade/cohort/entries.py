"""The entries at the top of a class's export, which is a folder or an archive.

Only the names of an archive's files are kept in memory; their contents are read on demand. A packed tar cannot be read
from the middle, so its contents are first copied to a temporary file without a name.
"""

import io
import os
import stat
import struct
import weakref
import zipfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import IO

from warpgrade.grading.submission import Submission
from warpgrade.intake import archives, intake, tars
from warpgrade.intake.archives import Member
from warpgrade.intake.intake import Leniency
from warpgrade.lab.labs import Lab
from warpgrade.machine import confined
from warpgrade.machine.errors import BadInput, GraderError
from warpgrade.machine.text import printable_name
from warpgrade.platforms.file_names import is_archive, is_source, without_archive_suffix
from warpgrade.platforms.registry import EXPORTS, name_for_lab

MAX_ENTRIES = 2_000_000
_MAX_DIRECTORY_BYTES = 64 << 20  # some 600,000 files
_MAX_UNPACKED_BYTES = 64 << 30
_MAX_METADATA_BYTES = 1 << 30
_MAX_FOLDER_ENTRIES = 500_000


@dataclass(slots=True)
class Item:
    """A file or folder at the top of an export.

    path: its path on disk; None in an archive. The others are for archives only: members: its files. refused: the paths
    of files for which the whole item is refused, and why. checkouts: the folders in it that are git checkouts.
    """

    name: str
    is_folder: bool
    path: Path | None = None
    members: list[Member] = field(default_factory=list)
    refused: list[tuple[str, BadInput]] = field(default_factory=list)
    checkouts: set[str] = field(default_factory=set)

    @property
    def shown(self) -> str:
        """Its name in messages."""
        return printable_name(self.name) + ("/" if self.is_folder else "")

    def as_file(self, name: str) -> Member:
        """Return the file under another name."""
        self.check()
        if self.path is not None:
            return Member(name, partial(intake.open_regular, self.path, self.name))
        return Member(name, self.members[0].open)

    def open(self) -> AbstractContextManager[IO[bytes]]:
        """Open a file."""
        return self.as_file(self.name).open()

    @property
    def why_no_submission(self) -> str:
        """Why a file that is neither source code nor an archive is no submission."""
        if self.refused or (self.path is not None and self.path.is_symlink()):
            return "a link, or nothing that can be read"
        return "neither source code nor an archive"

    @property
    def is_checkout(self) -> bool:
        """Whether this folder is a git checkout."""
        return self.is_folder and (os.path.lexists(self.path / ".git") if self.path else "" in self.checkouts)

    def check(self) -> None:
        """Raise BadInput if the item is refused."""
        if self.refused:
            raise self.refused[0][1]
        if len(self.members) > archives.MAX_ENTRIES:
            raise BadInput(f"{self.shown} contains more than {archives.MAX_ENTRIES} files")
        if self.path is not None and self.path.is_symlink():
            # Nobody named it: what students handed in may lead to what is not theirs.
            raise BadInput(f"{self.shown} is a symbolic link; hand in the file itself")

    def read(self, lab: Lab, how: Leniency) -> Submission:
        """Read the submission that this is."""
        self.check()
        if self.path is not None:
            return intake.read(lab, self.path, self.shown, how)
        if self.is_folder:
            return intake.read_members(lab, self.members, self.shown, how)
        return intake.read_members(lab, [self.as_file(self.name)], self.shown, how)


@dataclass(frozen=True)
class ExportFolder:
    """The folder of a class's export: its name and its items. others: entries of no item, with the reason."""

    name: str
    items: list[Item]
    others: list[str] = field(default_factory=list)


def open_export(lab: Lab, path: Path) -> ExportFolder:
    """List what a folder or an archive holds; raises BadInput if it is neither."""
    shown = printable_name(str(path))
    mode = intake.read_mode(path, shown)
    if stat.S_ISDIR(mode):
        return ExportFolder(path.resolve().name, _list_folder(path, shown))
    if stat.S_ISREG(mode) and is_archive(path.name):
        items: dict[str, Item] = {}
        others: list[str] = []
        with archives.as_bad_input(shown, "archive"):
            is_zip = path.name.lower().endswith(".zip")
            found = _list_zip(path.resolve(), shown) if is_zip else _list_tar(lab, path.resolve(), shown)
            for entry in found:
                _add_entry(entry, items, others)
        return ExportFolder(without_archive_suffix(path.name), _sorted_by_name(items.values()), others)
    raise BadInput(
        f"{shown} holds no submissions of a class", hint="give a folder, or the zip or tar archive from the platform"
    )


def open_only_folder(place: ExportFolder) -> ExportFolder:
    """Return the only folder of an export as an export of its own."""
    (outer,) = place.items
    if outer.path is not None:
        return ExportFolder(outer.name, _list_folder(outer.path, outer.shown), place.others)
    items: dict[str, Item] = {}
    others = list(place.others)
    for member in outer.members:
        _add_file(items, member.path, member.open)
    for path, problem in outer.refused:
        _refuse(items, others, path, problem)
    for path in outer.checkouts:
        _mark_checkout(items, path)
    return ExportFolder(outer.name, _sorted_by_name(items.values()), others)


def _sorted_by_name(items: Iterable[Item]) -> list[Item]:
    """Sort items by name, so that their order does not depend on the file system or the archive."""
    return sorted(items, key=lambda item: item.name)


def _list_folder(path: Path, shown: str) -> list[Item]:
    items: list[Item] = []
    try:
        with os.scandir(path) as entries:
            for entry in entries:
                if len(items) >= _MAX_FOLDER_ENTRIES:
                    raise BadInput(f"{shown} contains more than {_MAX_FOLDER_ENTRIES} files")
                if not archives.is_clutter(entry.name):
                    items.append(Item(entry.name, entry.is_dir(follow_symlinks=False), path / entry.name))
    except OSError as error:
        raise BadInput(f"{shown} cannot be read: {error.strerror}") from None
    return _sorted_by_name(items)


# --- archives --------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Entry:
    raw: str
    kind: tars.Kind
    open: Callable[[], IO[bytes]]


def _add_entry(entry: _Entry, items: dict[str, Item], others: list[str]) -> None:
    """Add an entry to its item; if the entry is refused, so is the item."""
    parts = [part for part in entry.raw.replace("\\", "/").split("/") if part not in ("", ".")]
    if any(archives.is_clutter(part) for part in parts if part != ".."):
        # Also a link among git's own files: nobody looks for a submission there.
        if ".git" in parts[1:] and ".." not in parts:
            _mark_checkout(items, "/".join(parts[: parts.index(".git")]))
        return
    try:
        path = archives.safe_path(entry.raw, entry.kind, "the archive", "class's archive")
    except BadInput as problem:
        outside = entry.raw.startswith(("/", "\\")) or ":" in "".join(parts[:1])
        _refuse(items, others, "" if outside else "/".join(parts), problem, is_folder=entry.kind == "folder")
        return
    if path is not None:
        _add_file(items, path, partial(_open_entry, entry.open, printable_name(path)))
    elif len(parts) == 1:
        items.setdefault(parts[0], Item(parts[0], is_folder=True))


def _add_file(items: dict[str, Item], path: str, opener: Callable[[], AbstractContextManager[IO[bytes]]]) -> None:
    top, _, rest = path.partition("/")
    item = items.setdefault(top, Item(top, bool(rest)))
    if item.is_folder != bool(rest) or (item.members and not rest):
        problem = BadInput(f"{printable_name(top)} is twice in the archive", hint="keep the one to grade")
        item.refused.append((rest or top, problem))
    else:
        item.members.append(Member(rest or top, opener))


def _mark_checkout(items: dict[str, Item], path: str) -> None:
    top, _, rest = path.partition("/")
    if top in items:
        items[top].checkouts.add(rest)
    elif top:
        items[top] = Item(top, is_folder=True, checkouts={rest})


def _refuse(
    items: dict[str, Item], others: list[str], path: str, problem: BadInput, *, is_folder: bool = False
) -> None:  # fmt: skip
    top, _, rest = path.partition("/")
    if top in ("", ".."):
        others.append(problem.message)
    else:
        items.setdefault(top, Item(top, bool(rest) or is_folder)).refused.append((rest or top, problem))


@contextmanager
def _open_entry(opener: Callable[[], IO[bytes]], shown: str) -> Iterator[IO[bytes]]:
    with archives.as_bad_input(shown, "file"), opener() as file:
        yield file


def _list_zip(path: Path, shown: str) -> Iterator[_Entry]:
    copies = _Copies(os.open(path, os.O_RDONLY | os.O_CLOEXEC))
    file = _Readable(_Window(copies, 0, copies.end))
    if archives.directory_bytes(file, large=True) > _MAX_DIRECTORY_BYTES:
        raise BadInput(f"{shown} has a huge list of entries", hint="unpack it, and give the folder")
    archive = zipfile.ZipFile(file)
    for entry in archive.infolist():
        yield _Entry(entry.orig_filename, archives.zip_kind(entry), partial(archives.open_entry, archive, entry))


class _Copies:
    """A file that several readers can read from any offset at the same time."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._end = os.lseek(descriptor, 0, os.SEEK_END)
        weakref.finalize(self, os.close, descriptor)

    def add(self, content: bytes) -> None:
        while content:
            try:
                written = os.pwrite(self._descriptor, content, self._end)
            except OSError as error:
                raise GraderError(f"the submissions cannot be copied: {error.strerror}") from None
            self._end += written
            content = content[written:]

    @property
    def end(self) -> int:
        return self._end

    def open(self, start: int, size: int) -> IO[bytes]:
        return io.BufferedReader(_Window(self, start, size))

    def pread(self, size: int, at: int) -> bytes:
        return os.pread(self._descriptor, size, at)


class _Window(io.RawIOBase):
    def __init__(self, copies: _Copies, start: int, size: int) -> None:
        self._copies, self._start, self._size = copies, start, size
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        self._at = max(offset + {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self._size}[whence], 0)
        return self._at

    def readinto(self, buffer) -> int:  # type: ignore[no-untyped-def]
        wanted = min(len(buffer), self._size - self._at)
        data = self._copies.pread(wanted, self._start + self._at) if wanted > 0 else b""
        buffer[: len(data)] = data
        self._at += len(data)
        return len(data)


class _Readable(io.BufferedReader):
    """A zip file in which names that claim to be UTF-8 and are not lose that flag: zipfile would refuse the archive."""

    def read(self, size: int | None = -1) -> bytes:
        data = super().read(size)
        if not data.startswith(b"PK\x01\x02"):
            return data
        entries = bytearray(data)
        at = 0
        while entries[at : at + 4] == b"PK\x01\x02" and at + 46 <= len(entries):
            name, extra, comment = struct.unpack_from("<3H", entries, at + 28)
            try:
                entries[at + 46 : at + 46 + name].decode()
            except UnicodeDecodeError:
                entries[at + 9] &= ~0x08
            at += 46 + name + extra + comment
        return bytes(entries)


def _list_tar(lab: Lab, path: Path, shown: str) -> Iterator[_Entry]:
    with path.open("rb") as file:
        stream = tars.Stream(file, _MAX_UNPACKED_BYTES)
        copies = _Copies(_open_temporary() if stream.is_packed else os.open(path, os.O_RDONLY | os.O_CLOEXEC))
        for count, entry in enumerate(tars.entries(stream)):
            if count >= MAX_ENTRIES:
                raise BadInput(f"{shown} contains more than {MAX_ENTRIES} entries")
            start, size = stream.at, entry.size
            if entry.kind == "file" and stream.is_packed:
                start, size = copies.end, min(entry.size, _max_bytes_read(lab, entry.name))
                left = size
                while left and (part := stream.read(min(left, 1 << 16))):
                    copies.add(part)
                    left -= len(part)
            yield _Entry(entry.name, entry.kind, partial(copies.open, start, size))


def _open_temporary() -> int:
    with confined.temporary_file() as file:
        return os.dup(file.fileno())


def _max_bytes_read(lab: Lab, name: str) -> int:
    """Return how many bytes of a file are ever read: one more than the limit, so that too large files are noticed."""
    name = name.rpartition("/")[2]
    if any(name == export.metadata for export in EXPORTS.values()):
        return _MAX_METADATA_BYTES
    if is_archive(name):
        return intake.MAX_ARCHIVE_BYTES + 1
    return intake.MAX_FILE_BYTES + 1 if is_source(name) or name_for_lab(lab, name) else 0
