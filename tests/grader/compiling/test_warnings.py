"""What compilers warn of: each warning once, in the student's own files, kept with what was compiled."""

import time
import uuid

import pytest
from lab_builder import lab_builder

from warpgrade.compiling import warnings
from warpgrade.compiling.build import Builder
from warpgrade.lab import labs
from warpgrade.machine.paths import find_layout

LAYOUT = find_layout()
SOURCE = b"""\
#include "tile.cuh"
__global__ void k(float* a) {
\tint unused;
    float x;
    a[0] = x;
}
void toy(float* a, int n) {
    if (n = 0) return;
    k<<<1, 1>>>(a);
    printf("%d\\n", sizeof(a));
}
"""
# As nvcc 13.0 and g++ 12 say it: twice by the front end, and some of it by the host compiler, too.
WORDS = """\
toy.cu(5): warning #549-D: variable "x" is used before its value is set
      a[0] = x;
             ^

Remark: The warnings can be suppressed with "-diag-suppress <warning-number>"

toy.cu(8): warning #187-D: use of "=" where "==" may have been intended
      if (n = 0) return;
          ^

toy.cu(3): warning #177-D: variable "unused" was declared but never referenced
   int unused;
       ^

toy.cu(5): warning #549-D: variable "x" is used before its value is set
      a[0] = x;
             ^

<cuda_fp16.hpp>(99): warning #177-D: variable "theirs" was declared but never referenced
check.cuh(7): warning #177-D: function "check" was declared but never referenced
tile.cuh(1): warning: no number
toy.cu: In function ‘void toy(float*, int)’:
toy.cu:8:9: warning: suggest parentheses around assignment used as truth value [-Wparentheses]
toy.cu:10:14: warning: format ‘%d’ expects argument of type ‘int’ [-Wformat=]
   10 |     printf("%d\\n", sizeof(a));
toy.cu:400:1: warning: a line that #line made up
toy.cu:10:14: note: of a warning
ptxas warning : Stack size for entry function 'k' cannot be statically determined
"""
FILES = {"tile.cuh": b"// a tile", "toy.cu": SOURCE}


def test_each_is_told_once_with_its_line_and_unused_variables_come_last() -> None:
    found = [(one.place, one.text, one.source) for one in warnings.find([WORDS, WORDS], FILES)]
    assert found == [
        ("tile.cuh:1", "no number", "// a tile"),
        ("toy.cu:5", 'variable "x" is used before its value is set', "    a[0] = x;"),
        ("toy.cu:8", 'use of "=" where "==" may have been intended', "    if (n = 0) return;"),
        ("toy.cu:10", "format ‘%d’ expects argument of type ‘int’", '    printf("%d\\n", sizeof(a));'),
        ("toy.cu:400", "a line that #line made up", ""),
        ("toy.cu:3", 'variable "unused" was declared but never referenced', "    int unused;"),
    ]


def test_no_warning_is_too_long_and_their_number_is_bounded() -> None:
    line = b"x" * 5000
    words = "".join(f"toy.cu({number}): warning: {'w' * 5000}\x1b[31m\n" for number in range(1, 400))
    found = warnings.find([words], {"toy.cu": line})
    assert len(found) == 50
    assert {len(one.text) for one in found} == {300}
    assert (len(found[0].source), found[1].source) == (200, "")


def test_where_the_compiler_refuses_the_program_its_errors_come_first() -> None:
    error = 'toy.cu(9): error: identifier "q" is undefined\n    q();\n    ^'
    before = WORDS.partition("toy.cu(3)")[0]
    first, *rest = warnings.errors_first(f"{before}{error}\n\n1 error detected.\n").split("\n\n")
    assert first == error
    assert rest[0] == "1 error detected."
    assert rest[1].startswith("toy.cu(5): warning #549-D")
    assert not any(each.startswith("Remark") for each in rest)
    assert warnings.errors_first(error) == error


@pytest.mark.labs
def test_they_are_kept_with_what_was_compiled() -> None:
    lab = labs.find(LAYOUT, "reverse")
    text = (LAYOUT.starters / "reverse" / "reverse.cu").read_text(encoding="utf-8")
    line = len(text.splitlines()) + 3
    more = f"""
// {uuid.uuid4()}: never compiled before
int more(int n) {{ if (n = 0) return 1; return printf("%d", sizeof(n)); }}
"""
    prelab = (LAYOUT.starters / "reverse" / "prelab.cpp").read_bytes()
    files = {"reverse.cu": ("#include <cstdio>\n" + text + more).encode(), "prelab.cpp": prelab}
    built = lab_builder(lab)
    assert built.warnings(files) == []
    for _ in range(2):  # compiled, and taken from the cache
        built.build(files)
        found = built.warnings(files)
        assert [one.place for one in found] == [f"reverse.cu:{line + 1}"] * len(found)
        assert 'use of "=" where "==" may have been intended' in found[0].text


