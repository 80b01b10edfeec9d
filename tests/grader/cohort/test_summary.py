"""What a class's grades say together."""

import io
from pathlib import Path
from typing import IO, cast

import golden_files
import msgspec
import pytest
from class_rows import ADA, BOB, CLASS, EVE, KAI, LIN, many
from hostile import ACTS, ANY, HOSTILE
from hypothesis import given
from rich.console import Console

from warpgrade.cohort import summary, summary_terminal
from warpgrade.cohort.row import Lost, Row
from warpgrade.report.stream import Gated

GOLDEN = Path(__file__).parent / "golden"
WHERE = ("in 4 tests", "in “sums: of one element”")


def shown(rows: list[Row], width: int = 120, top: int = 5, encoding: str = "utf-8", *, colour: bool = False) -> str:
    raw = io.BytesIO()
    file = io.TextIOWrapper(raw, encoding=encoding, errors="backslashreplace")
    console = Console(
        file=cast(IO[str], Gated(file)), width=width, highlight=False, markup=False, force_terminal=colour
    )
    summary_terminal.show(console, summary.summarize(rows), top=top)
    file.flush()
    return "".join(line.rstrip() + "\n" for line in raw.getvalue().decode(encoding).split("\n")[:-1])


def a_class() -> list[Row]:
    """Some sixty students: most are good, some are lost."""
    rows = many(60)
    for i, row in enumerate(rows):
        lost = [*row.lost] if i % 3 else []
        if i % 5 == 0:
            lost.append(Lost("sums of one element", 5, "sum: expected 1, got 0" if i % 2 else "the kernel failed"))
        review = [f"its result was not computed by the device ({WHERE[i % 2]})"] if i % 25 == 3 else []
        late = "1 day late: −10 %" if i % 10 == 0 else ""
        rows[i] = msgspec.structs.replace(
            row, points=row.earned, lost=lost, review=review, late=late, result=f"results/{i}.json"
        )
    return [*CLASS, *rows]


@pytest.mark.parametrize("width", [60, 120])
@pytest.mark.parametrize(("name", "rows"), [("class", a_class()), ("few", CLASS), ("nobody", [])])
def test_golden(name: str, rows: list[Row], width: int) -> None:
    text = shown(rows, width)
    golden_files.check(GOLDEN / f"summary-{name}-{width}.txt", text)
    assert max(map(len, text.splitlines())) <= width
    assert "\x1b" not in text


def test_numbers() -> None:
    whole = summary.summarize(CLASS)
    assert dict(whole.states) == {"graded": 3, "rejected": 1, "missing": 1, "error": 1, "refused": 1, "waiting": 1}
    # Who handed in nothing, and who has no grade yet, is in no mean.
    assert sorted(whole.handed_in) == [0, 0, 53, 63.64, 80]
    assert whole.median == 53
    assert whole.mean == pytest.approx(39.33, abs=0.01)
    assert whole.histogram == [2, 0, 0, 0, 0, 1, 1, 0, 1, 0, 0]
    assert (whole.late, whole.decided) == (1, 1)
    first = whole.most_missed[0]
    assert (first.test, first.students, first.points) == ("each element is loaded once per tile", 2, 20)
    assert first.commonest == ("16777216 sectors were loaded from global memory", 2)


def test_reasons_that_differ_in_numbers_are_one() -> None:
    whys = ["the kernel failed", "sum: expected 1.5, got 0", "sum: expected 2, got 1,024"]
    rows = [msgspec.structs.replace(ADA, lost=[Lost("sums", 5, why)]) for why in whys]
    assert summary.summarize(rows).missed["sums"].commonest == ("sum: expected 1.5, got 0", 2)


@pytest.mark.parametrize(("points", "place"), [(0, 0), (10.99, 0), (11, 1), (109.99, 9), (110, 10), (120, 10)])
def test_all_points_are_a_bin_of_their_own(points: float, place: int) -> None:
    bins = summary.summarize([msgspec.structs.replace(ADA, points=points)]).histogram
    assert bins.index(1) == place


def test_who_needs_help_and_what_a_person_should_see() -> None:
    flagged = msgspec.structs.replace(KAI, decision=None)
    text = shown([*CLASS[:3], flagged, *CLASS[4:], msgspec.structs.replace(ADA, name="Low", points=5)])
    helped, looked = text.split("Who needs help")[1].split("To look at")
    for word in ("below 50 % (1)", "Low  4.5 %", "missing (1): Bob", "rejected (1)", "matmul.cu does not compile"):
        assert word in helped
    for word in (
        "not computed by the device (1)",
        "-Kai",
        "in 2 tests  results/kai.json",
        "Joe",
        "refused (1)",
        "contains a link",
    ):
        assert word in looked


def test_what_a_person_has_decided_is_off_the_lists() -> None:
    decided = msgspec.structs.replace(BOB, decision=KAI.decision, points=70)
    rejected = msgspec.structs.replace(EVE, decision=KAI.decision, points=70)
    assert "Who needs help" not in shown([decided, rejected])
    assert "To look at" not in shown([KAI])


def test_a_cause_is_told_once_however_many_tests_and_students_have_it() -> None:
    noted = [f"the clock was asked (in {count} tests)" for count in range(2, 9)] + ["the clock was asked (in “sums”)"]
    rows = [msgspec.structs.replace(ADA, student=str(i), review=[note]) for i, note in enumerate(noted)]
    looked = shown(rows, top=5).split("To look at")[1]
    assert looked.count("the clock was asked") == 1
    assert "(8)" in looked
    assert "in 2 tests  results/" in looked
    assert "and 3 more students" in looked


def test_notes_that_are_left_out_are_told_before_other_lists() -> None:
    rows = [msgspec.structs.replace(ADA, review=[f"note {letter}" for letter in "abcdefg"]), LIN]
    looked = shown(rows, top=5).split("To look at")[1]
    assert looked.index("and 2 more notes") < looked.index("refused (1)")


def test_lists_have_an_end() -> None:
    rows = [msgspec.structs.replace(EVE, name=f"E{i}", student=str(i), review=[f"note {i}"]) for i in range(30)]
    missing = [msgspec.structs.replace(BOB, name=f"B{i}", student=f"b{i}") for i in range(60)]
    text = shown([*rows, *missing], top=3)
    assert "rejected (30)" in text
    assert "and 27 more students" in text
    assert "and 27 more notes" in text
    assert "B23" in text
    assert "B24" not in text


def test_a_large_class() -> None:
    whole = summary.summarize(iter(many(10_000)))
    assert whole.students == 10_000
    assert sum(whole.histogram) == 10_000


def test_a_terminal_without_unicode_or_colour(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "70-79 %" in shown(a_class(), encoding="ascii")
    assert "##" in shown(a_class(), encoding="ascii")
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert "\x1b[32m" in shown(CLASS, colour=True)
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[32m" not in shown(CLASS, colour=True)


@ANY
@given(words=HOSTILE)
def test_hostile_words(words: str) -> None:
    row = msgspec.structs.replace(KAI, name=words, student=words, lab=words, problem=words, result=words,
                                  review=[words], lost=[Lost(words, 1, words)], decision=None)  # fmt: skip
    rows = [row, *(msgspec.structs.replace(row, state=state) for state in ("rejected", "refused", "error", "missing"))]
    text = shown(rows, 60)
    assert not ACTS.search(text)
