"""Linker errors in words."""

import pytest

from warpgrade.compiling import link_errors
from warpgrade.lab.labs import Lab


def undefined(symbol: str) -> str:
    return (
        "/usr/bin/ld: unit0.o: in function `f()':\n"
        f"toy.cu:(.text+0x5): undefined reference to `{symbol}'\n"
        "collect2: error: ld returned 1 exit status\n"
    )


@pytest.mark.parametrize(
    ("functions", "message", "hint"),
    [
        ([], "none of your files defines toy()", "as toy.h declares it"),
        ([("toyy(float*, int)", True)], "toy() is not defined; your file has toyy(float*, int)", "as toy.h does"),
        ([("other(float*, int)", True)], "none of your files defines toy()", "as toy.h declares it"),
        ([("Toy(float*, int)", True)], "toy() is not defined; your file has Toy(float*, int)", "case-sensitive"),
        ([("toy(float*, int)", False)], "is visible only inside its own file", "`static`"),
        ([("mine::toy(float*, int)", True)], "inside a namespace: mine::toy", "outside"),
        ([("toy(float*, int)", True), ("main", True)], "defines main()", "remove main()"),
    ],
)
def test_before_the_link(lab: Lab, functions: list[tuple[str, bool]], message: str, hint: str) -> None:
    problem = link_errors.missing_functions(lab, functions)
    assert problem is not None
    assert message in problem.message
    assert hint in problem.hint


def test_a_function_that_is_there_is_fine(lab: Lab) -> None:
    assert link_errors.missing_functions(lab, [("toy(float*, long)", True), ("helper::main()", True)]) is None


@pytest.mark.parametrize(
    ("output", "message", "unsupported"),
    [
        (undefined("toy(float*, int)"), "toy(float*, int) is not defined as toy.h declares it", False),
        (undefined("cudaMallocAsync"), "cudaMallocAsync() is a CUDA function that Warpgrade does not", True),
        (undefined("cudaGradeMeByHand"), "cudaGradeMeByHand is declared and used, but never defined", False),
        (undefined("cudaMallocAsync(int)"), "cudaMallocAsync(int) is declared and used, but never defined", False),
        (undefined("cublasSgemm_v2"), "cublasSgemm_v2() belongs to cuBLAS", False),
        (undefined("cuMemAlloc_v2"), "belongs to the CUDA driver API", False),
        (undefined("helper(float)"), "helper(float) is declared and used, but never defined", False),
        (
            "ld: b.o: multiple definition of `helper(int)'; a.o: first defined here",
            "helper(int) is defined twice",
            False,
        ),
        ("something else", "the linker rejects the program", False),
    ],
)
def test_the_first_cause_is_named(lab: Lab, output: str, message: str, unsupported: bool) -> None:
    problem = link_errors.explain_link(lab, output, [("toy(double*, int)", True)], {"cudaMallocAsync"})
    assert problem.message.startswith(message) or message in problem.message
    assert problem.unsupported is unsupported


def test_another_signature_is_shown(lab: Lab) -> None:
    problem = link_errors.explain_link(lab, undefined("toy(float*, int)"), [("toy(double*, int)", True)], ())
    assert problem.hint == "yours is toy(double*, int)"


def test_the_contract_comes_first(lab: Lab) -> None:
    output = undefined("cudaMallocAsync") + undefined("toy(float*, int)")
    assert "toy(float*, int) is not defined" in link_errors.explain_link(lab, output, [], {"cudaMallocAsync"}).message
