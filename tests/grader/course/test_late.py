"""Late work: deadlines with extensions, and deductions."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warpgrade.course import late
from warpgrade.course.late import Penalty
from warpgrade.course.schema import CourseFile, CourseHead, Extension, LabEntry, Late

DUE = datetime(2027, 3, 8, 12, tzinfo=UTC)
TEN = Late(grace_minutes=15, percent_per_day=10, max_days=3)


def after(**time: float) -> datetime:
    return DUE + timedelta(**time)


@pytest.mark.parametrize(
    ("policy", "submitted", "expected", "text"),
    [
        (TEN, after(days=-1), Penalty(), ""),
        (TEN, DUE, Penalty(), ""),
        (TEN, after(minutes=15), Penalty(), ""),
        (TEN, after(minutes=15, seconds=1), Penalty(1, 10), "1 day late: −10 %"),
        (TEN, after(days=1), Penalty(1, 10), "1 day late: −10 %"),
        (TEN, after(days=1, seconds=1), Penalty(2, 20), "2 days late: −20 %"),
        (TEN, after(days=3), Penalty(3, 30), "3 days late: −30 %"),
        (TEN, after(days=3, seconds=1), Penalty(4, 100, accepted=False), "4 days late: not accepted"),
        (Late(), after(days=9), Penalty(9), "9 days late"),
        (Late(hard=True), after(seconds=1), Penalty(1, 100, accepted=False), "1 day late: not accepted"),
        (Late(hard=True, grace_minutes=5), after(minutes=5), Penalty(), ""),
        (Late(percent_per_day=40), after(days=3), Penalty(3, 100), "3 days late: −100 %"),
    ],
)
def test_what_a_late_submission_loses(policy: Late, submitted: datetime, expected: Penalty, text: str) -> None:
    found = late.penalty(policy, DUE, submitted)
    assert found == expected
    assert found.text == text


def test_nothing_is_late_without_a_due_date() -> None:
    assert late.penalty(Late(hard=True), None, DUE) == Penalty()


def test_points_that_are_left() -> None:
    assert Penalty(1, 10).applied(83.3) == 74.97
    assert Penalty(1, 100, accepted=False).applied(100) == 0


@given(st.floats(0, 100), st.integers(0, 20), st.integers(0, 20))
def test_a_later_submission_never_loses_less(points: float, hours: int, more: int) -> None:
    earlier, later = (late.penalty(TEN, DUE, after(hours=6 * each)) for each in (hours, hours + more))
    assert 0 <= later.applied(points) <= earlier.applied(points) <= round(points, 2)


def test_extensions_of_single_students() -> None:
    course = CourseFile(
        schema=1, course=CourseHead("Threads"), lab=[LabEntry("a", due=DUE), LabEntry("b", due=DUE), LabEntry("c")],
        extension=[Extension("ada", "a", until=after(days=4)), Extension("ada", days=2), Extension("bob", "b", days=1)],
    )  # fmt: skip
    assert late.deadline(course, "a") == late.deadline(course, "a", "bob") == DUE
    assert late.deadline(course, "a", "ada") == after(days=4)
    assert late.deadline(course, "b", "ada") == after(days=2)
    assert late.deadline(course, "b", "bob") == after(days=1)
    assert late.deadline(course, "c", "ada") is None
    assert late.deadline(course, "unknown", "ada") is None
