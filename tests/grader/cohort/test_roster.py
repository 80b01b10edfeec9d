"""Rosters as registrars, platforms and spreadsheets write them, and who is found with their help."""

from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from classes import CODE, laid, outcomes, students
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from warpgrade.cohort import roster
from warpgrade.cohort.attempts import ClassAttempts, with_time_zone
from warpgrade.cohort.collect import collect
from warpgrade.lab.labs import Lab
from warpgrade.machine.errors import BadInput

PLAIN = "id,name,email\n1,Ada Lovelace,ada@example.edu\n2,Bob Müller,bob@example.edu\n"


def written(tmp_path: Path, content: str | bytes) -> Path:
    path = tmp_path / "roster.csv"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


@pytest.mark.parametrize(
    "raw",
    [
        PLAIN.encode(),
        PLAIN.encode("utf-8-sig"),
        PLAIN.encode("utf-16"),
        b"\xfe\xff" + PLAIN.encode("utf-16-be"),
        PLAIN.replace(",", ";").encode("utf-8-sig"),
        PLAIN.replace(",", "\t").encode("utf-16"),
        ("sep=|\r\n" + PLAIN.replace(",", "|").replace("\n", "\r\n")).encode(),
        PLAIN.replace("\n", "\r").encode(),
        ("\n\n" + PLAIN.replace("\n", "\n\n")).encode(),
        PLAIN.replace("Ada Lovelace", '"Lovelace,\nAda"').encode(),
        b"Student ID,First name,Last name,E-Mail\n1,Ada,Lovelace,ada@example.edu\n2,Bob,M\xc3\xbcller,b@example.edu\n",
    ],
)
def test_files_as_spreadsheets_write_them(tmp_path: Path, raw: bytes) -> None:
    found = roster.read(written(tmp_path, raw))
    assert [student.id for student in found.students] == ["1", "2"]
    assert {student.id for student in (found.find(["2"]), found.find([], name="Bob Müller")) if student} == {"2"}
    ada = found.find([], name="lovelaceada")
    assert ada is not None
    assert ada.name.replace("\n", " ") in ("Ada Lovelace", "Lovelace, Ada")


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "is empty | its first line should head"),
        ("\n \n", "is empty"),
        ("id,name\n", "has no students"),
        ("name,points\nAda,1\n", "line 1: no column is headed as an identifier, only name, points | head one"),
        ("sep=;\n\nname;points\n", "line 3: no column is headed as an identifier"),
        ("id,name\n1,Ada\n\n1,Bob\n", "line 4: 1 is in line 2 already"),
        ("id,login\n1,Ada\n2,ADA\n", "line 3: ADA is in line 2 already"),
        ("id,login\nada,x\n2,ada\n", "line 3: ada is in line 2 already"),
        ("id,name\n1,Ada\n,Bob\n", "line 3: Bob has no identifier"),
        ("id,name\n1,Ada\n2,Bob,3\n", "line 3: there are more cells than headings"),
        (b"id,name\n1,Ada\n2,M\xfcller\n", "line 3: the text is not in UTF-8 | save it as “CSV UTF-8”"),
        (b"\xff\xfea", "begins like UTF-16 and is not"),
        (b"PK\x03\x04junk", "is a spreadsheet, not CSV"),
        ("id,name\n1,A\0da\n", "line 2: this is no text"),
        ('id,name\n1,Ada\n2,"Bob\n', "line 3: unexpected end of data"),
        ('id,name\n1,"Ada" x\n', "line 2: "),
        ("id,name\n1," + "x" * 2000 + "\n", "line 2: a cell has more than 1000 characters"),
        ("id,name\n1," + "x" * 200_000 + "\n", "line 2: field larger than field limit"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(tmp_path: Path, text: str | bytes, complaint: str) -> None:
    with pytest.raises(BadInput) as caught:
        roster.read(written(tmp_path, text))
    assert complaint in f"{caught.value.message} | {caught.value.hint}"


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="cannot be read"):
        roster.read(tmp_path / "nowhere.csv")


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(raw=st.one_of(st.binary(max_size=200), st.text('idname,;\t"\r\n1', max_size=60).map(str.encode)))
def test_any_file_is_a_roster_or_refused(tmp_path: Path, raw: bytes) -> None:
    try:
        found = roster.read(written(tmp_path, raw))
    except BadInput as problem:
        assert problem.message
        return
    assert all(student.id for student in found.students)


def test_any_of_a_rows_identifiers_finds_who_it_is(lab: Lab, tmp_path: Path) -> None:
    csv = "Name,SIS ID,Login,Email,GitHub\n" + "".join(
        f"{name} X,{number},{name}.login,{name}@example.edu,gh-{name}\n"
        for number, name in enumerate(["ada", "bob", "cyd", "dan", "eve"], 100)
    )
    path = laid(
        tmp_path, "zip", {
            "100/toy.cu": CODE, "BOB.LOGIN/toy.cu": CODE, "cyd@example.edu.zip": b"", "gh-dan.cu": CODE,
            "stranger/toy.cu": CODE,
        },
    )  # fmt: skip
    found = collect(lab, path, roster=written(tmp_path, csv))
    assert students(found) == [
        ("100", "ada X"), ("101", "bob X"), ("102", "cyd X"), ("103", "dan X"), ("stranger", "stranger"),
    ]  # fmt: skip
    assert found.unknown == [("stranger", "stranger")]
    assert found.missing == [("104", "eve X")]
    assert found.submissions[1].identifiers == ("101", "bob.login", "bob@example.edu", "gh-bob", "BOB.LOGIN")
    assert outcomes(found)["stranger"] == {"toy.cu": CODE}


