"""Proofs of a lab, on the toy lab with a judge that says what each test needs; test_grade.py proves the real ones."""

from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from samples import LEAK, RACE
from stand_ins import TOY_LAB, Script, case, end, speed, start

from warpgrade.compiling import build
from warpgrade.compiling.failure import BuildFailure
from warpgrade.compiling.warnings import CompilerWarning
from warpgrade.dev import prove
from warpgrade.grading import grade
from warpgrade.intake import intake
from warpgrade.lab import labs, right, starter
from warpgrade.lab.labs import Lab
from warpgrade.machine.errors import BadInput, GraderError
from warpgrade.machine.paths import Layout

pytestmark = pytest.mark.usefixtures("submission", "reference")

Install = Callable[[Script], Path]


def verdicts(adds: str = "pass", odd: str = "pass", speedup: float = 9.0) -> Script:
    return [[start(), case("adds", adds, "a[3] is 1"), case("adds odd sizes", odd), speed(speedup), end()]]


FULL = verdicts()


def finding(monkeypatch: pytest.MonkeyPatch, *found: object) -> None:
    """Let the checks find that in the first test."""
    graded = grade.grade

    def with_findings(*arguments: object) -> object:
        result = graded(*arguments)  # type: ignore[arg-type]
        first = msgspec.structs.replace(result.tests[0], diagnostics=list(found))
        return msgspec.structs.replace(result, tests=[first, *result.tests[1:]])

    monkeypatch.setattr(grade, "grade", with_findings)


def test_the_reference_gets_all_points(layout: Layout, lab: Lab, script: Install) -> None:
    script(FULL)
    assert prove.reference(layout, lab) == ""
    script(verdicts(adds="fail"))
    first, *rest = prove.reference(layout, lab).splitlines()
    assert first == "expected all 40 points; it got 30"
    assert rest == ["fail 0/10 adds: a[3] is 1"]
    script(verdicts(adds="error"))
    assert prove.reference(layout, lab).startswith("expected all 40 points; it was not graded (error)\n")


def test_the_checks_find_nothing_in_what_is_right(
    layout: Layout, lab: Lab, script: Install, monkeypatch: pytest.MonkeyPatch
) -> None:
    script(FULL)
    starter.write(lab)
    finding(monkeypatch, RACE)
    expected = f"expected no mistakes; the checks found {RACE.rule} {RACE.place.file}:{RACE.place.line} in “adds”"
    assert prove.reference(layout, lab) == expected
    script(verdicts(odd="fail", speedup=1))
    assert prove.baseline(layout, lab) == expected
    script(verdicts(adds="fail"))  # in a test that is lost anyway
    assert prove.reference(layout, lab).startswith("expected all 40 points; it got 30")


def test_the_compilers_warn_of_nothing_in_what_is_right(
    layout: Layout, lab: Lab, script: Install, monkeypatch: pytest.MonkeyPatch
) -> None:
    script(FULL)
    unused = CompilerWarning(file="toy.cu", line=3, text="x is unused")
    monkeypatch.setattr(build.Builder, "warnings", lambda self, files: [unused])
    assert prove.reference(layout, lab) == "expected no mistakes; the checks found a warning at toy.cu:3: x is unused"


@pytest.fixture
def with_prelab(layout: Layout, reference: Path) -> Lab:
    """The toy lab with a second file."""
    toml = layout.labs / "toy" / "lab.toml"
    toml.write_text(TOY_LAB.replace('"*.cuh"', '"prelab.cpp", "*.cuh"'), encoding="utf-8")
    for folder, answer in ((layout.references, 3), (layout.starters, 0)):
        text = f"int blocks() {{ return {answer}; }}\n"
        (folder / "toy" / "prelab.cpp").write_text(text, encoding="utf-8")
    return labs.find(layout, "toy")


