"""When the last commit of a checkout was made, read from git's own files.

No git runs here: the checkout's configuration and hooks can name programs, and its owner is a student. What is read are
the head, the reference that it names, and one commit, loose or in a pack. The time is what the committer's clock said.
"""

import mmap
import os
import re
import zlib
from datetime import UTC, datetime
from pathlib import Path

_MAX_BYTES = 1 << 16  # of a commit, or of what one is made from
_MAX_REFERENCES_BYTES = 16 << 20
_MAX_STEPS = 60
_HASH = re.compile(rb"[0-9a-f]{40}")
_REFERENCE = re.compile(rb"refs/heads/[A-Za-z0-9][A-Za-z0-9._+@/-]{0,200}")
_COMMITTER = re.compile(rb"^committer [^\n]*> (\d{1,12}) [+-]\d{4}$", re.MULTILINE)
_COMMIT, _OFFSET_DELTA, _NAMED_DELTA = 1, 6, 7


def last_commit(checkout: Path) -> datetime | None:
    """Return when the commit that is checked out was made, or None where that cannot be told."""
    folder = checkout / ".git"
    try:
        if folder.is_symlink() or not folder.is_dir():
            return None
        name = _head(folder)
        commit = _commit(folder / "objects", name) if name else None
        found = _COMMITTER.search(commit.partition(b"\n\n")[0]) if commit else None
        return datetime.fromtimestamp(int(found[1]), UTC) if found else None
    except (OSError, ValueError, OverflowError, IndexError, zlib.error):
        return None


def _content(path: Path, most: int) -> bytes:
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as file:
        content = file.read(most + 1)
    if len(content) > most:
        raise ValueError("too large")
    return content


def _head(folder: Path) -> bytes | None:
    head = _content(folder / "HEAD", 1000).strip()
    if not head.startswith(b"ref: "):
        return head if _HASH.fullmatch(head) else None
    reference = head[5:].strip()
    if not _REFERENCE.fullmatch(reference) or b".." in reference:
        return None
    try:
        name = _content(folder / os.fsdecode(reference), 1000).strip()
    except FileNotFoundError:
        packed = _content(folder / "packed-refs", _MAX_REFERENCES_BYTES)
        line = re.search(rb"^([0-9a-f]{40}) " + re.escape(reference) + rb"$", packed, re.MULTILINE)
        name = line[1] if line else b""
    return name if _HASH.fullmatch(name) else None


def _commit(objects: Path, name: bytes) -> bytes | None:
    text = name.decode()
    try:
        raw = _inflated(_content(objects / text[:2] / text[2:], _MAX_BYTES), 0)
    except FileNotFoundError:
        return _packed(objects / "pack", bytes.fromhex(text))
    kind, _, content = raw.partition(b"\0")
    return content if kind.startswith(b"commit ") else None


def _inflated(data: bytes | mmap.mmap, at: int) -> bytes:
    inner = zlib.decompressobj()
    out = inner.decompress(data[at : at + _MAX_BYTES], _MAX_BYTES)
    if not inner.eof:
        raise ValueError("too large")
    return out


def _packed(folder: Path, name: bytes) -> bytes | None:
    for index in sorted(folder.glob("pack-*.idx"))[:100]:
        with _mapped(index) as table:
            at = _place(table, name)
        if at is not None:
            with _mapped(index.with_suffix(".pack")) as pack:
                kind, content = _unpacked(pack, at, 0)
            return content if kind == _COMMIT else None
    return None


def _mapped(path: Path) -> mmap.mmap:
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        return mmap.mmap(descriptor, 0, access=mmap.ACCESS_READ)
    finally:
        os.close(descriptor)


def _number(data: mmap.mmap, at: int, size: int = 4) -> int:
    piece = data[at : at + size]
    if len(piece) < size:
        raise ValueError("cut off")
    return int.from_bytes(piece, "big")


def _place(table: mmap.mmap, name: bytes) -> int | None:
    """Return where in its pack an object is, by an index of version 2."""
    if table[:8] != b"\xfftOc\0\0\0\x02":
        return None
    low = _number(table, 8 + 4 * (name[0] - 1)) if name[0] else 0
    high, count = _number(table, 8 + 4 * name[0]), _number(table, 8 + 4 * 255)
    while low < high:
        middle = (low + high) // 2
        other = table[1032 + 20 * middle : 1052 + 20 * middle]
        if other == name:
            offset = _number(table, 1032 + 24 * count + 4 * middle)
            if offset < 1 << 31:
                return offset
            return _number(table, 1032 + 28 * count + 8 * (offset - (1 << 31)), 8)
        low, high = (middle + 1, high) if other < name else (low, middle)
    return None


def _unpacked(pack: mmap.mmap, at: int, steps: int) -> tuple[int, bytes]:
    """Return an object's kind and content; deltas are applied to what they are made from."""
    if steps > _MAX_STEPS:
        raise ValueError("too many steps")
    start = at
    byte = pack[at]
    kind = byte >> 4 & 7
    while byte & 0x80:
        at += 1
        byte = pack[at]
    at += 1
    if kind == _NAMED_DELTA:
        raise ValueError("not in a pack of its own")  # packs on disk have deltas by offset
    if kind != _OFFSET_DELTA:
        return kind, _inflated(pack, at)
    byte = pack[at]
    back = byte & 0x7F
    while byte & 0x80:
        at += 1
        byte = pack[at]
        back = (back + 1 << 7) | (byte & 0x7F)
    if not 0 < back < start:
        raise ValueError("outside of the pack")
    kind, base = _unpacked(pack, start - back, steps + 1)
    return kind, _applied(base, _inflated(pack, at + 1))


def _applied(base: bytes, delta: bytes) -> bytes:
    at = 0
    for _ in range(2):  # the sizes of base and result
        while delta[at] & 0x80:
            at += 1
        at += 1
    out = bytearray()
    while at < len(delta):
        code = delta[at]
        at += 1
        if not code & 0x80:
            out += delta[at : at + code]
            at += code
        else:
            offset = size = 0
            for bit in range(7):
                if code >> bit & 1:
                    if bit < 4:
                        offset |= delta[at] << 8 * bit
                    else:
                        size |= delta[at] << 8 * (bit - 4)
                    at += 1
            out += base[offset : offset + (size or 0x10000)]
        if len(out) > _MAX_BYTES:
            raise ValueError("too large")
    return bytes(out)
