"""The problem matchers of the tasks for VS Code, against what is really printed."""

import io
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from samples import LEAK, RACE, REJECTED, advice

from warpgrade.compiling.warnings import CompilerWarning
from warpgrade.handout import template
from warpgrade.lab import labs
from warpgrade.machine.paths import find_layout
from warpgrade.report import compiler, diagnosis, findings, terminal

LAYOUT = find_layout()
TASKS = json.loads((template.find_platform("vscode").folder / ".vscode" / "tasks.json.in").read_text())
CHECK = TASKS["tasks"][0]
COLUMNS = int(TASKS["options"]["env"]["COLUMNS"])


def problems(text: str) -> Iterator[tuple[str, str, int, str]]:
    """Yield severity, file, line and message, as VS Code does: each matcher by itself, line by line."""
    rows = text.splitlines()
    for matcher in CHECK["problemMatcher"]:
        patterns = matcher["pattern"] if isinstance(matcher["pattern"], list) else [matcher["pattern"]]
        for at in range(len(rows) - len(patterns) + 1):
            told: dict[str, Any] = {"severity": matcher.get("severity", "error")}
            for row, pattern in zip(rows[at:], patterns, strict=False):
                found = re.search(pattern["regexp"], row)
                if found is None:
                    break
                told |= {key: found[group] for key, group in pattern.items() if key != "regexp"}
            else:
                yield told["severity"], told["file"], int(told["line"]), told["message"]


def printed(show: Any) -> str:
    file = io.StringIO()
    show(Console(file=file, width=COLUMNS, highlight=False, markup=False))
    return file.getvalue()


def test_findings() -> None:
    found = findings.program_findings([RACE, LEAK, advice(3, 1.0)])
    text = printed(lambda console: diagnosis.show(console, found, advice=True))
    assert list(problems(text)) == [
        ("error", "reverse.cu", 18, "race in shared memory"),
        ("warning", "reverse.cu", 41, "memory never freed"),
        ("info", "copy.cu", 3, "uncoalesced access"),
    ]


def test_findings_that_are_told_in_a_line() -> None:
    found = findings.program_findings([RACE, LEAK])
    text = printed(lambda console: diagnosis.show(console, found, whole=0))
    assert list(problems(text)) == [
        ("error", "reverse.cu", 18, "race in shared memory"),
        ("warning", "reverse.cu", 41, "memory never freed"),
    ]


def test_what_compilers_say() -> None:
    text = printed(lambda console: terminal.show(console, REJECTED))
    assert list(problems(text)) == [("error", "matmul.cu", 22, 'identifier "flot" is undefined')]
    warning = CompilerWarning("matmul.cu", 7, "variable “b” was declared but never referenced")
    graded = REJECTED.__class__(
        **{name: getattr(REJECTED, name) for name in REJECTED.__struct_fields__ if name != "warnings"},
        warnings=[warning],
    )
    text = printed(lambda console: compiler.show(console, graded, COLUMNS))
    assert list(problems(text)) == [("warning", "matmul.cu", 7, warning.text)]


@pytest.mark.parametrize(
    "text",
    [
        "  reverse.cu(5): catastrophic error: cannot open source file",
        "  reverse.cu(5): error #20: identifier is undefined",
        "  reverse.cu:5:10: fatal error: nothing.h: No such file or directory",
    ],
)
def test_other_forms_of_compilers(text: str) -> None:
    ((severity, file, line, _),) = problems(text)
    assert (severity, file, line) == ("error", "reverse.cu", 5)


def test_no_test_is_taken_for_a_problem() -> None:
    text = "✗ fail   error: a test at the start   0/4\n  d: 7 of 63 elements are wrong (9 × 7)\n--> nothing\n"
    assert list(problems(text)) == []


@pytest.mark.labs
@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("__syncthreads();", "", ("error", "reverse.cu", "race in shared memory")),
        ("const int t = threadIdx.x;", "const flot t = threadIdx.x;", ("error", "reverse.cu", 'identifier "flot"')),
        ("const int t = threadIdx.x;", "const int t = threadIdx.x; int b;", ("warning", "reverse.cu", '"b"')),
    ],
)
def test_a_real_run(old: str, new: str, expected: tuple[str, str, str], tmp_path: Path) -> None:
    reference = labs.find(LAYOUT, "reverse").reference_folder
    for path in reference.iterdir():
        (tmp_path / path.name).write_text(path.read_text().replace(old, new, 1))
    done = subprocess.run(
        [sys.executable, "-m", *CHECK["command"].split(), "reverse"], cwd=tmp_path, capture_output=True, text=True,
        check=False,
        env={**os.environ, **TASKS["options"]["env"], "PYTHONPATH": str(LAYOUT.root / "grader")},
    )  # fmt: skip
    found = list(problems(done.stdout + done.stderr))
    severity, file, words = expected
    assert any(each[:2] == (severity, file) and words in each[3] for each in found), (found, done.stdout)
    source = (tmp_path / file).read_text().splitlines()
    assert all(0 < line <= len(source) for _, _, line, _ in found)
