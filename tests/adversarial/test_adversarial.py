"""Every known way to cheat is a submission here, and its first line says what it may gain at most."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from warpgrade import grade, intake, labs
from warpgrade.paths import find_layout

pytestmark = pytest.mark.labs

LAYOUT = find_layout()
FIRST_LINE = re.compile(r"// ATTACK: at most (?P<points>[0-9.]+) - .+")
# test_link.py has the others.
ATTACKS = sorted(path for path in Path(__file__).parent.glob("*.cu") if not path.name.startswith(("link_", "text_")))


@pytest.mark.parametrize("path", ATTACKS, ids=lambda path: path.stem)
def test_an_attack_gains_no_more_than_it_says(path: Path, tmp_path: Path) -> None:
    source = path.read_text(encoding="utf-8")
    first = FIRST_LINE.fullmatch(source.partition("\n")[0])
    assert first is not None, "the first line must read: // ATTACK: at most <points> - <what it does>"
    lab = labs.find(LAYOUT, "matmul")
    (tmp_path / lab.main_file).write_text(source, encoding="utf-8")
    outcome = grade.grade(LAYOUT, lab, intake.read(lab, tmp_path), grade.Options())
    assert outcome.status == "graded", outcome.problem
    story = "\n".join(f"{test.status} {test.points} {test.name}: {test.message}" for test in outcome.tests)
    assert outcome.score.points <= float(first["points"]), story
    # The student's doing is a failure of the student's; only a broken machine is an error.
    assert not any(test.status == "error" for test in outcome.tests), story
