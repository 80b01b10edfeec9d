"""Lab occupancy: a multiprocessor and the memories around it. Lab reverse: which memory belongs to whom."""

from __future__ import annotations

from lab.figures.drawing import Drawing


def multiprocessor() -> Drawing:
    """One multiprocessor of an H100, its four sub-partitions, and what all share."""
    drawn = Drawing(
        "A multiprocessor and its memories",
        "A multiprocessor of an H100 has four sub-partitions. Each has a scheduler, room for 16 warps, 16,384 "
        "registers and 32 lanes for float arithmetic. All four share 256 KiB for L1 and shared memory. The 132 "
        "multiprocessors of the device share the L2 cache of 50 MiB and 80 GB of device memory.",
        height=448,
    )
    drawn.text(24, 32, "One of the 132 multiprocessors of an H100", "head")
    drawn.box(24, 46, 692, 270, "cell", rounded=6)
    for part in range(4):
        x = 40 + part * 168
        drawn.box(x, 60, 156, 174, "side", rounded=4)
        drawn.text(x + 78, 80, f"sub-partition {part}", "small", centred=True)
        _row(drawn, x + 8, 88, "a", "scheduler", "one warp each cycle")
        _row(drawn, x + 8, 136, "c", "16 warps", "16,384 registers")
        _row(drawn, x + 8, 184, "b", "32 lanes", "for float arithmetic")
    drawn.labelled(
        40,
        250,
        660,
        52,
        "c",
        "shared memory and L1: 256 KiB",
        "up to 228 KiB of it for the shared memory of all resident blocks",
    )
    drawn.line([(370, 316), (370, 334)])
    drawn.labelled(24, 334, 692, 34, "a", "L2: 50 MiB, for all multiprocessors")
    drawn.line([(370, 368), (370, 386)])
    drawn.labelled(24, 386, 692, 34, "side", "device memory: 80 GB")
    drawn.text(
        24, 438, "A block lives on one multiprocessor; its warps are spread over the four sub-partitions.", "small"
    )
    return drawn


def _row(drawn: Drawing, x: float, y: float, style: str, name: str, what: str) -> None:
    drawn.labelled(x, y, 140, 42, style, name, what)


def memories() -> Drawing:
    """Two blocks of two threads, and the memories that each of them reaches."""
    drawn = Drawing(
        "Which memory belongs to whom",
        "Each thread has registers of its own, and local memory for what does not fit there. Each block has shared "
        "memory, which its threads reach and no others. All blocks reach global memory and read constant memory. The "
        "host copies to and from these two, and reaches neither registers nor shared memory.",
        height=384,
    )
    for block in range(2):
        left = 24 + block * 264
        drawn.box(left, 20, 252, 196, "idle", rounded=6)
        drawn.text(left + 126, 40, f"block {block}", "head", centred=True)
        for thread in range(2):
            x = left + 12 + thread * 118
            drawn.labelled(x, 52, 110, 40, "c", "registers")
            drawn.labelled(x, 112, 110, 28, "side", f"thread {thread}")
            drawn.line([(x + 55, 92), (x + 55, 112)])
            drawn.line([(x + 30, 140), (x + 30, 162)])
            drawn.line([(x + 80, 140), (x + 80, 246)], "link")
        drawn.labelled(left + 12, 162, 228, 40, "b", "shared memory")
    drawn.labelled(24, 246, 516, 40, "a", "global memory: arrays, __device__ variables")
    drawn.labelled(24, 298, 516, 40, "a", "constant memory: kernels only read it")
    drawn.labelled(600, 246, 116, 92, "cell", "host")
    for y in (266, 318):
        drawn.arrow((570, y), (540, y))
        drawn.arrow((570, y), (600, y))
    for line, words in enumerate(
        (
            "Registers and shared",
            "memory are gone when",
            "the thread or block",
            "ends; global memory",
            "when it is freed.",
        )
    ):
        drawn.text(568, 60 + 18 * line, words, "small")
    drawn.text(
        24,
        366,
        "Drawn with two blocks of two threads. What registers do not hold is in local memory, a thread's own.",
        "small",
    )
    return drawn


FIGURES = {"occupancy/figures/multiprocessor.svg": multiprocessor, "reverse/figures/memories.svg": memories}
