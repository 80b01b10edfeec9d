"""What platforms get of a result, against golden files."""

import json
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path
from typing import Any

import golden_files
import msgspec
import pytest
from hostile import ACTS, ANY, HOSTILE, hostile_result, strings
from hypothesis import given
from hypothesis import strategies as st
from samples import GRADED, RACE, REJECTED
from stand_ins import Script, begin, case, end, run, speed, start

from warpgrade.compiling.failure import Problem
from warpgrade.grading import result as results
from warpgrade.grading import score
from warpgrade.grading.result import Result
from warpgrade.lab.labs import Lab
from warpgrade.platforms.autolab import adapter as autolab
from warpgrade.platforms.classroom50 import adapter as classroom50
from warpgrade.platforms.gitlab import adapter as code_quality
from warpgrade.platforms.gradescope import results as gradescope
from warpgrade.platforms.prairielearn import adapter as prairielearn
from warpgrade.platforms.submitty import adapter as submitty
from warpgrade.platforms.vpl import adapter as vpl
from warpgrade.report import export, findings
from warpgrade.report.format import Report
from warpgrade.report.formats import junit, summary

GOLDEN = Path(__file__).parent / "golden"
HIDDEN_WORDS = "expected NaN"  # what a hidden test of the sample says


def of(tests: list[results.TestResult]) -> Result:
    return msgspec.structs.replace(GRADED, status="graded", tests=tests, score=score.total(tests))


PASSED = of([test for test in GRADED.tests if test.points == test.max_points])
RACY = msgspec.structs.replace(GRADED.tests[2], diagnostics=[RACE])
PARTIAL = of([*GRADED.tests[:2], RACY, *GRADED.tests[3:6]])
SAMPLES = {"pass": PASSED, "partial": PARTIAL, "rejected": REJECTED, "error": GRADED}
FORMATS: dict[str, tuple[str, Callable[[Report], bytes | None]]] = {
    "gradescope": ("json", gradescope.encode),
    "prairielearn": ("json", prairielearn.encode),
    "autolab": ("txt", autolab.encode),
    "submitty": ("json", submitty.encode),
    "vpl": ("txt", vpl.encode),
    "classroom50": ("json", classroom50.encode),
    "junit": ("xml", junit.encode),
    "summary": ("md", summary.encode),
    "code_quality": ("json", lambda report: code_quality.encode(report.findings, "work/")),
}
NEARLY_PARTIAL = ("autolab", "junit", "summary", "vpl")  # `error` is kept as what differs from `partial`
RUNNER = {
    "CLASSROOM": "gpu", "ASSIGNMENT": "matmul", "SUBMISSION_TAG": "submit/1", "COMMIT_URL": "commit",
    "RELEASE_URL": "release", "REVIEW_URL": "review",
}  # fmt: skip


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY", "GITHUB_WORKSPACE", "VPL_GRADEMIN", "VPL_GRADEMAX"):
        monkeypatch.delenv(name, raising=False)
    for name, value in RUNNER.items():
        monkeypatch.setenv(name, value)


def report(result: Result) -> Report:
    return Report(findings.result_findings(result), result=result)


@pytest.mark.parametrize("sample", SAMPLES)
@pytest.mark.parametrize("name", FORMATS)
def test_golden(name: str, sample: str) -> None:
    ending, encode = FORMATS[name]
    raw = encode(report(SAMPLES[sample]))
    partial = encode(report(PARTIAL)) if sample == "error" and name in NEARLY_PARTIAL else None
    golden_files.check(GOLDEN / f"{name}-{sample}.{ending}", raw, partial or "")
    assert HIDDEN_WORDS.encode() not in (raw or b"")


@pytest.mark.parametrize("name", FORMATS)
def test_a_hidden_test_shows_what_students_may_see(name: str) -> None:
    told = "SECRET of the data"
    hidden = results.TestResult(
        "keeps NaN", "test", "fail", 0, 10, hidden=True, message=told, output=told, signs=["wrong"], seconds=7.125,
        diagnostics=[msgspec.structs.replace(RACE, message=told)],
    )  # fmt: skip
    raw = FORMATS[name][1](report(of([GRADED.tests[0], hidden]))) or b""
    words = raw.decode()
    assert "SECRET" not in words
    assert "7.125" not in words
    if name != "code_quality":
        assert "keeps NaN" in words or name == "autolab"


UNDECIDED = {"error": GRADED, "pending": of([GRADED.tests[0], GRADED.tests[7]])}


