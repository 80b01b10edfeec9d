"""One line of advice on the first error that nvcc finds, where its own words do not say what to do."""

import difflib
import re
from collections.abc import Callable, Mapping
from typing import Final

from warpgrade.compiling import error_lines
from warpgrade.compiling.error_lines import INCOMPATIBLE, WRITES_POINTER, type_of
from warpgrade.machine.text import clean

_ERROR = re.compile(
    r"(?:^(?P<file>[^\s(:][^(:\n]{0,300})\((?P<line>\d{1,7})\): |^|[ :])error ?(?:#\d{1,9}-?\w{0,4})?: "
    r"(?P<text>[^\n]*)(?P<below>(?:\n[ \t][^\n]*){0,3})",
    re.MULTILINE,
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
_INTERNAL = re.compile(r'(?<=")_ZN\d{1,3}_INTERNAL_[^"\n]{1,400}(?=")')
# A line of the program as the preprocessor left it, and the mark below.
_QUOTED = re.compile(r"^(?P<code>[ \t]+[^\s^][^\n]*)\n(?P<mark>[ \t]*)\^[ \t]*$", re.MULTILINE)
_MACROS = re.compile(
    r"__attribute__\(\((?P<word>global|device|host|shared|constant|managed)\)\)"
    r'|course::check\(\((?P<call>[^\n"]{1,400})\), "[^\n]{1,1000}", "[^"\n]{1,200}", \d{1,9}\)'
)
_HEADERS: Final = {
    "INFINITY": "cmath", "NAN": "cmath", "printf": "cstdio", "memcpy": "cstring", "memset": "cstring",
    "INT_MAX": "climits", "FLT_MAX": "cfloat", "malloc": "cstdlib", "free": "cstdlib", "exit": "cstdlib",
}  # fmt: skip
_NAMES: Final = (
    "threadIdx", "blockIdx", "blockDim", "gridDim", "warpSize", "dim3", "cudaMalloc", "cudaMallocManaged",
    "cudaMallocHost", "cudaMemcpy", "cudaMemcpyAsync", "cudaMemcpyToSymbol", "cudaMemset", "cudaFree", "cudaFreeHost",
    "cudaHostAlloc", "cudaHostAllocMapped", "cudaHostGetDevicePointer", "cudaMemcpyHostToDevice",
    "cudaMemcpyDeviceToHost", "cudaMemcpyDeviceToDevice", "cudaDeviceSynchronize", "cudaStreamSynchronize",
    "cudaStreamCreate", "cudaStreamDestroy", "cudaGetLastError", "cudaGetErrorString", "cudaSuccess", "cudaError_t",
    "cudaStream_t", "atomicAdd", "__global__", "__device__", "__shared__", "__syncthreads", "__syncwarp",
    "__shfl_sync", "__shfl_down_sync", "__shfl_up_sync", "__shfl_xor_sync", "__ballot_sync", "__any_sync", "__all_sync",
    "__syncthreads_count",
)  # fmt: skip
_BY_LOWER_CASE: Final = {name.lower(): name for name in _NAMES}
_LONGEST_NAME: Final = 40
_LONGEST_SOURCE: Final = 1 << 20


def readable(words: str) -> str:
    """Return a compiler's words without noise, and ptxas's without mangled names and hexadecimal."""

    def shared(found: re.Match[str]) -> str:
        return (
            f"ptxas error: kernel {kernel_name(found['name'])} has {int(found['bytes'], 16):,} bytes of __shared__ "
            f"arrays; {int(found['most'], 16):,} is the most"
        )

    words = _SHARED.sub(shared, _NOISE.sub("", words + "\n"))
    words = _INTERNAL.sub(lambda found: kernel_name(found[0]).rpartition("::")[2], words)
    return _QUOTED.sub(_as_written, words)


def _as_written(quoted: re.Match[str]) -> str:
    """Write CUDA's words and CHECK into a quoted line again, as the student wrote them, and move the mark along."""
    column, mark = len(quoted["mark"]), len(quoted["mark"])

    def unexpand(found: re.Match[str]) -> str:
        nonlocal mark
        text = f"__{found['word']}__" if found["word"] else f"CHECK({found['call']})"
        inside = "course::check((" if found["call"] else ""
        if column >= found.end():
            mark -= len(found[0]) - len(text)
        elif column >= found.start() + len(inside):
            mark -= len(inside) - len("CHECK(") if inside else column - found.start()
        return text

    return f"{_MACROS.sub(unexpand, quoted['code'])}\n{' ' * mark}^"


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


def advice(words: str, files: Mapping[str, bytes] | None = None) -> str:
    """Return what to do about the first error, or nothing; `words` are as `readable` returns them.

    files: of the submission, in which a hint may name another line.
    """
    first = _ERROR.search(words)
    if first is None:
        return ""
    # A variable that is declared where it must not be is unknown everywhere else, and that may be said first.
    if misplaced := re.search(r'an automatic "(?P<kind>__\w+__)" variable declaration is not allowed', words):
        return _outside(misplaced, "")
    below = first["below"]
    source = clean((files or {}).get(first["file"] or "", b"")[:_LONGEST_SOURCE])
    place = error_lines.Place(first["file"] or "", int(first["line"] or 0), source, below)
    for pattern, tell in error_lines.ADVICE:
        if (found := re.search(pattern, first["text"])) and (told := tell(found, place)):
            return told
    for pattern, say in _ADVICE:
        if found := re.search(pattern, first["text"]):
            return say(found, below)
    return ""


def _overload(found: re.Match[str], below: str) -> str:
    name = found["name"]
    types = re.search(r"argument types are: \((?P<first>[^,)\n]*)", below)
    # With the & in place, the type that cannot be set is the variable's own: float *a, b makes only a a pointer.
    if types and WRITES_POINTER.fullmatch(name) and (given := re.search(rf"\b{name}\(\s*&\s*(\w+)\s*,", below)):
        return f"declare {given[1]} as a pointer, with a * of its own: in float *a, b only a is one"
    if types and WRITES_POINTER.fullmatch(name) and re.fullmatch(r"[^*]*\*", types["first"].strip()):
        return f"put & before the pointer that {name} is to set: {name}(&pointer, …)"
    if types and name.startswith("atomic") and "*" not in types["first"]:
        return f"put & before the first argument of {name}: it takes an address"
    return ""


def _argument(found: re.Match[str], _: str) -> str:
    given, wanted = (re.sub(r"\bconst\b|\s", "", type_of(found, which)) for which in ("given", "wanted"))
    if wanted == given + "*" or (wanted == "void**" and given.count("*") == 1):
        return "put & before that argument: the function takes its address"
    if given == wanted + "*":
        return "pass the argument without & before it"
    if wanted == "void*" and "*" not in given:
        return "pass the pointer itself, without * before it or an index behind it"
    return ""


def _stream(_: re.Match[str], below: str) -> str:
    """Say where in a launch the stream stands; elsewhere nothing."""
    return "the stream is a launch's fourth argument: <<<blocks, threads, 0, stream>>>" if "<<<" in below else ""


def _too_few(_: re.Match[str], below: str) -> str:
    if re.search(r"\bcudaMemcpy\(", below):
        return "cudaMemcpy takes the destination, the source, the bytes and the direction: cudaMemcpyHostToDevice, …"
    return ""


def _undefined(found: re.Match[str], _: str) -> str:
    name = found["name"]
    if header := _HEADERS.get(name):
        return f"put #include <{header}> at the top of the file: {name} comes from there"
    if len(name) > _LONGEST_NAME:
        return ""
    if re.fullmatch(r"__(?:shfl\w{0,5}|ballot|any|all)", name) and f"{name}_sync" in _NAMES:
        return f"it is {name}_sync today, and takes first a mask of the lanes that take part, such as 0xffffffff"
    if close := difflib.get_close_matches(name.lower(), _BY_LOWER_CASE, n=1, cutoff=0.85):
        return f"did you mean {_BY_LOWER_CASE[close[0]]}? Capital letters count"
    if name == "CHECK":
        return 'put #include "check.cuh" at the top of the file: CHECK comes from there'
    if re.fullmatch(r"[A-Z][A-Z0-9]*_[A-Z0-9_]*", name):  # as the constants of the labs' contracts
        return f"{name} is not declared: does the file include the lab's header, as the starter does?"
    return ""


def _semicolon(_: re.Match[str], below: str) -> str:
    # A function's head, at whose brace the compiler does not expect a function.
    line, _end, mark = below.strip("\n").partition("\n")
    if line.rstrip().endswith("{") and mark.find("^") == len(line.rstrip()) - 1:
        return "a } is missing above: the function before this one has not ended"
    return "a ; is missing there, or at the end of the line before"


def _operands(found: re.Match[str], below: str) -> str:
    if index := re.search(r"\b(?:uint3|dim3)\b", below):
        name = re.search(r"\b(threadIdx|blockIdx|blockDim|gridDim)\b(?!\s*\.)", below)
        return f"{name[1] if name else index[0]} has three parts: take one, such as {name[1] if name else 'it'}.x"
    return ""


def _not_assignable(_: re.Match[str], below: str) -> str:
    line, _end, mark = below.strip("\n").partition("\n")
    at = max(mark.find("^"), 0)
    if re.match(r"\w+\s*\[[^\[\]=;]*,", line[at:]):
        return "give each index its own brackets: [y][x]. Of [y, x] only what stands behind the comma counts"
    if re.search(r"\b(?:if|while)\s*\($|(?:&&|\|\||\?|!)\s*\(?$|\bfor\s*\([^;]*;\s*$", line[:at].rstrip()):
        return "a single = sets a value; to compare, write =="
    return "what stands left of = cannot change: is it const, as a kernel's inputs are?"


def _shift(_: re.Match[str], below: str) -> str:
    name = re.search(r"(\w+)\s*<<(?!<)[^;\n]*>>", below)
    return f"a launch has three of each: {name[1]}<<<blocks, threads>>>(…)" if name else ""


def _constant_size(_: re.Match[str], below: str) -> str:
    if "shared" not in below:
        return ""
    return "give the array a constant size; or write extern __shared__, [], and its bytes into the launch"


def _incomplete(found: re.Match[str], below: str) -> str:
    if "shared" not in below:
        return ""
    return "put extern before __shared__: the launch's third argument gives the array's size, in bytes"


def _outside(found: re.Match[str], _: str) -> str:
    return f"declare the {found['kind']} variable outside of all functions, above the first one that uses it"


def _kernel(_: re.Match[str], below: str) -> str:
    return f"put __global__ before the definition of {_at_caret(below)}: only kernels are launched"


def _launch(_: re.Match[str], below: str) -> str:
    return f"say how many blocks and threads the kernel is to have: {_at_caret(below)}<<<blocks, threads>>>(…)"


def _at_caret(below: str) -> str:
    line, _, mark = below.strip("\n").partition("\n")
    name = re.compile(r"\w+").match(line, max(mark.find("^"), 0))
    return name[0] if name else "the function"


def _host_function(found: re.Match[str], below: str) -> str:
    name = found["name"].split("(", 1)[0]
    if "basic_ostream" in name:
        return "a kernel prints with printf (#include <cstdio>): std::cout is on the host only"
    if limit := re.search(rf"std::numeric_limits<[\w ]+>::{re.escape(name)}\(\)", below):
        return f"make it a constant above the kernel, which may use that: constexpr auto LIMIT = {limit[0]};"
    if f"std::{name}(" in below:
        return f"std::{name} runs on the host only: CUDA's own {name} has no std:: before it"
    if name.startswith("std::"):
        return f"{name} runs on the host only: use CUDA's own function, or write it with __device__"
    return f"put __device__ before the definition of {name}: a kernel calls only what is compiled for the device"


_ADVICE: tuple[tuple[str, Callable[[re.Match[str], str], str]], ...] = (
    (r'no instance of overloaded function "(?P<name>\w+)" matches', _overload),
    (r'argument of type "cudaStream_t"[^\n]* is incompatible with parameter of type "size_t"', _stream),
    (INCOMPATIBLE, _argument),
    (
        r'"__shared__" variable declaration is not allowed inside a host function',
        lambda *_: (
            "put __global__ before the definition of the function around that line if it is a kernel, or __device__ if "
            "kernels call it"
        ),
    ),
    (
        r'calling a __device__ function\("[^"]*"\) from a __host__ function\("(?P<name>[^"]+)"\)',
        lambda found, _: f"put __global__ before the definition of {found['name']} if it is a kernel, else __device__",
    ),
    (r"a host function call cannot be configured", _kernel),
    (
        r"kernel launch from __device__ or __global__ functions requires separate compilation",
        lambda *_: "launch kernels from host code: here a kernel launches one",
    ),
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
    (r"a variable length array cannot have static storage duration", _constant_size),
    (r'incomplete type "[^"]*\[\]" is not allowed', _incomplete),
    (
        r'declaration is incompatible with previous "(?P<name>\w+)"',
        lambda found, below: (
            f"all arrays of extern __shared__ are one: give the one of another type another name than {found['name']}"
            if "shared" in below
            else ""
        ),
    ),
    (r'^identifier "(?P<name>\w+)" is undefined$', _undefined),
    (r"^too few arguments in function call", _too_few),
    (r'^no operator "[^"]*" matches these operands', _operands),
    (r"^expression must have integral or unscoped enum type", _shift),
    (r"^expression must be a modifiable lvalue", _not_assignable),
    (
        r"^initializer not allowed for __shared__ variable",
        lambda *_: (
            "take the initial value away: let the block's threads store it, then __syncthreads(), before anyone uses "
            "the array"
        ),
    ),
    (
        r"^expression must have pointer-to-object type but it has type",
        lambda *_: "an array behind a pointer has one index: element (row, column) is number row * width + column",
    ),
    (r'expected a ";"', _semicolon),
)
