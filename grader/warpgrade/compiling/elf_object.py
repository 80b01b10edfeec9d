"""Checks what the compiler made of a submission, before a linker sees it: an object file of the kind that nvcc writes.

A source file can put any section into its object (top-level `asm`, attributes), and tools act on some of them: they
start other programs, print what they name, ask for another loader. What honest code gives is on a list; all else is
refused by name. The reader takes every byte for hostile: its work is bounded by the file's size.
"""

import re
import struct
from dataclasses import dataclass, field

from warpgrade.machine.text import printable_name

MOST_SYMBOLS = 1 << 18
# Longer names are left out of `functions`: nobody writes them by hand, and nobody would read them.
LONGEST_NAME = 1024
_LONGEST_SECTION_NAME = 16 << 10  # a template's own section is named after it
_MOST_SECTION_NAMES = 16 << 20  # bytes of all together; sections can share theirs

_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_IDENT = b"\x7fELF\x02\x01\x01"  # 64 bits, little endian, version 1
_RELOCATABLE, _X86_64 = 1, 62

_PROGBITS, _SYMTAB, _STRTAB, _RELA, _NOTE, _NOBITS, _INIT_ARRAY, _FINI_ARRAY, _GROUP = 1, 2, 3, 4, 7, 8, 14, 15, 17
_UNWIND, _SFRAME, _ADDRSIG = 0x70000001, 0x6FFFFFF4, 0x6FFF4C03
_W, _A, _X, _M, _S, _I, _G, _T, _COMPRESSED, _E = 1, 2, 4, 0x10, 0x20, 0x40, 0x200, 0x400, 0x800, 0x80000000

# Name, types, flags: what nvcc with g++ or clang++ makes of every reference, starter, wrong solution and program of the
# checks' corpus, and the same of code that has thread-local or managed variables.
_SUFFIX = r"(?:\.[\x21-\x7e\x80-\xff]+)?"
_ALLOWED = tuple(
    (re.compile(name.encode("latin-1"), re.DOTALL), types, flags)
    for name, types, flags in (
        (rf"\.text{_SUFFIX}", {_PROGBITS}, _A | _X | _G),
        (rf"\.l?rodata{_SUFFIX}", {_PROGBITS}, _A | _M | _S | _G),
        (rf"\.data{_SUFFIX}", {_PROGBITS}, _W | _A | _G),
        (rf"\.bss{_SUFFIX}", {_NOBITS}, _W | _A | _G),
        (rf"\.tdata{_SUFFIX}", {_PROGBITS}, _W | _A | _T | _G),
        (rf"\.tbss{_SUFFIX}", {_NOBITS}, _W | _A | _T | _G),
        (r"\.init_array", {_INIT_ARRAY}, _W | _A | _G),
        (r"\.fini_array", {_FINI_ARRAY}, _W | _A | _G),
        (r"\.eh_frame", {_PROGBITS, _UNWIND}, _A | _G),
        (rf"\.gcc_except_table{_SUFFIX}", {_PROGBITS}, _A | _G),
        (r"\.sframe", {_PROGBITS, _SFRAME}, _A),
        (r"\.nv_fatbin", {_PROGBITS}, _A),
        (r"\.nvFatBinSegment", {_PROGBITS}, _W | _A),
        (r"__nv_managed_data__", {_PROGBITS, _NOBITS}, _W | _A),
        (r"\.debug_(?:abbrev|addr|aranges|frame|info|line|line_str|loc|loclists|macro|pubnames|pubtypes|ranges|rnglists"
         r"|str|str_offsets|types)", {_PROGBITS}, _M | _S | _G | _COMPRESSED),
        (r"\.comment", {_PROGBITS}, _M | _S),
        (r"\.note\.GNU-stack", {_PROGBITS}, 0),
        (r"\.note\.gnu\.property", {_NOTE}, _A),
        (r"\.llvm_addrsig", {_ADDRSIG}, _E),
        (r"\.group", {_GROUP}, 0),
        (r"\.symtab", {_SYMTAB}, 0),
        (r"\.(?:str|shstr)tab", {_STRTAB}, 0),
    )
)  # fmt: skip

_SHN_COMMON, _SHN_UNDEF = 0xFFF2, 0
_LOCAL, _KINDS = 0, {0, 1, 2, 3, 4, 6}  # no type, object, function, section, file, thread-local
_FUNCTION = 2
_BINDINGS = {0, 1, 2, 10}  # local, global, weak, unique: an inline function's static variable
_INDIRECT = 10  # a type: its resolver runs before the program


class RefusedObject(Exception):  # noqa: N818 - a verdict on the submission
    """What the object holds that no linker is shown; `str()` names it."""


@dataclass
class ObjectFile:
    """What is known of an object: its functions, as (linker's name, visible to other files), and what it needs."""

    functions: list[tuple[str, bool]] = field(default_factory=list)
    memory: int = 0  # bytes that a program with it takes before it starts


