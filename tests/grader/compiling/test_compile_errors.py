"""What a compiler's first error asks for, in one line, where the compiler does not say it itself."""

import re
import time

import pytest
from lab_builder import lab_builder

from warpgrade.compiling import compile_errors
from warpgrade.compiling.failure import BuildFailure
from warpgrade.lab import labs
from warpgrade.machine.paths import find_layout

LAYOUT = find_layout()
INCLUDE = '#include "reverse.h"\n'
CALLS_HOST = 'calling a {kind}("{name}") from a __global__ function("k") is not allowed'
INCOMPATIBLE = 'argument of type "{}" is incompatible with parameter of type "{}"'
OVERLOADED = (
    'no instance of overloaded function "{}" matches the argument list\n            argument types are: ({}, int)'
)


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (OVERLOADED.format("cudaMalloc", "float *"), "put & before the pointer that cudaMalloc is to set"),
        (OVERLOADED.format("cudaMalloc", "float"), ""),
        (OVERLOADED.format("cudaMalloc", "float **"), ""),
        (OVERLOADED.format("cudaMemcpyToSymbol", "float *"), ""),
        (OVERLOADED.format("atomicAdd", "int"), "put & before the first argument of atomicAdd"),
        (OVERLOADED.format("atomicAdd", "float *"), ""),
        (INCOMPATIBLE.format("cudaEvent_t", "cudaEvent_t *"), "put & before that argument"),
        (INCOMPATIBLE.format("float *", "void **"), "put & before that argument"),
        (INCOMPATIBLE.format("const float **", "const float *"), "without &"),
        (INCOMPATIBLE.format("float", "const void *"), "without * before it"),
        (INCOMPATIBLE.format("const float *", "float *"), ""),
        ("a host function call cannot be configured\n      add<<<blocks, 4>>>(a);\n      ^",
         "put __global__ before the definition of add:"),
        ("a host function call cannot be configured\n      add<32> <<<blocks, 4>>>(a);\n      ^",
         "put __global__ before the definition of add:"),
        ("kernel launch from __device__ or __global__ functions requires separate compilation mode", "from host code"),
        ("a __global__ function call must be configured\n      add(a, b);\n      ^", "add<<<blocks, threads>>>(…)"),
        (CALLS_HOST.format(kind="__host__ function", name="plus(int)"), "put __device__ before the definition of plus"),
        (CALLS_HOST.format(kind="constexpr __host__ function", name="std::max"), "std::max runs on the host only"),
        ('calling a __device__ function("__syncthreads") from a __host__ function("k") is not allowed',
         "put __global__ before the definition of k if"),
        ('identifier "BLOCK" is undefined in device code', "pass BLOCK as an argument, or make it constexpr"),
        ("‘__global__’ does not name a type", "the ending .cu"),
        ('expected a ";"\n  void add(int* a) {\n                   ^', "a } is missing above"),
        ('expected a ";"\n      add<<<n, 4>>>(a);\n      ^', "or at the end of the line before"),
        ('identifier "threadidx" is undefined', "did you mean threadIdx?"),
        ('identifier "cudaMemcopy" is undefined', "did you mean cudaMemcpy?"),
        ('identifier "INFINITY" is undefined', "#include <cmath>"),
        ('identifier "__shfl_down" is undefined', "it is __shfl_down_sync today"),
        ('identifier "' + "threadidx" * 100 + '" is undefined', ""),
        ("too few arguments in function call\n      cudaMemcpy(d_a, a, bytes);\n      ^", "and the direction"),
        ("too few arguments in function call\n      add<<<1, 1>>>(a);\n      ^", ""),
        ('no operator "+" matches these operands\n            operand types are: unsigned int + const uint3\n'
         "      i = blockIdx.x * blockDim.x + threadIdx;\n", "such as threadIdx.x"),
        ('no operator "+" matches these operands\n            operand types are: Vector + int', ""),
        ("expression must have integral or unscoped enum type\n      add<<blocks, 4>>(a);\n      ^",
         "add<<<blocks, threads>>>(…)"),
        ("expression must have integral or unscoped enum type\n      int a = b % 2.0;", ""),
        ("expression must be a modifiable lvalue", "is it const"),
        ("expression must be a modifiable lvalue\n      a[i] = 0;\n      ^", "is it const"),
        ("expression must be a modifiable lvalue\n      if (t = 0) a[i] = 0;\n          ^", "to compare, write =="),
        ("expression must be a modifiable lvalue\n      if (n && t = 0) a[i] = 0;\n               ^",
         "to compare, write =="),
        ("expression must be a modifiable lvalue\n      for (i = 0; i = n; ++i) a[i] = 0;\n                  ^",
         "to compare, write =="),
        ("expression must be a modifiable lvalue\n      tile[threadIdx.y, x] = a[i];\n      ^", "brackets: [y][x]"),
        ("initializer not allowed for __shared__ variable\n      __shared__ int s[4] = {0};\n                     ^",
         "then __syncthreads()"),
        (OVERLOADED.format("cudaMalloc", "float *") + "\n        CHECK(cudaMalloc(&d_b, bytes));",
         "declare d_b as a pointer"),
        ('identifier "BLOCK_SIZE" is undefined', "include the lab's header"),
        ('identifier "CHECK" is undefined', 'check.cuh'),
        ('identifier "N" is undefined', ""),
        ('expression must have pointer-to-object type but it has type "float"', "row * width + column"),
        ('incomplete type "int []" is not allowed\n      __attribute__((shared)) int s[];', "put extern before"),
        ('incomplete type "int []" is not allowed\n      int s[];', ""),
        ("a variable length array cannot have static storage duration\n      __attribute__((shared)) int s[n];",
         "constant size"),
        ('declaration is incompatible with previous "s" (declared at line 4)\n'
         "      extern __attribute__((shared)) double s[];", "another name than s"),
        ('declaration is incompatible with previous "s" (declared at line 4)\n      double s;', ""),
        ('argument of type "cudaStream_t" (aka "CUstream_st *") is incompatible with parameter of type "size_t" (aka '
         '"unsigned long")\n      add<<<1, 4, stream>>>(a);', "fourth argument"),
        (OVERLOADED.format("cudaHostGetDevicePointer", "float *"), "put & before the pointer"),
        (CALLS_HOST.format(kind="constexpr __host__ function", name="min") + "\n      x = std::min(x, y);",
         "std::min runs on the host only"),
        (CALLS_HOST.format(kind="constexpr __host__ function", name="lowest")
         + "\n      float x = std::numeric_limits<float>::lowest();",
         "constexpr auto LIMIT = std::numeric_limits<float>::lowest();"),
        (CALLS_HOST.format(kind="__host__ function", name="std::basic_ostream<char>::operator <<(int)"), "printf"),
        ('a static "__shared__" variable declaration is not allowed inside a host function body',
         "or __device__ if kernels call it"),
        ('expected a ";"', "or at the end of the line before"),
        ('identifier "flot" is undefined', ""),
    ],
)  # fmt: skip
def test_advice(error: str, says: str) -> None:
    advice = compile_errors.advice(f'a.cu(3): warning #549-D: it is an "error": no\n\na.cu(9): error: {error}\n')
    assert says in advice
    assert bool(says) == bool(advice)


