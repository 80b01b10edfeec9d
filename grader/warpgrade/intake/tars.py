"""Reads tar archives, packed or not, from their beginning to their end; every byte that comes out is counted.

tarfile reads the fields of a header. It does not read whole archives here, for it holds whatever an archive's extended
headers say that they contain, and its decompressors give as much as they like.
"""

import bz2
import lzma
import tarfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import IO, Literal, Protocol

_BLOCK = 512
_CHUNK_BYTES = 1 << 16
_MAX_HEADER_BYTES = 1 << 18  # of the kind that describes the next file
_MAX_HEADERS_IN_A_ROW = 16  # headers without a file: honest archives have three or four
_MAX_RECORDS = 1000  # of an extended header: honest ones have a dozen
_MAX_XZ_MEMORY = 128 << 20
_FILES = (tarfile.REGTYPE, tarfile.AREGTYPE, tarfile.CONTTYPE)
_LINKS = (tarfile.SYMTYPE, tarfile.LNKTYPE)
_WITHOUT_CONTENT = (*_LINKS, tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.DIRTYPE, tarfile.FIFOTYPE)
# Comments on the whole archive; a link's long target.
_SKIPPED = (tarfile.XGLTYPE, tarfile.GNUTYPE_LONGLINK, b"V")


class TooMuchError(Exception):
    """More comes out of the archive than anybody wants."""


Kind = Literal["file", "folder", "link", "other"]


@dataclass(frozen=True, slots=True)
class Entry:
    """What a header says: the name as it stands there, the kind, and the size of what follows."""

    name: str
    kind: Kind
    size: int


class _Decompressor(Protocol):
    @property
    def eof(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, max_length: int) -> bytes: ...


class _Gzip:
    """zlib's decompressor with the interface of the others, which keep what they could not use yet."""

    def __init__(self) -> None:
        self._inner = zlib.decompressobj(wbits=31)
        self._waiting = b""

    @property
    def eof(self) -> bool:
        return self._inner.eof

    @property
    def unused_data(self) -> bytes:
        return self._inner.unused_data

    def decompress(self, data: bytes, max_length: int) -> bytes:
        out = self._inner.decompress(self._waiting + data, max_length)
        self._waiting = self._inner.unconsumed_tail
        return out


_PACKED: dict[bytes, Callable[[], _Decompressor]] = {
    b"\x1f\x8b": _Gzip,
    b"BZh": bz2.BZ2Decompressor,
    b"\xfd7zXZ\0": lambda: lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_MAX_XZ_MEMORY),
}


def packing(head: bytes) -> Callable[[], _Decompressor] | None:
    """Return what unpacks a file that begins like that, or None if it is not packed."""
    return next((make for magic, make in _PACKED.items() if head.startswith(magic)), None)


class Stream:
    """A tar's bytes in their order, unpacked; `at` says how many were read."""

    def __init__(self, file: IO[bytes], most: int) -> None:
        file.seek(0)
        self._make = packing(file.read(8))
        file.seek(0)
        self._file = file
        self._inner = self._make() if self._make else None
        self._most = most
        self.at = 0

    @property
    def is_packed(self) -> bool:
        """Whether the file's bytes are others than the tar's."""
        return self._make is not None

    def read(self, size: int) -> bytes:
        """Return at least one byte and at most so many, or nothing at the end."""
        data = self._unpacked(size, self._inner) if self._inner else self._file.read(size)
        self.at += len(data)
        if self.at > self._most:
            raise TooMuchError(f"unpacks to more than {self._most >> 20} MiB")
        return data

    def _unpacked(self, size: int, inner: _Decompressor) -> bytes:
        given = b""
        while True:
            if inner.eof:
                # Packed pieces may follow each other; what else follows is padding.
                given = inner.unused_data
                given += self._file.read(_CHUNK_BYTES) if len(given) < 8 else b""
                make = packing(given[:8])
                if make is None or make is not self._make:
                    return b""
                inner = self._inner = make()
            if out := inner.decompress(given, size):
                return out
            given = b""
            if not inner.eof and not (given := self._file.read(_CHUNK_BYTES)):
                raise EOFError("it ends too early")

    def exactly(self, size: int) -> bytes:
        """Return so many bytes, or fewer at the end."""
        parts = []
        while size and (part := self.read(min(size, _CHUNK_BYTES))):
            parts.append(part)
            size -= len(part)
        return b"".join(parts)

    def skip(self, size: int) -> None:
        """Read so many bytes and forget them."""
        while size:
            part = self.read(min(size, _CHUNK_BYTES))
            if not part:
                raise EOFError("it ends too early")
            size -= len(part)