@dataclass(frozen=True)
class _Section:
    name: bytes
    kind: int
    flags: int
    offset: int
    size: int
    link: int
    entry: int


def read(raw: bytes) -> ObjectFile:
    """Return what an object holds; raises RefusedObject when it is none, or holds what honest code does not."""
    sections = _sections(raw)
    found = ObjectFile()
    for section in sections[1:]:
        _check(section, len(raw))
        if section.flags & _A:
            found.memory += section.size
    tables = [section for section in sections if section.kind == _SYMTAB]
    if len(tables) > 1:
        raise RefusedObject("more than one symbol table")
    for table in tables:
        _read_symbols(raw, table, sections, found)
    return found


def _sections(raw: bytes) -> list[_Section]:
    if len(raw) < _HEADER.size or not raw.startswith(_IDENT):
        raise RefusedObject("not an object file for x86-64")
    _, kind, machine, version, _, _, at, _, _, _, programs, size, count, names_at = _HEADER.unpack_from(raw)
    if (kind, machine, version, programs) != (_RELOCATABLE, _X86_64, 1, 0):
        raise RefusedObject("not an object file for x86-64")
    if size != _SECTION.size or not 0 < names_at < count or at + count * size > len(raw):
        raise RefusedObject("a broken section table")
    rows = [_SECTION.unpack_from(raw, at + number * size) for number in range(count)]
    _, kind, _, _, names, length, *_ = rows[names_at]
    if kind != _STRTAB or names + length > len(raw):
        raise RefusedObject("a broken section table")
    found: list[_Section] = []
    left = _MOST_SECTION_NAMES
    for row in rows:
        name = _string(raw, names, length, row[0], _LONGEST_SECTION_NAME)
        if name is None or (left := left - len(name)) < 0:
            raise RefusedObject("sections without names or with names that are too long")
        found.append(_Section(name, kind=row[1], flags=row[2], offset=row[4], size=row[5], link=row[6], entry=row[9]))
    return found


def _string(raw: bytes, table: int, length: int, at: int, longest: int) -> bytes | None:
    """Return the string at that place of a table, None if it is longer than that or none at all."""
    if at >= length:
        return None
    begin = table + at
    end = raw.find(b"\0", begin, min(table + length, begin + longest + 1))
    return None if end < 0 else raw[begin:end]


def _check(section: _Section, file_size: int) -> None:
    if section.kind == 0:
        raise RefusedObject("a section without a type")
    if section.kind != _NOBITS and section.offset + section.size > file_size:
        raise RefusedObject(f"section {_shown(section.name)}, which is incomplete")
    name, kind, flags = section.name, section.kind, section.flags
    if kind == _RELA and name.startswith(b".rela"):
        # What is to be filled in, in a section that is on the list itself.
        known, flags = any(rule.fullmatch(name[5:]) for rule, _, _ in _ALLOWED), flags & ~(_I | _G)
        if known and not flags and section.entry == 24:
            return
        raise RefusedObject(f"section {_shown(name)}")
    for rule, kinds, allowed in _ALLOWED:
        if rule.fullmatch(name):
            if kind in kinds and not flags & ~allowed:
                return
            raise RefusedObject(f"section {_shown(name)} of type {kind:#x} with flags {flags:#x}")
    raise RefusedObject(f"section {_shown(name)}")


def _read_symbols(raw: bytes, table: _Section, sections: list[_Section], found: ObjectFile) -> None:
    if table.entry != _SYMBOL.size or table.size % _SYMBOL.size or table.link >= len(sections):
        raise RefusedObject("a broken symbol table")
    if table.size // _SYMBOL.size > MOST_SYMBOLS:
        raise RefusedObject(f"more than {MOST_SYMBOLS:,} symbols")
    names = sections[table.link]
    if names.kind != _STRTAB:
        raise RefusedObject("a broken symbol table")
    for name_at, info, _, section, _, size in _SYMBOL.iter_unpack(raw[table.offset : table.offset + table.size]):
        binding, kind = info >> 4, info & 15
        if kind not in _KINDS or binding not in _BINDINGS:
            name = _string(raw, names.offset, names.size, name_at, LONGEST_NAME) or b"?"
            what = "an indirect function" if kind == _INDIRECT else f"of type {kind} and binding {binding}"
            raise RefusedObject(f"symbol {_shown(name)}, {what}")
        if section == _SHN_COMMON:
            found.memory += size
        elif section != _SHN_UNDEF and kind in (0, _FUNCTION):
            defined = _string(raw, names.offset, names.size, name_at, LONGEST_NAME)
            if defined and defined.isascii():
                found.functions.append((defined.decode("ascii"), binding != _LOCAL))


def _shown(name: bytes) -> str:
    words = printable_name(name.decode("utf-8", errors="replace")).split()
    return " ".join(words) or "without a name"
