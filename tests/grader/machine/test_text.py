"""Text from strangers."""

from hypothesis import given
from hypothesis import strategies as st

from warpgrade.machine import text


def test_escapes_are_gone() -> None:
    assert (
        text.clean(b"\x1b[31mred\x1b[0m \x1b]0;title\x07ok\x1b]8;;http://x\x1b\\link\r\nnext\tcell\x00")
        == "red oklink\nnext\tcell"
    )
    assert text.clean("a\u202eb\u2066c") == "abc"
    assert text.clean(b"\xff\xfe") == "\ufffd\ufffd"


@given(st.text() | st.binary())
def test_nothing_that_moves_a_cursor_is_left(raw: str | bytes) -> None:
    cleaned = text.clean(raw)
    assert all(char in "\n\t" or (ord(char) >= 32 and not 0x7F <= ord(char) <= 0x9F) for char in cleaned)
    cleaned.encode("utf-8")


@given(st.text(st.sampled_from("a :#[]|vsoteamcity\t\x1b~\x7fé")))
def test_what_looks_harmless_is_what_cleaning_leaves_as_it_is(raw: str) -> None:
    assert text.clean(raw) == text._cleaned(raw)


def test_bounded() -> None:
    assert text.bounded("a\nb\nc\n", lines=2) == "a\nb\n… and 1 more line"
    assert text.bounded("a\nb\nc\n", lines=1) == "a\n… and 2 more lines"
    assert text.bounded("x" * 20, width=10) == "x" * 9 + "…"


def test_numbers_are_short() -> None:
    assert [text.number(value) for value in (20.0, 8.27, 0.0, 100.0)] == ["20", "8.3", "0", "100"]
