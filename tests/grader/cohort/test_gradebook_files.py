"""The table and the lines of JSON of a class: nothing in them acts, and whatever is a number or an id stays one."""

import csv
import io
import json

import msgspec
import pytest
from class_rows import ADA, BOB, CLASS, GRACE, JOE, KAI, many
from hostile import ACTS, ANY, HOSTILE
from hypothesis import given

from warpgrade.cohort import gradebook
from warpgrade.cohort.row import Decision, Row
from warpgrade.platforms.gradebook import fill
from warpgrade.platforms.registry import SHEETS

SHEET = (
    "Identifier,Full name,Email address,Status,Grade,Maximum Grade,Grade can be changed\n"
    "Participant 7001,Ada Lovelace,ada@example.edu,Submitted,,110.00,Yes\n"
    "Participant 7002,Bob,007,Submitted,,110.00,Yes\n"
    "Participant 7003,Joe,008,Submitted,,110.00,Yes\n"
)


def table(rows: list[Row], *, mark: bool = True) -> list[dict[str, str]]:
    raw = b"".join(gradebook.csv(rows, mark=mark))
    return list(csv.DictReader(io.StringIO(raw.decode("utf-8-sig"), newline="")))


def test_a_line_a_student() -> None:
    raw = b"".join(gradebook.csv(CLASS))
    assert raw.startswith(b"\xef\xbb\xbfstudent,name,lab,points,max,percent,late,state,decision")
    assert raw.count(b"\r\n") == raw.count(b"\n") == 1 + len(CLASS)
    ada, grace, *_, joe, _, _ = table(CLASS)
    assert (ada["student"], ada["name"], ada["points"], ada["percent"]) == ("12345", "Ada Lovelace", "58.3", "53")
    assert (grace["points"], grace["earned"], grace["late"]) == ("88", "110", "2 days late: −20 %")
    assert (joe["state"], joe["points"], joe["percent"]) == ("error", "", "")  # no grade is no zero
    assert not b"".join(gradebook.csv(CLASS, mark=False)).startswith(b"\xef\xbb\xbf")


def test_a_persons_decision_is_told() -> None:
    kai = table(CLASS)[3]
    assert (kai["decision"], kai["points"], kai["earned"]) == ("70", "70", "0")
    assert kai["reason"] == "'@SUM(1+1) the grader's machine was full"
    assert (kai["by"], kai["at"]) == ('Prof. "X", <b>', "2026-11-23T09:00:00+00:00")


@pytest.mark.parametrize(
    ("given_text", "cell"),
    [
        ("=1+1", "'=1+1"),
        ("@ada", "'@ada"),
        ("-ada", "'-ada"),
        ("+ada", "'+ada"),
        ("＝1+1", "'＝1+1"),
        ("\t=1+1", "'=1+1"),
        ("\r=1+1", "'=1+1"),
        ('x",=1+1,"', 'x",=1+1,"'),
        ("+4915112345", "+4915112345"),
        ("-12", "-12"),
        ("007", "007"),
        ("ada@example.edu", "ada@example.edu"),
        ("-1+cmd|' /C calc'!A0", "'-1+cmd|' /C calc'!A0"),
    ],
)
def test_formulas_are_text_and_ids_stay(given_text: str, cell: str) -> None:
    row = table([msgspec.structs.replace(ADA, student=given_text, name=given_text)])[0]
    assert (row["student"], row["name"]) == (cell, cell)
    assert None not in row  # no cell more than columns


@ANY
@given(words=HOSTILE)
def test_hostile_words(words: str) -> None:
    decided = Decision(70, words, words, words)
    row = msgspec.structs.replace(
        KAI, student=words, name=words, lab=words, late=words, problem=words, source=words, submitted=words,
        review=[words], decision=decided,
    )  # fmt: skip
    cells = table([row])
    assert len(cells) == 1
    for cell in cells[0].values():
        assert not ACTS.search(cell)
        assert not cell or cell[0] not in "=@\t\r＝＋－＠"
    line = b"".join(gradebook.json_lines([row]))
    assert line.count(b"\n") == 1
    assert not ACTS.search(line.decode().rstrip("\n"))


def test_lines_of_json() -> None:
    lines = [json.loads(line) for line in b"".join(gradebook.json_lines(CLASS)).splitlines()]
    assert [line["student"] for line in lines[:3]] == ["12345", "12346", "=cmd|' /C calc'!A0"]
    assert lines[0]["percent"] == 53
    assert lines[0]["lost"][1] == {"test": "keeps NaN and infinity", "points": 10, "why": "C[5] is 0", "hidden": True}
    assert lines[3]["decision"]["points"] == 70
    assert (lines[5]["points"], lines[5]["percent"]) == (None, None)


def test_a_platforms_sheet_gets_what_counts_in_the_end() -> None:
    ada = msgspec.structs.replace(ADA, student="ADA@example.edu")
    filled = fill(
        SHEETS["moodle"], SHEET.encode(), gradebook.platform_grades([ada, BOB, JOE]), "", None, overwrite=False
    )
    expected = SHEET.replace("ada@example.edu,Submitted,,", "ada@example.edu,Submitted,58.3,")
    assert filled.content.decode() == expected.replace("007,Submitted,,", "007,Submitted,0,")
    assert filled.not_final == ["008"]
    without = fill(
        SHEETS["moodle"], SHEET.encode(), gradebook.platform_grades([BOB], missing=False), "", None, overwrite=False
    )
    assert without.written == 0


def test_a_platforms_sheet_by_the_name_of_what_was_handed_in() -> None:
    sheet = "Student,ID,SIS Login ID,Lab (1)\n    Points Possible,,,110\nHopper,12346,grace,\nKai,12348,kai,\n"
    rows = [msgspec.structs.replace(GRACE, student="somebody"), msgspec.structs.replace(KAI, student="kai")]
    filled = fill(SHEETS["canvas"], sheet.encode(), gradebook.platform_grades(rows), "Lab", None, overwrite=False)
    assert filled.content.decode().endswith("12346,grace,88\nKai,12348,kai,70\n")


def test_a_large_class_and_sheet_are_matched_at_once() -> None:
    rows = many(10_000)
    sheet = "Student,ID,Lab (1)\n    Points Possible,,110\n" + "".join(f"x,{row.student},\n" for row in rows)
    filled = fill(SHEETS["canvas"], sheet.encode(), gradebook.platform_grades(rows), "Lab", None, overwrite=False)
    assert filled.written == len(rows)
