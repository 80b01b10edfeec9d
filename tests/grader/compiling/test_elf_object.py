"""The check of object files before a linker sees them: what is on the list passes, any other byte is refused."""

import struct
import subprocess
from pathlib import Path

import pytest
from elf_files import HONEST, NOBITS, NOTE, PROGBITS, RELA, STRTAB, SYMTAB, A, Section, W, X, elf, symbol
from hypothesis import given, settings
from hypothesis import strategies as st

from warpgrade.compiling import elf_object
from warpgrade.compiling.elf_object import RefusedObject
from warpgrade.machine import text


def reason(raw: bytes) -> str:
    with pytest.raises(RefusedObject) as caught:
        elf_object.read(raw)
    return str(caught.value)


def test_what_an_honest_object_holds_is_told() -> None:
    found = elf_object.read(elf(HONEST))
    assert found.functions == [("_Z3toyPfi", True), ("hidden", False)]
    assert 1 << 20 <= found.memory < (1 << 20) + 100


def test_what_the_compiler_makes_passes(tmp_path: Path) -> None:
    source = """
        #include <iostream>
        #include <stdexcept>
        thread_local int mine = 3; thread_local int none; inline int once() { static int n = mine; return ++n; }
        struct S { S() { std::cout << once(); } ~S() {} } s;
        template <class T> T twice(T x) { if (x < 0) throw std::runtime_error("x"); return 2 * x; }
        void toy(float* a, int n) { try { a[0] = twice(n) + none; } catch (std::exception&) { a[0] = 0; } }
    """
    (tmp_path / "a.cpp").write_text(source, encoding="utf-8")
    for words in (["-O3", "-g1"], ["-O0", "-g"], ["-O2", "-ffunction-sections", "-fdata-sections"], ["-Os", "-gz"]):
        subprocess.run(["g++", "-std=c++17", *words, "-c", "a.cpp", "-o", "a.o"], cwd=tmp_path, check=True)
        found = elf_object.read((tmp_path / "a.o").read_bytes())
        assert ("_Z3toyPfi", True) in found.functions


@pytest.mark.parametrize(
    "section",
    [
        Section(b".interp", flags=A),
        Section(b".gnu.lto_main", flags=0x80000000),
        Section(b".gnu.warning.x"),
        Section(b".gnu.linkonce.t.x", flags=A | X),
        Section(b".note.other", NOTE, A),
        Section(b".note.GNU-stack", flags=X),
        Section(b".preinit_array", 16, A | W),
        Section(b".init_array.00001", 14, A | W),
        Section(b".dynamic", 6, A | W),
        Section(b".text", NOBITS, A | X),
        Section(b".text.lto", flags=0x80000000),
        Section(b".data", flags=A | W | X),
        Section(b".rodata", flags=A | 0x800),
        Section(b".rela.interp", RELA, 0x40, entry=24),
        Section(b".rela.text", RELA, A, entry=24),
        Section(b".rela.text", RELA, 0x40, entry=16),
        Section(b".rel.text", 9, 0x40),
        Section(b".text\n::error::x", flags=A | X),
        Section(b".symtab_shndx", 18),
        Section(b"", kind=0),
        Section(b" "),
        Section(b"\t.text  x "),
        Section(b".text", flags=A | X, size=1 << 40),
    ],
    ids=lambda section: repr(section.name),
)
def test_what_is_not_on_the_list_is_refused(section: Section) -> None:
    said = reason(elf([*HONEST, section]))
    assert "section" in said
    assert text.one_line(said, 400) == said
    assert "lto_main" in said or section.name != b".gnu.lto_main"


@pytest.mark.parametrize(
    ("raw", "what"),
    [
        (b"", "not an object file"),
        (b"INPUT(/etc/passwd)\n", "not an object file"),
        (b"!<arch>\n" + bytes(200), "not an object file"),
        (elf(HONEST, kind=2), "not an object file"),
        (elf(HONEST, kind=3), "not an object file"),
        (elf(HONEST, machine=3), "not an object file"),
        (elf([*HONEST[:6], Section(b".symtab", SYMTAB, content=symbol(1, 0x1A), link=8, entry=24), HONEST[7]]),
         "indirect function"),
        (elf([*HONEST[:6], Section(b".symtab", SYMTAB, content=symbol(1, 0x52), link=8, entry=24), HONEST[7]]),
         "binding 5"),
        (elf([*HONEST[:6], Section(b".symtab", SYMTAB, content=b"x" * 23, link=8, entry=24), HONEST[7]]),
         "symbol table"),
        (elf([*HONEST, HONEST[6]]), "more than one symbol table"),
    ],
)  # fmt: skip
def test_what_is_no_object_of_ours_is_refused(raw: bytes, what: str) -> None:
    assert what in reason(raw)


