"""The command line: messages and exit statuses, with the build and the judge replaced by small stand-ins."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import click
import jsonschema
import msgspec
import pytest
from stand_ins import Script, begin, case, end, run, speed, start

from warpgrade import __version__
from warpgrade.cli.main import COMMANDS, main
from warpgrade.cli.options import take
from warpgrade.compiling import build
from warpgrade.compiling.failure import BuildFailure
from warpgrade.grading import grade, result, score
from warpgrade.lab import labs
from warpgrade.machine.paths import Layout, find_layout

Install = Callable[[Script], Path]
GOOD: Script = [[start(), begin("adds"), case("adds"), case("adds odd sizes"), speed(9.0), end()]]
MIXED: Script = [[start(), begin("adds"), case("adds"), case("adds odd sizes", "fail", "a[3] is 1"), speed(2.0), end()]]


def test_a_graded_submission(submission: Path, script: Install, capsys: pytest.CaptureFixture[str]) -> None:
    script(MIXED)
    status, out, err = run(capsys, "grade", "toy", submission)
    assert status == 0
    assert "15 / 40" in out
    assert "Guard the last block." in out
    assert "a[3] is 1" not in out
    assert "compiling toy.cu" in err
    assert "test 1 of 3: adds" in err
    assert "a[3] is 1" in run(capsys, "grade", "toy", submission, "--show-hidden")[1]


def test_fail_under(submission: Path, script: Install, capsys: pytest.CaptureFixture[str]) -> None:
    script(MIXED)
    assert run(capsys, "grade", "toy", submission, "--fail-under", "37.5")[0] == 0
    assert run(capsys, "grade", "toy", submission, "--fail-under", "38")[0] == 1
    assert run(capsys, "grade", "toy", submission, "--fail-under", "101")[0] == 2


def test_json_alone_on_stdout(submission: Path, script: Install, capsys: pytest.CaptureFixture[str]) -> None:
    script(GOOD)
    status, out, _ = run(capsys, "grade", "toy", submission, "--json", "-")
    assert status == 0
    document = json.loads(out)
    jsonschema.validate(document, json.loads(result.json_schema()))
    assert document["score"]["percent"] == 100
    assert document["seed"] == 7
    assert document["device"]["properties"]["name"] == "toy GPU"


def test_json_in_a_file(submission: Path, script: Install, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script(GOOD)
    file = tmp_path / "result.json"
    assert run(capsys, "grade", "toy", submission, "--json", file, "--quiet")[:2] == (
        0,
        f"toy {submission}: 40 / 40  (100 %)\n",
    )
    assert result.decode(file.read_bytes()).submission.files[0].name == "toy.cu"
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []
    status, _, err = run(capsys, "grade", "toy", submission, "--json", tmp_path / "no" / "result.json")
    assert status == 2
    assert "does not exist" in err


def test_options_reach_the_judge(submission: Path, script: Install, capsys: pytest.CaptureFixture[str]) -> None:
    program = script(GOOD)
    run(capsys, "grade", "toy", submission, "--seed", "99", "--threads", "3", "--device", "vgpu:H100")
    line = json.loads((program.parent / "calls.jsonl").read_text().splitlines()[0])
    for option, value in {"--seed": "99", "--threads": "3", "--device": "vgpu:h100", "--seconds": "5"}.items():
        assert line[line.index(option) + 1] == value
    assert "--no-sandbox" not in line


def test_errors_are_the_graders(submission: Path, script: Install, capsys: pytest.CaptureFixture[str]) -> None:
    script([[start(), case("adds"), case("adds odd sizes", "error", "no device"), speed(1.0), end()]])
    status, out, err = run(capsys, "grade", "toy", submission, "--fail-under", "100")
    assert status == 3
    assert "?/20" in out
    assert "not final" in err


def test_check_runs_public_tests_of_the_folder_one_is_in(
    submission: Path, script: Install, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    program = script([[start(), case("adds"), speed(3.0), end(2)]])
    monkeypatch.chdir(submission)
    status, out, _ = run(capsys, "check")
    assert status == 0
    assert "20 / 20" in out
    assert "adds odd sizes" not in out
    assert "public" in json.loads((program.parent / "calls.jsonl").read_text().splitlines()[0])
    assert run(capsys, "grade", "toy", submission, "--public")[0] == 0
    assert "public" in json.loads((program.parent / "calls.jsonl").read_text().splitlines()[-1])
    assert run(capsys, "check", "toy")[0] == 0


def test_check_elsewhere(submission: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:  # fmt: skip  # noqa: E501
    monkeypatch.chdir(tmp_path)
    status, _, err = run(capsys, "check")
    assert status == 2
    assert "go to the folder with toy.cu, or name the lab" in err


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["grade", "tov", "."], "unknown lab “tov”\nwarpgrade: did you mean toy?"),
        (["grade", "toy", "nowhere"], "nowhere does not exist"),
        (["grade", "toy"], "Missing argument 'PATH'"),
        (["grade"], "Missing argument 'LAB'"),
        (["frobnicate"], "No such command 'frobnicate'"),
        (["grade", "toy", ".", "--sede", "1"], "No such option"),
        (["grade", "toy", ".", "--seed", "many"], "--seed"),
        (["grade", "toy", ".", "--threads", "0"], "--threads"),
    ],
)
def test_wrong_usage(
    in_project: Layout, capsys: pytest.CaptureFixture[str], arguments: list[str], complaint: str
) -> None:
    status, out, err = run(capsys, *arguments)
    assert status == 2
    assert complaint in err
    assert out == ""


@pytest.mark.parametrize(
    ("device", "complaint"),
    [
        ("cuda", "unknown device “cuda”"),
        ("gpu", "device gpu:0 is not available"),
        ("gpu:1", "device gpu:1 is not available"),
        ("vgpu:x900", "device vgpu:x900 is not available: no profile vgpu:x900; there is h100"),
        ("vgpu:", "unknown device"),
    ],
)
def test_devices_that_are_not_there(
    submission: Path, script: Install, capsys: pytest.CaptureFixture[str], device: str, complaint: str
) -> None:
    script(GOOD)
    status, _, err = run(capsys, "grade", "toy", submission, "--device", device)
    assert status == 2
    assert complaint in err
    assert err.count("\n") == 1 or not device.startswith("gpu")


@pytest.mark.parametrize(
    ("name", "content", "complaint"),
    [
        ("toy.h", b"void toy(float*, int);\n", "expected toy.cu, found toy.h"),
        ("toy.cu", b"\x7fELF\x00\x01\x02", "toy.cu is not a text file"),
        ("toy.cu", b"", "toy.cu is empty"),
        ("readme.txt", b"hello", "expected toy.cu, found readme.txt"),
    ],
)
def test_submissions_that_are_none(
    in_project: Layout, tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, content: bytes, complaint: str
) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / name).write_bytes(content)
    file = tmp_path / "result.json"
    status, out, err = run(capsys, "grade", "toy", folder, "--json", file)
    assert status == 2
    assert complaint in err
    assert out == ""
    rejected = result.decode(file.read_bytes())
    assert rejected.status == "rejected"
    assert rejected.score.points == 0
    assert rejected.problem is not None
    assert rejected.problem.stage == "intake"


def test_an_empty_folder_and_an_unreadable_zip(
    in_project: Layout, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "empty").mkdir()
    status, _, err = run(capsys, "grade", "toy", tmp_path / "empty")
    assert status == 2
    assert "is empty" in err
    (tmp_path / "junk.zip").write_bytes(bytes(range(256)) * 9)
    status, _, err = run(capsys, "grade", "toy", tmp_path / "junk.zip")
    assert status == 2
    assert "not a readable zip archive" in err


def failing_build(stage: str, *, unsupported: bool) -> Callable[..., Path]:
    def fail(self: build.Builder, files: dict[str, bytes]) -> Path:
        if files["toy.cu"].startswith(b"void toy(float*, int) {}\n") and len(files) == 1:
            return Path("/worker")  # the starter
        raise BuildFailure(
            "compile",
            "toy.cu does not compile",
            review=["a note"],
            detail="toy.cu(1): error: x\n",
            hint="mend it",
            unsupported=unsupported,
        )

    return fail


def test_a_file_that_does_not_compile(
    submission: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (submission / "toy.cu").write_text("what is this?\n", encoding="utf-8")
    monkeypatch.setattr(build.Builder, "build", failing_build("compile", unsupported=False))
    file = tmp_path / "result.json"
    status, out, _ = run(capsys, "grade", "toy", submission, "--json", file)
    assert status == 2
    assert "toy.cu does not compile" in out
    assert "toy.cu(1): error: x" in out
    assert "0 / 40" in out
    assert {test.status for test in result.decode(file.read_bytes()).tests} == {"fail"}
    status, out, err = run(capsys, "grade", "toy", submission, "--quiet")
    assert status == 2
    assert out.startswith("toy ")
    assert "does not compile" in err


def test_what_warpgrade_lacks_is_no_zero(
    submission: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (submission / "toy.cu").write_text("uses what is not there\n", encoding="utf-8")
    monkeypatch.setattr(build.Builder, "build", failing_build("link", unsupported=True))
    status, out, _ = run(capsys, "grade", "toy", submission)
    assert status == 3
    assert "40 points could not be judged" in out


def test_no_sandbox_no_run(
    submission: Path, script: Install, in_project: Layout, capsys: pytest.CaptureFixture[str]
) -> None:
    program = script(GOOD)
    sandbox = in_project.program("warpgrade-sandbox")
    sandbox.write_text("#!/bin/sh\necho 'user namespaces are switched off' >&2\nexit 1\n", encoding="utf-8")
    status, _, err = run(capsys, "grade", "toy", submission)
    assert status == 3
    assert "the sandbox does not work" in err
    assert "user namespaces are switched off" in err
    assert "--no-sandbox" in err
    status, out, _ = run(capsys, "grade", "toy", submission, "--no-sandbox")
    assert status == 0
    assert "ran without the sandbox" in out
    assert "--no-sandbox" in json.loads((program.parent / "calls.jsonl").read_text().splitlines()[0])


def test_the_result_names_the_sandbox(
    submission: Path, script: Install, in_project: Layout, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    program, file = script(GOOD), tmp_path / "result.json"
    assert run(capsys, "grade", "toy", submission, "--json", file)[0] == 0
    assert json.loads(file.read_text())["sandbox"] == "namespaces"
    in_project.program("warpgrade-sandbox").write_text(
        "#!/bin/sh\necho 'the sandbox works (plain)'\n", encoding="utf-8"
    )
    status, out, _ = run(capsys, "grade", "toy", submission, "--json", file)
    assert status == 0
    assert "plain sandbox" in out
    assert json.loads(file.read_text())["sandbox"] == "plain"
    calls = (program.parent / "calls.jsonl").read_text().splitlines()
    assert "--plain-sandbox" not in json.loads(calls[0])
    assert "--plain-sandbox" in json.loads(calls[-1])
    run(capsys, "grade", "toy", submission, "--json", file, "--no-sandbox")
    assert json.loads(file.read_text())["sandbox"] == "none"


def test_doctor_says_which_sandbox_works(in_project: Layout, capsys: pytest.CaptureFixture[str]) -> None:
    program = in_project.program("warpgrade-sandbox")
    for words, told in (
        ("echo 'the sandbox works (namespaces)'", "works (bubblewrap, seccomp, limits)"),
        ("echo 'the sandbox works (plain)'", "works, without namespaces (Landlock, seccomp, limits)"),
        ("echo 'the kernel has no Landlock'; exit 1", "the kernel has no Landlock"),
    ):
        program.write_text(f"#!/bin/sh\n{words}\n", encoding="utf-8")
        assert told in " ".join(run(capsys, "doctor")[1].split())


def test_an_unexpected_error_keeps_its_trace_in_a_log(
    submission: Path, in_project: Layout, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def explode(*_: object, **__: object) -> None:
        raise ZeroDivisionError("surprise")

    monkeypatch.setattr("warpgrade.intake.receive.read", explode)
    status, _, err = run(capsys, "grade", "toy", submission)
    assert status == 3
    assert "unexpected error: ZeroDivisionError('surprise')" in err
    assert "ZeroDivisionError" in next(in_project.logs.glob("crash-*.log")).read_text()


def test_interrupts(submission: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("warpgrade.intake.receive.read", interrupt)
    assert run(capsys, "grade", "toy", submission)[0] == 130


def test_list_version_and_help(in_project: Layout, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(capsys, "list")
    assert status == 0
    assert "Adding vectors" in out
    assert "40 points" in out
    assert run(capsys, "--version")[1] == f"warpgrade {__version__}\n"
    assert run(capsys, "grade", "--help")[0] == 0


def test_starter_check(in_project: Layout, capsys: pytest.CaptureFixture[str]) -> None:
    reference = in_project.references / "toy"
    reference.mkdir(parents=True)
    (reference / "toy.cu").write_text("int x;\n", encoding="utf-8")
    status, out, err = run(capsys, "starter", "--check")
    assert status == 3
    assert "+int x;" in out
    assert "differ from their references: toy" in err
    assert run(capsys, "starter", "toy")[0] == 0
    assert run(capsys, "starter", "--check")[0] == 0


def test_a_broken_lab_is_the_graders_error(in_project: Layout, capsys: pytest.CaptureFixture[str]) -> None:
    (in_project.labs / "toy" / "lab.toml").write_text("[lab]\n", encoding="utf-8")
    status, _, err = run(capsys, "list")
    assert status == 3
    assert "labs/toy/lab.toml" in err


def test_doctor_sees_what_is_missing(in_project: Layout, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(capsys, "doctor")
    assert status == 3
    assert "nvcc has not been found yet" in out
    assert "not built: judge-toy" in out
    assert "toy GPU" in out


def test_every_command_of_the_readme_exists() -> None:
    readme = (find_layout().root / "README.md").read_text(encoding="utf-8")
    commands = set(re.findall(r"\./warpgrade ([a-z]+)", readme))
    assert {"grade", "test", "check", "doctor"} <= commands
    assert commands <= set(COMMANDS)
    named = {lab.name for lab in labs.discover(find_layout())}
    assert "matmul" in named


@pytest.mark.parametrize("name", COMMANDS)
def test_the_list_of_commands_says_what_each_says_itself(name: str) -> None:
    command = main.get_command(click.Context(main), name)
    assert command is not None
    assert (command.name, command.get_short_help_str(limit=200)) == (name, COMMANDS[name][1])


def test_an_option_that_nothing_takes_is_left_over() -> None:
    given = {"device": "gpu", "sede": 7}
    assert take(grade.Options, given, public_only=True) == grade.Options(device="gpu", public_only=True)
    assert given == {"sede": 7}


def test_help_begins_with_what_students_call(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "--help")
    own, _, others = out.partition("Your own work:")[2].partition("Grading, courses and labs:")
    named = [re.findall(r"^  ([a-z]+)  ", part, re.MULTILINE) for part in (own, others)]
    assert named[0] == ["check", "run", "explain", "doctor"]
    assert sorted(named[0] + named[1]) == sorted(COMMANDS)


def test_a_stored_result_is_shown_again_and_written_in_other_formats(
    submission: Path, script: Install, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script(MIXED)
    stored, page = tmp_path / "result.json", tmp_path / "page.html"
    graded = run(capsys, "grade", "toy", submission, "--json", stored)[1]
    status, out, _ = run(capsys, "report", stored, "--sources", submission, "--html", page)
    assert (status, out) == (0, graded)
    text = page.read_text(encoding="utf-8")
    assert "15 of 40 points" in text
    assert "a[3] is 1" not in text, "a hidden test's message"
    assert "a[3] is 1" in run(capsys, "report", stored, "--show-hidden")[1]
    first = result.decode(stored.read_bytes())
    later = tmp_path / "later.json"
    tests = [msgspec.structs.replace(test, status="pass", points=test.max_points) for test in first.tests]
    later.write_bytes(result.encode(msgspec.structs.replace(first, tests=tests, score=score.total(tests))))
    status, out, _ = run(capsys, "report", stored, later, "--html", page)
    assert status == 0
    assert "15 → 40 of 40 points" in out
    text = page.read_text(encoding="utf-8")
    assert "Since the earlier result: 15 → 40 points" in text
    assert re.search(r"fail → pass</td><td>adds odd sizes", text)
    other = msgspec.structs.replace(first.lab, name="other")
    later.write_bytes(result.encode(msgspec.structs.replace(first, lab=other)))
    assert "the other of lab other" in run(capsys, "report", stored, later)[2]
    stored.write_text('{"lab": 1}', encoding="utf-8")
    status, _, err = run(capsys, "report", stored)
    assert status == 2
    assert "is no result of this version of Warpgrade" in err
