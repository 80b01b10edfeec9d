"""Whatever a program, a compiler or a file name says: each report shows it as text, and stays what it is."""

import io
import json
import re
from typing import Any, cast

import msgspec
import pytest
from hostile import ACTS, ANY, HOSTILE, OWN, hostile_result, one, strings
from hypothesis import example, given
from hypothesis import strategies as st
from rich.console import Console

from warpgrade.compiling import compiler_words
from warpgrade.compiling.failure import Problem
from warpgrade.findings import diagnosis, sources
from warpgrade.grading import score
from warpgrade.grading.judge import Case
from warpgrade.grading.result import decode, encode
from warpgrade.lab.labs import Lab
from warpgrade.machine import text
from warpgrade.platforms.github import workflow_annotations as github
from warpgrade.report import diagnosis as diagnosis_report
from warpgrade.report import findings, terminal
from warpgrade.report import profile as profile_report
from warpgrade.report.formats import sarif, trace
from warpgrade.report.stream import Gated, no_commands
from warpgrade.running.profile import Collector


def shown(show: Any, width: int) -> str:
    out = io.StringIO()
    show(Console(file=cast("io.StringIO", Gated(out)), width=width, markup=False, highlight=False))
    return out.getvalue()


def without_frame(words: str) -> str:
    """Take out what the report itself has at the start of a line."""
    return words.replace("hint:", "hint")


@ANY
@given(words=HOSTILE, width=st.sampled_from([50, 80, 120]), line=st.integers(0, 4))
@example(words="x" * 60 + " ::error::y", width=50, line=1)
def test_terminal(lab: Lab, words: str, width: int, line: int) -> None:
    result = hostile_result(words, lab, line)
    out = shown(lambda console: terminal.show(console, result, show_hidden=True, advice=True), width)
    assert not ACTS.search(without_frame(out)), out
    problem = Problem(stage="compile", message=text.one_line(words, 300), detail=text.clean(words), hint="h")
    rejected = msgspec.structs.replace(result, status="rejected", problem=problem)
    assert not ACTS.search(shown(lambda console: terminal.show(console, rejected), width))


@ANY
@given(words=HOSTILE, width=st.sampled_from([50, 80]), line=st.integers(0, 4))
def test_findings(words: str, width: int, line: int) -> None:
    found = findings.program_findings(diagnosis.locate([one(words, line)], OWN, lambda codes: {}))
    out = shown(lambda console: diagnosis_report.show(console, found, advice=True), width)
    assert not ACTS.search(out), out


@ANY
@given(words=HOSTILE, line=st.integers(0, 4))
def test_json_and_sarif_and_annotations(lab: Lab, words: str, line: int) -> None:
    result = hostile_result(words, lab, line)
    raw = encode(result)
    assert decode(raw) == result
    for each in strings(json.loads(raw)):
        assert not ACTS.search(each), each
    found = findings.result_findings(result, show_hidden=True)
    log = json.loads(sarif.encode(found, "hand-ins/"))
    for each in strings(log):
        assert not ACTS.search(each), each
    uris = [each for each in strings(log, key="uri") if not each.startswith("http")]
    assert set(uris) <= {"hand-ins/my.cu"} or all(uri.startswith("hand-ins/") for uri in uris), uris
    commands = github.commands(found, "hand-ins/")
    for row in commands.splitlines():
        assert re.match(r"::(error|warning|notice) (file=hand-ins/|title=)", row), row
    assert len(commands.split("\n")) == len(commands.splitlines()) + 1


@ANY
@given(words=HOSTILE.map(lambda words: words.replace("\ud800", "?")))
def test_the_profile_of_a_program(words: str) -> None:
    collector = Collector()
    launch = {
        "kernel": words, "name": words, "grid": [1, 1, 1], "block": [1, 1, 1], "duration_ns": 1.0, "start_ns": 0.0,
        "stream": 0, "registers_per_thread": 1, "static_shared_bytes": 0, "dynamic_shared_bytes": 0,
        "occupancy": {"theoretical": 1.0, "limiter": "blocks"}, "counters": {"inst_executed": 1},
        "error": {"message": words}, "lines": [{"file": words, "line": 1, "counters": {"inst_executed": 1}}],
    }  # fmt: skip
    errors = [{"operation": words, "message": words}]
    collector.add({"launches": [launch], "call_errors": errors, "diagnostics": [], "clock_ns": 1.0})
    profile = collector.finish({"name": "toy"}, 0)
    for each in strings(json.loads(msgspec.json.encode(profile))):
        assert not ACTS.search(each), each
    out = shown(lambda console: profile_report.show(console, profile, lines=True), 80)
    assert not ACTS.search(out), out
    json.loads(trace.encode(profile))


