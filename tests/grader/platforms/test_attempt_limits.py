"""Limits of attempts and the leaderboard, where the platform leaves them to the autograder: Gradescope."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from samples import GRADED
from stand_ins import Script, case, end, run, speed, start

from warpgrade.grading import score
from warpgrade.machine.paths import Layout
from warpgrade.platforms.gradescope import results as gradescope
from warpgrade.report.format import Report

COURSE = """\
schema = 1
[course]
title = "Threads"
timezone = "Europe/Berlin"
[[lab]]
name = "toy"
[policy]
"""
GOOD: Script = [[start(), case("adds"), case("adds odd sizes"), speed(2.0), end()]]
Grade = Callable[..., tuple[dict[str, Any], str]]


def earlier(hour: int, points: float, **more: Any) -> dict[str, Any]:
    results = {"score": points, "output": f"got {points:g}", "tests": [{"name": "adds"}], **more}
    return {"submission_time": f"2026-11-20T{hour:02}:00:00.123456+00:00", "score": points, "results": results}


@pytest.fixture
def grade(
    in_project: Layout, submission: Path, script: Callable[[Script], Path], tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> Grade:  # fmt: skip
    """Grade as Gradescope's run_autograder does, at twelve o'clock."""
    script(GOOD)
    home = tmp_path / "autograder"
    (home / "results").mkdir(parents=True)

    def call(policy: str, *previous: Any, status: int = 0, metadata: str | None = None) -> tuple[dict[str, Any], str]:
        (in_project.root / "course.toml").write_text(COURSE + policy, encoding="utf-8")
        document = {"created_at": "2026-11-20T12:00:00.000000+00:00", "previous_submissions": list(previous)}
        (home / "submission_metadata.json").write_text(metadata or json.dumps(document), encoding="utf-8")
        results = home / "results" / "results.json"
        results.unlink(missing_ok=True)
        found, _, err = run(capsys, "grade", "toy", submission, "-q", "--gradescope", results)
        assert found == status, err
        return (json.loads(results.read_text()) if results.is_file() else {}), err

    return call


def test_within_the_limits_a_submission_is_graded(grade: Grade) -> None:
    for policy in ("", "max_attempts = 3\n", "cooldown_minutes = 59\n"):
        results, err = grade(policy, earlier(9, 10), earlier(11, 20))
        assert (results["score"], err) == (35, "")
        assert "not_graded" not in results["extra_data"]
    assert grade("max_attempts = 1\ncooldown_minutes = 5\n")[0]["score"] == 35


@pytest.mark.parametrize(("policy", "kept", "when"), [("best", 30, "10:00"), ("latest", 20, "12:00")])
def test_beyond_the_limit_the_score_that_counts_stays_and_words_say_so(
    grade: Grade, policy: str, kept: float, when: str
) -> None:
    results, err = grade(f'max_attempts = 2\nattempts = "{policy}"\n', earlier(9, 30), earlier(11, 20))
    assert results["score"] == kept
    told = (
        "This submission was not graded: all 2 attempts are used. "
        f"Your score stays {kept:g}, which the submission of 2026-11-20 {when} CET got; its results follow."
    )
    assert results["output"] == f"{told}\n\ngot {kept:g}"
    assert told in err
    assert results["tests"] == [{"name": "adds"}]
    assert results["extra_data"] == {"not_graded": True}


def test_too_soon_after_the_last_one_says_when_to_come_again(grade: Grade) -> None:
    results, _ = grade("cooldown_minutes = 90\n", earlier(9, 10), earlier(11, 20))
    assert results["score"] == 20
    assert "one is graded every 90 minutes. Hand in again from 2026-11-20 13:30 CET on." in results["output"]
    assert grade("cooldown_minutes = 59\n", earlier(11, 20))[0]["score"] == 35


def test_what_was_not_graded_cost_no_attempt(grade: Grade) -> None:
    previous = [
        earlier(8, 20, extra_data={"not_graded": True}),
        {"submission_time": "2026-11-20T09:00:00Z", "score": None, "results": None},
        {"submission_time": "2026-11-20T10:00:00Z", "score": 0, "autograder_error": True},
        {"submission_time": "yesterday", "results": {"score": 1}},
        "nonsense",
    ]
    assert grade("max_attempts = 1\n", *previous)[0]["score"] == 35
    assert grade("max_attempts = 1\n", *previous, earlier(7, 12))[0]["score"] == 12


@pytest.mark.parametrize("metadata", ["{", "[]", "[" * 100_000])
def test_metadata_that_cannot_be_read_is_no_zero(grade: Grade, metadata: str) -> None:
    results, err = grade("max_attempts = 1\n", status=3, metadata=metadata)
    assert results == {}
    assert "submission_metadata.json cannot be read" in err
    assert grade("", metadata=metadata)[0]["score"] == 35


def test_the_leaderboard_has_the_speed_of_public_tests_if_the_course_wants_it(grade: Grade) -> None:
    assert "leaderboard" not in grade("")[0]
    assert grade("leaderboard = true\n")[0]["leaderboard"] == [{"name": "speed", "value": 2}]


def test_the_leaderboard_tells_of_no_hidden_test() -> None:
    tests = [test for test in GRADED.tests if test.status in ("pass", "fail")]
    fast = [test for test in tests if any(each.name == "speedup" for each in test.measurements)]
    assert fast
    for hidden in (False, True):
        changed = [msgspec.structs.replace(test, hidden=hidden) for test in tests]
        result = msgspec.structs.replace(GRADED, status="graded", tests=changed, score=score.total(changed))
        document = json.loads(gradescope.encode(Report(result=result, leaderboard=True)) or b"")
        names = [entry["name"] for entry in document.get("leaderboard", [])]
        assert names == ([] if hidden else [test.name for test in fast])
