"""Honest submissions that do odd things: host code whose requests look like a cheat's, or differ from run to run."""

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from seeds import SEED
from table import HERE, LAYOUT

from warpgrade.grading import grade
from warpgrade.intake import intake
from warpgrade.lab import labs
from warpgrade.lab.failure_tags import COUNTERS

pytestmark = pytest.mark.labs

# What a kernel is worth that multiplies as these do.
LEAST_POINTS = 8
# A clock among a kernel's arguments, addresses of the host, threads: the teacher is told, and nobody is accused.
DIFFERS_FROM_RUN_TO_RUN = {"clock_and_pointers", "two_threads"}


@pytest.mark.parametrize("name", sorted(path.stem for path in HERE.glob("odd/*.cu")))
def test_an_odd_way_keeps_its_points(name: str, tmp_path: Path) -> None:
    lab = labs.find(LAYOUT, "matmul")
    source = (HERE / "odd" / f"{name}.cu").read_text(encoding="utf-8")
    shared = (HERE / "honest.cuh").read_text(encoding="utf-8")
    (tmp_path / lab.main_file).write_text(source.replace('#include "honest.cuh"\n', shared), encoding="utf-8")
    result = grade.grade(LAYOUT, lab, intake.read(lab, tmp_path), grade.Options(seed=SEED))
    story = "\n".join(f"{test.status} {test.points} {test.name}: {test.message}" for test in result.tests)
    assert result.score.points >= LEAST_POINTS, result.problem or story
    assert "host code" not in story
    assert not any("not computed by the device" in reason for reason in result.review), result.review
    if name not in DIFFERS_FROM_RUN_TO_RUN:
        assert not any("from run to run" in reason for reason in result.review), result.review


TABLE: dict[str, Any] = tomllib.loads((HERE / "odd.toml").read_text(encoding="utf-8"))


def written(odd: dict[str, Any]) -> str:
    """Return the reference of the oddity's lab with the function as the oddity has it."""
    lab, function, body = odd.get("lab", "first"), odd["function"], odd["body"]
    if function in TABLE["wrap"] and not odd.get("whole"):
        body = TABLE["wrap"][function].replace("BODY", body)
    text = (LAYOUT.references / lab / f"{lab}.cu").read_text(encoding="utf-8")
    head = re.search(rf"^\w+ {function}\([^)]*\) \{{\n", text, re.MULTILINE)
    assert head is not None
    rest = text[text.index("\n}\n", head.end()) :]
    before = TABLE["prelude"].get(lab, "") + odd.get("before", "") + "\n"
    return f"{text[: head.start()]}{before}{head[0]}{body}{rest}"


@pytest.mark.parametrize("odd", TABLE["odd"].values(), ids=TABLE["odd"])
def test_an_honest_oddity_is_not_accused(odd: dict[str, Any], tmp_path: Path) -> None:
    lab = labs.find(LAYOUT, odd.get("lab", "first"))
    (tmp_path / lab.main_file).write_text(written(odd), encoding="utf-8")
    result = grade.grade(LAYOUT, lab, intake.read(lab, tmp_path), grade.Options(seed=7, only=(odd["function"],)))
    told = [test for test in result.tests if not test.name.startswith("prelab: ")]
    story = "\n".join(f"{test.status} {test.signs} {test.name}: {test.message}" for test in told)
    assert result.problem is None, result.problem
    if "rule" in odd:
        assert re.search(odd["rule"], story), story
        assert not result.review
        return
    assert not [test for test in told if test.status != "pass" and set(test.signs) - {COUNTERS}], story
    assert any(test.status == "pass" for test in told), story
    assert "host code" not in story
    assert not [note for note in result.review if not (odd.get("notes") and "from run to run" in note)]
