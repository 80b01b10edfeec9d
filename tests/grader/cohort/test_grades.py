"""Which submission counts, and what lateness takes."""

from datetime import UTC, datetime, timedelta

import msgspec
import pytest
from cohort.made_class import MadeClass

from warpgrade.cohort import grades
from warpgrade.cohort.run import record_result
from warpgrade.cohort.store import Record
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


def counted(policies: grades.Policies, *attempts: tuple[float, float | None, float]) -> tuple[float, float, str]:
    """Return points, what the tests earned and the words on lateness: of (points, those of the prelab, days after)."""
    records = [
        Record("ada", "", f"{number}", "", number, (DUE + timedelta(days=days)).isoformat(), status="graded",
               key=f"{number}", points=points, max_points=100, prelab_points=prelab)
        for number, (points, prelab, days) in enumerate(attempts, 1)
    ]  # fmt: skip
    found = policies.counting(records)
    return policies.earned(found), found.points, "; ".join(filter(None, grades._deductions(policies, found)))


def with_prelab(**more: object) -> grades.Policies:
    found = policies(**more)
    assert found.course is not None
    file = found.course.file
    entry = msgspec.structs.replace(file.lab[0], prelab_due=DUE - timedelta(days=7))
    return grades.Policies("toy", 100, Course(msgspec.structs.replace(file, lab=[entry])))


PRELAB_IN_TIME, PRELAB_LATE = (12, 12, -8), (15, 15, -6)  # two weeks to a week before the lab is due


@pytest.mark.parametrize(
    ("attempts", "best", "latest"),
    [
        ([(90, 10, -8)], 90, 90),
        ([(90, 10, -6)], 89, 89),  # a day late for the prelab: of its 10 points
        ([(90, 10, -1)], 80, 80),  # six days late: not accepted, of the prelab alone
        ([(90, 10, 0.5)], 72, 72),  # 80 points a day late, the prelab eight
        ([PRELAB_IN_TIME, (90, 14, -1)], 88, 88),  # the prelab of the first, the lab of the second
        ([PRELAB_IN_TIME, PRELAB_LATE, (90, 14, -1)], 89.5, 88),
        ([(50, 12, -8), (40, 3, -1)], 50, 49),  # the lab of the first is as good
        ([(50, 3, -8), (30, 12, -7.5)], 59, 30),
        ([(90, None, -1)], 90, 90),  # nobody knows what the prelab gave: all of it is the lab's
        ([(12, None, -8), (90, 14, -1)], 90, 90),
    ],
)
def test_the_prelab_is_late_by_itself(
    attempts: list[tuple[float, float | None, float]], best: float, latest: float
) -> None:
    assert counted(with_prelab(), *attempts)[0] == best
    assert counted(with_prelab(policy=Policy("latest")), *attempts)[0] == latest


def test_without_a_date_of_its_own_the_prelab_is_part_of_the_lab() -> None:
    assert counted(policies(), (90, 10, -1))[0] == 90
    assert counted(policies(), (12, 12, -8), (90, 2, -1))[0] == 90


def test_whose_prelab_counts_is_told() -> None:
    points, earned, told = counted(with_prelab(), (15, 15, -6), (90, 14, 0.5))
    assert (points, earned) == (round(0.9 * 76 + 0.9 * 15, 2), 91)
    assert told == (
        "1 day late: −10 % (due 2026-11-20 00:00 UTC); the prelab counts as in submission 1; "
        "prelab 1 day late: −10 % (due 2026-11-13 00:00 UTC)"
    )


def test_extensions_by_days_are_for_the_prelab_too() -> None:
    bob = with_prelab()
    assert bob.due("bob", prelab=True) == DUE - timedelta(days=5)
    assert bob.due("ada", prelab=True) == DUE - timedelta(days=7)


def test_a_graded_submission_knows_its_prelabs_points(made: MadeClass) -> None:
    hand_in(made, "ada", (20, timedelta(hours=-1)))
    made.run()
    assert made.record("ada").prelab_points == 0
    test = made.store.result_of(grades.make_row(made.store, policies(), "ada"))
    assert test is not None
    prelab = msgspec.structs.replace(test, tests=[msgspec.structs.replace(test.tests[0], name="prelab: adds")])
    assert record_result(made.record("ada"), prelab).prelab_points == 20
