"""Each program of tests/checks: what is found in it is what it says itself. corpus.py has the rules."""

from pathlib import Path

import corpus
import known_numbers
import pytest

from warpgrade.lab import patch

NAMES = [str(path.relative_to(corpus.CORPUS).with_suffix("")) for path in corpus.PROGRAMS]


@pytest.mark.labs
@pytest.mark.parametrize("name", NAMES)
def test_what_is_found_is_what_the_program_says(name: str) -> None:
    source = corpus.CORPUS / f"{name}.cu"
    expected = corpus.read_expectations(corpus.read_program(source))
    profile = corpus.execute(source)
    wrong = corpus.differences(expected, corpus.findings(corpus.counted(profile, source), source))
    assert not wrong, "\n".join(wrong)
    assert expected.must or profile.exit_status == 0
    known_numbers.check("programs.tsv", {name: f"{profile.clock_ns:.3f} ns\t{known_numbers.digest(profile)}"})


def test_every_rule_has_a_program_and_every_check_a_correct_one() -> None:
    expected = {path: corpus.read_expectations(corpus.read_program(path)).must for path in corpus.PROGRAMS}
    assert {finding.rule for must in expected.values() for finding in must} == corpus.RULES
    checks = {rule.split("/")[0] for rule in corpus.RULES}
    assert {path.parent.name for path, must in expected.items() if not must} == checks
    # The name says which of the two it is.
    assert [path.name for path, must in expected.items() if path.stem.endswith("_ok") == bool(must)] == []


def test_patches_are_as_they_are_made_and_at_most_half_as_long_as_their_programs() -> None:
    for path in corpus.CORPUS.glob("*/*.patch"):
        source, lines = path.with_suffix(".cu"), path.read_text().splitlines()
        assert not source.exists(), path
        named = patch.parse(lines).file
        base, text = (corpus.read_program(one).splitlines() for one in (corpus.find_base(source, named), source))
        assert lines == patch.make(base, text, named), path
        assert 2 * len(lines) <= len(text), path


def test_a_patch_that_does_not_fit_is_named(tmp_path: Path) -> None:
    (tmp_path / "leak.cu").write_text("int a;\nint b;\n")
    (tmp_path / "leak_ok.patch").write_text("@@ -1,1 +1,1 @@\n-int c;\n+int d;\n")
    with pytest.raises(ValueError, match=r"leak_ok\.patch: hunk 1 does not fit"):
        corpus.read_program(tmp_path / "leak_ok.cu")


PROGRAM = """int a;  // expect: racecheck/shared (other: 5), memcheck/leak
// expect: initcheck/global (other: +1)
// may: racecheck/warp
int b;
int c;
"""


def finding(rule: str, line: int, other: int = 0) -> corpus.Finding:
    return corpus.Finding(rule, line, other)


def test_expectations_are_read() -> None:
    expected = corpus.read_expectations(PROGRAM)
    assert expected.must == [
        finding("racecheck/shared", 1, 5), finding("memcheck/leak", 1), finding("initcheck/global", 4, 5),
    ]  # fmt: skip
    assert expected.may == [finding("racecheck/warp", 4)]


@pytest.mark.parametrize(
    "text",
    [
        "int a;  // expect: racecheck/sharing",
        "int a;  // expect: racecheck/shared (other: x)",
        "int a;  // expect: racecheck/shared memcheck/leak",
        "int a;\n// expect: racecheck/shared",
        "int a;  // expect:",
    ],
)
def test_an_expectation_that_is_not_understood_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"not understood|without a line"):
        corpus.read_expectations(text)


def test_findings_are_compared_exactly() -> None:
    expected = corpus.read_expectations(PROGRAM)
    found = {
        # Of a race none is first; the other party of a leak does not matter where none is named.
        finding("racecheck/shared", 5, 1), finding("memcheck/leak", 1, 3), finding("initcheck/global", 4, 5),
    }  # fmt: skip
    assert corpus.differences(expected, found) == []
    assert corpus.differences(expected, found | {finding("racecheck/warp", 4, 2)}) == []
    assert corpus.differences(expected, found | {finding("racecheck/warp", 5)}) == [
        "not expected: racecheck/warp at line 5"
    ]
    assert corpus.differences(expected, found - {finding("memcheck/leak", 1, 3)}) == [
        "not found: memcheck/leak at line 1"
    ]
    other_line = found - {finding("initcheck/global", 4, 5)} | {finding("initcheck/global", 5, 4)}
    assert len(corpus.differences(expected, other_line)) == 2
