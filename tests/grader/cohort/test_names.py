"""Identifiers of students, and the files that are named by them."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from warpgrade.cohort.names import file_name, identifier
from warpgrade.machine.text import clean

# Text of every kind, halves of pairs included, and small variations of honest identifiers.
RAW = st.one_of(
    st.text(max_size=300),
    st.text(st.characters(), max_size=20),
    st.text("aA._-~ @\u0130ıß", max_size=12),
    st.sampled_from(["con", "nul.txt", "ada", "Ada", "ADA", "ada_" + "0" * 32, "x" * 64, "x" * 65]),
)
HOSTILE = [
    "=1+1", "a\nb", "\u202eada", "..", "../x", "/etc/passwd", "x" * 300, "-rf", "$(reboot)", "\udcff", "a\0b", "", " ",
]  # fmt: skip


@given(RAW, RAW)
@example("ada", "Ada")
@example("CON", "con")
def test_file_names_are_plain_and_tell_students_apart(one: str, other: str) -> None:
    name = file_name(one)
    assert re.fullmatch(r"[a-z0-9][a-z0-9._-]{0,79}", name)
    assert not name.endswith(".")
    assert name.partition(".")[0] not in {"con", "prn", "aux", "nul", "com1", "lpt1"}
    assert (name == file_name(other)) == (one == other)
    assert file_name(name) != name or name == one  # nobody can be called what another one's file is called


@given(RAW, RAW)
def test_identifiers_can_be_shown_and_stay_apart(one: str, other: str) -> None:
    shown = identifier(one)
    assert 0 < len(shown) <= 120
    assert clean(shown) == shown
    assert not re.search(r"[\r\n\t\0]", shown)
    assert (shown == identifier(other)) == (one == other)


@pytest.mark.parametrize("honest", ["ada", "ada@example.edu", "123456", "Ada Lovelace", "o'brien-smith", "Åsa", "李"])
def test_honest_identifiers_stay_as_they_are(honest: str) -> None:
    assert identifier(honest) == honest


@pytest.mark.parametrize("hostile", HOSTILE)
def test_hostile_ones_become_plain_files(hostile: str) -> None:
    assert re.fullmatch(r"[a-z0-9-]+_[0-9a-f]{32}", file_name(hostile))
    assert "\u202e" not in identifier(hostile)


def test_plain_identifiers_are_their_own_files() -> None:
    assert [file_name(each) for each in ("ada", "123456", "ada.l-2_x")] == ["ada", "123456", "ada.l-2_x"]
    assert file_name("Ada Lovelace").startswith("ada-lovelace_")
