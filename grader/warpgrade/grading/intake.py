"""Intake: reads a submission (folder, single file, zip) into memory, trusting nothing about it.

Nothing is ever unpacked to disk under a name that the submission chose: only files whose plain names the lab allows
are taken, and the build writes them out under those names.
"""

from __future__ import annotations

import difflib
import functools
import hashlib
import os
import re
import stat
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import IO

from warpgrade.grading import handed_in_names
from warpgrade.lab.labs import Lab
from warpgrade.machine.errors import BadInput
from warpgrade.machine.text import listing, printable_name

MAX_FILE_BYTES = 1 << 20
MAX_TOTAL_BYTES = 4 << 20
MAX_ENTRIES = 2000
_CHUNK_BYTES = 1 << 16
_END_RECORD = 22  # bytes of a zip's last record, without its comment
_END_MARK, _ZIP64_MARK = b"PK\x05\x06", b"PK\x06\x07"
_MOST_DIRECTORY_BYTES = 2 << 20
_PLAIN_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]{0,99}")
_SOURCE_SUFFIXES = {".cu", ".cuh", ".c", ".cc", ".cpp", ".cxx", ".h", ".hpp"}
_ARCHIVE_CLUTTER = {"__MACOSX", ".DS_Store", "Thumbs.db", "desktop.ini"}


@dataclass(frozen=True)
class Submission:
    """What is graded: plain file names and their bytes, and the names of source files that are not.

    `notes` say what was taken under another name, or from where. `folder` is where the files lie, unless they were in
    a zip or have other names there.
    """

    name: str
    files: dict[str, bytes]
    ignored: list[str]
    folder: Path | None = None
    notes: list[str] = field(default_factory=list)

    @property
    def digest(self) -> str:
        """A hash of names and contents."""
        total = hashlib.sha256()
        for name in sorted(self.files):
            total.update(f"{name}\0{len(self.files[name])}\0".encode())
            total.update(self.files[name])
        return total.hexdigest()


@dataclass(frozen=True)
class _Entry:
    """A file that is there: its name, and how to read it."""

    name: str
    read: Callable[[], bytes]


@dataclass(frozen=True)
class _Found:
    """What was taken, by the names that the lab knows; the names of other files; what to tell."""

    files: dict[str, bytes]
    others: list[str]
    notes: list[str] = field(default_factory=list)


def read(lab: Lab, path: Path) -> Submission:
    """Read the submission at `path`; raises BadInput with what is wrong and what to do."""
    shown = printable_name(str(path))
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        raise BadInput(f"{shown} does not exist") from None
    except OSError as error:
        raise BadInput(f"{shown} cannot be read: {error.strerror}") from None
    folder: Path | None = path.parent
    if stat.S_ISDIR(mode):
        folder = _without_wrapping(path)
        if archive := _only_zip(folder):
            folder = None
            found = _read_zip(lab, archive, printable_name(archive.name))
            found.notes.insert(0, f"taken from {printable_name(archive.name)}")
        else:
            found = _read_folder(lab, folder)
    elif not stat.S_ISREG(mode):
        raise BadInput(f"{shown} is neither a folder nor a file")
    elif _is_zip(path.name):
        folder = None
        # The path itself may be a link: it was named by the person who grades.
        found = _read_zip(lab, path.resolve(), shown)
    elif path.suffix.lower() in _SOURCE_SUFFIXES:
        found = _read_single(lab, path)
    else:
        raise BadInput(
            f"{shown} is not a submission",
            hint=f"give a folder or a zip that contains {lab.main_file}, or the file itself",
        )
    _require_main_file(lab, found.files, found.others, shown)
    for name, content in found.files.items():
        _check_content(name, content)
    ignored = sorted(
        printable_name(name)
        for name in found.others
        if _is_source(name) and not any(lab.gives(each) for each in handed_in_names.possible(name))
    )
    return Submission(
        name=shown,
        files=dict(sorted(found.files.items())),
        ignored=ignored,
        folder=None if found.notes else folder,
        notes=found.notes,
    )


