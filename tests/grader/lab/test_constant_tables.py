"""Who hands in what `check` tells, instead of formulas, gets none of the hidden points of a prelab."""

import constant_table
import pytest

from warpgrade.lab import labs
from warpgrade.lab.labs import Lab
from warpgrade.machine.paths import find_layout

LAYOUT = find_layout()
TABLES = constant_table.stored_tables()
ASKING = [lab for lab in labs.discover(LAYOUT) if (lab.starter_folder / "prelab.cpp").exists()]


def test_each_lab_with_a_prelab_has_a_table() -> None:
    assert sorted(TABLES) == sorted(lab.name for lab in ASKING)


@pytest.mark.labs
@pytest.mark.parametrize("lab", ASKING, ids=lambda lab: lab.name)
def test_a_table_of_constants_earns_nothing_hidden(lab: Lab) -> None:
    text = constant_table.source(lab, TABLES[lab.name])
    tests = constant_table.checked(lab, text, public=False).tests
    hidden = {test.name: test.points for test in tests if test.hidden}
    assert hidden
    assert set(hidden.values()) == {0}, hidden
    # It knows something: a table of nothing would prove nothing.
    assert any(test.points for test in tests if not test.hidden) or text.count("return") > text.count("return 1;")
