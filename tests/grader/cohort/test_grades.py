"""Which submission counts, and what lateness takes."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from cohort.made_class import MadeClass

from warpgrade.cohort import grades
from warpgrade.course.course import Course
from warpgrade.course.schema import CourseFile, CourseHead, Extension, LabEntry, Late, Policy

DUE = datetime(2026, 11, 20, tzinfo=UTC)


def policies(**more: object) -> grades.Policies:
    file = CourseFile(
        1, CourseHead("Parallel programming"), [LabEntry("toy", due=DUE)],
        late=Late(grace_minutes=10, percent_per_day=10, max_days=3),
        extension=[Extension("bob", days=2)], **more,  # type: ignore[arg-type]
    )  # fmt: skip
    return grades.Policies("toy", 40, Course(file))


def hand_in(made: MadeClass, student: str, *attempts: tuple[float, timedelta]) -> None:
    for number, (points, after) in enumerate(attempts, 1):
        made.add(student, f"// points: {points} {student}", (DUE + after).isoformat(), number)


@pytest.mark.parametrize(
    ("after", "points", "late"),
    [
        (timedelta(minutes=9), 20, ""),
        (timedelta(hours=1), 18, "1 day late: −10 % (due 2026-11-20 00:00 UTC)"),
        (timedelta(days=2, hours=1), 14, "3 days late: −30 % (due 2026-11-20 00:00 UTC)"),
        (timedelta(days=4), 0, "4 days late: not accepted (due 2026-11-20 00:00 UTC)"),
    ],
)
def test_lateness_takes_its_share(made: MadeClass, after: timedelta, points: float, late: str) -> None:
    hand_in(made, "ada", (20, after))
    made.run()
    row = grades.make_row(made.store, policies(), "ada")
    assert (row.points, row.earned, row.late) == (points, 20, late)


def test_a_student_with_an_extension_is_late_later(made: MadeClass) -> None:
    hand_in(made, "bob", (20, timedelta(days=2)))
    made.run()
    assert grades.make_row(made.store, policies(), "bob").points == 20


def test_the_best_is_the_best_after_lateness_and_one_too_late_never_counts(made: MadeClass) -> None:
    hand_in(made, "ada", (20, timedelta(hours=-1)), (21, timedelta(hours=1)), (40, timedelta(days=5)))
    made.run()
    assert grades.make_row(made.store, policies(), "ada").points == 20
    latest = grades.make_row(made.store, policies(policy=Policy("latest")), "ada")
    assert (latest.points, latest.earned) == (18.9, 21)


def test_what_has_no_grade_yet_may_be_the_best(made: MadeClass) -> None:
    hand_in(made, "ada", (20, timedelta(hours=-2)))
    made.add("ada", "machine fails", (DUE - timedelta(hours=1)).isoformat(), 2)
    hand_in(made, "cyd", (40, timedelta(hours=-2)))
    made.add("cyd", "machine fails", (DUE - timedelta(hours=1)).isoformat(), 2)
    made.run()
    assert grades.make_row(made.store, policies(), "ada").state == "error"
    assert grades.make_row(made.store, policies(), "cyd").points == 40


def test_without_a_course_nothing_is_late(made: MadeClass) -> None:
    hand_in(made, "ada", (20, timedelta(days=300)))
    made.run()
    assert grades.make_row(made.store, grades.Policies("toy", 40), "ada").points == 20


def test_what_was_not_handed_in_as_asked_may_cost_a_share(made: MadeClass) -> None:
    hand_in(made, "ada", (20, timedelta(hours=1)))
    hand_in(made, "bob", (20, timedelta(hours=-1)))
    folder = made.folder / "in" / "0"
    (folder / "toy.cu").rename(folder / "mine.cu")
    made.run()
    costs = policies(policy=Policy(repair_percent=10))
    row = grades.make_row(made.store, costs, "ada")
    assert (row.points, row.earned) == (16.2, 20)
    assert row.late == "1 day late: −10 % (due 2026-11-20 00:00 UTC); not handed in as asked: −10 %"
    assert grades.make_row(made.store, costs, "bob").points == 20
    assert grades.make_row(made.store, policies(), "ada").points == 18
    assert policies().repairs
    assert not policies(policy=Policy(repair="refuse")).repairs
