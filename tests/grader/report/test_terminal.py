"""The score table, against golden files."""

import io
from pathlib import Path

import golden_files
import msgspec
import pytest
from rich.console import Console
from samples import GRADED, REJECTED

from warpgrade.grading.result import Result
from warpgrade.report import terminal
from warpgrade.report.profile import short_name

GOLDEN = Path(__file__).parent / "golden"
ESCAPE = "\x1b"


def rendered(result: Result, width: int, *, show_hidden: bool = False) -> str:
    file = io.StringIO()
    terminal.show(Console(file=file, width=width, highlight=False), result, show_hidden=show_hidden)
    return "".join(line.rstrip() + "\n" for line in file.getvalue().splitlines())


@pytest.mark.parametrize("width", [60, 160])
@pytest.mark.parametrize(("name", "sample"), [("graded", GRADED), ("rejected", REJECTED)])
def test_golden(name: str, sample: Result, width: int) -> None:
    text = rendered(sample, width)
    golden_files.check(GOLDEN / f"{name}-{width}.txt", text)
    assert ESCAPE not in text


def test_hidden_tests_show_name_and_hint_only() -> None:
    for width in (60, 160):
        text = rendered(GRADED, width)
        assert "keeps NaN and infinity" in text
        assert "What is 0 times infinity?" in text
        assert "expected NaN" not in text
        assert "expected NaN" in rendered(GRADED, width, show_hidden=True)


def test_a_terminal_without_unicode(monkeypatch: pytest.MonkeyPatch) -> None:
    raw = io.BytesIO()
    file = io.TextIOWrapper(raw, encoding="ascii", errors="backslashreplace")
    terminal.show(Console(file=file, width=100, highlight=False), GRADED)
    file.flush()
    assert b"+ pass" in raw.getvalue()
    assert b"x fail" in raw.getvalue()


def test_what_was_not_handed_in_is_said_before_the_tests_that_lose_by_it() -> None:
    note = "prelab.cpp was not handed in: the starter's is graded in its place"
    submission = msgspec.structs.replace(GRADED.submission, notes=[note])
    lines = rendered(msgspec.structs.replace(GRADED, submission=submission), 160).splitlines()
    assert lines[1] == f"note: {note}"
    assert sum(note in line for line in lines) == 1


def test_a_note_for_review_that_several_tests_have_is_said_once() -> None:
    notes = [f"{test.name}: its result was not computed by the device" for test in GRADED.tests[:2]]
    result = msgspec.structs.replace(GRADED, review=[*notes, "speed on 256 × 256: another thing", "a zip with links"])
    text = rendered(result, 160)
    assert text.count("its result was not computed by the device (in 2 tests)") == 1
    assert "speed on 256 × 256: another thing" in text
    assert "a zip with links" in text


def test_colour_is_for_terminals_and_only_where_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    def text() -> str:
        file = io.StringIO()
        terminal.show(Console(file=file, width=80, highlight=False, force_terminal=True), GRADED)
        return file.getvalue()

    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert "\x1b[32m" in text()
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[32m" not in text()


def test_of_a_test_whose_checks_fail_the_first_is_shown_and_how_to_see_all() -> None:
    failed = GRADED.tests[1]
    one, two = (
        msgspec.structs.replace(failed, message=message) for message in ("first check", "first check\n\nsecond")
    )
    shown = [rendered(msgspec.structs.replace(GRADED, tests=[test]), 100) for test in (one, two)]
    assert [terminal.OTHER_CHECKS in text for text in shown] == [False, True]
    assert "second" not in shown[1]


def test_one_line() -> None:
    assert terminal.one_line(GRADED) == "matmul hand-ins/jane: 58.3 / 110  (53 %) error"


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("add", "add"),
        ("sum<float, 256>", "sum<float, 256>"),
        (
            "cub::V_300001::detail::reduce::DeviceReduceKernel<cub::V_300001::policy<float>::Policy1000, float*>",
            "reduce::DeviceReduceKernel<…>",
        ),
        ("thrust::cuda_cub::run<agent<(Order)0>, less<int>, (1 -> 2)>::go<wide<wide<int>>>", "cuda_cub::run<…>::go<…>"),
        ("course::" * 4 + "kernel_with_a_name_that_is_rather_long", "kernel_with_a_name_that_is_rather_long"),
        ("a" * 300, "a" * 300),
        ("<" * 80 + ">", "<…>"),
    ],
)  # fmt: skip
def test_long_kernel_names_are_shown_short(name: str, shown: str) -> None:
    assert short_name(name) == shown
