"""What the compilers warn of, as users get it."""

import io
import json
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from rich.console import Console
from samples import GRADED, REJECTED
from stand_ins import Script, case, end, run, speed, start

from warpgrade.compiling import build
from warpgrade.compiling.warnings import CompilerWarning
from warpgrade.grading.result import Result
from warpgrade.report import compiler, terminal

MEANT = CompilerWarning("toy.cu", 8, 'use of "=" where "==" may have been intended', "    if (n = 0) return;")


def rendered(result: Result, width: int = 60) -> str:
    file = io.StringIO()
    compiler.show(Console(file=file, width=width, highlight=False), result, width)
    return file.getvalue()


def with_warnings(*warnings: CompilerWarning, result: Result = GRADED) -> Result:
    return msgspec.structs.replace(result, warnings=list(warnings))


def test_a_warning_is_shown_as_compilers_do() -> None:
    shown = """\
toy.cu:8: warning: use of "=" where "==" may have been
    intended
    if (n = 0) return;

"""
    assert rendered(with_warnings(MEANT)) == shown
    assert rendered(GRADED) == ""
    made_up = msgspec.structs.replace(MEANT, source="")
    assert "return" not in rendered(with_warnings(made_up))
    assert rendered(with_warnings(msgspec.structs.replace(MEANT, source="x" * 90))).splitlines()[2][-1] == "…"


def test_many_are_counted() -> None:
    def last(count: int) -> str:
        text = rendered(with_warnings(*(msgspec.structs.replace(MEANT, line=number) for number in range(count))))
        return text.rstrip().splitlines()[-1]

    assert last(5).strip() == "if (n = 0) return;"
    assert last(6) == "1 more compiler warning"
    assert last(12) == "7 more compiler warnings"


@pytest.mark.parametrize("result", [GRADED, REJECTED])
def test_they_stand_below_the_table_or_what_is_wrong_with_the_program(result: Result) -> None:
    file = io.StringIO()
    terminal.show(Console(file=file, width=80, highlight=False), with_warnings(MEANT, result=result))
    text = file.getvalue()
    before = "overlaps copies" if result is GRADED else "fix the first error first"
    assert text.index(before) < text.index("toy.cu:8: warning") < text.index("Total")


def test_reports_for_other_programs_have_them(
    submission: Path,
    script: Callable[[Script], Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(build.Builder, "warnings", lambda self, files: [MEANT])
    script([[start(), case("adds"), case("adds odd sizes"), speed(9.0), end()]])
    sarif = tmp_path / "found.sarif"
    words = ("--json", "-", "--sarif", sarif, "--annotations", "github")
    _, out, err = run(capsys, "grade", "toy", submission, *words)
    (warning,) = json.loads(out)["warnings"]
    assert warning == {"file": "toy.cu", "line": 8, "text": MEANT.text, "source": MEANT.source}
    assert "::warning file=toy.cu,line=8,title=" in err
    (found,) = json.loads(sarif.read_text())["runs"][0]["results"]
    assert (found["ruleId"], found["level"]) == ("compiler/warning", "warning")
    assert MEANT.text in found["message"]["text"]
