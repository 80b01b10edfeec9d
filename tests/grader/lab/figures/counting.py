"""Lab histogram: additions to counts of a device or of blocks, and what a match tells the lanes of a warp."""

from __future__ import annotations

from lab.figures.drawing import Drawing

_VALUES = [[2, 0, 2, 3, 2, 2, 1, 2], [0, 2, 2, 2, 3, 2, 0, 1]]  # of the threads of two blocks
_LANES = [3, 1, 3, 3, 0, 1, 3, 0]
_BINS = range(4)


def privatized() -> Drawing:
    """The same values, counted in global memory, and in shared memory first."""
    drawn = Drawing(
        "Additions to counts in global memory, with and without counts of the blocks",
        "Sixteen threads in two blocks have the values 2 0 2 3 2 2 1 2 and 0 2 2 2 3 2 0 1. In version 1 each has a "
        "line to one of four counts in global memory: sixteen lines, nine of which end at bin 2. In version 2 the "
        "lines of a block end at four counts of its own in shared memory, and each of these counts is added once to "
        "global memory: eight lines, of which two end at each bin.",
        height=370,
        width=780,
    )
    for left, title in ((24, "1: each thread adds to global memory"), (404, "2: blocks have counts of their own")):
        drawn.text(left, 32, title, "head")
        for block, values in enumerate(_VALUES):
            drawn.text(left + 182 * block, 62, f"values of block {block}", "small")
            for thread, value in enumerate(values):
                _cell(drawn, _thread(left, block, thread) - 10, 70, 20, value, "cell")
        drawn.text(left, 275, "global memory", "small")
        drawn.text(left, 300, "bin", "small")
        for number in _BINS:
            _cell(drawn, _bin(left, number) - 15, 258, 30, sum(values.count(number) for values in _VALUES), "a")
            drawn.text(_bin(left, number), 300, f"{number}", "small", centred=True)
    drawn.text(404 + 171, 187, "shared", "small", centred=True)
    for block, values in enumerate(_VALUES):
        own = [404 + 182 * block + 35 + 30 * number for number in _BINS]
        for thread, value in enumerate(values):
            drawn.line([(_thread(24, block, thread), 95), (_bin(24, value), 257)])
            drawn.line([(_thread(404, block, thread), 95), (own[value], 169)])
        for number in _BINS:
            _cell(drawn, own[number] - 15, 170, 30, values.count(number), "c")
            drawn.line([(own[number], 195), (_bin(404, number), 257)])
    drawn.text(24, 330, "16 additions there, 9 of them to one word")
    drawn.text(404, 330, "8 additions there, 2 to each word")
    words = "Drawn with two blocks of 8 threads, one value a thread and 4 bins; a block of the lab takes 4096 values."
    drawn.text(24, 354, words, "small")
    return drawn


def match() -> Drawing:
    """Eight lanes with four values, of which one occurs nowhere."""
    drawn = Drawing(
        "What a match tells the lanes of a warp, and which of them add",
        "Eight lanes have the values 3 1 3 3 0 1 3 0. The match gives each lane one bit for each lane with the same "
        "value. Lanes 0, 1 and 4 are the first with theirs: they add 4, 2 and 2 to bins 3, 1 and 0. The other five "
        "do not add.",
        height=418,
    )
    drawn.text(24, 32, "Lanes with the same value let the first of them add for all", "head")
    for y, row in ((68, "lane"), (105, "value"), (155, "__match_any_sync"), (205, "how many"), (255, "adds")):
        drawn.text(24, y, row, "small" if row == "lane" else "text")
    for lane, value in enumerate(_LANES):
        left, same = 176 + 68 * lane, [other == value for other in _LANES]
        adds = same.index(True) == lane
        drawn.text(left + 32, 68, f"{lane}", "small", centred=True)
        _cell(drawn, left, 82, 64, value, "cell")
        _cell(drawn, left, 132, 64, "".join(f"{bit:d}" for bit in reversed(same)), "cell")
        _cell(drawn, left, 182, 64, sum(same), "cell")
        _cell(drawn, left, 232, 64, f"+{sum(same)}" if adds else "–", "a" if adds else "cell")
        if adds:
            drawn.line([(left + 32, 258), (252 + 136 * value, 315)])
    for number in _BINS:
        _cell(drawn, 207 + 136 * number, 316, 90, f"bin {number}: {_LANES.count(number)}", "c")
    drawn.text(24, 334, "shared memory")
    drawn.text(24, 378, "Three lanes add, where eight would have; the longest queue, for bin 3, had four.")
    drawn.text(24, 402, "Drawn with warps of 8 lanes; bit 0 of a match is on the right.", "small")
    return drawn


def _cell(drawn: Drawing, x: float, y: float, width: float, words: int | str, style: str) -> None:
    drawn.box(x, y, width, 25, style)
    drawn.text(x + width / 2, y + 17, f"{words}", "in-bar", centred=True)


def _thread(left: float, block: int, thread: int) -> float:
    return left + 182 * block + 20 * thread + 10


def _bin(left: float, number: int) -> float:
    return left + 126 + 30 * number


FIGURES = {"histogram/figures/privatized.svg": privatized, "histogram/figures/match.svg": match}
