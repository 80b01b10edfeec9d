"""Exports of Canvas and Moodle are filled in one column, and in nothing else."""

import csv
import io
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from samples import GRADED, REJECTED
from stand_ins import run

from warpgrade.grading.result import Result, Score, SubmissionInfo, encode
from warpgrade.machine.errors import BadInput
from warpgrade.platforms import csv_cells

CANVAS = (
    "\ufeffStudent,ID,SIS User ID,SIS Login ID,Section,Lab 4 (991),Lab 5 (992),Final Score\r\n"
    "    Points Possible,,,,,100,100,(read only)\r\n"
    '"Lovelace, Ada",12345,S1,ada,"A ""1""",,7,70\r\n'
    '"Hopper, Grace",12346,S2,grace,A,"",8,80\r\n'
    "\"=cmd|' /C calc'!A0\",12347,S3,eve,A,50,9,90\r\n"
    "Late,12348,S4,late,A,58.30,9,90\r\n"
    '"Student, Test",99,,f00,A,,,\r\n'
)
MOODLE = (
    "Identifier,Full name,Email address,Status,Grade,Maximum Grade,Grade can be changed,Feedback comments\n"
    "Participant 7001,Ada Lovelace,ada@example.edu,Submitted,-,100.00,Yes,\n"
    'Participant 7002,Grace Hopper,grace@example.edu,Submitted,,100.00,Yes,"two\nlines, here"\n'
    "Participant 7003,Eve,eve@example.edu,Submitted,,100.00,No,\n"
)
FULL = Score(points=58.3, max_points=100, percent=58.3, error_points=0, pending_points=0)


def graded(name: str, points: float = 58.3) -> Result:
    score = msgspec.structs.replace(FULL, points=points)
    return msgspec.structs.replace(GRADED, status="graded", score=score, submission=SubmissionInfo(name=name))


class Desk:
    """An instructor's folder: an export, results, and the filled file."""

    def __init__(self, home: Path, export: str) -> None:
        self.home, self.export = home, home / "export.csv"
        self.export.write_bytes(export.encode())
        self.results = home / "results"
        self.results.mkdir()
        self.out = home / "filled.csv"

    def add(self, result: Result, file: str = "") -> None:
        number = len(list(self.results.iterdir()))
        (self.results / (file or f"result-{number}.json")).write_bytes(encode(result))

    def fill(self, capsys: pytest.CaptureFixture[str], kind: str, *words: str) -> tuple[int, str]:
        status, _, err = run(capsys, "gradebook", kind, self.export, self.results, "--out", self.out, *words)
        return status, err

    @property
    def filled(self) -> str:
        return self.out.read_bytes().decode()