FILE = b"""\
__constant__ int width;
__global__ void gray(const char* rgb,
                     int columns,  // of the image
                     int rows) {
    __shared__ float tile[32];
    __shared__ float row[32], other[32][33];
}
void draw() { }
"""


@pytest.mark.parametrize(
    ("error", "says"),
    [
        ('no operator "[]" matches these operands\n            operand types are: const float4 [ int ]\n'
         "      sum += v[0];\n              ^", "a float4 has no []: its parts are v.x, v.y, v.z and v.w"),
        ('no operator "[]" matches these operands\n            operand types are: uint2 [ int ]\n'
         "      sum += s.pairs[i][0];\n                       ^", "its parts are s.pairs[i].x and s.pairs[i].y"),
        ('no operator "[]" matches these operands\n            operand types are: const uint3 [ int ]\n'
         "      i = threadIdx[0];\n                   ^", "take one, such as threadIdx.x"),
        ('no operator "[]" matches these operands\n            operand types are: Vector [ int ]', ""),
        (INCOMPATIBLE.format("void (*)(const char *, int, int)", "Kernel")
         + ' (aka "void (*)(const unsigned char *, int, int)")'
         "\n      count(gray, 1);\n            ^",
         "parameter 1 of gray (line 2), const char* rgb, must be of type const unsigned char *"),
        (INCOMPATIBLE.format("void (*)(int)", "void (*)(int, float *)") + "\n      count(own);\n            ^",
         "own must have 2 parameters: (int, float *)"),
        (INCOMPATIBLE.format("int (*)(int)", "void (*)(int)") + "\n      count(own);\n            ^",
         "own must return void"),
        (INCOMPATIBLE.format("int", "const void *")
         + "\n      CHECK(cudaMemcpy(d_a, n, 4, up));\n                            ^",
         "put & before n"),
        (INCOMPATIBLE.format("int", "const void *")
         + "\n      CHECK(cudaMemcpy(d_a, a[0], 4, up));\n                            ^",
         "without * before it or an index"),
        ('no instance of overloaded function "cudaMemcpyToSymbol" matches the argument list\n'
         "            argument types are: (int, int, unsigned long)\n"
         "      CHECK(cudaMemcpyToSymbol(width, n, sizeof n));",
         "put & before n: cudaMemcpyToSymbol takes its address"),
        ('no instance of overloaded function "cudaMemcpyFromSymbol" matches the argument list\n'
         "            argument types are: (int, int, unsigned long)\n"
         "      CHECK(cudaMemcpyFromSymbol(n, width, sizeof n));", "put & before n"),
        ('no instance of overloaded function "cudaMemcpyToSymbol" matches the argument list\n'
         "            argument types are: (int, int *, dim3)\n"
         "      CHECK(cudaMemcpyToSymbol(width, n, b));", ""),
        ('no instance of overloaded function "cudaMalloc" matches the argument list\n'
         "            argument types are: (int, unsigned long)\n      CHECK(cudaMalloc(d_a, sizeof(int)));",
         "declare d_a as a pointer, with a *, and put & before it here: cudaMalloc(&d_a, …)"),
        ('expression must have pointer-to-object type but it has type "float"\n      tile[y][x] = 1;\n      ^',
         "tile[32] at line 5 has one dimension"),
        ('expression must have pointer-to-object type but it has type "int"'
         '\n      s = tile[1][2];\n                  ^',
         "tile[32] at line 5 has one dimension"),
        ('expression must have pointer-to-object type but it has type "float"\n      row[y][x] = 1;\n      ^',
         "row[32] at line 6 has one dimension"),
        ('expression must have pointer-to-object type but it has type "float"\n      a[y][x] = 1;\n      ^',
         "row * width + column"),
        ("too few arguments in function call\n"
         "      gray<<<grid, block>>>(d, f(n, 1));\n                                      ^",
         "gray has 3 parameters (line 2), the launch passes 2: (const char* rgb, int columns, int rows)"),
        ("too few arguments in function call\n      own<<<grid, block>>>(d, n);\n                               ^", ""),
        ("too many arguments in function call\n      draw(d, n);\n           ^",
         "draw has 0 parameters only (line 8): ()"),
        ('expected a ">>>"\n      add<<<blocks, 4>>(a);\n                         ^', "add<<<blocks, threads>>>(…)"),
        ("expected an expression\n      add<<blocks, 4>>>(a);\n                      ^", "add<<<blocks, threads>>>(…)"),
        ("expected an expression\n      add<<<blocks, >>>(a);\n                    ^", ""),
    ],
)  # fmt: skip
def test_advice_names_what_the_line_and_the_file_show(error: str, says: str) -> None:
    advice = compile_errors.advice(f"a.cu(9): error: {error}\n", {"a.cu": FILE})
    assert says in advice
    assert bool(says) == bool(advice)


