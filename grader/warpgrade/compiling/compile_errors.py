"""One line of advice on the first error that nvcc finds, where its own words do not say what to do."""

from __future__ import annotations

import re
from collections.abc import Callable

_ERROR = re.compile(
    r"(?:^|[ :])error ?(?:#\d{1,9}-?\w{0,4})?: (?P<text>[^\n]*)(?P<below>(?:\n[ \t][^\n]*){0,3})", re.MULTILINE
)
# Which functions of the same name in CUDA's headers do not fit either, and a count that the heading has.
_NOISE = re.compile(
    r"^<[^\n>]+>\(\d+\): note #[^\n]*\n(?:[ \t][^\n]*\n){0,2}|^\d+ errors? detected in the compilation of [^\n]*\n*",
    re.MULTILINE,
)
_SHARED = re.compile(
    r"^ptxas error[ \t]*: Entry function '(?P<name>[^'\n]{1,1000})' uses too much shared data "
    r"\((?P<bytes>0x[0-9a-f]{1,16}) bytes, (?P<most>0x[0-9a-f]{1,16}) max\)",
    re.MULTILINE,
)
_WRITES_POINTER = re.compile(r"cuda(?:Malloc(?:Managed|Host|Pitch|Async)?|HostAlloc)")


def readable(words: str) -> str:
    """Return a compiler's words without noise, and ptxas's without mangled names and hexadecimal."""

    def shared(found: re.Match[str]) -> str:
        return (
            f"ptxas error: kernel {kernel_name(found['name'])} has {int(found['bytes'], 16):,} bytes of __shared__ "
            f"arrays; {int(found['most'], 16):,} is the most"
        )

    return _SHARED.sub(shared, _NOISE.sub("", words + "\n"))


def kernel_name(symbol: str) -> str:
    """Return `mine::add<…>` for a mangled name: namespaces and the name, without types."""
    if not (begin := re.match(r"_ZN?K?", symbol)):
        return symbol
    names: list[str] = []
    at = begin.end()
    while length := re.compile(r"[1-9]\d{0,3}").match(symbol, at):
        at = length.end() + int(length[0])
        names.append(symbol[length.end() : at])
    template = "<…>" if symbol[at : at + 1] == "I" else ""
    return "::".join(name for name in names if name != "_GLOBAL__N_1") + template or symbol


def advice(words: str) -> str:
    """Return what to do about the first error, or nothing; `words` are as `readable` returns them."""
    first = _ERROR.search(words)
    if first is None:
        return ""
    for pattern, say in _ADVICE:
        if found := re.search(pattern, first["text"]):
            return say(found, first["below"])
    return ""


def _overload(found: re.Match[str], below: str) -> str:
    name = found["name"]
    types = re.search(r"argument types are: \((?P<first>[^,)\n]*)", below)
    if types and _WRITES_POINTER.fullmatch(name) and re.fullmatch(r"[^*]*\*", types["first"].strip()):
        return f"put & before the pointer that {name} is to set: {name}(&pointer, …)"
    if types and name.startswith("atomic") and "*" not in types["first"]:
        return f"put & before the first argument of {name}: it takes an address"
    return ""


def _argument(found: re.Match[str], _: str) -> str:
    given, wanted = (re.sub(r"\bconst\b|\s", "", found[which]) for which in ("given", "wanted"))
    if wanted == given + "*" or (wanted == "void**" and given.count("*") == 1):
        return "put & before that argument: the function takes its address"
    if given == wanted + "*":
        return "pass the argument without & before it"
    if wanted == "void*" and "*" not in given:
        return "pass the pointer itself, without * before it or an index behind it"
    return ""


def _kernel(_: re.Match[str], below: str) -> str:
    return f"put __global__ before the definition of {_at_caret(below)}: only kernels are launched"


def _launch(_: re.Match[str], below: str) -> str:
    return f"say how many blocks and threads the kernel is to have: {_at_caret(below)}<<<blocks, threads>>>(…)"


def _at_caret(below: str) -> str:
    line, _, mark = below.strip("\n").partition("\n")
    name = re.compile(r"\w+").match(line, max(mark.find("^"), 0))
    return name[0] if name else "the function"


def _host_function(found: re.Match[str], _: str) -> str:
    name = found["name"].split("(", 1)[0]
    if name.startswith("std::"):
        return f"{name} runs on the host only: use CUDA's own function, or write it with __device__"
    return f"put __device__ before the definition of {name}: a kernel calls only what is compiled for the device"


_ADVICE: tuple[tuple[str, Callable[[re.Match[str], str], str]], ...] = (
    (r'no instance of overloaded function "(?P<name>\w+)" matches', _overload),
    (r'argument of type "(?P<given>[^"]+)" is incompatible with parameter of type "(?P<wanted>[^"]+)"', _argument),
    (
        r'"__shared__" variable declaration is not allowed inside a host function',
        lambda *_: "put __global__ before the definition of the function around that line, if it is a kernel",
    ),
    (
        r'calling a __device__ function\("[^"]*"\) from a __host__ function\("(?P<name>[^"]+)"\)',
        lambda found, _: f"put __global__ before the definition of {found['name']} if it is a kernel, else __device__",
    ),
    (r"a host function call cannot be configured", _kernel),
    (r"a __global__ function call must be configured", _launch),
    (r'calling a (?:constexpr )?__host__ function\("(?P<name>[^"]+)"\) from a __(?:global|device)__', _host_function),
    (
        r'identifier "(?P<name>[^"]+)" is undefined in device code',
        lambda found, _: (
            f"pass {found['name']} as an argument, or make it constexpr: a kernel does not see the host's variables"
        ),
    ),
    (
        r"bytes of __shared__ arrays",
        lambda *_: (
            "make them smaller; beyond that, only memory that the launch asks for can go: extern __shared__, and "
            "cudaFuncSetAttribute"
        ),
    ),
    (
        r"^['‘]__(?:global|device|host|constant|managed)__['’] (?:does not name a type|was not declared)",
        lambda *_: "give the file's name the ending .cu: in any other nvcc compiles C++ alone",
    ),
    (r'expected a ";"', lambda *_: "a ; is missing there, or at the end of the line before"),
)
