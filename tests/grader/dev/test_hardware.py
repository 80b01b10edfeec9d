"""docs/hardware.md: what task sheets say about the speed of devices is claimed there, with the figures measured."""

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from warpgrade.machine.paths import find_layout

ROOT = find_layout().root
PAGE = (ROOT / "docs" / "hardware.md").read_text(encoding="utf-8")
SHEETS = {path.parent.name: path.read_text(encoding="utf-8") for path in sorted(ROOT.glob("labs/*/README.md"))}
VERDICTS = ("holds", "changed", "model only", "not measured", "the text's", "the texts'")
CLAIMS_HEADER = "| lab | the sheet says | measured on the H100 | verdict |"
SPEED = re.compile(
    r"(?i)\b(?:faster|slower|fastest|slowest)\b|times as (?:fast|long)|\bas fast as a|twice as long"
    r"|\d (?:GB/s|TB/s|TFLOP/s|ms\b|µs|cycles)|\bH[12]00\b"
)
# Sentences that look like claims about speed and are none, by their beginnings.
NO_CLAIMS = {
    "convolution": (),
    "debug": ("It does not see quite the same",),  # which findings, not how fast
    "matmul": ("Speed is that of the kernels alone",),  # speed-ups for points
    "occupancy": ("`--device", "`k20x`", "32 blocks of 256 threads", "**More is not always faster.**"),  # limits
    "reverse": ("A multiprocessor of an H100", "Measured on an NVIDIA H100", "If a warp does 20 cycles"),  # sizes
    "scan": (),
    "step": ("`step_v4`: as fast", "**Faster than what?**", "Version 3's kernel alone"),
    "vecadd": ("Include your file in a", "**Is it faster?**", "With `s` streams"),
}


@dataclass(frozen=True)
class Claim:
    """A row of the table of claims."""

    lab: str
    quotes: list[str]
    measured: str
    verdict: str


def rows(text: str) -> Iterator[list[str]]:
    for line in text.splitlines():
        if line.startswith("|") and not line.startswith("|---"):
            yield [cell.strip() for cell in line.strip("|").split("|")]


def section(heading: str, page: str = PAGE) -> str:
    found = re.search(rf"^## {re.escape(heading)}$(.*?)(?=^## |\Z)", page, re.MULTILINE | re.DOTALL)
    assert found, f"no section {heading}"
    return found[1]


def claims() -> list[Claim]:
    table = section("Claims of the task sheets, one by one").partition(CLAIMS_HEADER)[2].partition("\n\n")[0]
    return [Claim(row[0].strip("`"), re.findall("“(.+?)”", row[1]), row[2], row[3]) for row in rows(table)]


def times(column: int) -> dict[tuple[str, str, str], float]:
    """Return the number that each measurement has in a column, by section, what and size."""
    found = {}
    for heading in re.findall(r"^## (\w+)$", PAGE, re.MULTILINE):
        for row in rows(section(heading)):
            number = re.match(r"[\d.]+", row[column])
            if number:
                found[heading, row[0], row[1]] = float(number[0])
    return found


TIMES, ON_AN_H200 = times(2), times(4)
NUMBERS = {
    float(number)
    for page in (PAGE, (ROOT / "tests" / "model" / "h100.md").read_text(encoding="utf-8"))
    for heading in re.findall(r"^## (\w+(?:, 2\^\d+ values)?)$", page, re.MULTILINE)
    for row in rows(section(heading, page))
    for number in re.findall(r"\d+(?:\.\d+)?(?:e\+\d+)?", f"{row[2]} {row[3]}")
} | {2.69, 51.0, 0.351, 3.06}  # by hand, as the page says


def rounds(text: str, numbers: set[float], scale: float = 1) -> bool:
    """Whether a number as a sheet prints it is one of these, rounded."""
    digits = len(text.partition(".")[2])
    return any(abs(number * scale - float(text)) <= 0.5001 * 10**-digits for number in numbers)


def sentences(lab: str) -> Iterator[str]:
    """Yield the sentences of a sheet that are neither code, table nor about points."""
    text = re.sub(r"^```.*?^```$", "", SHEETS[lab], flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"^## Points$.*?(?=^## )", "", text, flags=re.MULTILINE | re.DOTALL)
    for line in text.splitlines():
        if not line.startswith(("|", "    ", "!", "#")):
            yield from re.split(r"(?<=[.;?!])\s+(?=[A-Z(*`0-9])", line)


@pytest.mark.parametrize("lab", SHEETS)
def test_sheets_say_nothing_about_speed_that_is_not_in_the_table(lab: str) -> None:
    quotes = [quote for claim in claims() if claim.lab == lab for quote in claim.quotes]
    text = SHEETS[lab]
    missing = []
    for sentence in sentences(lab):
        if SPEED.search(sentence) and not sentence.startswith(NO_CLAIMS.get(lab, ())):
            at = text.index(sentence)
            places = [(text.index(quote), len(quote)) for quote in quotes if quote in text]
            if not any(begin < at + len(sentence) and at < begin + length for begin, length in places):
                missing.append(sentence)
    assert missing == [], "claim them in docs/hardware.md"