def _is_zip(name: str) -> bool:
    return name.lower().endswith(".zip")


def _is_source(name: str) -> bool:
    return PurePosixPath(name).suffix.lower() in _SOURCE_SUFFIXES


def _taken(lab: Lab, name: str) -> bool:
    return lab.allows(name) and _PLAIN_NAME.fullmatch(name) is not None


def _meant(lab: Lab, name: str) -> str:
    """Return the name under which the lab takes a file, as it had it before a platform renamed it; or nothing."""
    names = [each for each in handed_in_names.possible(name) if _taken(lab, each)]
    plain = [each for each in names if each in lab.file.lab.files]
    # A pattern of the lab's fits the platform's name as well as the student's.
    return next(iter([*plain, *reversed(names)]), "")


def _choose(lab: Lab, entries: Iterable[_Entry]) -> _Found:
    """Take what the lab wants: a file of the right name, else the only one that was renamed on its way."""
    meant: dict[str, list[_Entry]] = {}
    found = _Found({}, [])
    for entry in entries:
        if name := _meant(lab, entry.name):
            meant.setdefault(name, []).append(entry)
        else:
            found.others.append(entry.name)
    for name, several in meant.items():
        exact = [entry for entry in several if entry.name == name]
        if not exact and len(several) > 1:
            raise BadInput(
                f"each of {listing([entry.name for entry in several])} could be {name}",
                hint=f"keep the one to grade, and name it {name}",
            )
        (chosen,) = exact or several
        found.files[name] = chosen.read()
        _check_total(found.files)
        found.others.extend(entry.name for entry in several if entry is not chosen)
        if chosen.name != name:
            found.notes.append(_graded_as(chosen.name, name))
    return found


def _graded_as(given: str, name: str) -> str:
    return f"{printable_name(given)} is graded as {name}"


def _check_total(files: dict[str, bytes]) -> None:
    if sum(map(len, files.values())) > MAX_TOTAL_BYTES:
        raise BadInput(f"together, the submission's files are larger than {MAX_TOTAL_BYTES >> 20} MiB")


# --- folder and single file ------------------------------------------------------------------------------------------


def _without_wrapping(folder: Path) -> Path:
    """People hand in the folder around the folder; one level of that is forgiven."""
    names, subfolders = _list_folder(folder)
    wraps = len(subfolders) == 1 and not any(_is_source(name) or _is_zip(name) for name in names)
    return folder / subfolders[0] if wraps else folder


def _only_zip(folder: Path) -> Path | None:
    """Return the archive of a folder that has one, and no source beside it."""
    names, _ = _list_folder(folder)
    archives = [name for name in names if _is_zip(name)]
    return folder / archives[0] if len(archives) == 1 and not any(map(_is_source, names)) else None


def _read_folder(lab: Lab, folder: Path) -> _Found:
    names, _ = _list_folder(folder)
    if not names:
        raise BadInput(f"{printable_name(str(folder))} is empty", hint=f"it should contain {lab.main_file}")
    return _choose(lab, [_Entry(name, functools.partial(_read_regular, folder / name, name)) for name in names])


def _list_folder(folder: Path) -> tuple[list[str], list[str]]:
    """Return the visible files (of any kind) and the real sub-folders, sorted."""
    names: list[str] = []
    subfolders: list[str] = []
    try:
        with os.scandir(folder) as entries:
            for count, entry in enumerate(entries):
                if count >= MAX_ENTRIES:
                    raise BadInput(f"{printable_name(str(folder))} contains more than {MAX_ENTRIES} files")
                if entry.name.startswith(".") or entry.name in _ARCHIVE_CLUTTER:
                    continue
                (subfolders if entry.is_dir(follow_symlinks=False) else names).append(entry.name)
    except OSError as error:
        raise BadInput(f"{printable_name(str(folder))} cannot be read: {error.strerror}") from None
    return sorted(names), sorted(subfolders)


