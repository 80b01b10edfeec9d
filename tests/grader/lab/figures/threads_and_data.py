"""Lab first: which thread has which pixel, and which sectors a warp touches."""

from __future__ import annotations

from lab.figures.drawing import Drawing

_WIDTH, _HEIGHT, _BLOCK_X, _BLOCK_Y = 11, 5, 4, 2
_SIDE, _LEFT, _TOP = 34, 70, 92


def grid() -> Drawing:
    """An image of 11 × 5 pixels and blocks of 4 × 2 threads."""
    drawn = Drawing(
        "Which thread has which pixel",
        "An image of 11 by 5 pixels and blocks of 4 by 2 threads: three blocks along x and three along y. Threads of "
        "the last column and of the last row of the grid have no pixel. Thread (2, 1) of block (1, 1) has the pixel in "
        "column 6 of row 3, which is number 39 in memory.",
        height=388,
    )
    drawn.text(24, 34, "11 × 5 pixels, blocks of 4 × 2 threads: 3 × 3 blocks, 17 threads without a pixel", "head")
    across, down = -(-_WIDTH // _BLOCK_X), -(-_HEIGHT // _BLOCK_Y)
    for block in range(across):
        x = _LEFT + (block + 0.5) * _BLOCK_X * _SIDE
        drawn.text(x, _TOP - 26, f"blockIdx.x = {block}", "small", centred=True)
    for y in range(down * _BLOCK_Y):
        for x in range(across * _BLOCK_X):
            inside = x < _WIDTH and y < _HEIGHT
            even = (x // _BLOCK_X + y // _BLOCK_Y) % 2 == 0
            style = "idle" if not inside else "b" if (x, y) == (6, 3) else "cell" if even else "side"
            gap = 0 if inside else 3
            drawn.box(_LEFT + x * _SIDE + gap, _TOP + y * _SIDE + gap, _SIDE - 2 * gap, _SIDE - 2 * gap, style)
            if inside:
                place = (_LEFT + (x + 0.5) * _SIDE, _TOP + (y + 0.5) * _SIDE + 5)
                drawn.text(*place, str(y * _WIDTH + x), "code", centred=True)
    for x in range(_WIDTH + 1):
        drawn.text(_LEFT + (x + 0.5) * _SIDE, _TOP - 8, str(x), "small", centred=True)
    for y in range(_HEIGHT + 1):
        drawn.text(_LEFT - 16, _TOP + (y + 0.5) * _SIDE + 5, str(y), "small", centred=True)
    drawn.text(24, _TOP - 8, "x", "code")
    drawn.text(24, _TOP + 22, "y", "code")
    right = _LEFT + across * _BLOCK_X * _SIDE + 20
    for line, words in enumerate(
        ("blockIdx (1, 1)", "threadIdx (2, 1)", "x = 1 · 4 + 2 = 6", "y = 1 · 2 + 1 = 3", "3 · 11 + 6 = 39")
    ):
        drawn.text(right, _TOP + 40 + 26 * line, words, "code")
    drawn.text(_LEFT, 326, "x = blockIdx.x * blockDim.x + threadIdx.x", "code")
    drawn.text(_LEFT, 346, "y = blockIdx.y * blockDim.y + threadIdx.y", "code")
    drawn.text(
        24,
        374,
        "Numbers are those of pixels in memory. Drawn with blocks of 4 × 2; real ones have whole warps: 32 × 8.",
        "small",
    )
    return drawn


_LANE, _FROM = 20, 80


def warp() -> Drawing:
    """One load of a warp, once of neighbours and once of every eighth element."""
    drawn = Drawing(
        "Which sectors a warp touches",
        "Thirty-two threads load one float each. Neighbouring threads with neighbouring elements touch 4 sectors of 8 "
        "floats and use all of them. If thread t loads element 8 t, each thread touches a sector of its own: 32 "
        "sectors, of which an eighth is used.",
        height=330,
    )
    drawn.text(24, 34, "x[t]: neighbours, 4 sectors, all of their bytes are used", "head")
    _lanes(drawn, 50)
    for lane in range(32):
        style = "b" if lane // 8 % 2 else "c"
        drawn.box(_FROM + lane * _LANE, 106, _LANE, 22, style)
        drawn.arrow((_FROM + (lane + 0.5) * _LANE, 72), (_FROM + (lane + 0.5) * _LANE, 106))
    for sector in range(4):
        middle = _FROM + (8 * sector + 4) * _LANE
        drawn.text(middle, 146, f"sector {sector}: x[{8 * sector}] … x[{8 * sector + 7}]", "small", centred=True)
    drawn.text(24, 190, "x[8 * t]: far apart, 32 sectors, an eighth of their bytes is used", "head")
    _lanes(drawn, 206)
    for lane in range(32):
        left = _FROM + lane * _LANE
        drawn.box(left, 262, _LANE, 22, "cell")
        drawn.box(left, 262, 5, 22, "b" if lane % 2 else "c")
        drawn.arrow((left + 2.5, 228), (left + 2.5, 262))
    drawn.text(_FROM, 302, "32 sectors, one beside the other: x[0] … x[255]", "small")
    for y in (122, 278):
        drawn.text(20, y, "memory", "small")
    return drawn


def _lanes(drawn: Drawing, y: float) -> None:
    drawn.text(20, y + 16, "thread", "small")
    for lane in range(32):
        drawn.box(_FROM + lane * _LANE, y, _LANE, 22, "side")
        drawn.text(_FROM + (lane + 0.5) * _LANE, y + 15, str(lane), "small", centred=True)


FIGURES = {"first/figures/grid.svg": grid, "first/figures/warp.svg": warp}