def test_only_the_first_error_is_advised_on() -> None:
    assert not compile_errors.advice('a.cu(1): error: identifier "q" is undefined\n\na.cu(2): error: expected a ";"\n')
    assert not compile_errors.advice("")


@pytest.mark.parametrize(
    ("expanded", "written"),
    [
        ("      __attribute__((shared)) int s[];\n                                  ^",
         "      __shared__ int s[];\n                     ^"),
        ('      course::check((cudaMalloc(d_b, n)), "cudaMalloc(d_b, n)", "a.cu", 21);\n                     ^',
         "      CHECK(cudaMalloc(d_b, n));\n            ^"),
        ("      __attribute__((global)) int k(int n) {\n      ^", "      __global__ int k(int n) {\n      ^"),
        ("      add(a, b);\n      ^", "      add(a, b);\n      ^"),
    ],
)  # fmt: skip
def test_lines_are_quoted_as_they_were_written(expanded: str, written: str) -> None:
    error = "a.cu(3): error: no\n{}\n\n"
    assert compile_errors.readable(error.format(expanded)) == error.format(written) + "\n"


def test_functions_of_cudas_headers_have_their_names() -> None:
    mangled = "_ZN43_INTERNAL_8ee320bb_12_reduction_cu_16fb50c116__shfl_down_syncE1?1?1?1?"
    words = compile_errors.readable(f'a.cu(1): error: calling a __device__ function("{mangled}") from a __host__\n')
    assert '__device__ function("__shfl_down_sync") from' in words