def test_claims_are_the_sheets_own_words_with_a_verdict() -> None:
    assert len(claims()) > 35
    for claim in claims():
        assert claim.quotes, f"a claim of {claim.lab} quotes nothing"
        for quote in claim.quotes:
            assert quote in SHEETS[claim.lab], f"the sheet of {claim.lab} no longer says “{quote}”"
        assert claim.verdict.startswith(VERDICTS), f"{claim.lab}: “{claim.verdict}” is no verdict"
        assert claim.measured or not claim.verdict.startswith("holds"), f"{claim.quotes}: measured how?"


def test_figures_of_claims_are_those_measured() -> None:
    for claim in claims():
        figures = re.findall(r"(?<![\d.])\d+\.\d{2,}", claim.measured)
        assert [figure for figure in figures if float(figure) not in NUMBERS] == [f for f in figures if f == "0.75"]


@pytest.mark.parametrize("lab", SHEETS)
def test_figures_with_a_unit_are_measured_ones_rounded(lab: str) -> None:
    units = {"ms": 1.0, "µs": 1e3, "TFLOP/s": 1.0, "GB/s": 1.0, "TB/s": 1e-3}
    said = r"(?<![\d.,])(\d+(?:\.\d+)?) (ms|µs|TFLOP/s|GB/s|TB/s)(?!\w)"
    text = section("Background", SHEETS[lab]) + SHEETS[lab].partition("\n## More\n")[2]
    wrong = [
        f"{number} {unit}"
        for number, unit in re.findall(said, text)
        if not rounds(number, NUMBERS, units[unit]) and not rounds(number, NUMBERS)
    ]
    excepted = {
        "vecadd": ["10 GB/s", "2 µs"],  # an example of a CPU; the model's
        "matmul": ["66.9 TFLOP/s"],  # the peak
    }
    assert [figure for figure in wrong if figure not in excepted.get(lab, [])] == []


TABLES: dict[
    str, list[tuple[str, tuple[int, ...]]]
] = {  # where a sheet's table of an H100 begins, and the columns that are numbers as measured
    "matmul": [("| | time | achieved | of 66.9", (1, 2)), ("| 4096 × 4096, tiles of 16 × 16, H100", (1,))],
    "transpose": [("| kernel | time | of the copy", (1,))],
    "reduction": [("| version | 1 | 2", (1, 2, 3, 4, 5, 6))],
    "convolution": [("| | 2²⁶, mask 5", (1, 2, 3)), ("| 8192 × 8192 | 3 × 3", (1, 2, 3, 4))],
    "step": [("| | time | operations a cycle | of the units' peak", (1,))],
    "reverse": [("| memory | size on an H100", (2,))],
}


@pytest.mark.parametrize("lab", TABLES)
def test_tables_of_an_h100_have_the_measured_figures(lab: str) -> None:
    for begin, columns in TABLES[lab]:
        assert begin in SHEETS[lab], f"{lab} has no table “{begin}”"
        table = (begin + SHEETS[lab].partition(begin)[2]).partition("\n\n")[0]
        found = [row[column] for row in list(rows(table))[1:] for column in columns]
        numbers = [match[0] for match in (re.match(r"\d+(?:\.\d+)?", cell) for cell in found) if match]
        assert len(numbers) > 3
        assert [number for number in numbers if not rounds(number, NUMBERS)] == []


def ratio(lab: str, size: str, above: str, below: str, page: dict[tuple[str, str, str], float] = TIMES) -> float:
    return page[lab, above, size] / page[lab, below, size]


@pytest.mark.parametrize("page", [TIMES, ON_AN_H200], ids=["H100", "H200"])
def test_what_holds_on_both_devices(page: dict[tuple[str, str, str], float]) -> None:
    large, image = "4096 × 4096", "8192², mask 15 × 15"
    versions = ["divergent", "strided", "sequential", "first add", "shuffle", "grid stride"]
    assert all(ratio("reduction", "2^26", a, b, page) > 1.05 for a, b in itertools.pairwise(versions))
    assert ratio("matmul", large, "rows", "columns", page) > 5
    assert ratio("matmul", large, "tiled", "registers", page) > 3
    assert ratio("transpose", large, "tile", "naive, stores along rows", page) > 1.2
    assert ratio("convolution", "2^26, mask 5", "1-D tile", "1-D constant", page) > 1.2
    assert ratio("convolution", "2^26, mask 15", "1-D tile", "1-D constant", page) < 1
    assert ratio("convolution", image, "2-D tile", "2-D four rows a thread, tile", page) > 4
    any_width = "2-D any width, weights in"
    assert ratio("convolution", image, f"{any_width} constant memory", f"{any_width} shared memory", page) > 6
    assert ratio("convolution", image, "2-D four rows a thread, tile", "2-D registers, the lab's", page) > 1.3
    assert ratio("scan", "2^26", "blocks, in shared memory", "blocks, by shuffles", page) > 1.2
    assert ratio("step", "n = 6300", "4 k at a time, unrolled", "the same, additions for minima", page) > 1.05
    assert 25 * page["latency", "shared memory", "32 KiB"] == pytest.approx(
        page["latency", "device memory", "64 MiB"], rel=0.1
    )


