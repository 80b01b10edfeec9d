"""Rules for accesses of a warp on GPUs of the past, as NVIDIA's programming guide had them: what texts say of them."""

from __future__ import annotations

from warpgrade.machine.paths import find_layout

ROOT = find_layout().root
HALF = 16


def halves(addresses: list[int]) -> list[list[int]]:
    return [addresses[:HALF], addresses[HALF:]]


def in_order(addresses: list[int]) -> int:
    """Compute capability 1.0 and 1.1: thread k at word k of an aligned segment of 64 bytes, or one access each."""
    return sum(
        1 if half[0] % 64 == 0 and half == [half[0] + 4 * k for k in range(HALF)] else HALF
        for half in halves(addresses)
    )


def segments(addresses: list[int]) -> int:
    """Compute capability 1.2 and 1.3: a transaction for each aligned segment of 128 bytes that a half warp touches.

    Where only a half of the segment is used, the transaction has 64 or 32 bytes; there are as many of them.
    """
    return sum(len({address // 128 for address in half}) for half in halves(addresses))


def sectors(addresses: list[int]) -> int:
    """Today: the sectors of 32 bytes that the whole warp touches."""
    return len({address // 32 for address in addresses})


def warp(first: int) -> list[int]:
    return [4 * (first + lane) for lane in range(32)]


def test_in_order_all_rules_agree() -> None:
    assert [in_order(warp(0)), segments(warp(0)), sectors(warp(0))] == [2, 2, 4]


def test_the_example_of_the_short_answer() -> None:
    for start in (0, 16, 32):  # the starts of segments of 64 bytes
        assert [in_order(warp(start + 1)), segments(warp(start + 1)), sectors(warp(start + 1))] == [32, 3, 5]
    answers = (ROOT / "labs" / "transpose" / "questions.md").read_text(encoding="utf-8")
    assert "The example: 32 transactions, then 3, then 5 sectors instead of 4." in answers
    sheet = (ROOT / "labs" / "transpose" / "README.md").read_text(encoding="utf-8")
    assert "Then a load that is off by one element costs 32 transactions a warp." in sheet
