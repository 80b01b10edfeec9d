"""Turns what linkers say into what a student can act on."""

import difflib
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from warpgrade.compiling.toolchain import Compilers
from warpgrade.lab.labs import Lab
from warpgrade.machine.text import one_line

_UNDEFINED = re.compile(r"undefined reference to [`'‘](?P<symbol>.+?)['’]\s*$", re.MULTILINE)
_DUPLICATE = re.compile(r"multiple definition of [`'‘](?P<symbol>.+?)['’]", re.MULTILINE)
_LIBRARIES = {
    "cublas": "cuBLAS",
    "cufft": "cuFFT",
    "curand": "cuRAND",
    "cusolver": "cuSOLVER",
    "cusparse": "cuSPARSE",
    "cudnn": "cuDNN",
}
_WIDTH = 300
_CUDA_HEADERS = (
    "cuda_runtime_api.h",
    "cuda_device_runtime_api.h",
    "cuda_gl_interop.h",
    "cuda_egl_interop.h",
    "cuda_vdpau_interop.h",
    "cuda_profiler_api.h",
    "crt/host_runtime.h",
    "crt/device_functions.h",
)
_DECLARED = re.compile(r"^[ \t]*extern\b[^\n;{}]{0,300}?\b(__cuda[A-Z]\w*|cuda[A-Z]\w*)[ \t]*\(", re.MULTILINE)


@dataclass(frozen=True)
class LinkProblem:
    """Why a program could not be linked; unsupported means that it is Warpgrade that lacks something."""

    message: str
    hint: str = ""
    unsupported: bool = False


def lacks_functions(lab: Lab, functions: Sequence[tuple[str, bool]]) -> bool:
    """Tell from linkers' names whether `main` is there or one of the contract's functions may not be."""
    names = {name for name, visible in functions if visible}
    if "main" in names:
        return True
    return any(
        wanted not in names and not any(name.startswith(f"_Z{len(wanted)}{wanted}") for name in names)
        for wanted in lab.file.lab.functions
    )


def cuda_functions(compilers: Compilers) -> frozenset[str]:
    """Return the functions of the CUDA runtime that the toolkit's headers declare: all that honest code can call."""
    found: set[str] = set()
    for name in _CUDA_HEADERS:
        for folder in compilers.cuda_includes:
            try:
                text = (folder / name).read_text(encoding="utf-8", errors="replace")
            except OSError:
                continue
            found.update(_DECLARED.findall(text))
            break
    # A program may be compiled for a default stream of each thread's own.
    return frozenset(found | {name + suffix for name in found for suffix in ("_ptsz", "_ptds", "_v2")})


def base_name(symbol: str) -> str:
    """Return `matmul` for `matmul(float const*, int)` and for `mine::matmul<float>(…)` alike."""
    head = re.sub(r"<.*>", "", symbol.split("(", 1)[0])
    return head.rsplit("::", 1)[-1].strip()


def missing_functions(lab: Lab, functions: Sequence[tuple[str, bool]]) -> LinkProblem | None:
    """Check before the link that the contract's functions are there and that `main` is not."""
    names = {symbol.split("(", 1)[0] for symbol, visible in functions if visible}
    if "main" in names:
        return LinkProblem(
            "your file defines main(), but the lab's tests bring their own",
            hint=f"remove main(), or keep it in a file that you do not hand in; define {_calls(lab)}",
        )
    missing = [name for name in lab.file.lab.functions if name not in names]
    if not missing:
        return None
    wanted = missing[0]
    near = [symbol for symbol, _ in functions if base_name(symbol).lower() == wanted.lower()]
    near = near or [symbol for symbol, _ in functions if base_name(symbol) in _misspelt(lab, wanted, functions)]
    if not near:
        return LinkProblem(
            f"none of your files defines {wanted}()", hint=f"define it exactly as {lab.header.name} declares it"
        )
    symbol = near[0]
    if base_name(symbol) != wanted:
        same_letters = base_name(symbol).lower() == wanted.lower()
        return LinkProblem(
            f"{wanted}() is not defined; your file has {symbol}",
            hint="names are case-sensitive" if same_letters else f"spell its name as {lab.header.name} does",
        )
    if "::" in symbol.split("(", 1)[0]:
        return LinkProblem(
            f"{wanted}() is defined inside a namespace: {symbol}", hint="define it outside of any namespace"
        )
    return LinkProblem(
        f"{wanted}() is visible only inside its own file: {symbol}", hint="remove `static` before its definition"
    )


def _misspelt(lab: Lab, wanted: str, functions: Sequence[tuple[str, bool]]) -> list[str]:
    """Return the name that is nearly the one that is wanted, and no other function of the lab; or none."""
    names = {base_name(symbol) for symbol, _ in functions} - set(lab.file.lab.functions)
    return difflib.get_close_matches(wanted, sorted(names), n=1, cutoff=0.85)


def explain_link(lab: Lab, output: str, functions: Sequence[tuple[str, bool]], known: Collection[str]) -> LinkProblem:
    """Name the first cause in the linker's output; `known` are the CUDA runtime's functions."""
    duplicate = _DUPLICATE.search(output)
    if duplicate:
        return LinkProblem(
            f"{one_line(duplicate['symbol'], _WIDTH)} is defined twice",
            hint="define it in one file, or make it `static` or `inline`",
        )
    symbols = [one_line(match["symbol"], _WIDTH) for match in _UNDEFINED.finditer(output)]
    # The contract first: whatever else is missing, without it nothing can be tested.
    for symbol in symbols:
        if base_name(symbol) in lab.file.lab.functions and "::" not in symbol.split("(", 1)[0]:
            own = [name for name, _ in functions if base_name(name) == base_name(symbol)]
            return LinkProblem(
                f"{symbol} is not defined as {lab.header.name} declares it",
                hint=f"yours is {own[0]}" if own else f"define it exactly as {lab.header.name} declares it",
            )
    for symbol in symbols:
        name = base_name(symbol)
        library = next((title for prefix, title in _LIBRARIES.items() if name.startswith(prefix)), None)
        if library:
            return LinkProblem(
                f"{name}() belongs to {library}, which this lab does not provide",
                hint="write that part yourself: it is what the lab is about",
            )
    for symbol in symbols:
        name = base_name(symbol)
        if symbol in known:
            return LinkProblem(
                f"{name}() is a CUDA function that Warpgrade does not support yet",
                hint="your program may be right; avoid this function, or tell your instructor",
                unsupported=True,
            )
        if re.match(r"cu[A-Z]", name):
            return LinkProblem(
                f"{name}() belongs to the CUDA driver API, which the labs do not provide",
                hint="use the runtime API (cuda…) instead",
            )
    if symbols:
        return LinkProblem(f"{symbols[0]} is declared and used, but never defined", hint="define it, or remove its use")
    return LinkProblem("the linker rejects the program")


def _calls(lab: Lab) -> str:
    return ", ".join(f"{name}()" for name in lab.file.lab.functions)