def entries(stream: Stream) -> Iterator[Entry]:
    """Yield what is in the archive; when a file is yielded, its content is the next in the stream.

    Whoever gets an entry may read of its content as much as it has, and nothing else. Raises what broken archives make
    tarfile and the decompressors raise, and TooMuchError.
    """
    name, size = "", -1
    sparse = False
    row = 0
    while len(block := stream.exactly(_BLOCK)) == _BLOCK and block.count(0) < _BLOCK:
        header = tarfile.TarInfo.frombuf(block, "utf-8", "surrogateescape")
        row += 1
        if row > _MAX_HEADERS_IN_A_ROW:
            raise TooMuchError("has many headers without a file")
        if header.size < 0:
            raise tarfile.HeaderError("a negative size")
        if header.type in _SKIPPED:
            stream.skip(_padded(header.size))
            continue
        if header.type in (tarfile.GNUTYPE_LONGNAME, tarfile.XHDTYPE, tarfile.SOLARIS_XHDTYPE):
            text = _described(stream, header.size)
            if header.type == tarfile.GNUTYPE_LONGNAME:
                name = text.split(b"\0", 1)[0].decode("utf-8", "surrogateescape")
            else:
                name, size, sparse = _extended(text, name)
            continue
        length = header.size if size < 0 else size
        held = 0 if header.type in _WITHOUT_CONTENT else length
        start = stream.at
        yield Entry(name or header.name, "other" if sparse else _kind(header, name), held)
        stream.skip(_padded(held) - (stream.at - start))
        name, size, sparse = "", -1, False
        row = 0
    if block and block.count(0) < len(block):
        raise EOFError("it ends too early")


def _padded(size: int) -> int:
    return -(-size // _BLOCK) * _BLOCK


def _kind(header: tarfile.TarInfo, name: str) -> Kind:
    if header.type in _LINKS:
        return "link"
    # As old archives mark folders.
    if header.type == tarfile.DIRTYPE or (header.type == tarfile.AREGTYPE and name.endswith("/")):
        return "folder"
    return "file" if header.type in _FILES else "other"


def _described(stream: Stream, size: int) -> bytes:
    if size > _MAX_HEADER_BYTES:
        raise TooMuchError("has a huge header")
    text = stream.exactly(_padded(size))
    if len(text) < size:
        raise EOFError("it ends too early")
    return text[:size]


def _extended(text: bytes, name: str) -> tuple[str, int, bool]:
    """Return name, size (or −1) and whether the file has holes, of an extended header: lines `LENGTH KEY=VALUE`."""
    size, sparse = -1, False
    at = words = 0
    while at < len(text) and text[at] != 0:
        words += 1
        if words > _MAX_RECORDS:
            raise TooMuchError("has a huge header")
        digits = text[at : at + 12].split(b" ", 1)[0]
        length = int(digits) if digits.isdigit() else 0
        if not len(digits) + 2 < length <= len(text) - at:
            raise tarfile.HeaderError("an extended header that is none")
        key, _, value = text[at + len(digits) + 1 : at + length - 1].partition(b"=")
        if key == b"path":
            name = value.decode("utf-8", "surrogateescape")
        elif key == b"size":
            if not value.isdigit() or len(value) > 20:
                raise tarfile.HeaderError("a size that is none")
            size = int(value)
        elif key.startswith(b"GNU.sparse."):
            sparse = True
        at += length
    return name, size, sparse