def test_a_misplaced_variable_comes_before_what_does_not_see_it() -> None:
    words = (
        'a.cu(1): error: identifier "q" is undefined\n\n'
        'a.cu(2): error: an automatic "__managed__" variable declaration is not allowed inside a host function body\n'
    )
    assert "declare the __managed__ variable outside of all functions" in compile_errors.advice(words)


def test_ptxas_speaks_of_kernels_and_bytes() -> None:
    words = compile_errors.readable(
        "ptxas error   : Entry function '_Z3addPKfS0_Pfi' uses too much shared data (0x10000 bytes, 0xc000 max)\n"
    )
    assert words.strip() == "ptxas error: kernel add has 65,536 bytes of __shared__ arrays; 49,152 is the most"
    assert "make them smaller" in compile_errors.advice(words)


@pytest.mark.parametrize(
    ("symbol", "name"),
    [
        ("_Z3addPKf", "add"),
        ("_ZN4mine3addEPf", "mine::add"),
        ("_ZN12_GLOBAL__N_13addEPf", "add"),
        ("_Z4tileILi32EEvPf", "tile<…>"),
        ("add", "add"),
        ("_Z", "_Z"),
        ("_Z9999x", "x"),
    ],
)
def test_names_of_kernels(symbol: str, name: str) -> None:
    assert compile_errors.kernel_name(symbol) == name


def test_other_functions_of_the_same_name_are_left_out() -> None:
    error = 'a.cu(1): error: no instance of overloaded function "atomicAdd" matches\n    atomicAdd(x, 1);\n    ^\n'
    notes = "<a.h>(1): note #3326-D: function does not match\n  float4 atomicAdd(float4 *a);\n         ^\n\n"
    assert (
        compile_errors.readable(f'{error}{notes}1 error detected in the compilation of "a.cu".\n').strip()
        == error.strip()
    )


def test_hostile_words_are_read_in_linear_time() -> None:
    start = time.process_time()
    for piece in ("error ", "error: ", "<a>(1): note #", "ptxas error : Entry function '_Z", " :error #1",
                  " a\n ^", ' course::check((", "', "  __attribute__((", '"_ZN9_INTERNAL_'):  # fmt: skip
        compile_errors.advice(compile_errors.readable(piece * 200_000))
        compile_errors.advice(compile_errors.readable((piece + "\n  ") * 200_000))
    assert time.process_time() - start < 20


