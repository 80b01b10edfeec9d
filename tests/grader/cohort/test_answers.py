"""A class's answers: on a page for who grades, never in what students get, and read again when they change."""

import dataclasses

import msgspec
import pytest
from cohort.made_class import MadeClass

from warpgrade.cohort import answers_page, feedback_text, grades, outputs
from warpgrade.cohort.row import Mark
from warpgrade.course.course import Course
from warpgrade.course.schema import CourseFile, CourseHead, LabEntry, RubricItem

QUESTIONS = "# Answers\n\n## 1. Why?\n\nYour answer:\n"
RUBRIC = [RubricItem("answers", 6)]
POLICIES = grades.Policies("toy", 40, Course(CourseFile(1, CourseHead("GPUs"), [LabEntry("toy", rubric=RUBRIC)])))


@pytest.fixture
def asking(made: MadeClass) -> MadeClass:
    (made.lab.folder / "answers.md").write_text(QUESTIONS, encoding="utf-8")
    head = msgspec.structs.replace(made.lab.file.lab, answers="answers.md")
    made.lab = dataclasses.replace(made.lab, file=msgspec.structs.replace(made.lab.file, lab=head))
    return made


def hand_in(made: MadeClass, student: str, answers: str | None, number: int = 1) -> None:
    made.add(student, "// points: 20", number=number)
    if answers is not None:
        path = made.folder / "in" / f"{len(made.handed_in) - 1}" / "answers.md"
        path.write_text(answers, encoding="utf-8")


def page(made: MadeClass) -> str:
    outputs.write(made.store, POLICIES, {}, "none", made.lab)
    return (made.store.folder / answers_page.PAGE).read_text(encoding="utf-8")


def test_answers_are_on_the_page_of_who_grades_alone(asking: MadeClass) -> None:
    hand_in(asking, "ada", f"{QUESTIONS}\nWarps <b>wait</b>.\n")
    hand_in(asking, "bob", QUESTIONS.replace("\n", "\r\n") + "\n\n")
    hand_in(asking, "cyd", None)
    asking.run()
    shown = page(asking)
    assert "Warps &lt;b&gt;wait&lt;/b&gt;." in shown
    assert "1 answered, 2 handed in without an answer" in shown
    assert "answers ?/6" in shown
    assert "<li>Bob</li>" in shown
    assert 'href="answers.html"' in (asking.store.folder / "class.html").read_text(encoding="utf-8")
    row = grades.make_row(asking.store, POLICIES, "ada")
    told = feedback_text.make_feedback(row, asking.store.result_of(row))
    assert told is not None
    assert "Warps" not in feedback_text.render_text(told)
    assert asking.stub.graded == ["// points: 20"], "the same code is graded once, whatever the answers"


def test_points_given_for_answers_are_of_those_that_were_read(asking: MadeClass) -> None:
    hand_in(asking, "ada", "First thoughts.")
    asking.run()
    row = grades.make_row(asking.store, POLICIES, "ada")
    assert (row.points, row.answers) == (None, "First thoughts.")
    asking.store.save_marks("ada", [Mark("Noether", "2027-03-01T00:00:00Z", row.digest, "answers", 5, 6)])
    assert grades.make_row(asking.store, POLICIES, "ada").points == 25
    hand_in(asking, "ada", "Second thoughts.", 2)
    asking.run()
    latest = dataclasses.replace(POLICIES, attempts="latest")
    again = grades.make_row(asking.store, latest, "ada")
    assert (again.points, again.answers, again.attempts) == (None, "Second thoughts.", 2)


def test_a_lab_without_questions_has_no_such_page(made: MadeClass) -> None:
    hand_in(made, "ada", "Nobody asked.")
    made.run()
    outputs.write(made.store, POLICIES, {}, "none", made.lab)
    assert not (made.store.folder / answers_page.PAGE).exists()
    assert "answers.html" not in (made.store.folder / "class.html").read_text(encoding="utf-8")
    assert grades.make_row(made.store, POLICIES, "ada").answers == ""
