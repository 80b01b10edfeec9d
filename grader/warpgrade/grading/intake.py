"""Intake: reads a submission (folder, single file, zip) into memory, trusting nothing about it.

Nothing is ever unpacked to disk under a name that the submission chose: only files whose plain names the lab allows
are taken, and the build writes them out under those names.
"""

from __future__ import annotations

import difflib
import hashlib
import os
import re
import stat
import struct
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

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
_ARCHIVE_CLUTTER = {"__MACOSX", ".DS_Store", "Thumbs.db"}


@dataclass(frozen=True)
class Submission:
    """What is graded: plain file names and their bytes; `folder` is where they lie, if they do not lie in a zip."""

    name: str
    files: dict[str, bytes]
    ignored: list[str]
    folder: Path | None = None

    @property
    def digest(self) -> str:
        """A hash of names and contents."""
        total = hashlib.sha256()
        for name in sorted(self.files):
            total.update(f"{name}\0{len(self.files[name])}\0".encode())
            total.update(self.files[name])
        return total.hexdigest()


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
        found, others = _read_folder(lab, folder)
    elif not stat.S_ISREG(mode):
        raise BadInput(f"{shown} is neither a folder nor a file")
    elif path.suffix.lower() == ".zip":
        folder = None
        found, others = _read_zip(lab, path)
    elif path.suffix.lower() in _SOURCE_SUFFIXES:
        found, others = _read_single(lab, path)
    else:
        raise BadInput(
            f"{shown} is not a submission",
            hint=f"give a folder or a zip that contains {lab.main_file}, or the file itself",
        )
    _require_main_file(lab, found, others, shown)
    for name, content in found.items():
        _check_content(name, content)
    ignored = sorted(printable_name(name) for name in others if _is_source(name) and not lab.gives(name))
    return Submission(name=shown, files=dict(sorted(found.items())), ignored=ignored, folder=folder)


def _is_source(name: str) -> bool:
    return PurePosixPath(name).suffix.lower() in _SOURCE_SUFFIXES


def _taken(lab: Lab, name: str) -> bool:
    return lab.allows(name) and _PLAIN_NAME.fullmatch(name) is not None


def _check_total(files: dict[str, bytes]) -> None:
    if sum(map(len, files.values())) > MAX_TOTAL_BYTES:
        raise BadInput(f"together, the submission's files are larger than {MAX_TOTAL_BYTES >> 20} MiB")


# --- folder and single file ------------------------------------------------------------------------------------------


def _without_wrapping(folder: Path) -> Path:
    """People hand in the folder around the folder; one level of that is forgiven."""
    names, subfolders = _list_folder(folder)
    wraps = len(subfolders) == 1 and not any(_is_source(name) for name in names)
    return folder / subfolders[0] if wraps else folder


def _read_folder(lab: Lab, folder: Path) -> tuple[dict[str, bytes], list[str]]:
    names, _ = _list_folder(folder)
    if not names:
        raise BadInput(f"{printable_name(str(folder))} is empty", hint=f"it should contain {lab.main_file}")
    files: dict[str, bytes] = {}
    for name in names:
        if _taken(lab, name):
            files[name] = _read_regular(folder / name, name)
            _check_total(files)
    return files, [name for name in names if name not in files]


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


def _read_regular(path: Path, name: str) -> bytes:
    """Read a regular file; links, pipes and devices are refused without opening what is behind them."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        what = (
            "is a symbolic link; hand in the file itself" if path.is_symlink() else f"cannot be read: {error.strerror}"
        )
        raise BadInput(f"{name} {what}") from None
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise BadInput(f"{name} is not a regular file")
        content = file.read(MAX_FILE_BYTES + 1)
    return _check_size(name, content)


def _read_single(lab: Lab, path: Path) -> tuple[dict[str, bytes], list[str]]:
    if not _taken(lab, path.name):
        return {}, [path.name]
    # The path itself may be a link: it was named by the person who grades.
    return {path.name: _read_regular(path.resolve(), path.name)}, []


# --- zip -------------------------------------------------------------------------------------------------------------


def _read_zip(lab: Lab, path: Path) -> tuple[dict[str, bytes], list[str]]:
    shown = printable_name(str(path))
    try:
        _check_directory(path, shown)
        with zipfile.ZipFile(path) as archive:
            return _take_from_zip(lab, archive, shown)
    except (zipfile.BadZipFile, zlib.error, struct.error, EOFError, NotImplementedError, ValueError) as error:
        reason = printable_name(str(error)) or "damaged"
        raise BadInput(
            f"{shown} is not a readable zip archive: {reason}", hint="pack the files again as a plain zip"
        ) from None
    except (RuntimeError, OSError) as error:  # RuntimeError: encrypted
        raise BadInput(f"{shown} cannot be read: {printable_name(str(error))}") from None


def _check_directory(path: Path, shown: str) -> None:
    """Refuse a zip whose list of entries is huge before anything reads that list."""
    with path.open("rb") as file:
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


def _take_from_zip(lab: Lab, archive: zipfile.ZipFile, shown: str) -> tuple[dict[str, bytes], list[str]]:
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
    files: dict[str, bytes] = {}
    others: list[str] = []
    for inner, entry in members:
        name = inner.name
        if len(inner.parts) != depth or not _taken(lab, name):
            others.append(name)
        elif name in files:
            raise BadInput(f"{shown} holds {name} twice")
        else:
            files[name] = _read_member(archive, entry, name)
            _check_total(files)
    return files, others


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
        raise BadInput(f"{name} is packed in an unusual way", hint="pack the files again as a plain zip")
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
        raise BadInput(f"{name} is larger than {MAX_FILE_BYTES >> 20} MiB: too large for a source file of this lab")
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
