"""`release --solutions`: nothing before the time is over; then the reference, and a discussion without hidden tests."""

from datetime import UTC, datetime
from pathlib import Path

import pytest
from stand_ins import run

from warpgrade.course import reader
from warpgrade.course.course import Course
from warpgrade.handout import solutions
from warpgrade.lab import labs, right, wrong
from warpgrade.lab.labs import Lab
from warpgrade.machine.errors import BadInput
from warpgrade.machine.paths import find_layout

LAYOUT = find_layout()
LABS = labs.discover(LAYOUT)
REVERSE = labs.find(LAYOUT, "reverse")


def course(more: str = "") -> Course:
    return Course(
        reader.parse(
            'schema = 1\n[course]\ntitle = "C"\n[[lab]]\nname = "reverse"\ndue = 2027-03-01T12:00:00Z\n'
            '[[lab]]\nname = "matmul"\ndue = 2027-03-02T12:00:00Z\n'
            f"[late]\nmax_days = 2\n{more}"
        )
    )


@pytest.mark.parametrize(
    ("more", "day", "early"),
    [
        ("", 2, True),  # late work is taken until the 3rd
        ("", 4, False),
        ('[[extension]]\nstudent = "lovelace"\nlab = "reverse"\nuntil = 2027-03-09T12:00:00Z\n', 10, True),
        ('[[extension]]\nstudent = "lovelace"\nlab = "reverse"\nuntil = 2027-03-09T12:00:00Z\n', 12, False),
        ('[[extension]]\nstudent = "lovelace"\nlab = "matmul"\nuntil = 2027-03-09T12:00:00Z\n', 4, False),
    ],
)
def test_solutions_wait_for_the_last_student(tmp_path: Path, more: str, day: int, early: bool) -> None:
    now = datetime(2027, 3, day, tzinfo=UTC)
    if early:
        with pytest.raises(BadInput, match="can be handed in until"):
            solutions.release(REVERSE, course(more), tmp_path, now)
        assert list(tmp_path.iterdir()) == []
    else:
        assert solutions.release(REVERSE, course(more), tmp_path, now).is_dir()


@pytest.mark.parametrize("lab", LABS, ids=lambda lab: lab.name)
def test_the_discussion_has_every_way_and_mistake_and_no_hidden_test(lab: Lab, tmp_path: Path) -> None:
    folder = solutions.release(lab, None, tmp_path, datetime.now(UTC))
    text = (folder / "SOLUTIONS.md").read_text(encoding="utf-8")
    for one in [right.find(lab, name) for name in right.names(lab)]:
        assert one.what[1:].replace("|", r"\|") in text
    for bad in [wrong.find(lab, name) for name in wrong.names(lab)]:
        assert bad.what[1:].replace("|", r"\|") in text
    for item in lab.items:
        assert not item.hidden or f"| {item.name} |" not in text
    assert (folder / lab.main_file).is_file()
    code = (folder / lab.main_file).read_text(encoding="utf-8")
    assert "SOLUTION BEGIN" not in code
    assert "TODO(student)" not in code
    assert "](../" not in text
    page = (folder / "SOLUTIONS.html").read_text(encoding="utf-8")
    assert page.count("<h1>") == 1


@pytest.mark.parametrize("lab", [lab for lab in LABS if (lab.folder / "slides.md").exists()], ids=lambda lab: lab.name)
def test_each_lab_of_the_course_has_its_authors_discussion(lab: Lab) -> None:
    text = (lab.folder / solutions.DISCUSSION).read_text(encoding="utf-8")
    assert text.startswith(f"# Lab {lab.name}: discussion\n")
    assert [name for name in lab.file.lab.functions if f"`{name}`" in text], "it names none of the lab's functions"
    assert 60 <= len(text.split()) <= 400


def test_the_command_writes_a_folder_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(capsys, "release", "reverse", "--solutions", "--out", tmp_path)
    assert status == 0
    assert "reverse-solutions: reference and discussion" in out
    status, _, err = run(capsys, "release", "reverse", "--solutions", "--out", tmp_path)
    assert status == 2
    assert "already there" in err
