"""Sources that are made to keep whoever reads them busy: each is about so many bytes long."""

import time
from collections.abc import Callable

KERNEL = "__global__ void k(int n) {\n"
MOST_TIMES = 40  # as long for ten times as much text; what is quadratic takes a hundred times as long


def _repeated(before: str, part: str, after: str = "") -> Callable[[int], str]:
    return lambda size: before + part * (size // len(part)) + after


def _assignments(size: int) -> str:
    """Each variable gets the next one's value, and only the last is the thread's."""
    names = "".join(f"v{number}=v{number + 1};" for number in range(size // 14))
    return f"{KERNEL}{names}v{size // 14}=threadIdx.x;if(v0)__syncthreads();}}\n"


def _chain(size: int) -> str:
    """One statement in which each assignment's value is all that follows."""
    names = "".join(f"a{number}=" for number in range(size // 6))
    return f"{KERNEL}{names}threadIdx.x;if(a0)__syncthreads();}}\n"


HOSTILE: dict[str, Callable[[int], str]] = {
    "nested #if 0, unended": _repeated("", "#if 0\n", "x"),
    "nested #if 0": lambda size: KERNEL + "#if 0\n" * (size // 14) + "#endif\n" * (size // 14) + "}\n",
    "#if 0 in a kernel": _repeated(KERNEL, "a=1;\n#if 0\n", "}"),
    "#if 0 #else": _repeated(KERNEL, "#if 0\n#else\n", "}"),
    "directives that go on": _repeated("", "#a\\\n"),
    "backslashes": _repeated("#", "\\"),
    "assignments": _assignments,
    "a chain of assignments": _chain,
    "deep braces": _repeated(KERNEL, "{"),
    "deep parentheses": _repeated(KERNEL, "("),
    "nested ifs": _repeated(KERNEL, "if(n)"),
    "ifs beside each other": _repeated(KERNEL + "int x=threadIdx.x;", "if(x){a=1;}", "__syncthreads();}"),
    "returns beside each other": _repeated(KERNEL + "int x=threadIdx.x;", "if(x){}", "__syncthreads();}"),
    "loops": _repeated(KERNEL, "for(;;){__syncthreads();}", "}"),
    "a long line": _repeated(KERNEL, "a"),
    "a long name": _repeated("__global__ void ", "k", "() { __syncthreads(); }"),
    "spaces": _repeated(KERNEL + "a", " "),
    "lines": _repeated(KERNEL, "\n"),
    "types without names": _repeated(KERNEL, "a * "),
    "templates": _repeated(KERNEL, "a<"),
    "scopes": _repeated(KERNEL, "a=a::"),
    "attributes": _repeated("", "__global__ "),
    "heads of functions": _repeated("", "__device__ f("),
    "unended texts": _repeated(KERNEL, "'"),
    "unended raw texts": _repeated(KERNEL, 'R"('),
    "raw texts with names": _repeated(KERNEL, 'R"abc( '),
    "unended comments": _repeated(KERNEL, "/*"),
    "allocations": _repeated("void f() {\n", "cudaMalloc(&", "}"),
    "conversions": _repeated("void f() {\ncudaMalloc(", "(void**)("),
}


def seconds_of(work: Callable[[], object]) -> float:
    """Return the processor time that it takes here."""
    start = time.process_time()
    work()
    return time.process_time() - start


def check_growth(few: Callable[[], object], many: Callable[[], object]) -> None:
    """Fail if ten times as much takes far more than ten times as long."""
    assert seconds_of(many) <= MOST_TIMES * max(seconds_of(few), 0.003)
