"""Running a judge: verdicts, crashes, garbage, silence. What is missing is an error, never a pass and never a zero."""

import dataclasses
import json
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from stand_ins import Script, begin, case, end, speed, start

from warpgrade.grading import judge
from warpgrade.machine.errors import GraderError

Install = Callable[[Script], Path]
TESTS = ["adds", "adds odd sizes", "speed"]


def plan(program: Path, *, seed: int | None = None, public_only: bool = False) -> judge.Plan:
    log = program.parent / "judge.log"
    return judge.Plan([str(program)], TESTS, public_only=public_only, seconds_each=0.1, seed=seed, log=log)


def calls(program: Path) -> list[list[str]]:
    return [json.loads(line) for line in (program.parent / "calls.jsonl").read_text().splitlines()]


def statuses(verdicts: judge.Verdicts) -> dict[str, str]:
    return {name: found.status for name, found in verdicts.cases.items()}


def test_verdicts_are_read_as_they_come(script: Install) -> None:
    program = script(
        [[start(11), begin("adds"), case("adds"), case("adds odd sizes", "fail", "no"), speed(2.5), end()]]
    )
    seen: list[judge.Line] = []
    verdicts = judge.judge(plan(program), seen.append)
    assert statuses(verdicts) == {"adds": "pass", "adds odd sizes": "fail", "speed": "pass"}
    assert verdicts.seed == 11
    assert verdicts.cases["speed"].measurements[0].value == 2.5
    assert [type(line).__name__ for line in seen] == ["Start", "CaseStart", "Case", "Case", "Case", "End"]
    assert len(calls(program)) == 1


def test_the_device_is_what_the_last_judge_says_of_it() -> None:
    verdicts = judge.Verdicts()
    judge._note(verdicts, judge.Start(seed=1, device={"name": "H100"}))
    judge._note(verdicts, judge.Start(seed=2))
    assert (verdicts.seed, verdicts.device) == (2, {"name": "H100"})


@pytest.mark.parametrize(
    ("status", "words"),
    [(None, "was killed"), (0, "ended early with status 0"), (3, "ended early with status 3"),
     (-6, "was killed by SIGABRT"), (-999, "ended early with status -999")],
)  # fmt: skip
def test_how_a_judge_ended(status: int | None, words: str) -> None:
    assert judge._how(status) == f"the judge {words}"


def test_of_what_a_judge_says_at_its_end_a_message_has_a_few_lines_and_the_log_all(script: Install) -> None:
    program = script([[start(), case("adds"), speed(1.0), begin("adds odd sizes"), "die"]])
    text = program.read_text().replace('print("judge: cannot go on"', 'print("\\n".join(f"line {i}" for i in range(9))')
    program.write_text(text)
    log = program.parent / "logs" / "of" / "judge.log"
    verdicts = judge.judge(dataclasses.replace(plan(program), log=log))
    message = verdicts.cases["adds odd sizes"].message
    assert "line 1" in message
    assert "line 2" not in message
    assert "line 8" in log.read_text()


def test_the_command_line_says_scope_and_seed(script: Install) -> None:
    program = script([[start(), *map(case, TESTS), end()]])
    judge.judge(plan(program, seed=42, public_only=True))
    arguments = calls(program)[0]
    assert arguments[arguments.index("--only") + 1] == "public"
    assert arguments[arguments.index("--seed") + 1] == "42"


def test_a_judge_that_dies_loses_no_test(script: Install) -> None:
    again = [start(7), begin("adds odd sizes"), case("adds odd sizes"), speed(1.0), end()]
    program = script([[start(7), case("adds"), begin("adds odd sizes"), "die"], again])
    verdicts = judge.judge(plan(program))
    assert statuses(verdicts) == {"adds": "pass", "adds odd sizes": "pass", "speed": "pass"}
    retried = [call[call.index("--test") + 1] for call in calls(program)[1:]]
    assert retried == ["adds odd sizes", "speed"]
    assert all(call[call.index("--seed") + 1] == "7" for call in calls(program)[1:])