@pytest.mark.labs
def test_only_what_has_changed_is_compiled_again(monkeypatch: pytest.MonkeyPatch) -> None:
    lab = labs.find(LAYOUT, "reverse")
    main, prelab = ((LAYOUT.starters / "reverse" / name).read_bytes() for name in ("reverse.cu", "prelab.cpp"))
    compiled: list[str] = []
    compile_unit = Builder._compile

    def note(self: Builder, unit: str, *others: object) -> None:
        compiled.append(unit)
        compile_unit(self, unit, *others)  # type: ignore[arg-type]

    monkeypatch.setattr(Builder, "_compile", note)
    built = lab_builder(lab)
    tag = f"// {uuid.uuid4()}\n".encode()
    first = {"reverse.cu": main + tag, "prelab.cpp": prelab + tag, "more.cuh": b""}
    second = {**first, "prelab.cpp": b"int answer() { int x; return 2; }\n" + prelab + tag}
    worker = built.build(first)
    assert sorted(compiled) == ["prelab.cpp", "reverse.cu"]
    compiled.clear()
    other = built.build(second)
    assert (compiled, other != worker) == (["prelab.cpp"], True)
    assert built.build(first) == worker
    assert built.warnings(first) == []
    assert [one.place for one in built.warnings(second)] == ["prelab.cpp:1"]
    compiled.clear()
    built.build({**first, "more.cuh": b"// what both can include\n" + tag})
    assert sorted(compiled) == ["prelab.cpp", "reverse.cu"]


@pytest.mark.parametrize(
    ("source", "is_mistake"),
    [
        ("    const dim3 grid = ((n + 15) / 16, (m + 15) / 16);", True),
        ("    tile[y, x] = a[i];", True),
        ("    i + 1;", False),
        ("    f(a[i], b), c;", False),
    ],
)
def test_a_number_lost_before_a_comma_is_a_mistake(source: str, is_mistake: bool) -> None:
    assert warnings.CompilerWarning("toy.cu", 1, "expression has no effect", source).is_mistake is is_mistake


@pytest.mark.parametrize(
    ("text", "source", "says"),
    [
        ("expression has no effect", "dim3 block = (32, 8);", "(32, 8) is 8 alone. Write dim3 block(32, 8)"),
        ("expression has no effect", "const dim3 g = ((n + 15) / 16, f(m, 1));",
         "only the last one counts. Write dim3 g("),
        ("expression has no effect", "tile[y, x] = 1;", "tile[y, x] is tile[x]. Write tile[y][x]"),
        ("expression has no effect", "    __syncthreads;", "Write __syncthreads()"),
        ("expression has no effect", "a[i];", ""),
        ('variable "d" is used before its value is set', "CHECK(cudaMalloc((void**)d, n));", "cudaMalloc(&d, …)"),
        ('variable "d" is used before its value is set', "cudaMallocManaged(d, n);", "cudaMallocManaged(&d, …)"),
        ('variable "d" is used before its value is set', "cudaMalloc(e, d);", ""),
    ],
)  # fmt: skip
def test_a_warning_says_what_to_write(text: str, source: str, says: str) -> None:
    (found,) = warnings.find([f"toy.cu(1): warning #1-D: {text}\n"], {"toy.cu": source.encode()})
    assert found.text.startswith(text)
    assert says in found.text
    assert bool(says) == (found.text != text)


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ("\nif (i < n); c[i] = f(a[i]);", [2]),
        ("if (f(i) < n) ;\n    c[i] = 1;\nif ((i)); { }", [1, 3]),
        ("for (int i = 0; i < n; ++i); sum += a[i];", [1]),
        ("for (int i = 0; i < n; ++i);\n{ sum += a[i]; }", [1]),
        ("for (int i = 0; i < n; ++i);\n    sum += a[i];", [1]),
        ("for (; *p; ++p);\nsum += a[i];", []),
        ("{ for (; *p; ++p); }", []),
        ("do ++i; while (i < n); sum += i;", []),
        ("if (i < n); else c[i] = 1;", []),
        ("// if (i < n); c\n/* if (a); */ \"if (b);\"\n#if (A);\n#define B if (i); \\\n  if (b);\nint c = 1'000;", []),
        ("if (i < n) c[i] = a[i]; if (b) { ; }", []),
        ("if (" + "(" * 900 + ");", []),
    ],
)  # fmt: skip
def test_a_semicolon_behind_a_condition_is_told(source: str, lines: list[int]) -> None:
    found = warnings.find([], {"toy.cu": source.encode()})
    assert [one.line for one in found] == lines
    assert all((one.is_mistake and "ends the if" in one.text) or "all that the loop does" in one.text for one in found)


@pytest.mark.parametrize(
    "piece", ["if (", "for(;;);", "for(;;);\n", "if (a);", " ", "\n", "'", '"', "/*", "#if \\\n", "("]
)
def test_hostile_files_are_looked_through_in_linear_time(piece: str) -> None:
    start = time.process_time()
    assert len(warnings.find([], {"toy.cu": piece.encode() * 500_000})) <= 50
    assert time.process_time() - start < 10
