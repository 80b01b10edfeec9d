"""What a failed assertion of a lab's test shows are words of the task, not the test's own C++."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from warpgrade.machine.paths import find_layout

ROOT = find_layout().root
LABS = sorted([*ROOT.glob("labs/*/tests/*.[ch]pp"), *ROOT.glob("grader/warpgrade/lab/template/labs/*/tests/*")])
ASSERTION = re.compile(r"\b((?:CHECK|REQUIRE)(?:_THAT|_FALSE)?)\(")
NAME = re.compile(r"[A-Za-z_]\w*(\[\d+\])?")
CALL = re.compile(r"(?:judge::)?[a-z_]+\(")


def arguments(text: str, begin: int) -> str:
    """Return what stands between the parenthesis before `begin` and the one that closes it."""
    depth = 1
    for end in range(begin, len(text)):
        depth += {"(": 1, ")": -1}.get(text[end], 0)
        if depth == 0:
            return text[begin:end]
    raise ValueError(text[begin : begin + 60])


def shown(macro: str, arguments: str) -> str:
    """Return the part of an assertion by which its message names what was checked."""
    if not macro.endswith("_THAT"):
        return re.split(r" (?:==|!=|<=|>=|<|>) ", arguments)[0]
    depth = 0
    for end, character in enumerate(arguments):
        depth += {"(": 1, "{": 1, ")": -1, "}": -1}.get(character, 0)
        if depth == 0 and character == ",":
            return arguments[:end]
    return arguments


def is_measure(name: str) -> bool:
    """Whether this is one call of a function, with nothing behind it."""
    call = CALL.match(name)
    return call is not None and call.end() + len(arguments(name, call.end())) == len(name) - 1


def complaints(text: str) -> Iterator[str]:
    """Yield each assertion that names what it checks neither by a measure nor by a plain name."""
    text = re.sub(r"//.*", "", text)
    for match in ASSERTION.finditer(text):
        inner = arguments(text, match.end())
        name = shown(match[1], inner).strip()
        if not NAME.fullmatch(name) and not (match[1].endswith("_THAT") and is_measure(name)):
            yield f"{match[1]}({inner})"


@pytest.mark.parametrize("path", LABS, ids=lambda path: "/".join(path.parts[-3::2]))
def test_assertions_speak_of_the_task(path: Path) -> None:
    assert list(complaints(path.read_text(encoding="utf-8"))) == []


def test_there_are_labs_to_look_at() -> None:
    assert len(LABS) > 30


@pytest.mark.parametrize(
    ("assertion", "is_good"),
    [
        ("CHECK_THAT(C, near(oracle::matmul(A, B)).shape(m, n));", True),
        ("CHECK_THAT(sectors_stored(run.kernel()), is(m * n / 8));", True),
        ('REQUIRE_THAT(judge::measure("a", x.y), is(3));', True),
        ("CHECK(width == oracle.width);", True),
        ("REQUIRE_THAT(run, clean());", True),
        ("CHECK_THAT(run.output, equals_exactly(C));", False),
        ("REQUIRE_THAT(compared.submission.output, near(x));", False),
        ("CHECK_THAT(submission().call<f>(in(x), 3), near(x));", False),
        ("CHECK(counters.global_store_sectors == m * n / 8);", False),
        ("CHECK(run->launches >= 1);", False),
        ("CHECK_FALSE(sum() == 0);", False),
        ("CHECK(is_nan(sum));", False),
    ],
)  # fmt: skip
def test_which_assertions_are_good(assertion: str, *, is_good: bool) -> None:
    assert (list(complaints(assertion)) == []) is is_good
