"""Object files made by hand: an honest one, and the parts to make others."""

import struct
from collections.abc import Sequence
from dataclasses import dataclass

PROGBITS, SYMTAB, STRTAB, RELA, NOTE, NOBITS = 1, 2, 3, 4, 7, 8
W, A, X = 1, 2, 4


@dataclass(frozen=True)
class Section:
    name: bytes
    kind: int = PROGBITS
    flags: int = 0
    content: bytes = b""
    size: int | None = None
    link: int = 0
    entry: int = 0


def symbol(name_at: int, info: int = 0x12, section: int = 1, size: int = 0) -> bytes:
    return struct.pack("<IBBHQQ", name_at, info, 0, section, 0, size)


def elf(sections: Sequence[Section], *, kind: int = 1, machine: int = 62) -> bytes:
    """Return an object file with these sections between the empty one and the table of their names."""
    every = [Section(b"", kind=0), *sections, Section(b".shstrtab", STRTAB)]
    names, places = bytearray(), {}
    for section in every:
        places[section.name] = len(names)
        names += section.name + b"\0"
    body, rows = bytearray(64), b""
    for section in every:
        content = bytes(names) if section.name == b".shstrtab" else section.content
        size = len(content) if section.size is None else section.size
        rows += struct.pack(
            "<IIQQQQIIQQ", places[section.name], section.kind, section.flags, 0, len(body), size, section.link, 0, 1,
            section.entry,
        )  # fmt: skip
        body += content
    head = struct.pack(
        "<16sHHIQQQIHHHHHH", b"\x7fELF\x02\x01\x01".ljust(16, b"\0"), kind, machine, 1, 0, 0, len(body), 0, 64, 0, 0,
        64, len(every), len(every) - 1,
    )  # fmt: skip
    return head + bytes(body[64:]) + rows


NAMES = b"\0_Z3toyPfi\0hidden\0main\0"
HONEST = [
    Section(b".text", flags=A | X, content=b"\xc3"),
    Section(b".rela.text", RELA, 0x40, bytes(24), link=6, entry=24),
    Section(b".data.rel.local", flags=A | W, content=b"12345678"),
    Section(b".bss", NOBITS, A | W, size=1 << 20),
    Section(b".nv_fatbin", flags=A, content=b"x"),
    Section(b".note.GNU-stack"),
    Section(b".symtab", SYMTAB, content=symbol(0, 0, 0) + symbol(1) + symbol(11, 0x02), link=8, entry=24),
    Section(b".strtab", STRTAB, content=NAMES),
]
