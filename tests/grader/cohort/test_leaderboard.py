"""The leaderboard: who wants to be on it, in the order of a number, and nobody is known by an alias."""

import json
import stat
from pathlib import Path

import msgspec
import pytest
from class_rows import ADA, CLASS, GRACE, many

from warpgrade.cohort import leaderboard
from warpgrade.cohort.leaderboard import Aliases, Metric, rank
from warpgrade.cohort.row import Row
from warpgrade.machine.errors import BadInput

SPEED = "speed on 256 × 256: speedup"
SECRET = b"0123456789abcdef"
ALL = {row.student for row in CLASS}


def test_points_and_what_was_measured() -> None:
    by_points = rank(CLASS, Metric(), ALL)
    assert [(one.rank, one.name, one.value) for one in by_points.entries] == [
        (1, "Grace Hopper", 88), (2, "-Kai gnp.exe", 70), (3, "Ada Lovelace", 58.3),
    ]  # fmt: skip
    fast = rank(CLASS, Metric(SPEED, "larger", "x"), ALL)
    assert [one.name for one in fast.entries] == ["Grace Hopper", "Ada Lovelace"]
    slow = rank(CLASS, Metric(SPEED, "smaller"), ALL)
    assert [one.name for one in slow.entries] == ["Ada Lovelace", "Grace Hopper"]
    assert leaderboard.list_metrics(CLASS) == ["points", SPEED]


def test_nobody_is_on_it_who_does_not_want_to() -> None:
    assert rank(CLASS, Metric(), set()).entries == []
    assert [one.name for one in rank(CLASS, Metric(), {"12345"}).entries] == ["Ada Lovelace"]


def test_equals_share_a_rank_and_stand_by_what_is_shown() -> None:
    rows = [msgspec.structs.replace(ADA, student=f"s{i}", name=name) for i, name in enumerate("zyx")]
    entries = rank([*rows, GRACE], Metric(), {"s0", "s1", "s2", "12346"}).entries
    assert [(one.rank, one.name) for one in entries] == [(1, "Grace Hopper"), (2, "x"), (2, "y"), (2, "z")]


def test_aliases_are_of_the_secret_and_the_student() -> None:
    aliases = Aliases(SECRET)
    assert aliases.make_alias("12345") == Aliases(SECRET).make_alias("12345") == "grand gecko zd8p"
    assert aliases.make_alias("12345") != aliases.make_alias("12346")
    assert aliases.make_alias("12345") != Aliases(SECRET + b"!").make_alias("12345")
    board = rank(CLASS, Metric(), ALL, aliases)
    text = leaderboard.render_text(board) + leaderboard.encode(board).decode()
    for row in CLASS:
        assert row.name not in text
        assert row.student not in text.replace("009", "") or row.student in ("007", "008", "009", "010")
    with pytest.raises(BadInput, match="8 bytes"):
        Aliases(b"12345678")


def test_no_two_share_an_alias(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leaderboard, "_LETTERS", "xy")  # so that aliases of four letters are often the same
    rows = many(3000)
    names = [one.name for one in rank(rows, Metric(), {row.student for row in rows}, Aliases(SECRET)).entries]
    assert len(set(names)) == len(names) == 3000


def test_a_secret_is_made_once_and_only_the_owner_reads_it(tmp_path: Path) -> None:
    file = tmp_path / "secret"
    made = leaderboard.read_secret(file)
    assert len(made) == 32
    assert leaderboard.read_secret(file) == made
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    file.write_text("not hex")
    with pytest.raises(BadInput, match="keeps no secret"):
        leaderboard.read_secret(file)


def test_lists_of_those_who_want_to(tmp_path: Path) -> None:
    file = tmp_path / "list.csv"
    file.write_bytes('\ufeff# who said yes\n12345,Ada\n"a,b",x\n\n  12346  \r\n'.encode())
    assert leaderboard.read_opted_in(file) == {"12345", "a,b", "12346"}
    with pytest.raises(BadInput):
        leaderboard.read_opted_in(tmp_path)


def test_as_json_and_as_text() -> None:
    board = rank(CLASS, Metric(SPEED, "larger", "x"), ALL)
    assert json.loads(leaderboard.encode(board)) == {
        "schema": "warpgrade/leaderboard/1", "lab": "matmul", "metric": SPEED, "better": "larger", "unit": "x",
        "entries": [
            {"rank": 1, "name": "Grace Hopper", "value": 4.5}, {"rank": 2, "name": "Ada Lovelace", "value": 2.66},
        ],
    }  # fmt: skip
    assert leaderboard.render_text(board) == (
        f"matmul: {SPEED}, larger is better\n1  Grace Hopper   4.5×\n2  Ada Lovelace  2.66×\n"
    )
    assert leaderboard.render_text(board, top=1).endswith("and 1 more\n")


@pytest.mark.parametrize("state", ["error", "waiting", "missing", "rejected", "refused"])
def test_only_what_was_graded_is_compared(state: str) -> None:
    row: Row = msgspec.structs.replace(ADA, state=state)
    assert rank([row], Metric(), {"12345"}).entries == []


def test_a_student_is_on_the_list_by_any_identifier() -> None:
    ada = msgspec.structs.replace(ADA, identifiers=["12345", "Ada@Example.edu"])
    wanted = {"ada@example.EDU", "12346", "stranger"}
    assert leaderboard.select_opted_in([ada, GRACE], wanted) == [ada, GRACE]
    assert leaderboard.find_strangers([ada, GRACE], wanted) == ["stranger"]


def test_a_leaderboard_of_nobody_says_so() -> None:
    board = rank(CLASS, Metric(), {"stranger"})
    assert leaderboard.render_text(board) == (
        "matmul: points, larger is better\nnobody who wants to be on it has such a number\n"
    )
