"""Lab first: how a program goes to and fro between host and device, and what nvcc makes of its file."""

from __future__ import annotations

from lab.figures.drawing import Drawing

_HOST, _DEVICE, _WIDE = 44, 456, 240


def flow() -> Drawing:
    """The calls of a host function from top to bottom, and what the device does meanwhile."""
    drawn = Drawing(
        "What the host does, and what the device does",
        "Time goes down. The host allocates memory on the device and copies the input there. It launches the kernel, "
        "which is queued, so that the host goes on at once while the device computes. The copy of the result waits "
        "until the kernel has ended. Then the host frees the memory.",
        height=436,
    )
    drawn.text(_HOST + _WIDE / 2, 34, "host: one thread", "head", centred=True)
    drawn.text(_DEVICE + _WIDE / 2, 34, "device: thousands of threads", "head", centred=True)
    drawn.arrow((22, 52), (22, 404))
    drawn.text(14, 424, "time", "small")
    drawn.labelled(_HOST, 52, _WIDE, 36, "a", "cudaMalloc")
    drawn.labelled(_HOST, 108, _WIDE, 36, "a", "cudaMemcpy, host to device")
    drawn.labelled(_HOST, 164, _WIDE, 36, "a", "kernel<<<blocks, threads>>>")
    drawn.labelled(_HOST, 220, _WIDE, 52, "idle", "cudaGetLastError", "and whatever the host likes")
    drawn.labelled(_HOST, 292, _WIDE, 52, "a", "cudaMemcpy, device to host", "waits for the kernel, then copies")
    drawn.labelled(_HOST, 364, _WIDE, 36, "a", "cudaFree")
    drawn.labelled(
        _DEVICE,
        52,
        _WIDE,
        36,
        "side",
        "d_x",
    )
    drawn.labelled(_DEVICE, 108, _WIDE, 36, "side", "d_x = x")
    drawn.labelled(_DEVICE, 172, _WIDE, 128, "b", "kernel", "blocks run as there is room,", "in any order")
    drawn.labelled(_DEVICE, 308, _WIDE, 36, "side", "d_x, computed")
    for y, words in ((70, "memory"), (126, "bytes"), (182, "only queued")):
        drawn.arrow((_HOST + _WIDE, y), (_DEVICE, y), style="link" if y == 182 else "line")
        drawn.text((_HOST + _WIDE + _DEVICE) / 2, y - 8, words, "small", centred=True)
    drawn.arrow((_DEVICE, 326), (_HOST + _WIDE, 326))
    drawn.text((_HOST + _WIDE + _DEVICE) / 2, 318, "bytes", "small", centred=True)
    return drawn


def compilation() -> Drawing:
    """From one .cu file through nvcc's stages to a program, and what its driver does with it."""
    drawn = Drawing(
        "What nvcc makes of a file",
        "nvcc splits first.cu. cudafe++ makes C++ for the host of it, with calls in the place of launches. cicc makes "
        "PTX for a virtual architecture, ptxas makes cubins of that, machine code for real ones. fatbinary puts PTX "
        "and cubins into one bundle, which the host's compiler takes into its object file. The linker makes the "
        "program. When it starts, the driver takes a cubin that fits the device, or else compiles the PTX.",
        height=452,
    )
    drawn.text(190, 34, "the host's part", "head", centred=True)
    drawn.text(560, 34, "the device's part", "head", centred=True)
    drawn.labelled(310, 16, 110, 32, "c", "first.cu")
    drawn.line([(365, 48), (365, 68)])
    _stage(drawn, 190, 92, "cudafe++")
    _stage(drawn, 560, 92, "cicc")
    drawn.arrow((365, 68), (190, 68), (190, 78))
    drawn.arrow((365, 68), (560, 68), (560, 78))
    drawn.labelled(90, 132, 200, 48, "side", "C++", "calls in the place of launches")
    drawn.labelled(440, 132, 240, 48, "side", "first.ptx", "for a virtual one: compute_75")
    drawn.arrow((190, 106), (190, 132))
    drawn.arrow((560, 106), (560, 132))
    _stage(drawn, 560, 206, "ptxas")
    drawn.arrow((560, 180), (560, 192))
    drawn.labelled(440, 232, 240, 48, "side", "cubins", "machine code (SASS): sm_80, sm_90")
    drawn.arrow((560, 220), (560, 232))
    _stage(drawn, 560, 310, "fatbinary")
    drawn.arrow((560, 280), (560, 296))
    drawn.line([(680, 156), (708, 156), (708, 310)])
    drawn.arrow((708, 310), (620, 310))
    drawn.text(640, 328, "PTX and cubins", "small")
    _stage(drawn, 190, 310, "host's compiler, linker", 190)
    drawn.arrow((190, 180), (190, 296))
    drawn.arrow((500, 310), (285, 310))
    drawn.text(392, 302, "one bundle", "small", centred=True)
    drawn.labelled(90, 346, 200, 36, "c", "a.out")
    drawn.arrow((190, 324), (190, 346))
    drawn.labelled(440, 346, 240, 36, "a", "driver, when it starts")
    drawn.arrow((290, 364), (440, 364))
    drawn.text(
        40, 414, "The driver takes the cubin that fits the device: same major number, minor number not higher.", "small"
    )
    drawn.text(
        40,
        434,
        "If there is none, it compiles the PTX for the device, unless the device is older than the PTX.",
        "small",
    )
    return drawn


def _stage(drawn: Drawing, x: float, y: float, words: str, width: float = 120) -> None:
    drawn.labelled(x - width / 2, y - 14, width, 28, "b", words)


FIGURES = {"first/figures/flow.svg": flow, "first/figures/compilation.svg": compilation}
