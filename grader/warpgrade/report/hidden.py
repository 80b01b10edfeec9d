"""What students may see of a result: the one gate between hidden tests and everything that is shown to them.

A submission chooses what it prints, which name an error has and which line a finding stands at, and it can choose by
the data of the test. So nothing that it can word comes through from a hidden test: its outcome and points do, with
fixed texts, and the rules of what the checks found. Before the moment that a course sets (`hidden_until`), nothing of
hidden tests is shown, and points are those of the public tests.
"""

from collections.abc import Iterable
from datetime import UTC, datetime

import msgspec

from warpgrade.findings import diagnosis
from warpgrade.findings.diagnosis import Diagnostic
from warpgrade.grading import score
from warpgrade.grading.result import Result, TestResult
from warpgrade.machine.errors import BadInput
from warpgrade.machine.text import number

# In place of a test's name: which of them found something tells of their data as well.
TESTS = "hidden tests"
_NOT_JUDGED = "the grader could not judge this test"
_TO_REVIEW = "something that honest work does not do"


def for_students(result: Result, now: datetime | None = None) -> Result:
    """Return the result without what would tell the data of hidden tests; before its date, without these tests."""
    if is_too_early(result, now):
        return _without_hidden(result)
    # What a public test has found at the same place is no news.
    known = {rule_and_place(one) for test in result.tests if not test.hidden for one in test.diagnostics}
    tests = [_without_data(test, known) if test.hidden else test for test in result.tests]
    # A note on a test begins with its name.
    names = [test.name for test in result.tests if test.hidden]
    notes = [next((f"{name}: {_TO_REVIEW}" for name in names if note.startswith(name)), note) for note in result.review]
    return msgspec.structs.replace(result, tests=tests, review=list(dict.fromkeys(notes)))


def is_too_early(result: Result, now: datetime | None = None) -> bool:
    """Tell whether the course does not show results of hidden tests yet."""
    if not result.hidden_until:
        return False
    return (now or datetime.now(UTC)) < datetime.fromisoformat(result.hidden_until)


def refuse_early(until: str, title: str) -> None:
    """Raise BadInput if this moment (ISO 8601) has not come: what is asked for would tell points of hidden tests."""
    if until and datetime.now(UTC) < datetime.fromisoformat(until):
        raise BadInput(
            f"the course shows hidden tests of {title} from {_moment(until)} on, and points tell of them",
            hint="wait until then, or ask for it all the same with --show-hidden",
        )


def _moment(until: str) -> str:
    return f"{datetime.fromisoformat(until):%Y-%m-%d %H:%M %Z}"


def _without_hidden(result: Result) -> Result:
    hidden = [test for test in result.tests if test.hidden]
    if not hidden:
        return result
    tests = [test for test in result.tests if not test.hidden]
    review = [note for note in result.review if not any(note.startswith(test.name) for test in hidden)]
    points = sum(test.max_points for test in hidden)
    many = f"{len(hidden)} hidden test{'s' if len(hidden) > 1 else ''} ({number(points)} points)"
    note = f"{many} not shown before {_moment(result.hidden_until)}"
    only_hidden = result.problem is None and not any(test.status == "error" for test in tests)
    status = "graded" if result.status == "error" and only_hidden else result.status
    return msgspec.structs.replace(
        result, tests=tests, review=review, status=status, score=score.total(tests), notes=[*result.notes, note]
    )


def _without_data(test: TestResult, known: set[tuple[str, str, int]]) -> TestResult:
    message = _NOT_JUDGED if test.status == "error" else ""
    return msgspec.structs.replace(
        test,
        message=message,
        signs=[],
        output="",
        seconds=0.0,
        measurements=[],
        launches=[],
        checks=[],
        diagnostics=_rules(one for one in test.diagnostics if rule_and_place(one) not in known),
    )


def _rules(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Return each rule once, in an order that does not depend on what happened."""
    rules = {one.rule: diagnosis.rule_alone(one) for one in diagnostics}
    return [rules[name] for name in sorted(rules)]


def rule_and_place(one: Diagnostic) -> tuple[str, str, int]:
    """Return what makes two findings of different tests say the same to a student."""
    # How wide a race is depends on the size of the data: a barrier that is missing is no news a second time.
    rule = diagnosis.RACES_OF_BLOCK[0] if one.rule in diagnosis.RACES_OF_BLOCK else one.rule
    return (rule, one.place.file, one.place.line) if one.place.own else (rule, "", 0)
