"""What compilers made of a stranger's source and what they say of it, read in a confined process (machine/confined.py).

Each function that `confined.call` is given stands here with all that it needs, and returns plain data.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import ParamSpec, TypeVar

from warpgrade.compiling import compile_errors, elf_object, headers, link_errors, warnings
from warpgrade.compiling.compiler_words import as_the_student_knows_it, header_test
from warpgrade.compiling.elf_object import ObjectFile, RefusedObject
from warpgrade.compiling.failure import BuildFailure, Problem, Stage
from warpgrade.compiling.link_errors import LinkProblem
from warpgrade.compiling.warnings import CompilerWarning
from warpgrade.lab.labs import Lab
from warpgrade.machine import confined
from warpgrade.machine.confined import Allowance, OverBudget

P = ParamSpec("P")
R = TypeVar("R")

_ERRORS = re.compile(r"(?:^|\s|:)(?:fatal )?error\b\s*(?:#\d+-?\w*)?:", re.MULTILINE)
# The compilers' own words, which begin a line: a source file has its say in others.
_TOO_LARGE = re.compile(
    r"^(?:g\+\+|c\+\+|as|nvcc|fatbinary|ptxas|Fatal error)[ :][^\n]*(?:File too large|File size limit|signal 25\b)",
    re.MULTILINE,
)


@dataclass(frozen=True)
class Compiled:
    """What is to be read of one call of the compiler: what it says, and where it says which headers it read.

    own: files that messages may name. folders: where they were. homes: of headers that they may name. files: of the
    submission, as warnings quote them.
    """

    unit: str
    status: int
    words: bytes
    record: Path
    refused: list[str]
    folder: str
    toolkits: list[Path]
    own: list[str]
    folders: list[str]
    homes: list[Path]
    files: dict[str, bytes]


@dataclass(frozen=True)
class Said:
    """What compilers say, in the student's terms. problem: a header that the lab refuses, which comes first."""

    words: str = ""
    advice: str = ""
    problem: Problem | None = None
    warnings: list[CompilerWarning] = field(default_factory=list)
    errors: int = 0
    has_error: bool = False
    is_too_large: bool = False


def within(allowance: Allowance, stage: Stage, what: str, function: Callable[P, R], /, *arguments: P.args) -> R:  # type: ignore[valid-type]
    """Have it read; raises BuildFailure where a limit ends that. what: as in “to read what the linker says”."""
    try:
        return confined.call(allowance, function, *arguments)  # type: ignore[call-arg]
    except OverBudget as over:
        message = f"{what} {over}"
        raise BuildFailure(stage, message, hint="make the program smaller", review=[message]) from None


def read_compiled(one: Compiled) -> Said:
    """Read what the compilers say of a unit."""
    problem = headers.refused(
        one.record, one.unit, one.refused, folder=one.folder, toolkits=one.toolkits, compiled=one.status == 0
    )
    if problem is not None:
        return Said(problem=problem)
    words = as_the_student_knows_it(one.words, one.own, one.folders, header_test(one.homes))
    # Other units have a reading of their own.
    seen = {name: content for name, content in one.files.items() if name.partition("/")[0] in one.own}
    if one.status == 0:
        return Said(words, warnings=warnings.find([words], seen))
    words = compile_errors.readable(words)
    return Said(
        warnings.errors_first(words), advice=compile_errors.advice(words, seen), errors=len(_ERRORS.findall(words)),
        has_error=re.search(r"\berror\b", words) is not None, is_too_large=_TOO_LARGE.search(words) is not None,
    )  # fmt: skip


def read_linked(words: bytes, own: list[str], folders: list[str], homes: list[Path]) -> str:
    """Read what the linker says."""
    return as_the_student_knows_it(words, own, folders, header_test(homes))


def read_object(path: Path) -> tuple[ObjectFile, str]:
    """Return what an object holds, and for what it is refused, or nothing."""
    try:
        return elf_object.read(path.read_bytes()), ""
    except RefusedObject as refused:
        return ObjectFile(), str(refused)


def missing_functions(lab: Lab, functions: list[tuple[str, bool]]) -> LinkProblem | None:
    """Check before the link that the contract's functions are there."""
    return link_errors.missing_functions(lab, functions)


def explain_link(lab: Lab, words: str, functions: list[tuple[str, bool]], known: list[str]) -> LinkProblem:
    """Name the first cause in the linker's words."""
    return link_errors.explain_link(lab, words, functions, frozenset(known))