@pytest.mark.parametrize("sample", UNDECIDED)
def test_what_is_not_final_is_no_grade(sample: str) -> None:
    here = report(UNDECIDED[sample])
    assert gradescope.encode(here) is None
    assert classroom50.encode(here) is None
    assert json.loads(prairielearn.encode(here) or b"")["gradable"] is False
    assert json.loads((autolab.encode(here) or b"").splitlines()[-1]) == {"scores": {"matmul": None}}
    assert json.loads(submitty.encode(here) or b"")["status"] == "failure"
    assert b"Grade :=>>" not in (vpl.encode(here) or b"")
    assert "no grade yet" in summary.encode(here).decode()
    suite = ET.fromstring(junit.encode(here))[0]  # noqa: S314 - ours
    assert int(suite.attrib["errors"]) + int(suite.attrib["skipped"]) > 0


def toy(*tests: Any) -> Script:
    return [[start(), begin("adds"), *tests, end()]]


GOOD = toy(case("adds"), case("adds odd sizes"), speed(9.0))
BROKEN = toy(case("adds"), case("adds odd sizes", "error", "no device"), speed(9.0))
OPTIONS = [
    "gradescope",
    "prairielearn",
    "autolab",
    "submitty",
    "vpl",
    "classroom50",
    "junit",
    "summary",
    "code-quality",
]


