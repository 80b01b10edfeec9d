"""The options about checks: what reaches the judge, and where findings go."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from samples import RACE
from stand_ins import Script, Step, begin, case, end, run, speed, start

from warpgrade.cli import outlets
from warpgrade.findings.diagnosis import Place
from warpgrade.machine.paths import Layout
from warpgrade.report import formats
from warpgrade.report.format import Reads

Install = Callable[[Script], Path]


def sent(line: int, message: str) -> dict[str, Any]:
    """A diagnostic as the judge passes it on: the compiler's path, and no source."""
    one = msgspec.structs.replace(RACE, place=Place("/submission/toy.cu", line), related=[], message=message)
    raw: dict[str, Any] = msgspec.to_builtins(one)
    del raw["place"]["source"]
    return raw


def verdicts(public: list[dict[str, Any]], hidden: list[dict[str, Any]]) -> Script:
    cases: list[Step] = [case("adds", diagnostics=public), case("adds odd sizes", diagnostics=hidden)]
    return [[start(), begin("adds"), *cases, speed(9.0), end()]]


FOUND = verdicts([sent(1, "writes 4 bytes")], [sent(2, "writes SECRET bytes")])


@pytest.fixture(autouse=True)
def elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY", "GITHUB_WORKSPACE"):
        monkeypatch.delenv(name, raising=False)


def test_findings_are_printed_with_the_students_line(
    submission: Path, script: Install, capsys: pytest.CaptureFixture[str]
) -> None:
    (submission / "toy.cu").write_text("void toy(float*, int) {}\n// second\n")
    script(FOUND)
    status, out, err = run(capsys, "grade", "toy", submission)
    assert status == 0
    assert "error: race in shared memory [racecheck/shared]" in out
    assert "1 | void toy(float*, int) {}" in out
    assert "writes 4 bytes" in out
    assert "2 | // second" not in out
    assert "found in: hidden tests" in out
    assert "SECRET" not in out + err
    assert "::error" not in out + err
    told = run(capsys, "grade", "toy", submission, "--show-hidden")[1]
    assert "2 | // second" in told
    assert "SECRET" in told


def test_json_holds_them_all(submission: Path, script: Install, capsys: pytest.CaptureFixture[str]) -> None:
    script(FOUND)
    _, out, _ = run(capsys, "grade", "toy", submission, "--json", "-")
    found = [test["diagnostics"] for test in json.loads(out)["tests"]]
    assert [len(each) for each in found] == [1, 1, 0]
    assert found[0][0]["place"] == {"file": "toy.cu", "line": 1, "code": 0, "source": "void toy(float*, int) {}"}


def test_sarif_in_a_file(
    submission: Path,
    script: Install,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    script(FOUND)
    monkeypatch.chdir(submission.parent)
    target = submission.parent / "found.sarif"
    status, _, err = run(capsys, "grade", "toy", submission, "--sarif", target, "--show-hidden", "-q")
    assert (status, err) == (0, "")
    text = target.read_text()
    public, hidden = json.loads(text)["runs"][0]["results"]
    assert public["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "work/toy.cu"
    assert hidden["locations"] == []
    assert "SECRET" not in text
    assert str(submission.parent) not in text


def test_annotations_are_on_in_a_workflow_and_off_elsewhere(
    submission: Path, script: Install, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    script(FOUND)
    assert "::error" not in run(capsys, "grade", "toy", submission)[2]
    assert "::error file=toy.cu,line=1" in run(capsys, "grade", "toy", submission, "--annotations", "github")[2]
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_WORKSPACE", str(submission.parent))
    _, out, err = run(capsys, "grade", "toy", submission, "--json", "-", "--show-hidden")
    json.loads(out)
    assert "\n::error file=work/toy.cu,line=1" in err
    assert "SECRET" not in err
    assert "::error" not in run(capsys, "grade", "toy", submission, "--annotations", "none")[2]


def test_a_file_of_a_wrapped_folder_is_named_where_it_lies(
    submission: Path, script: Install, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    script(FOUND)
    (submission / "inner").mkdir()
    (submission / "toy.cu").rename(submission / "inner" / "toy.cu")
    monkeypatch.chdir(submission)
    assert "file=inner/toy.cu," in run(capsys, "grade", "toy", submission, "--annotations", "github")[2]
    single = submission / "inner" / "toy.cu"
    assert "file=inner/toy.cu," in run(capsys, "grade", "toy", single, "--annotations", "github")[2]


@pytest.mark.parametrize("checks", ["all", "none", "race", "init,advice"])
def test_checks_reach_the_judge(
    checks: str, submission: Path, script: Install, capsys: pytest.CaptureFixture[str]
) -> None:
    program = script(FOUND)
    assert run(capsys, "grade", "toy", submission, "--checks", checks)[0] == 0
    words = json.loads((program.parent / "calls.jsonl").read_text().splitlines()[0])
    assert words[words.index("--checks") + 1] == checks


@pytest.mark.parametrize(
    "words",
    [("--checks", "speed"), ("--checks", ""), ("--checks", "all,race"), ("--annotations", "gitlab"),
     ("--sarif", "/nowhere/found.sarif")],
)  # fmt: skip
def test_wrong_usage(
    words: tuple[str, ...], submission: Path, script: Install, capsys: pytest.CaptureFixture[str]
) -> None:
    program = script(FOUND)
    assert run(capsys, "grade", "toy", submission, *words)[0] == 2
    assert not (program.parent / "calls.jsonl").exists()


def test_a_judge_that_passes_on_nonsense_gives_no_verdict(
    submission: Path, script: Install, capsys: pytest.CaptureFixture[str]
) -> None:
    script(verdicts([{"rule": "racecheck/shared"}], []))
    assert run(capsys, "grade", "toy", submission)[0] == 3


def test_a_file_named_dash_has_stdout_for_itself(
    submission: Path, script: Install, capsys: pytest.CaptureFixture[str]
) -> None:
    script(FOUND)
    assert json.loads(run(capsys, "grade", "toy", submission, "--sarif", "-")[1])["version"] == "2.1.0"


def test_a_submission_that_cannot_be_read_is_reported_in_each_format(
    in_project: Layout, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "empty").mkdir()
    target = tmp_path / "found.sarif"
    assert run(capsys, "grade", "toy", tmp_path / "empty", "--sarif", target)[0] == 2
    assert json.loads(target.read_text())["runs"][0]["results"] == []


@pytest.mark.parametrize(("reads", "command"), [("result", "grade"), ("result", "check"), ("profile", "run")])
def test_a_format_is_found_by_its_file(reads: Reads, command: str, capsys: pytest.CaptureFixture[str]) -> None:
    files = {path.stem for path in Path(formats.__file__).parent.glob("*.py")} - {"__init__"}
    every = {id(each) for each in [*formats.find_formats("result"), *formats.find_formats("profile")]}
    assert len(every) == len(files)
    shown = run(capsys, command, "--help")[1]
    assert all(each.option.opts[0] in shown for each in outlets.formats(reads))
    assert set(formats.find_formats(reads)) < set(outlets.formats(reads))


@pytest.mark.parametrize("reads", ["result", "profile"])
def test_accesses_are_recorded_for_a_page_alone(reads: Reads) -> None:
    nothing = {each.option.name or "": None for each in outlets.formats(reads)}
    for asked, wanted in (({}, False), ({"json": "a.json"}, False), ({"html": "a.html"}, True)):
        assert (outlets.Outlets.take(reads, {**nothing, **asked}).new_traces() is not None) == wanted
