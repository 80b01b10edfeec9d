"""Every hostile submission of the table gets its verdict: no more points, no error, and nothing that it wants told."""

import dataclasses
import io
import re
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from _pytest.mark import ParameterSet
from rich.console import Console
from seeds import SEED
from table import LAYOUT, Fixture, read

from warpgrade.grading import grade
from warpgrade.grading.result import Result
from warpgrade.intake import intake
from warpgrade.lab import labs
from warpgrade.platforms.github import workflow_annotations as github
from warpgrade.report import findings, terminal
from warpgrade.report.formats import sarif

pytestmark = pytest.mark.labs


def _cases() -> Iterator[ParameterSet]:
    """Yield each attack in both sandboxes, but for those that counters hold.

    Against all its labs in one of them, since what a lab's tests make of it is the same. For each commit one sandbox is
    enough: of two attacks that counters do not hold, one is tried against its first lab in the plain one. So are the
    first lab and the last, and one for kernels that do nothing, since what a lab's tests make of memory that nobody
    wrote its starter shows as well.
    """
    in_plain = False
    for one in read():
        in_plain ^= not one.counted
        first, *_, last = [*one.labs, *one.labs]
        for kind in ("namespaces", "plain"):
            for lab in one.labs if kind == "namespaces" else [] if one.counted else [first]:
                chosen = "plain" if in_plain and not one.counted and lab == first else "namespaces"
                each_time = kind == chosen and (lab == first or (lab == last and one.name != "empty"))
                marks = [] if each_time else [pytest.mark.nightly]
                yield pytest.param(kind, one, lab, id=f"{kind}-{one.name}-{lab}", marks=marks)


def graded(fixture: Fixture, name: str, folder: Path) -> Result:
    lab = labs.find(LAYOUT, name)
    if fixture.limits:
        limits = msgspec.structs.replace(lab.file.limits, **fixture.limits)
        lab = dataclasses.replace(lab, file=msgspec.structs.replace(lab.file, limits=limits))
    (folder / lab.main_file).write_text(fixture.source(lab), encoding="utf-8")
    return grade.grade(LAYOUT, lab, intake.read(lab, folder), grade.Options(seed=SEED, public_only=fixture.public_only))


def shown(result: Result) -> str:
    """Return all that a student may see."""
    file = io.StringIO()
    terminal.show(Console(file=file, width=110, highlight=False), result, advice=True)
    found = findings.result_findings(result)
    return file.getvalue() + github.commands(found) + sarif.encode(found).decode()


@pytest.mark.parametrize(("sandbox", "fixture", "lab"), list(_cases()))
def test_an_attack_gets_its_verdict(
    sandbox: str, fixture: Fixture, lab: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WARPGRADE_SANDBOX", sandbox)
    result = graded(fixture, lab, tmp_path)
    assert result.sandbox == sandbox
    story = "\n".join(f"{test.status} {test.points} {test.name}: {test.message}" for test in result.tests)
    assert result.status == fixture.status, result.problem or story
    assert result.score.points <= fixture.labs[lab], story
    # The student's doing is a failure of the student's; only a broken machine is an error.
    assert not any(test.status == "error" for test in result.tests), story
    assert fixture.says in story, story
    if most := fixture.limits.get("processor_seconds"):
        # Not the limit of every test: what is over it is not begun.
        assert result.used is not None
        assert result.used.exceeded or result.used.tests <= most
    assert any(fixture.review in reason for reason in result.review) or not fixture.review


@pytest.mark.parametrize("sandbox", ["namespaces", "plain"])
def test_what_hidden_tests_were_given_is_not_told(
    sandbox: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WARPGRADE_SANDBOX", sandbox)
    result = graded(next(one for one in read() if one.name == "tells_sizes"), "matmul", tmp_path)
    text = shown(result)
    hidden = [test for test in result.tests if test.hidden]
    public = [test for test in result.tests if not test.hidden]
    told = {one.place.text for test in hidden for one in test.diagnostics}
    known = {one.place.text for test in public for one in test.diagnostics}
    assert told - known, "the attack must find places in hidden tests that public ones do not have"
    assert "SECRET" in "".join(test.message for test in hidden)
    assert not any(place in text for place in told - known if place)
    # What public tests were given, and print, everybody may read.
    printed = {
        kind: set(
            re.findall(r"SECRET[ \d]*\d", "".join(t.message + t.output for t in result.tests if t.hidden is kind))
        )
        for kind in (True, False)
    }
    assert printed[True] - printed[False]
    assert not any(secret in text.replace("\n", "") for secret in printed[True] - printed[False])


def test_names_made_from_hidden_data_are_not_told(tmp_path: Path) -> None:
    result = graded(next(one for one in read() if one.name == "foreign_device_code"), "matmul", tmp_path)
    text = shown(result)
    sizes = {
        kind: set(
            re.findall(r"size_is_\d+_by_\d+", "".join(test.message for test in result.tests if test.hidden is kind))
        )
        for kind in (True, False)
    }
    assert sizes[True] - sizes[False]
    assert not any(size in text for size in sizes[True] - sizes[False])