def test_a_file_that_was_not_handed_in_is_the_starters(
    layout: Layout,
    with_prelab: Lab,
    other_way: Path,
    script: Install,
    submission: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    built: list[dict[str, bytes]] = []

    def note(self: build.Builder, files: dict[str, bytes]) -> Path:
        built.append(dict(files))
        return layout.root / "worker"

    monkeypatch.setattr(build.Builder, "build", note)
    script(FULL)
    result = grade.grade(layout, with_prelab, intake.read(with_prelab, submission), grade.Options())
    mine = next(files for files in built if files["toy.cu"] == (submission / "toy.cu").read_bytes())
    assert mine["prelab.cpp"] == b"int blocks() { return 0; }\n"
    assert result.submission.notes == ["prelab.cpp was not handed in: the starter's is graded in its place"]
    assert [file.name for file in result.submission.files] == ["toy.cu"]
    (submission / "prelab.cpp").write_bytes(b"int blocks() { return 4; }\n")
    built.clear()
    assert not grade.grade(layout, with_prelab, intake.read(with_prelab, submission), grade.Options()).submission.notes
    assert b"int blocks() { return 4; }\n" in [files["prelab.cpp"] for files in built]
    # Another right way is in the main file; the rest is the reference's.
    built.clear()
    assert prove.right_solution(layout, with_prelab, other_way.stem) == ""
    assert b"int blocks() { return 3; }\n" in [files["prelab.cpp"] for files in built]


def test_what_does_not_build_is_not_graded(layout: Layout, lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(self: build.Builder, files: dict[str, bytes]) -> Path:
        if b"The reference." in files["toy.cu"]:
            raise BuildFailure("compile", "toy.cu does not compile", detail="toy.cu(1): error: x")
        return layout.root / "worker"

    monkeypatch.setattr(build.Builder, "build", fail)
    first, second, *_ = prove.reference(layout, lab).splitlines()
    assert first == "expected all 40 points; it was not graded (rejected): toy.cu does not compile"
    assert second == "toy.cu(1): error: x"


def test_the_starter_is_derived_and_gets_its_baseline(layout: Layout, lab: Lab, script: Install) -> None:
    script(verdicts(odd="fail", speedup=1))
    assert prove.no_drift(lab).splitlines()[0] == (
        "expected what reference/toy gives; starter/toy differs: run ./warpgrade starter toy"
    )
    starter.write(lab)
    assert prove.no_drift(lab) == ""
    assert prove.baseline(layout, lab) == ""
    script(FULL)
    assert prove.baseline(layout, lab) == "expected the 10 points of [baseline]; it got 40\n"


def test_a_wrong_solution_loses_exactly_what_it_names(layout: Layout, lab: Lab, script: Install) -> None:
    script(verdicts(adds="fail", odd="fail"))
    assert prove.wrong_solution(layout, lab, "no_guard") == ""
    for lost_more in (verdicts("fail", "fail", speedup=1), verdicts("fail"), FULL):
        script(lost_more)
        first = prove.wrong_solution(layout, lab, "no_guard").splitlines()[0]
        assert first.startswith("expected to lose exactly “adds”, “adds odd sizes”; it lost ")
    assert first.endswith("it lost nothing")
    script(verdicts(adds="error"))
    assert "it was not graded (error)" in prove.wrong_solution(layout, lab, "no_guard")


def test_a_patch_that_says_something_else_is_told(layout: Layout, lab: Lab, reference: Path) -> None:
    patch = lab.folder / "wrong" / "no_guard.patch"
    text = patch.read_text(encoding="utf-8")
    patch.write_text(text.replace('"adds"', '"ads"'), encoding="utf-8")
    assert prove.wrong_solution(layout, lab, "no_guard") == "expected names of tests; lab.toml has no “ads”"
    patch.write_text(text.replace("+= 1", "+= 2"), encoding="utf-8")
    told = prove.wrong_solution(layout, lab, "no_guard")
    assert "hunk 1 no longer applies" in told.splitlines()[0]
    assert "--update FILE.cu" in told


@pytest.fixture
def other_way(lab: Lab) -> Path:
    path = lab.folder / "right" / "other.cu"
    path.parent.mkdir()
    path.write_text("// RIGHT: in another way\nvoid toy(float*, int) {}\n", encoding="utf-8")
    return path


def test_a_right_solution_gets_its_points(
    layout: Layout, lab: Lab, other_way: Path, script: Install, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert right.names(lab) == ["other"]
    script(FULL)
    assert prove.right_solution(layout, lab, "other") == ""
    script(verdicts(speedup=1))
    assert prove.right_solution(layout, lab, "other").startswith("expected 40 points; it got 30")
    other_way.write_text("// RIGHT (30 points): slow\nvoid toy(float*, int) {}\n", encoding="utf-8")
    assert prove.right_solution(layout, lab, "other") == ""
    finding(monkeypatch, LEAK, RACE)  # a leak is a matter of taste
    assert RACE.rule in prove.right_solution(layout, lab, "other")
    assert LEAK.rule not in prove.right_solution(layout, lab, "other")
    other_way.write_text("// right: slow\n", encoding="utf-8")
    told = prove.right_solution(layout, lab, "other")
    assert told.startswith("labs/toy/right/other.cu:1: the first line must read: // RIGHT: <what")


def test_all_proofs_of_a_lab(
    layout: Layout, lab: Lab, other_way: Path, script: Install, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("warpgrade.machine.on_demand.require_lab", lambda layout, name, say: say(f"building {name}"))
    script(FULL)
    starter.write(lab)
    found = prove.proofs(layout, lab)
    names = ["drift of the starter", "reference", "starter", "messages", "wrong no_guard", "right other"]
    assert [proof.name for proof in found] == names
    said: list[str] = []
    failed = prove.run(layout, lab, found, said.append)
    assert list(failed) == ["starter", "wrong no_guard"]
    assert said[0] == "building toy"
    assert [words.partition(": ")[0] for words in said[1:]] == [f"proof {count} of 6" for count in range(1, 7)]
    assert sorted(words.partition(": ")[2] for words in said[1:]) == sorted(names)
    assert [proof.name for proof in prove.chosen(lab, found, "starter")] == names[:1] + names[2:3]
    with pytest.raises(BadInput, match="no proof of lab toy is called “guards”"):
        prove.chosen(lab, found, "guards")


def test_an_error_of_the_grader_ends_the_proof(layout: Layout, lab: Lab) -> None:
    layout.program("warpgrade-sandbox").unlink()
    with pytest.raises(GraderError):
        prove.run(layout, lab, prove.proofs(layout, lab))