@ANY
@given(words=HOSTILE)
@example(words="/submission/::error file=x::y")
def test_compilers_words_name_own_files_only(words: str) -> None:
    said = (
        f"In file included from {words}:3,\n                 from /labs/hidden.cpp:7:\n{words}(3): error: {words}\n"
        f"/labs/hidden.cpp:4:1: error: x\nhidden.cpp: In function\nmy.cu(3): error: at line 4 of hidden.cpp\n{words}"
    ).encode("utf-8", errors="surrogatepass")
    out = compiler_words.as_the_student_knows_it(said, ["my.cu"], ["/submission"], lambda path: path == "/usr/x.h")
    assert not ACTS.search(out), out
    assert "hidden.cpp" not in out
    assert "my.cu(3): error" in out


def test_headers_of_the_toolkit_are_named_without_their_folders() -> None:
    said = b"/submission/my.cu:1: error: a\n/usr/x.h(7): error: b\n/usr/y.h(7): error: c\ncollect2: error: ld\n"
    out = compiler_words.as_the_student_knows_it(said, ["my.cu"], ["/submission"], lambda path: path == "/usr/x.h")
    assert out.split("\n") == [
        "my.cu:1: error: a",
        "<x.h>(7): error: b",
        "<elsewhere>(7): error: c",
        "collect2: error: ld",
    ]


@pytest.mark.parametrize(
    "words",
    ["\x1b" * 200_000, "\x1b[0" * 100_000, "\x1b]a" * 100_000 + "b", "\x1b[;" * 100_000, "\x1b]" + "x" * 300_000,
     " " * 300_000 + "::", "##[" * 100_000, "cudaMalloc" + " " * 300_000 + "x", "<" * 300_000, "/a" * 200_000,
     "undefined reference to `" * 20_000, "at line 1 of " * 30_000, "\n " * 200_000],
    ids=lambda words: ascii(words[:12]),
)  # fmt: skip
def test_long_texts_take_no_longer_than_their_length(words: str, lab: Lab) -> None:
    """No clock here: what takes the square of it would not end."""
    text.clean(words)
    text.one_line(words, 100)
    text.printable_name(words)
    assert (
        sources.submission_sources({"a.cu": words.encode()}, re.compile("x"), lambda path: False).allocated_variable(
            "a.cu", 1
        )
        == ""
    )
    compiler_words.as_the_student_knows_it(words.encode(), ["a.cu"], ["/s"], lambda path: False)
    case = Case(name="adds", status="fail", message=words)
    score.score_tests(lab, {"adds": case}, "vgpu", public_only=True)


@given(st.lists(st.sampled_from(["::", "::error::x", "\n", " ", "##[x", "word", "word\n", "\u00a0"]), max_size=12))
def test_a_stream_that_is_written_in_pieces(pieces: list[str]) -> None:
    out = io.StringIO()
    stream = Gated(out)
    for piece in pieces:
        assert stream.write(piece) == len(piece)
    assert not re.search(r"##\[|^[^\S\n]*::", out.getvalue(), re.MULTILINE), out.getvalue()
    assert out.getvalue().replace(" ", "") == "".join(pieces).replace(" ", "")


def test_in_actions_nothing_between_is_a_command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with no_commands():
        print("x")
    assert capsys.readouterr().out == "x\n"
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    tokens = set()
    for _ in range(2):
        with no_commands():
            print("x")
        rows = capsys.readouterr().out.splitlines()
        begin = re.fullmatch(r"::stop-commands::([0-9a-f]{32})", rows[0])
        assert begin is not None
        assert rows[1:] == ["x", f"::{begin[1]}::"]
        tokens.add(begin[1])
    assert len(tokens) == 2


def test_the_gate_leaves_ordinary_text_alone() -> None:
    for words in ("a::b", "std::vector<int> x; // 50 % #1", "é 😀 日本", "\tindented\n  two", "# heading ## two"):
        assert text.clean(words) == words
    assert text.printable_name("matmul.cu") == "matmul.cu"