DERIVED = [  # percentages in sheets, and what they are made of
    ("convolution", "gains 2 to 6 %", ("2^26, mask 5", "1-D constant", "1-D naive"), 2),
    ("convolution", "gains 2 to 6 %", ("2^26, mask 15", "1-D constant", "1-D naive"), 6),
    ("convolution", "25 % with 5 elements", ("2^26, mask 5", "1-D tile", "1-D constant"), -25),
    ("convolution", "25 % and 11 % more time", ("2^26, mask 9", "1-D tile", "1-D constant"), -11),
    ("convolution", "4 % with 15,", ("2^26, mask 15", "1-D tile", "1-D constant"), 4),
    ("convolution", "15 % with 9 × 9", ("8192², mask 9 × 9", "2-D tile", "2-D constant"), 15),
    ("convolution", "16 % with 15 × 15", ("8192², mask 15 × 15", "2-D tile", "2-D constant"), 16),
    ("matmul", "gains 3 % with tiles of 16",
     ("4096 × 4096", "tiled, prefetched, 16", "tiled, without conditions, 16"), 3),
    ("matmul", "and 7 % with 32", ("4096 × 4096", "tiled, prefetched, 32", "tiled, without conditions, 32"), 7),
    ("step", "it becomes 7 % faster", ("n = 6300", "the same, additions for minima", "4 k at a time, unrolled"), 7),
    ("step", "that gains 5 %", ("n = 6300", "4 k at a time, unrolled", "the same, not unrolled"), 5),
    ("step", "takes 4 % of the time of version 3", ("n = 6300", "padding and transposing", "version 3"), 96),
    ("step", "and 1 % of that of version 4", ("n = 6300", "the same in a tile", "version 4"), 99),
]  # fmt: skip


@pytest.mark.parametrize(("lab", "words", "of", "saved"), DERIVED)
def test_percentages_follow_from_the_measurements(lab: str, words: str, of: tuple[str, str, str], saved: int) -> None:
    assert words in SHEETS[lab]
    size, above, below = of
    assert 100 * (1 - ratio(lab, size, above, below)) == pytest.approx(saved, abs=0.51)


SHARES = [  # columns of shares in the sheets' tables: whose rows, of what, by which measurements
    ("transpose", "copy", {
        "naive, loads along rows (the starter)": "naive, loads along rows", "naive, stores along rows": "",
        "tile without padding, 32 × 32 threads": "tile", "padded tile, 32 × 32 threads": "padded tile",
        "tile without padding, 32 × 8 threads": "tile, 32 × 8 threads",
        "padded tile, 32 × 8 threads": "",
    }, "4096 × 4096"),
]  # fmt: skip


@pytest.mark.parametrize(("lab", "whole", "names", "size"), SHARES)
def test_shares_of_a_copy(lab: str, whole: str, names: dict[str, str], size: str) -> None:
    for name, what in names.items():
        share = 100 * ratio(lab, size, whole, what or name)
        assert re.search(rf"^\| {re.escape(name)} \| [\d.]+ ms \| {share:.0f} % \|$", SHEETS[lab], re.MULTILINE), (
            f"{name}: {share:.1f} %"
        )


def test_shares_of_the_peak() -> None:
    peak = 132 * 128 * 1.98e9
    for name in ("version 0", "version 1", "version 2", "version 3", "version 4"):
        rate = 2 * 6300**3 / (TIMES["step", name, "n = 6300"] * 1e-3)
        share = 100 * rate / peak
        shown = f"{rate / 1.98e9:,.0f} | " + (f"{share:.1f}" if share < 10 else f"{share:.0f}")
        assert re.search(rf"^\| {name}[^|]*\| [\d.]+ ms \| {re.escape(shown)} % \|$", SHEETS["step"], re.MULTILINE)


def test_the_texts_own_figures_are_said_to_be_the_texts() -> None:
    table = SHEETS["step"].partition("| | CPU, best |")[2].partition("\n\n")
    for row in list(rows(table[0]))[1:]:
        assert "the text's" in row[0] or "from these times" in row[0], row
    assert "None of this was measured by us" in table[2]


def test_measure_builds_every_program() -> None:
    script = (ROOT / "tests" / "hardware" / "measure.sh").read_text(encoding="utf-8")
    listed = re.search(r"labs=\((.+)\)", script)
    assert listed
    assert sorted(listed[1].split()) == sorted(path.stem for path in Path(ROOT / "tests" / "hardware").glob("*.cu"))
