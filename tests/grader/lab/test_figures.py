"""labs/<lab>/figures: what is drawn smaller than it is says so in the figure, and nothing is drawn outside of it.

Equal things in a row are one line of the file: boxes are one path, words are one text. A part that comes again is used
again.
"""

import re
from pathlib import Path

import pytest

from warpgrade.machine.paths import find_layout

ROOT = find_layout().root
FIGURES = sorted((ROOT / "labs").glob("*/figures/*.svg"))
# Drawn with the numbers of the text: warps of 32, blocks of 256 or of what the sheet says, or no threads at all.
AS_IT_IS = {
    "debug/orders", "first/compilation", "first/flow", "first/warp", "matmul/orders", "matmul/tiles",
    "occupancy/curves", "occupancy/multiprocessor", "occupancy/registers", "reduction/divergence",
    "reduction/shuffles", "reverse/carve", "step/warps", "vecadd/timeline", "vecadd/ways",
}  # fmt: skip
SAME_IN_THE_DARK = {"a-band", "b-band"}
LETTER = 6.0  # pixels, about the mean of a sans-serif font of 12


def name(figure: Path) -> str:
    return f"{figure.parents[1].name}/{figure.stem}"


def words(figure: Path) -> str:
    """Return what one reads in a figure."""
    drawn = re.sub(r"<(title|desc|style)\b.*?</\1>", "", figure.read_text(encoding="utf-8"), flags=re.DOTALL)
    return " ".join(re.findall(r">([^<>]*\S[^<>]*)<", drawn))


@pytest.mark.parametrize("figure", FIGURES, ids=name)
def test_a_figure_that_simplifies_says_so(figure: Path) -> None:
    assert ("Drawn with" in words(figure)) is (name(figure) not in AS_IT_IS)


def test_each_figure_of_the_list_is_there() -> None:
    assert sorted(AS_IT_IS - {name(figure) for figure in FIGURES}) == []


@pytest.mark.parametrize("figure", FIGURES, ids=name)
def test_a_figure_is_described_used_and_within_its_frame(figure: Path) -> None:
    text = figure.read_text(encoding="utf-8")
    assert re.search(r"<title\b[^>]*>\S", text)
    assert re.search(r"<desc\b[^>]*>\S", text)
    size = re.search(r'viewBox="0 0 (\d+) (\d+)" width="(\d+)" height="(\d+)"', text)
    assert size
    width, height = size[1], size[2]
    assert (width, height) == (size[3], size[4])
    ends = [float(y) for y in re.findall(r'<text\b[^>]* y="([\d.]+)"', text)]
    assert max(ends) < float(height) - 3
    lines = re.findall(r'<text class="small" x="([\d.]+)" y="[\d.]+">([^<]*)', text)
    assert [line for x, line in lines if float(x) + LETTER * len(line) > float(width)] == [], "too long a line"
    assert f"](figures/{figure.name})" in (figure.parents[1] / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("figure", FIGURES, ids=name)
def test_the_style_of_a_figure_is_of_what_it_draws_and_light_or_dark(figure: Path) -> None:
    style, _, drawn = figure.read_text(encoding="utf-8").partition("<style>")[2].partition("</style>")
    light, dark = (set(re.findall(r"\.([a-z][\w-]*)(?=[^{}]*\{)", part)) for part in style.split("@media"))
    assert light == set(re.findall(r'class="([^"]*)"', drawn))
    assert light - dark <= SAME_IN_THE_DARK
    assert dark <= light