def _open_regular(path: Path, name: str) -> IO[bytes]:
    """Open a regular file; links, pipes and devices are refused without opening what is behind them."""
    shown = printable_name(name)
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        what = (
            "is a symbolic link; hand in the file itself" if path.is_symlink() else f"cannot be read: {error.strerror}"
        )
        raise BadInput(f"{shown} {what}") from None
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise BadInput(f"{shown} is not a regular file")
    return os.fdopen(descriptor, "rb")


def _read_regular(path: Path, name: str) -> bytes:
    with _open_regular(path, name) as file:
        return _check_size(name, file.read(MAX_FILE_BYTES + 1))


def _read_single(lab: Lab, path: Path) -> _Found:
    # The path itself may be a link: it was named by the person who grades.
    entry = _Entry(path.name, functools.partial(_read_regular, path.resolve(), path.name))
    main = lab.main_file
    alike = [name for name in lab.file.lab.files if PurePosixPath(name).suffix == path.suffix]
    if _meant(lab, entry.name) or alike != [main]:
        return _choose(lab, [entry])
    # Whoever names one file means it, and there is only one that it can be.
    return _Found({main: entry.read()}, [], [_graded_as(entry.name, main)])


# --- zip -------------------------------------------------------------------------------------------------------------


def _read_zip(lab: Lab, path: Path, shown: str) -> _Found:
    try:
        with _open_regular(path, shown) as file:
            _check_directory(file, shown)
            with zipfile.ZipFile(file) as archive:
                return _take_from_zip(lab, archive, shown)
    except (zipfile.BadZipFile, zlib.error, struct.error, EOFError, NotImplementedError, ValueError) as error:
        reason = printable_name(str(error)) or "damaged"
        raise BadInput(
            f"{shown} is not a readable zip archive: {reason}", hint="pack the files again as a plain zip"
        ) from None
    except (RuntimeError, OSError) as error:  # RuntimeError: encrypted
        raise BadInput(f"{shown} cannot be read: {printable_name(str(error))}") from None


def _check_directory(file: IO[bytes], shown: str) -> None:
    """Refuse a zip whose list of entries is huge before anything reads that list."""
    size = file.seek(0, os.SEEK_END)
    file.seek(max(size - _END_RECORD - (1 << 16), 0))
    tail = file.read()
    # As zipfile looks for it: at the very end, else the last in what a comment may cover.
    at = len(tail) - _END_RECORD
    if at < 0:
        return  # no zip, as zipfile will say
    if tail[at : at + 4] != _END_MARK or tail[-2:] != b"\0\0":
        at = tail.rfind(_END_MARK)
    if at < 0 or len(tail) - at < _END_RECORD:
        return
    length = int.from_bytes(tail[at + 12 : at + 16], "little")
    if length > _MOST_DIRECTORY_BYTES or tail[max(at - 20, 0) :][:4] == _ZIP64_MARK:
        raise BadInput(
            f"{shown} has a huge list of entries", hint="pack the files again as a plain zip",
            review="a zip with a huge list of entries",
        )  # fmt: skip


def _take_from_zip(lab: Lab, archive: zipfile.ZipFile, shown: str) -> _Found:
    entries = archive.infolist()
    if len(entries) > MAX_ENTRIES:
        raise BadInput(f"{shown} contains {len(entries)} entries; the limit is {MAX_ENTRIES}")
    members: list[tuple[PurePosixPath, zipfile.ZipInfo]] = []
    for entry in entries:
        inner = _safe_member(entry, shown)
        if inner is not None:
            members.append((inner, entry))
    if not members:
        raise BadInput(f"{shown} is empty", hint=f"it should contain {lab.main_file}")
    tops = {inner.parts[0] for inner, _ in members}
    depth = 2 if len(tops) == 1 and all(len(inner.parts) > 1 for inner, _ in members) else 1
    files: dict[str, _Entry] = {}
    deeper: list[str] = []
    for inner, entry in members:
        name = inner.name
        if len(inner.parts) != depth:
            deeper.append(name)
        elif name in files and _meant(lab, name):
            raise BadInput(f"{shown} contains {printable_name(name)} twice")
        else:
            files[name] = _Entry(name, functools.partial(_read_member, archive, entry, name))
    found = _choose(lab, files.values())
    found.others.extend(deeper)
    return found