def test_a_test_that_always_kills_the_judge_is_an_error(script: Install) -> None:
    program = script([[start(), case("adds"), speed(1.0), begin("adds odd sizes"), "die"]])
    verdicts = judge.judge(plan(program))
    assert statuses(verdicts) == {"adds": "pass", "adds odd sizes": "error", "speed": "pass"}
    message = verdicts.cases["adds odd sizes"].message
    assert "SIGABRT" in message
    assert "cannot go on" in message
    assert "cannot go on" in (program.parent / "judge.log").read_text()


def test_errors_are_tried_once_more(script: Install) -> None:
    good = [start(), *map(case, TESTS), end()]
    program = script([[start(), case("adds", "error", "no memory"), *map(case, TESTS[1:]), end()], good])
    assert statuses(judge.judge(plan(program)))["adds"] == "pass"
    program = script([[start(), case("adds", "error", "no memory"), *map(case, TESTS[1:]), end()]])
    verdicts = judge.judge(plan(program))
    assert verdicts.cases["adds"].status == "error"
    assert verdicts.cases["adds"].message == "no memory"


def test_errors_are_tried_no_more_than_twice(script: Install) -> None:
    bad = [start(), case("adds", "error", "no memory"), *map(case, TESTS[1:]), end()]
    good = [start(), *map(case, TESTS), end()]
    assert statuses(judge.judge(plan(script([bad, bad, good]))))["adds"] == "error"


@pytest.mark.parametrize(
    "garbage",
    [
        "not json",
        '{"type": "case", "name": "adds", "status": "passed"}',
        '{"type": "case", "status": "pass"}',
        '{"type": "prize"}',
        "[]",
        '\x00\x01{"',
        '{"type": "case", "name": "adds", "status": "pass", "launches": [' + '{"a":' * 3000 + "1" + "}" * 3000 + "]}",
    ],
)
def test_garbage_ends_the_run_and_counts_for_nothing(script: Install, garbage: str) -> None:
    program = script([[start(), garbage, *map(case, TESTS), end()]])
    verdicts = judge.judge(plan(program))
    assert statuses(verdicts) == dict.fromkeys(TESTS, "error")
    assert "not a verdict" in verdicts.cases["adds"].message


def test_half_a_line_is_no_verdict(script: Install, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judge, "_RETRIES", 0)
    program = script([[start(), case("adds"), end(), "die"]])
    text = program.read_text().replace(
        '"\\n")\n    verdict.flush', '("\\n" if step != "cut" else ""))\n    verdict.flush'
    )
    program.write_text(text)
    whole = json.dumps(case("adds odd sizes"))
    (program.parent / "script.json").write_text(json.dumps([[start(), case("adds"), whole[:40]]]))
    verdicts = judge.judge(plan(program))
    assert set(verdicts.cases) == {"adds"}
    assert not verdicts.complete


def test_a_silent_judge_is_ended(script: Install, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judge, "_PATIENCE_FACTOR", 1)
    monkeypatch.setattr(judge, "_PATIENCE_SECONDS", 1)
    program = script([[start(), *map(case, TESTS[:2]), begin("speed"), "hang"], [start(), speed(3.0), end()]])
    started = time.monotonic()
    verdicts = judge.judge(plan(program))
    assert time.monotonic() - started < 60
    assert statuses(verdicts) == dict.fromkeys(TESTS, "pass")


