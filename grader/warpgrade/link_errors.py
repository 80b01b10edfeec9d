"""Turns what linkers say into what a student can act on."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from warpgrade.errors import GraderError
from warpgrade.labs import Lab
from warpgrade.text import clean

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


@dataclass(frozen=True)
class LinkProblem:
    """Why a program could not be linked; unsupported means that it is Warpgrade that lacks something."""

    message: str
    hint: str = ""
    unsupported: bool = False


def defined_functions(objects: Sequence[Path]) -> list[tuple[str, bool]]:
    """Return (demangled name with parameters, visible to other files) for each function that the objects define."""
    try:
        done = subprocess.run(
            ["nm", "-C", "--defined-only", *map(str, objects)],
            capture_output=True, timeout=60, check=True, stdin=subprocess.DEVNULL,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError) as error:
        raise GraderError(f"nm cannot read the compiled submission: {error}") from None
    found: list[tuple[str, bool]] = []
    for line in clean(done.stdout).splitlines():
        parts = line.split(" ", 2)
        if len(parts) == 3 and parts[1] in "TtWw":
            found.append((parts[2], parts[1] != "t"))
    return found


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
    if not near:
        return LinkProblem(
            f"{wanted}() is defined in none of your files", hint=f"define it exactly as {lab.header.name} declares it"
        )
    symbol = near[0]
    if base_name(symbol) != wanted:
        return LinkProblem(f"{wanted}() is not defined; your file has {symbol}", hint="names are case-sensitive")
    if "::" in symbol.split("(", 1)[0]:
        return LinkProblem(
            f"{wanted}() is defined inside a namespace: {symbol}", hint="define it outside of any namespace"
        )
    return LinkProblem(
        f"{wanted}() is visible in its own file only: {symbol}", hint="remove `static` before its definition"
    )


def explain_link(lab: Lab, output: str, functions: Sequence[tuple[str, bool]]) -> LinkProblem:
    """Name the first cause in the linker's output."""
    duplicate = _DUPLICATE.search(output)
    if duplicate:
        return LinkProblem(
            f"{duplicate['symbol']} is defined twice", hint="define it in one file, or make it `static` or `inline`"
        )
    symbols = [match["symbol"] for match in _UNDEFINED.finditer(output)]
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
                f"{name}() belongs to {library}, which this lab does not offer", hint="the lab is to write it yourself"
            )
    for symbol in symbols:
        name = base_name(symbol)
        if name.startswith(("cuda", "__cuda")):
            return LinkProblem(
                f"{name}() is a CUDA function that Warpgrade's runtime does not have yet",
                hint="the submission may be right; do without this function, or report it to your instructor",
                unsupported=True,
            )
        if re.match(r"cu[A-Z]", name):
            return LinkProblem(
                f"{name}() belongs to the CUDA driver API, which the labs do not offer",
                hint="use the runtime API (cuda…) in its place",
            )
    if symbols:
        return LinkProblem(
            f"{symbols[0]} is declared and used, but defined nowhere", hint="define it, or remove its use"
        )
    return LinkProblem("the linker refuses the program")


def _calls(lab: Lab) -> str:
    return ", ".join(f"{name}()" for name in lab.file.lab.functions)