def test_canvas_gradebook_is_a_roster(lab: Lab, tmp_path: Path) -> None:
    csv = (
        "Student,ID,SIS User ID,SIS Login ID,Section,Lab 1 (1)\n    Points Possible,,,,,100\n"
        '"Lovelace, Ada",12345,s1,ada,A,\n"Bauer, Bob",12346,s2,bob,A,\n"Curie, Marie",12347,s3,marie,A,\n'
    )
    path = laid(
        tmp_path, "zip", {"lovelaceada_12345_678910_toy.cu": CODE, "bauerbob_99_678911_toy.cu": CODE}
    )  # fmt: skip
    found = collect(lab, path, roster=written(tmp_path, csv))
    assert students(found) == [("12345", "Lovelace, Ada"), ("12346", "Bauer, Bob")]
    assert found.missing == [("12347", "Curie, Marie")]


def test_moodle_worksheet_is_a_roster(lab: Lab, tmp_path: Path) -> None:
    csv = (
        "Identifier,Full name,Email address,Status,Grade\nParticipant 77,Ada Lovelace,a@x,,\nParticipant 78,Bob,b@x,,\n"
    )
    path = laid(tmp_path, "zip", {"Ada Lovelace_77_assignsubmission_file_/toy.cu": CODE})
    found = collect(lab, path, roster=written(tmp_path, csv))
    assert students(found) == [("Participant 77", "Ada Lovelace")]
    assert found.missing == [("Participant 78", "Bob")]


def test_classroom_roster_finds_users(lab: Lab, tmp_path: Path) -> None:
    csv = '"identifier","github_username","github_id","name"\n"s1","Ada-L","1",""\n"s2","","",""\n"s3","l","3",""\n'
    path = laid(tmp_path, "folder", {f"hw3-{user}/toy.cu": CODE for user in ("ada-l", "mary-l")}, "hw3-submissions")
    for repository in path.iterdir():
        (repository / ".git").mkdir()
    found = collect(lab, path, roster=written(tmp_path, csv))
    assert [one.student for one in found.submissions] == ["mary-l", "s1"]  # mary-l is not l
    assert found.missing == [("s2", ""), ("s3", "")]


def test_a_name_that_two_have_finds_nobody(lab: Lab, tmp_path: Path) -> None:
    path = laid(tmp_path, "folder", {"Ada Lovelace/toy.cu": CODE, "Bob B/toy.cu": CODE})
    csv = "id,name\n1,Ada Lovelace\n2,Ada Lovelace\n3,Bob B\n"
    found = collect(lab, path, roster=written(tmp_path, csv))
    assert [one.student for one in found.submissions] == ["3", "Ada Lovelace"]
    assert found.unknown == [("Ada Lovelace", "Ada Lovelace")]


def test_two_submissions_of_one_on_the_roster(lab: Lab, tmp_path: Path) -> None:
    path = laid(tmp_path, "folder", {"1/toy.cu": CODE, "ada/toy.cu": CODE, "bob/toy.cu": CODE})
    found = collect(lab, path, roster=written(tmp_path, "id,login\n1,ada\n2,bob\n"))
    assert outcomes(found) == {
        "1": "handed in more than once, and nothing says which counts: 1/, ada/", "2": {"toy.cu": CODE},
    }  # fmt: skip


@pytest.mark.parametrize(
    ("cell", "moment"),
    [
        ("2026-11-20 10:15", datetime(2026, 11, 20, 10, 15)),
        ("2026-11-20T10:15:00Z", datetime(2026, 11, 20, 10, 15, tzinfo=UTC)),
        ('"Friday, 20 November 2026, 10:15 PM"', datetime(2026, 11, 20, 22, 15)),
        ("-", None),
        ("", None),
    ],
)
def test_a_roster_may_tell_when_students_handed_in(
    lab: Lab, tmp_path: Path, cell: str, moment: datetime | None
) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "ada_toy.cu").write_text("x")
    (tmp_path / "roster.csv").write_text(f"id,name,Last modified (submission)\nada,Ada,{cell}\nbob,Bob,\n")
    (one,) = collect(lab, tmp_path / "in", roster=tmp_path / "roster.csv").submissions
    assert one.submitted == moment
    zone = timezone(timedelta(hours=1))
    found = with_time_zone(ClassAttempts("", [one]), zone).submissions[0].submitted
    assert found == (moment if moment is None or moment.tzinfo else moment.replace(tzinfo=zone))
    if moment is None or moment.tzinfo is None:
        assert with_time_zone(ClassAttempts("", [one]), None).submissions[0].submitted is None


def test_a_time_that_is_none_is_named(tmp_path: Path) -> None:
    path = tmp_path / "roster.csv"
    path.write_text("id,submitted\nada,yesterday\n")
    with pytest.raises(BadInput, match=r", line 2: yesterday is no time"):
        roster.read(path)
