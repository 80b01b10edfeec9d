"""The leaderboard of a lab: those who want to be on it, by points or what a test measured, under names or aliases."""

import csv
import hashlib
import hmac
import os
import secrets
from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

import msgspec

from warpgrade.cohort.row import Row
from warpgrade.machine.errors import BadInput
from warpgrade.machine.text import number, one_line, printable_name

POINTS: Final = "points"
_MIN_SECRET_BYTES = 16  # bytes
_MAX_LIST_BYTES = 4 << 20
_WIDTH = 120
_LETTERS = "23456789abcdefghjkmnpqrstvwxyz"  # none that is taken for another
_ADJECTIVES = """
agile amber ardent azure bold brave bright brisk calm clever copper coral cosmic crimson daring eager early electric
fair fleet gentle golden grand happy hardy honest indigo ivory jade jolly keen kind light lively lucid lucky mellow
merry mighty modest nimble noble olive patient pearl polar proud quick quiet rapid ready ruby scarlet serene silver
solar steady stellar sunny swift vivid warm wise witty
"""
_ANIMALS = """
badger bat bear beaver bee bison boar camel cat cobra condor crab crane crow deer dolphin dove eagle egret elk
falcon ferret finch fox gecko gull hare hawk heron ibex ibis jackal jay koala lark lemur leopard lion lizard llama
lynx mole moose newt orca otter owl panda parrot puffin puma rabbit raven robin salmon seal shark sloth stork swan
tiger toad walrus wolf
"""


@dataclass(frozen=True)
class Metric:
    """What is compared: `points`, or a number that a test measured, by `test: name`; and which is better."""

    name: str = POINTS
    better: Literal["larger", "smaller"] = "larger"
    unit: str = ""


class Entry(msgspec.Struct, frozen=True):
    """One line: those that are equal have the same rank."""

    rank: int
    name: str
    value: float


class Board(msgspec.Struct, frozen=True):
    """A leaderboard, as it is written as JSON."""

    lab: str
    metric: str
    better: Literal["larger", "smaller"]
    unit: str
    entries: list[Entry]
    schema: Literal["warpgrade/leaderboard/1"] = "warpgrade/leaderboard/1"


class Aliases:
    """Names that cannot be traced to students without the class's secret; the same in all labs of the class."""

    def __init__(self, secret: bytes) -> None:
        if len(secret) < _MIN_SECRET_BYTES:
            raise BadInput(f"the secret for aliases has {len(secret)} bytes", hint=f"{_MIN_SECRET_BYTES} are needed")
        self._secret = secret

    def make_alias(self, student: str, letters: int = 4) -> str:
        """Return a student's alias, such as `amber otter k7q2`."""
        mixed = hmac.new(self._secret, student.encode(errors="surrogatepass"), hashlib.sha256).digest()
        rest = int.from_bytes(mixed, "big")
        words = []
        for choice in (_ADJECTIVES.split(), _ANIMALS.split(), *([_LETTERS] * letters)):
            rest, place = divmod(rest, len(choice))
            words.append(choice[place])
        return f"{words[0]} {words[1]} {''.join(words[2:])}"


def read_secret(file: Path) -> bytes:
    """Read the secret in a file; if there is no file, make one that only its owner can read."""
    try:
        try:
            descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            return bytes.fromhex(file.read_text(encoding="ascii").strip())
        made = secrets.token_bytes(32)
        with os.fdopen(descriptor, "w", encoding="ascii") as out:
            out.write(made.hex() + "\n")
    except ValueError:
        raise BadInput(
            f"{printable_name(str(file))} keeps no secret", hint="delete it, and all aliases change"
        ) from None
    except OSError as error:
        raise BadInput(f"{printable_name(str(file))} cannot be used: {error.strerror}") from None
    return made