def _safe_member(entry: zipfile.ZipInfo, shown: str) -> PurePosixPath | None:
    """Return an entry's path, None for folders and clutter; raises for names and kinds that no honest zip has."""
    raw = entry.orig_filename
    name = printable_name(raw)
    if "\0" in raw or any(ord(char) < 32 or ord(char) == 127 for char in raw):
        raise BadInput(
            f"{shown}: the entry “{name}” has control characters in its name", review="a zip with hostile names"
        )
    inner = PurePosixPath(raw.replace("\\", "/"))
    if inner.is_absolute() or ".." in inner.parts or re.match(r"[A-Za-z]:", raw):
        raise BadInput(f"{shown}: the entry “{name}” points outside the archive", review="a zip with hostile names")
    kind = stat.S_IFMT(entry.external_attr >> 16)
    if kind == stat.S_IFLNK:
        raise BadInput(f"{shown}: the entry “{name}” is a symbolic link; hand in the file itself")
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        raise BadInput(f"{shown}: the entry “{name}” is not a regular file")
    if entry.is_dir() or kind == stat.S_IFDIR or not inner.parts:
        return None
    if inner.name.startswith(".") or any(part in _ARCHIVE_CLUTTER for part in inner.parts):
        return None
    return inner


def _read_member(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, name: str) -> bytes:
    """Read one entry in chunks; what its header says about its size is not believed."""
    if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        # bzip2 and LZMA make gigabytes of a few bytes, in one step that nothing bounds.
        raise BadInput(
            f"{printable_name(name)} is packed in an unusual way", hint="pack the files again as a plain zip"
        )
    content = bytearray()
    with archive.open(entry) as stream:
        while chunk := stream.read(_CHUNK_BYTES):
            content += chunk
            if len(content) > MAX_FILE_BYTES:
                break
    return _check_size(name, bytes(content))


# --- checks ----------------------------------------------------------------------------------------------------------


def _check_size(name: str, content: bytes) -> bytes:
    if len(content) > MAX_FILE_BYTES:
        raise BadInput(
            f"{printable_name(name)} is larger than {MAX_FILE_BYTES >> 20} MiB: too large for a source file of this lab"
        )
    return content


def _check_content(name: str, content: bytes) -> None:
    if not content.strip():
        raise BadInput(f"{name} is empty")
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise BadInput(f"{name} is saved as UTF-16", hint="save it as UTF-8 (in most editors: “Save with encoding”)")
    if b"\0" in content:
        raise BadInput(f"{name} is not a text file", hint="hand in the source, not a compiled program or an archive")


def _require_main_file(lab: Lab, files: dict[str, bytes], others: list[str], shown: str) -> None:
    wanted = lab.main_file
    if wanted in files:
        return
    sources = sorted(PurePosixPath(name).name for name in others if _is_source(name))
    same = [name for name in sources if name.lower() == wanted.lower()]
    close = same or difflib.get_close_matches(wanted, sources, n=1, cutoff=0.6)
    if wanted in same:
        raise BadInput(f"{wanted} is in a subfolder of {shown}", hint="put it at the top of the folder or archive")
    if close:
        raise BadInput(
            f"expected {wanted}, found {printable_name(close[0])}",
            hint=f"rename {printable_name(close[0])} to {wanted}; names are case-sensitive",
        )
    what = f"found {listing(sorted(set(sources) or set(others)))}" if others else "found no file"
    raise BadInput(f"expected {wanted}, {what}", hint=f"the lab accepts {', '.join(lab.file.lab.files)}")
