"""The README's pictures are those of graded solutions' pages; WARPGRADE_UPDATE_GOLDEN=1 draws them anew."""

import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from warpgrade.compiling import toolchain
from warpgrade.grading import grade
from warpgrade.intake import intake
from warpgrade.lab import labs, variant, wrong
from warpgrade.machine.paths import find_layout
from warpgrade.report import launches
from warpgrade.report.html import device_rates, roofline, time_parts
from warpgrade.report.html.elements import read_style
from warpgrade.running.profile import Profile

LAYOUT = find_layout()
LAB = labs.find(LAYOUT, "matmul")
FOLDER = LAYOUT.root / "docs" / "pictures"
MARGIN = 8


def graded(path: Path) -> Profile:
    """Return what a solution counted, with the properties of its device."""
    result = grade.grade(LAYOUT, LAB, intake.read(LAB, path), grade.Options(threads=1, seed=5))
    counted = launches.collect(launch for test in result.tests for launch in test.launches)
    counted.device = result.device.properties
    return counted


def draw_roofline(_: Path) -> str:
    """The five versions of the reference."""
    counted = graded(LAB.reference_folder)
    rates = device_rates.read(counted.device)
    assert rates is not None
    return roofline.section(counted.kernels, rates)


def draw_costs(folder: Path) -> str:
    """A tiled kernel whose neighbouring threads access elements below each other."""
    for name, text in variant.files(LAB, wrong.find(LAB, "uncoalesced")).items():
        (folder / name).write_text(text, encoding="utf-8")
    return next(time_parts.cost_bars(kernel) for kernel in graded(folder).kernels if kernel.name == "tiled_kernel")


def stand_alone(drawn: str) -> str:
    """Return the picture as a file, a line for each element, with the rules of style that it needs."""
    style = read_style("style.css")
    rules = [line for line in style.splitlines() if re.match(r"\.(small|track|bar|grid|roof|curve|dot)\b", line)]
    colours = style.partition("* {")[0].strip()
    text = "svg { font: 11px system-ui, sans-serif; fill: var(--ink); background: var(--paper) }"
    found = re.search(r'<svg viewBox="0 0 (\d+) (\d+)"[^>]*>(.*?)</svg>', drawn, re.DOTALL)
    assert found is not None
    parts = re.sub(r"<(text|rect|poly|circle)", r"\n<\1", found[3].partition("</desc>")[2])
    width, height = (int(side) + 2 * MARGIN for side in found.group(1, 2))
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="{-MARGIN} {-MARGIN} {width} {height}">',
        f"<title>{found[3].partition('<title>')[2].partition('</title>')[0]}</title>",
        "<style>", colours, text, *rules, "</style>", parts.strip(), "</svg>\n",
    ])  # fmt: skip


@pytest.mark.parametrize("draw", [draw_roofline, draw_costs])
def test_a_picture_of_the_readme_is_that_of_a_graded_solution(draw: Callable[[Path], str], tmp_path: Path) -> None:
    file = FOLDER / f"{draw.__name__.removeprefix('draw_')}.svg"
    made = stand_alone(draw(tmp_path))
    assert f"docs/pictures/{file.name}" in (LAYOUT.root / "README.md").read_text(encoding="utf-8")
    if os.environ.get("WARPGRADE_UPDATE_GOLDEN"):
        file.write_text(made, encoding="utf-8")
    known = (LAYOUT.root / "tests" / "known" / "grades.tsv").read_text(encoding="utf-8").partition("\n")[0]
    if known != f"# nvcc {toolchain.find(LAYOUT).nvcc_version}":
        pytest.skip("another nvcc makes other instructions, which take other times")
    assert file.read_text(encoding="utf-8") == made