def read_opted_in(file: Path) -> set[str]:
    """Read who wants to be on the leaderboard: an identifier a line, or the first column of a CSV; # begins a note."""
    try:
        raw = file.read_bytes()
    except OSError as error:
        raise BadInput(f"{printable_name(str(file))} cannot be read: {error.strerror}") from None
    if len(raw) > _MAX_LIST_BYTES:
        raise BadInput(f"{printable_name(str(file))} is too large to be a list of students")
    lines = [line for line in raw.decode("utf-8-sig", errors="replace").splitlines() if not line.startswith("#")]
    try:
        return {cells[0].strip() for cells in csv.reader(lines) if cells and cells[0].strip()}
    except csv.Error as error:
        raise BadInput(f"{printable_name(str(file))} is no list of students: {error}") from None


def select_opted_in(rows: Iterable[Row], opted_in: Collection[str]) -> list[Row]:
    """Return the rows of students who are on the list by any of their identifiers, ignoring case."""
    wanted = {who.casefold() for who in opted_in}
    return [row for row in rows if not wanted.isdisjoint(_folded_identifiers(row))]


def find_strangers(rows: Iterable[Row], opted_in: Collection[str]) -> list[str]:
    """Return the names on the list that no student of the class has."""
    known = {word for row in rows for word in _folded_identifiers(row)}
    return sorted(who for who in opted_in if who.casefold() not in known)


def _folded_identifiers(row: Row) -> set[str]:
    return {word.casefold() for word in (row.student, *row.identifiers)}


def rank(rows: Iterable[Row], metric: Metric, opted_in: Collection[str], aliases: Aliases | None = None) -> Board:
    """Rank the students who opted in and have a value, the best first.

    Equal students are sorted by the shown name, so that the order reveals no hidden name. Points are those after
    deductions and decisions. Points and measurements of hidden tests tell about hidden tests.
    """
    rows = list(rows)
    chosen = [row for row in select_opted_in(rows, opted_in) if _value(row, metric) is not None]
    names = _names(chosen, aliases)
    sign = -1 if metric.better == "larger" else 1
    order = sorted((sign * (_value(row, metric) or 0.0), name) for row, name in zip(chosen, names, strict=True))
    entries: list[Entry] = []
    for place, (key, name) in enumerate(order, start=1):
        same = bool(entries) and entries[-1].value == sign * key
        entries.append(Entry(entries[-1].rank if same else place, name, sign * key))
    lab = ", ".join(sorted({row.lab for row in rows}))
    return Board(lab, metric.name, metric.better, metric.unit, entries)


def _value(row: Row, metric: Metric) -> float | None:
    if row.state != "graded":
        return None
    # Rounded as it is shown: what looks equal has the same rank.
    value = row.points if metric.name == POINTS else row.metrics.get(metric.name)
    return None if value is None else round(value, 4)


def _names(rows: list[Row], aliases: Aliases | None) -> list[str]:
    if aliases is None:
        return [one_line(row.name or row.student, _WIDTH) for row in rows]
    names = [aliases.make_alias(row.student) for row in rows]
    often = Counter(names)
    return [
        aliases.make_alias(row.student, 12) if often[name] > 1 else name for row, name in zip(rows, names, strict=True)
    ]


def list_metrics(rows: Iterable[Row]) -> list[str]:
    """Return the names of all that can be compared, points first."""
    return [POINTS, *sorted({name for row in rows for name in row.metrics})]


def encode(board: Board) -> bytes:
    """Return it as indented JSON."""
    return msgspec.json.format(msgspec.json.encode(board), indent=2) + b"\n"


def render_text(board: Board, top: int = 0) -> str:
    """Return it as a table of text; `top` lines of it, if that is not 0."""
    unit = "×" if board.unit == "x" else f" {board.unit}" if board.unit else ""
    rows = [(str(entry.rank), entry.name, f"{number(entry.value, 2)}{unit}") for entry in board.entries]
    lines = [f"{one_line(board.lab, _WIDTH)}: {one_line(board.metric, _WIDTH)}, {board.better} is better"]
    shown = rows[: top or None]
    widths = [max((len(row[place]) for row in shown), default=0) for place in range(3)]
    lines += [f"{rank:>{widths[0]}}  {name:{widths[1]}}  {value:>{widths[2]}}" for rank, name, value in shown]
    if not rows:
        lines.append("nobody who wants to be on it has such a number")
    if left := len(rows) - len(shown):
        lines.append(f"and {left} more")
    return "\n".join(lines) + "\n"