def test_canvas(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    desk = Desk(tmp_path, CANVAS)
    desk.add(graded("hand-ins/adalovelace_LATE_12345_678910_matmul.cu"))
    desk.add(graded("GRACE", 100), "grace.json")
    status, err = desk.fill(capsys, "canvas", "--assignment", "Lab 4")
    assert (status, err.splitlines()[-1]) == (0, "2 grades written")
    assert desk.filled == CANVAS.replace('"A ""1""",,7', '"A ""1""",58.3,7').replace('A,"",8', 'A,"100",8')
    assert "Student, Test" in err
    assert "with a cell that a spreadsheet takes for a formula; open the file with care (1):" in err


def test_moodle(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    desk = Desk(tmp_path, MOODLE)
    desk.add(graded("Ada Lovelace_7001_assignsubmission_file_matmul.cu"))
    desk.add(graded("x"), "grace@example.edu.json")
    desk.add(graded("eve@example.edu"))
    status, err = desk.fill(capsys, "moodle", "--overwrite")
    assert status == 1
    assert "Eve: the export says that this grade cannot be changed" in err
    assert desk.filled == MOODLE.replace("Submitted,-,", "Submitted,58.3,").replace(
        "grace@example.edu,Submitted,,", "grace@example.edu,Submitted,58.3,"
    )


def test_a_grade_that_is_there_is_not_replaced_silently(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    desk = Desk(tmp_path, CANVAS)
    desk.add(graded("eve"))
    desk.add(graded("late"))  # has the same grade, in other digits
    status, err = desk.fill(capsys, "canvas", "--assignment", "Lab 4 (991)")
    assert status == 1
    assert "has 50, and the grade is 58.3 (--overwrite replaces it)" in err
    assert desk.filled == CANVAS
    status, err = desk.fill(capsys, "canvas", "--assignment", "Lab 4 (991)", "--overwrite")
    assert status == 0
    assert desk.filled == CANVAS.replace("eve,A,50", "eve,A,58.3")


@pytest.mark.parametrize(
    ("result", "complaint"),
    [
        (graded("nobody"), "of no student there, or of several (1):\n    nobody"),
        (msgspec.structs.replace(graded("ada"), status="error"), "no grade, as not everything could be judged (1)"),
        (msgspec.structs.replace(graded("ada"), scope="public"), "no grade, as not everything could be judged (1)"),
        (
            msgspec.structs.replace(graded("ada"), score=msgspec.structs.replace(FULL, pending_points=10)),
            "no grade, as not everything could be judged (1)",
        ),
    ],
)
def test_what_fills_nothing_is_listed(
    result: Result, complaint: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    desk = Desk(tmp_path, CANVAS)
    desk.add(result)
    status, err = desk.fill(capsys, "canvas", "--assignment", "lab 4")
    assert status == 1
    assert complaint in err
    assert desk.filled == CANVAS


def test_a_rejected_submission_is_a_zero(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    desk = Desk(tmp_path, CANVAS)
    desk.add(msgspec.structs.replace(REJECTED, scope="all", submission=SubmissionInfo(name="ada")))
    assert desk.fill(capsys, "canvas", "--assignment", "Lab 4")[0] == 0
    assert desk.filled == CANVAS.replace('"A ""1""",,7', '"A ""1""",0,7')


def test_two_results_of_one_student_and_one_result_of_two(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    desk = Desk(tmp_path, CANVAS.replace("S3", "ada"))
    for name in ("grace", "12346", "ada"):
        desk.add(graded(name))
    status, err = desk.fill(capsys, "canvas", "--assignment", "Lab 4")
    assert status == 1
    assert "12346: a second result of Hopper, Grace" in err
    assert "grace: one of several results of Hopper, Grace" in err
    assert "ada: Lovelace, Ada and =cmd" in err
    assert desk.filled == CANVAS.replace("S3", "ada")


def test_points_of_another_scale_are_asked_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    desk = Desk(tmp_path, CANVAS.replace("100,100", "20,100"))
    desk.add(graded("ada", 50))
    status, err = desk.fill(capsys, "canvas", "--assignment", "Lab 4")
    assert status == 2
    assert "the column is out of 20 points, and the lab of 100" in err
    assert not desk.out.exists()
    assert desk.fill(capsys, "canvas", "--assignment", "Lab 4", "--points", "20")[0] == 0
    assert '"A ""1""",10,7' in desk.filled


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["--assignment", "Lab 9"], "there are: Lab 4 (991); Lab 5 (992)"),
        ([], "--assignment NAME is missing: which column is it?"),
        (["--assignment", "none"], "the export has no column “none”"),
        (["--assignment", "Final Score"], "that column is read only"),
        (["--assignment", "SIS Login ID"], "says who a student is"),
    ],
)
def test_other_columns_are_refused(
    words: list[str], complaint: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    desk = Desk(tmp_path, CANVAS)
    desk.add(graded("ada"))
    status, err = desk.fill(capsys, "canvas", *words)
    assert status == 2
    assert complaint in err


def test_wrong_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    desk = Desk(tmp_path, CANVAS)
    assert "there are no results" in desk.fill(capsys, "canvas", "--assignment", "Lab 4")[1]
    (desk.results / "a.json").write_text("{}")
    assert "a.json is no result" in desk.fill(capsys, "canvas", "--assignment", "Lab 4")[1]
    (desk.results / "a.json").unlink()
    desk.add(graded("ada"))
    desk.export.write_bytes(CANVAS.encode("utf-16"))
    assert "the export is no text" in desk.fill(capsys, "canvas", "--assignment", "Lab 4")[1]
    desk.out = desk.export
    assert "--out is the export itself" in desk.fill(capsys, "canvas", "--assignment", "Lab 4")[1]


TEXT = st.text(st.characters(blacklist_characters="\0\r", blacklist_categories=["Cs"]), max_size=6)


@given(rows=st.lists(st.lists(TEXT, min_size=2, max_size=4), min_size=1, max_size=5), data=st.data())
def test_every_other_byte_stays(rows: list[list[str]], data: st.DataObject) -> None:
    file = io.StringIO()
    dialect = data.draw(st.sampled_from(["unix", "excel"]))  # all cells in quotes, or those that need them
    ending = data.draw(st.sampled_from(["\n", "\r\n"]))
    csv.writer(file, dialect, lineterminator=ending).writerows([["a", "b"], *rows])
    raw = file.getvalue().encode()
    table = csv_cells.read_table(raw)
    assert table.replaced({}) == raw
    assert [[cell.value for cell in row] for row in table.rows[1:]] == rows
    row = data.draw(st.integers(1, len(rows)))
    column = data.draw(st.integers(0, len(table.rows[row]) - 1))
    cell = table.rows[row][column]
    after = table.replaced({(row, column): "58.3"}).decode()
    value = '"58.3"' if cell.quoted else "58.3"
    assert after == table.text[: cell.start] + value + table.text[cell.end :]
    assert [[each.value for each in line] for line in csv_cells.read_table(after.encode()).rows[1:]] == [
        [*line[:column], "58.3", *line[column + 1 :]] if number == row else line for number, line in enumerate(rows, 1)
    ]


@pytest.mark.parametrize("raw", [b'a,b\n"x', b'a,b\n"x"y,z\n'])
def test_broken_quotes(raw: bytes) -> None:
    with pytest.raises(BadInput, match="quote"):
        csv_cells.read_table(raw)


def test_other_delimiters_and_encodings() -> None:
    raw = b"Student;Note\r\nB\xe9a;\r\n"
    table = csv_cells.read_table(raw)
    assert table.replaced({(1, 1): "3"}) == b"Student;Note\r\nB\xe9a;3\r\n"