def test_every_option_writes_its_file(
    submission: Path, script: Callable[[Script], Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script(GOOD)
    words = [word for name in OPTIONS for word in (f"--{name}", tmp_path / name)]
    status, _, err = run(capsys, "grade", "toy", submission, "-q", *words)
    assert (status, err) == (0, "")
    assert json.loads((tmp_path / "gradescope").read_text())["score"] == 40
    assert json.loads((tmp_path / "prairielearn").read_text())["score"] == 1
    assert (tmp_path / "vpl").read_text().endswith("\nGrade :=>> 100\n")
    assert (tmp_path / "autolab").read_text().endswith('\n{"scores":{"toy":40.0}}\n')
    assert json.loads((tmp_path / "classroom50").read_text())["max-score"] == 40
    assert (tmp_path / "code-quality").read_text() == "[]\n"


def test_an_error_leaves_no_older_grade_behind(
    submission: Path, script: Callable[[Script], Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script(BROKEN)
    target = tmp_path / "results.json"
    target.write_text('{"score": 40}')
    status, _, err = run(capsys, "grade", "toy", submission, "-q", "--gradescope", target)
    assert status == 3
    assert not target.exists()
    assert "--gradescope: nothing was written, for this result is no grade" in err


def test_a_step_of_github_gets_its_summary_beside_what_is_there(
    submission: Path,
    script: Callable[[Script], Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    script(GOOD)
    place = tmp_path / "summary.md"
    place.write_text("of another step\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(place))
    run(capsys, "grade", "toy", submission, "-q")
    assert place.read_text() == "of another step\n"
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    run(capsys, "grade", "toy", submission, "-q")
    assert place.read_text().startswith("of another step\n## Adding vectors\\: 40 of 40 points\n")


def test_a_summary_is_cut_to_what_platforms_show(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    long = [
        msgspec.structs.replace(RACY, name=f"{RACY.name} {at}", message="\n".join(["é" * 240] * 40))
        for at in range(200)
    ]
    here = report(of(long))
    raw = summary.encode(here)
    assert 800_000 < len(raw) <= 900_000
    assert raw.count(b"| 0/10 |") == 200  # the table is whole
    assert raw.endswith(b"is left out.*\n")
    assert len(summary.encode(here, 5000)) <= 5000
    # Several grades in one step share what the platform shows of it.
    place = tmp_path / "summary.md"
    place.touch()
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(place))
    for _ in range(3):
        summary.FORMAT.write(None, here)
    assert place.stat().st_size < 1 << 20


def test_a_summary_says_what_to_fix_first() -> None:
    words = summary.encode(report(PARTIAL)).decode()
    name = "multiplies sizes that are no multiples of the tile"
    assert words.index(f"**Fix this first:** {name}") < words.index("| | test | points |")
    assert words.index("racecheck/shared") < words.index("| | test | points |")
    assert f"<summary>{name}" not in words  # told once
    assert "Fix this first" not in summary.encode(report(PASSED)).decode() + summary.encode(report(REJECTED)).decode()


def test_classroom50_says_what_its_runner_must_give(
    submission: Path,
    script: Callable[[Script], Path],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    program = script(GOOD)
    monkeypatch.delenv("COMMIT_URL")
    status, _, err = run(capsys, "grade", "toy", submission, "--classroom50", "-")
    assert status == 2
    assert "needs COMMIT_URL in the environment" in err
    assert not (program.parent / "calls.jsonl").exists()


@pytest.mark.parametrize(("points", "whole"), [(0.0, 0), (0.4, 0), (8.3, 8), (14.9, 14), (15.0, 15)])
def test_whole_numbers_are_never_all_points_for_a_part(points: float, whole: int) -> None:
    test = msgspec.structs.replace(GRADED.tests[4], points=points, max_points=15.0)
    document = json.loads(classroom50.encode(report(of([test]))) or b"")
    assert (document["score"], document["max-score"]) == (whole, 15)
    assert document["datetime"] == "2026-11-21T08:00:00Z"


@pytest.mark.parametrize(
    ("low", "high", "grade"), [("0", "10", "10"), ("", "", "100"), ("1", "6", "6"), ("5", "1", None), ("x", "1", None)]
)
def test_the_scale_of_vpl(
    low: str,
    high: str,
    grade: str | None,
    submission: Path,
    script: Callable[[Script], Path],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    script(GOOD)
    monkeypatch.setenv("VPL_GRADEMIN", low)
    monkeypatch.setenv("VPL_GRADEMAX", high)
    status, out, err = run(capsys, "grade", "toy", submission, "--vpl", "-", "-q")
    if grade is None:
        assert status == 2
        assert "no scale of grades" in err
    else:
        assert out.endswith(f"Grade :=>> {grade}\n")


def test_scores_are_kept_within_their_bounds() -> None:
    wild = msgspec.structs.replace(PASSED, score=msgspec.structs.replace(PASSED.score, points=-3))
    assert json.loads(submitty.encode(report(wild)) or b"")["data"]["score"] == 0
    wild = msgspec.structs.replace(PASSED, score=msgspec.structs.replace(PASSED.score, points=1e6))
    assert json.loads(prairielearn.encode(report(wild)) or b"")["score"] == 1


def test_a_result_of_prairielearn_stays_below_its_limit() -> None:
    long = [
        msgspec.structs.replace(RACY, name=f"{RACY.name} {number}", message="\n".join(["x" * 240] * 40))
        for number in range(200)
    ]
    raw = prairielearn.encode(report(of(long))) or b""
    assert len(raw) < 1_000_000
    assert len(json.loads(raw)["tests"]) == 200


FOR_PLATFORMS = [
    "Grade :=>> 100", "Comment :=>> x", "<|--", "--|>", "|--", "<script>alert(1)</script>", "<img src=x onerror=y>",
    "]]>", "&amp;", "```", "~~~", "</details>", '{"scores":{"matmul":100}}', "@everyone", "![x](http://x)", "\ufffe",
    "=cmd|' /C calc'!A0", "/close", "%1", "^x",
]  # fmt: skip
VERY_HOSTILE = st.lists(HOSTILE | st.sampled_from(FOR_PLATFORMS), max_size=6).map("\n".join)


@ANY
@given(words=VERY_HOSTILE, line=st.integers(0, 4))
def test_hostile_words_stay_text(lab: Lab, words: str, line: int) -> None:
    wild = hostile_result(words, lab, line)
    problem = Problem(stage="compile", message=words, detail=words, hint=words)
    output = msgspec.structs.replace(GRADED.tests[1], output=words, message=words, name=words, hint=words)
    tests = [*of([*wild.tests[:6], output]).tests]
    result = msgspec.structs.replace(of(tests), problem=problem, submission=wild.submission)
    here = Report(findings.result_findings(result), result=result)

    for encode in (gradescope.encode, prairielearn.encode, submitty.encode, classroom50.encode):
        for each in strings(json.loads(encode(here) or b"{}")):
            assert not ACTS.search(each), each

    *lines, last = (autolab.encode(here) or b"").decode().splitlines()
    assert json.loads(last) == {"scores": {"matmul": export.points(result)}}
    assert all(each.startswith("  ") or not each for each in lines)

    told = (vpl.encode(here) or b"").decode().splitlines()
    assert [each for each in told if "Grade :=>>" in each] == [told[-1]]
    assert all(each.startswith("Comment :=>>") for each in told[:-1])
    assert all(each.count(":=>>") == 1 and "<|--" not in each and "--|>" not in each for each in told)

    suite = ET.fromstring(junit.encode(here))[0]  # noqa: S314 - ours
    assert len(suite) == len(tests) + 1
    assert {child.tag for each in suite for child in each} <= {"failure", "error", "skipped", "system-out"}
    assert outside_of_blocks(summary.encode(here).decode()).isdisjoint({"<script", "<img", "![x](", "](http"})


def outside_of_blocks(markdown: str) -> set[str]:
    """Return what of dangerous markup stands where it would be read as such."""
    fence, found = "", set()
    for row in markdown.split("\n"):
        mark = re.match(r"`{3,}", row)
        if fence:
            fence = "" if row == fence else fence
        elif mark:
            fence = mark[0]
        else:
            found |= {each for each in ("<script", "<img", "![x](", "](http") if each in row}
    assert not fence, "a block has no end"
    return found
