"""Figures of task sheets are what the code of figures/ draws; WARPGRADE_UPDATE_GOLDEN=1 draws them anew."""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest
from lab.figures import counting, first_program, hardware, orders, threads_and_data
from lab.figures.drawing import STYLE, Drawing

from warpgrade.machine.paths import find_layout

LABS = find_layout().root / "labs"
MODULES = (counting, first_program, threads_and_data, hardware, orders)
DRAWN: dict[str, Callable[[], Drawing]] = {name: draw for module in MODULES for name, draw in module.FIGURES.items()}


@pytest.mark.parametrize(("name", "draw"), DRAWN.items(), ids=list(DRAWN))
def test_a_figure_is_what_its_code_draws(name: str, draw: Callable[[], Drawing]) -> None:
    file = LABS / name
    if os.environ.get("WARPGRADE_UPDATE_GOLDEN"):
        file.parent.mkdir(exist_ok=True)
        file.write_text(draw().svg(), encoding="utf-8")
    assert file.read_text(encoding="utf-8") == draw().svg()


def test_every_class_of_the_style_has_a_colour_in_the_dark() -> None:
    light, _, dark = STYLE.partition("@media")
    classes = {rule.partition("{")[0].strip() for rule in light.splitlines() if rule.strip()}
    assert [name for name in classes if name not in dark] == []