@pytest.mark.parametrize("piece", ["int t[1];", "int t[1];\n", "void t(", "void t(int a) {", "a ", "a\n", " \n", "* "])
def test_hostile_files_are_read_in_linear_time(piece: str) -> None:
    source = {"a.cu": (piece * 1_000_000).encode()}
    start = time.process_time()
    line = "\n      t[1][2](3);\n      {}^"
    compile_errors.advice(
        "a.cu(999999): error: expression must have pointer-to-object type but it has type" + line, source
    )
    compile_errors.advice("a.cu(9): error: too few arguments in function call" + line.format(" " * 9), source)
    compile_errors.advice("a.cu(9): error: too few arguments in function call\n      t(3);\n         ^", source)
    assert time.process_time() - start < 10


@pytest.mark.labs
@pytest.mark.parametrize(
    ("before", "after", "hint"),
    [
        ("cudaMalloc(&", "cudaMalloc(", "put & before"),
        ("__global__ ", "", "put __global__ before the definition"),
        (INCLUDE, INCLUDE + "__global__ void k(int* b) { __shared__ int a[20000]; a[*b] = 1; *b = a[3]; }\n",
         "make them smaller"),
        (INCLUDE, INCLUDE + "int f() { return flot; }\n", ""),
        (INCLUDE, INCLUDE + "__device__ float f(float4 v) { return v[0]; }\n", "v.x, v.y, v.z and v.w"),
        (INCLUDE, INCLUDE + "__global__ void k(int a, int b) { }\nvoid f() { k<<<1, 1>>>(2); }\n",
         "the launch passes 1: (int a, int b)"),
        (INCLUDE, INCLUDE + "__global__ void k(int a) { }\nvoid f() { k<<<1, 1>>>(2, 3); }\n",
         "k has 1 parameter only"),
        (INCLUDE, INCLUDE + "__global__ void k(int a) { }\nvoid f() { k<<<1, 1>>(2); }\n", "three of each"),
        (INCLUDE, INCLUDE + "__global__ void k(int a) { }\nvoid f() { k<<1, 1>>>(2); }\n", "three of each"),
        (INCLUDE, INCLUDE + "__global__ void k() { __shared__ int t[4]; t[1][2] = 3; }\n", "row * width"),
        (INCLUDE, INCLUDE + "__global__ void k() {\n__shared__ int t[4];\nt[1][2] = 3; }\n", "has one dimension"),
        (INCLUDE, INCLUDE + "__constant__ int w;\nvoid f(int n) { cudaMemcpyToSymbol(w, n, sizeof n); }\n",
         "put & before n"),
        (INCLUDE, INCLUDE + "void f(int n) { cudaMalloc(n, sizeof n); }\n", "declare n as a pointer"),
        (INCLUDE, INCLUDE + "void f(int n, int* d) { cudaMemcpy(d, n, 4, cudaMemcpyHostToDevice); }\n",
         "put & before n"),
        (INCLUDE, INCLUDE + "using K = void(int, const int*);\nvoid g(K* k);\nvoid h(int, int*);\nvoid f() { g(h); }\n",
         "int*, must be of type const int *"),
    ],
)  # fmt: skip
def test_what_nvcc_says_is_understood(before: str, after: str, hint: str) -> None:
    lab = labs.find(LAYOUT, "reverse")
    text = (LAYOUT.references / "reverse" / "reverse.cu").read_text(encoding="utf-8")
    assert before in text
    broken = text.replace(before, after)
    prelab = (LAYOUT.starters / "reverse" / "prelab.cpp").read_bytes()
    builder = lab_builder(lab)
    with pytest.raises(BuildFailure) as failed:
        builder.build({"reverse.cu": broken.encode(), "prelab.cpp": prelab})
    problem = failed.value.problem
    if hint:
        assert hint in problem.hint
    else:
        assert problem.hint == (
            "fix the first error first; it often causes the later ones" if "errors" in problem.message else ""
        )
    assert not re.search(r"detected in the compilation|_Z\d|0x", problem.detail)