def test_a_test_that_floods_the_record_fails_and_the_others_run_again(
    script: Install, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(judge, "_MOST_LINE_BYTES", 1000)
    flood = [begin("adds odd sizes"), case("adds odd sizes", message="x" * 2000)]
    program = script([[start(), case("adds"), *flood, "hang"], [start(), speed(3.0), end()]])
    verdicts = judge.judge(plan(program))
    assert statuses(verdicts) == {"adds": "pass", "adds odd sizes": "fail", "speed": "pass"}
    assert "too long" in verdicts.cases["adds odd sizes"].message
    assert verdicts.cases["adds odd sizes"].review
    # A line that never ends is one, too.
    (program.parent / "calls.jsonl").unlink()
    program = script([[start(), case("adds"), begin("adds odd sizes"), "x" * 5_000_000], [start(), speed(3.0), end()]])
    assert statuses(judge.judge(plan(program)))["adds odd sizes"] == "fail"
    (program.parent / "calls.jsonl").unlink()
    monkeypatch.setattr(judge, "_MOST_LINE_BYTES", 1 << 20)
    monkeypatch.setattr(judge, "_MOST_BYTES", 3000)
    program = script([[start(), *flood, case("adds", message="y" * 2000), "hang"], [start(), speed(3.0), end()]])
    assert statuses(judge.judge(plan(program)))["speed"] == "pass"


def test_what_uses_up_the_time_of_all_tests_fails(script: Install, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judge.Plan, "seconds", 1.5)
    program = script([[start(), case("adds"), begin("adds odd sizes"), "hang"]])
    verdicts = judge.judge(plan(program))
    assert statuses(verdicts) == {"adds": "pass", "adds odd sizes": "fail", "speed": "fail"}
    assert verdicts.cases["speed"].message == "the submission has used up the 1.5 s that its 3 tests have together"
    assert len(calls(program)) == 1


def test_the_time_of_all_tests_is_never_less_than_a_silent_judge_has() -> None:
    for seconds in (0.1, 5, 20):
        one = judge.Plan([], TESTS, public_only=False, seconds_each=seconds)
        assert one.seconds >= one.patience + seconds * len(TESTS)


def test_what_a_judge_says_besides_is_read_and_its_end_kept(script: Install) -> None:
    program = script([[start(), case("adds"), begin("adds odd sizes"), "die"]])
    text = program.read_text().replace('print("judge: cannot go on"', 'print("x" * 3_000_000 + "the end"')
    program.write_text(text)
    verdicts = judge.judge(plan(program))
    assert "the end" in (program.parent / "judge.log").read_text()[-100:]
    assert len((program.parent / "judge.log").read_text()) < 50_000
    assert statuses(verdicts)["adds"] == "pass"


ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
CASE = st.fixed_dictionaries(
    {"type": st.sampled_from(["case", "start", "case_start", "end"]), "name": st.text(max_size=5) | ANY_JSON},
    optional=dict.fromkeys(
        ("status", "tags", "seconds", "message", "measurements", "launches", "diagnostics", "review", "seed"), ANY_JSON
    ),
)


@given(raw=st.binary(max_size=60) | (CASE | ANY_JSON).map(lambda tree: json.dumps(tree).encode()))
@example(raw=b'{"type": "case_start", "name": "\xff"}')
@example(raw=b'{"type": "case_start", "name": "\\ud800"}')
@example(raw=b"[" * 100_000)
def test_any_line_is_a_verdict_or_trouble(raw: bytes) -> None:
    verdicts = judge.Verdicts()
    taken = judge._take(raw, verdicts, lambda line: None)
    assert taken is not bool(verdicts.trouble)
    assert "\n" not in verdicts.trouble


def test_no_verdict_at_all_is_the_graders_error(script: Install) -> None:
    with pytest.raises(GraderError) as caught:
        judge.judge(plan(script([["die"]])))
    assert "cannot go on" in caught.value.detail
    with pytest.raises(GraderError):
        judge.judge(plan(script([[]])))


def test_a_judge_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(GraderError, match="cannot be started"):
        judge.judge(plan(tmp_path / "judge-toy"))


def test_of_a_line_that_is_no_verdict_three_hundred_letters_are_told() -> None:
    verdicts = judge.Verdicts()
    assert not judge._take(json.dumps({"type": "x" * 1000}).encode(), verdicts, lambda line: None)
    told = verdicts.trouble.removeprefix("the judge wrote a line that is not a verdict: ")
    assert told.rstrip("…x ").startswith("Invalid value '")
    assert len(told) == 300