def test_common_symbols_count_as_memory() -> None:
    table = Section(b".symtab", SYMTAB, content=symbol(1, 0x11, 0xFFF2, 5 << 30), link=8, entry=24)
    assert elf_object.read(elf([*HONEST[:6], table, HONEST[7]])).memory > 5 << 30


def test_many_sections_that_share_a_long_name_are_refused_early() -> None:
    many = [Section(b".text." + b"x" * 10_000, flags=A | X)] * 60_000
    # elf() gives each name its own bytes once, so that the file is small and the names together are not.
    names = b"\0" + many[0].name + b"\0.shstrtab\0"
    rows = struct.pack("<IIQQQQIIQQ", *[0] * 10)
    rows += struct.pack("<IIQQQQIIQQ", 1, PROGBITS, A | X, 0, 64, 0, 0, 0, 1, 0) * len(many)
    rows += struct.pack("<IIQQQQIIQQ", len(many[0].name) + 2, STRTAB, 0, 0, 64, len(names), 0, 0, 1, 0)
    head = struct.pack(
        "<16sHHIQQQIHHHHHH", b"\x7fELF\x02\x01\x01".ljust(16, b"\0"), 1, 62, 1, 0, 0, 64 + len(names), 0, 64, 0, 0,
        64, len(many) + 2, len(many) + 1,
    )  # fmt: skip
    assert "names" in reason(head + names + rows)


def test_many_symbols_are_refused() -> None:
    table = Section(b".symtab", SYMTAB, content=bytes(24) * (elf_object.MOST_SYMBOLS + 1), link=8, entry=24)
    assert "symbols" in reason(elf([*HONEST[:6], table, HONEST[7]]))


GOOD = elf(HONEST)
NUMBERS = st.sampled_from(
    [0, 1, 2, 23, 24, 63, 64, 255, 0xFF00, 0xFFFF, 0xFFFFFFFF, 1 << 31, 1 << 40, 2**63, 2**64 - 1]
)


@settings(max_examples=600, deadline=None)
@given(
    changes=st.lists(st.tuples(st.integers(0, len(GOOD) - 1), st.integers(0, 255) | NUMBERS), max_size=6),
    cut=st.integers(0, 40),
)
def test_any_damage_gives_an_object_or_a_reason(changes: list[tuple[int, int]], cut: int) -> None:
    raw = bytearray(GOOD)
    for at, value in changes:
        width = 1 if value < 256 else 4 if value < 1 << 32 else 8
        raw[at : at + width] = value.to_bytes(width, "little")
    check(bytes(raw[: len(raw) - cut]))


@settings(max_examples=200, deadline=None)
@given(
    sections=st.lists(
        st.builds(
            Section,
            name=st.sampled_from([b".text", b".rela.text", b".symtab", b".interp"]) | st.binary(max_size=9),
            kind=st.integers(0, 20) | NUMBERS.map(lambda value: value & 0xFFFFFFFF),
            flags=st.integers(0, 0x1000) | NUMBERS,
            content=st.binary(max_size=60),
            size=st.none() | NUMBERS,
            link=st.integers(0, 9),
            entry=st.sampled_from([0, 1, 24, 1 << 40]),
        ),
        max_size=6,
    )
)  # fmt: skip
def test_any_sections_give_an_object_or_a_reason(sections: list[Section]) -> None:
    check(elf(sections))


@settings(max_examples=200, deadline=None)
@given(raw=st.binary(max_size=300))
def test_any_bytes_give_a_reason(raw: bytes) -> None:
    check(raw)
    check(GOOD[:64] + raw)


def check(raw: bytes) -> None:
    try:
        found = elf_object.read(raw)
    except RefusedObject as refused:
        assert text.one_line(str(refused), 400) == str(refused)
        assert len(str(refused)) < 300
        return
    assert all(len(name) <= elf_object.LONGEST_NAME for name, _ in found.functions)
