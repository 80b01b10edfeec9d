"""Lab debug: a race, in two orders of its warps."""

from __future__ import annotations

from lab.figures.drawing import Drawing


def orders() -> Drawing:
    """The sheet's kernel `rotate`: two orders without its barrier, and one with it."""
    drawn = Drawing(
        "One kernel, two orders",
        "Warp 0 stores s[0] to s[31], and its thread 31 loads s[32], which warp 1 stores. If both warps happen to "
        "store before either loads, the result is right. If warp 0 is ahead, it loads what nobody has written. With a "
        "barrier between store and load, every order is right.",
        height=372,
    )
    stores = ((0, 0, "store"), (1, 1, "store"))
    _timeline(
        drawn, 24, "Both happen to store before either loads: right, by luck", (*stores, (0, 2, "load"), (1, 3, "load"))
    )
    ahead = ((0, 0, "store"), (0, 1, "early"), (1, 2, "store"), (1, 3, "load"))
    _timeline(drawn, 136, "Warp 0 is ahead: thread 31 loads s[32] before it is written", ahead)
    _timeline(drawn, 248, "With a barrier: no load before the last store", (*stores, (1, 2, "load"), (0, 3, "load")))
    drawn.line([(_START + 2 * _STEP - 5, 262), (_START + 2 * _STEP - 5, 350)], "link")
    return drawn


_START, _STEP = 92, 156
_WORDS = {
    "store0": "s[0…31] = …", "store1": "s[32…63] = …", "load0": "… = s[1…32]", "load1": "… = s[33…63,0]",
    "early0": "… = s[1…32]",
}  # fmt: skip


def _timeline(drawn: Drawing, top: float, title: str, steps: tuple[tuple[int, int, str], ...]) -> None:
    drawn.text(24, top + 8, title, "head")
    for warp in range(2):
        drawn.text(24, top + 42 + 38 * warp, f"warp {warp}", "small")
        drawn.line([(_START - 8, top + 38 + 38 * warp), (716, top + 38 + 38 * warp)])
    for warp, turn, what in steps:
        style = {"store": "a", "early": "b", "load": "c"}[what]
        drawn.labelled(_START + turn * _STEP, top + 22 + 38 * warp, _STEP - 10, 30, style, _WORDS[f"{what}{warp}"])


FIGURES = {"debug/figures/orders.svg": orders}
