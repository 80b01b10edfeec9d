"""The page of a class, for those who grade, and beside it for each student the feedback as the student gets it.

The class's page shows hidden tests. What students get has passed report/hidden.py; the page of a student is that.
"""

import statistics
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Final

import msgspec

from warpgrade.cohort import answers_page, class_pictures, feedback_text, leaderboard, summary
from warpgrade.cohort.gradebook import percent_of
from warpgrade.cohort.names import file_name
from warpgrade.cohort.row import Row
from warpgrade.cohort.store import Record, Store, reporting_disk_errors
from warpgrade.cohort.summary import StudentNote
from warpgrade.grading.result import Result, TestResult
from warpgrade.lab.failure_tags import COUNTERS
from warpgrade.machine import files
from warpgrade.machine.text import clean_tree, number, one_line
from warpgrade.report.findings import result_findings
from warpgrade.report.html.elements import page, read_style, render

PAGE: Final = "class.html"
STUDENTS: Final = "students"
SIMILAR: Final = "similar"  # similar.json and similar.html, which `similarity` writes
_WIDTH = 160
_MAX_NOTES = 60
_MAX_MISTAKES = 12
_MAX_PAIRS = 50
_MAX_BOARDS = 12
_BOARD_LINES = 20
_MARKS = {"pass": "✓", "partial": "◐", "slow": "○", "fail": "✗", "error": "!", "pending": "…"}
_STYLES = {"pass": "good", "partial": "part", "slow": "part", "fail": "bad"}


@dataclass
class _Test:
    """A test of the lab: how many lost points at it, and with which mistakes."""

    name: str
    hidden: bool
    lost: int = 0
    mistakes: Counter[str] = field(default_factory=Counter)
    first: dict[str, str] = field(default_factory=dict)  # for each mistake, where to read of the first who made it


@dataclass(frozen=True)
class _Cell:
    """What became of a test, in a sign; `about` is what a pointer shows."""

    outcome: str = ""
    about: str = ""
    link: str = ""

    @property
    def mark(self) -> str:
        return _MARKS.get(self.outcome, "–")

    @property
    def style(self) -> str:
        return _STYLES.get(self.outcome, "dim")


@dataclass(frozen=True)
class _Student:
    """A line of the table."""

    name: str
    state: str
    points: str
    percent: float | None
    link: str
    cells: Mapping[str, _Cell]
    attempts: int = 0
    kind: str = "full"  # what the filter goes by: full, lost, none
    look: bool = False


class ClassPages:
    """Takes the rows of a class one by one, writes each student's page, and then makes the page of the class.

    title: of the lab. hidden_until: the course's date. alias: a student's name on the leaderboard, or "". answers: the
    page of answers, or "".
    """

    def __init__(
        self, store: Store, title: str, hidden_until: str, alias: Callable[[Row], str], now: datetime | None = None,
        *, answers: str = "",
    ) -> None:  # fmt: skip
        self._answers = answers
        self._store, self._title, self._until, self._alias, self._now = store, title, hidden_until, alias, now
        self._tests: dict[str, _Test] = {}
        self._students: list[_Student] = []
        self._rows: list[Row] = []
        self._progress: list[list[float]] = []
        self._mistakes: dict[str, list[dict[str, str]]] = {}  # what the checks found, and in whose work

    def add(self, row: Row, result: Result | None) -> None:
        """Write the page of a student, and remember what the page of the class tells of them."""
        shown = msgspec.structs.replace(result, hidden_until=self._until) if result is not None else None
        about = feedback_text.make_feedback(row, shown, self._now, self._alias(row), self._title)
        link = ""
        if about is not None:
            link = f"{STUDENTS}/{file_name(row.student)}.html"
            with reporting_disk_errors():
                (self._store.folder / STUDENTS).mkdir(parents=True, exist_ok=True)
                files.replace(self._store.folder / link, feedback_text.render_html(about))
        places = {test.name: f"#test-{at}" for at, test in enumerate(about.tests, 1)} if about else {}
        cells = {}
        if result is not None and result.problem is None and row.state == "graded":
            found = [one for one in result_findings(result, show_hidden=True) if one.diagnostic.severity == "error"]
            for mistake in {one.diagnostic.title: one.diagnostic for one in reversed(found)}.values():
                note = {"name": one_line(row.name or row.student, _WIDTH), "link": link, "about": mistake.place.text}
                self._mistakes.setdefault(one_line(mistake.title, _WIDTH), []).append(note)
            for test in result.tests:
                name = one_line(test.name, _WIDTH)
                mistakes = [one.diagnostic.title for one in found if test.name in one.tests] or _mistakes(test)
                place = link + places.get(one_line(test.name, 200), "") if link else ""
                cells[name] = self._cell(name, test, mistakes, place)
        percent = percent_of(row)
        kind = "none" if percent is None else "full" if percent >= 100 else "lost"
        points = "–" if row.points is None else number(row.points, 2)
        self._students.append(_Student(
            one_line(row.name or row.student, _WIDTH), row.state, points, percent, link, cells, row.attempts, kind,
            bool(row.review) and row.decision is None,
        ))  # fmt: skip
        self._rows.append(row)
        if row.attempts > 1:
            self._progress.append([each for one in self._store.records(row.student) if (each := _share(one)) >= 0])

    def _cell(self, name: str, test: TestResult, mistakes: Iterable[str], link: str) -> _Cell:
        told = self._tests.setdefault(name, _Test(name, test.hidden))
        outcome: str = test.status
        if test.status == "pass" and test.points < test.max_points:
            outcome = "partial" if test.points else "slow"
        found = [one for one in test.diagnostics if one.severity == "error"]
        where = [f"{one.title} at {one.place.text}" if one.place.text else one.title for one in found[:1]]
        if test.points < test.max_points and test.status in ("pass", "fail"):
            told.lost += 1
            for mistake in dict.fromkeys(one_line(each, _WIDTH) for each in mistakes):
                told.mistakes[mistake] += 1
                told.first.setdefault(mistake, link)
        points = f"{outcome}, {number(test.points)} of {number(test.max_points)}"
        why = [test.message.partition("\n")[0]] if outcome != "pass" and not where else []
        return _Cell(outcome, one_line(": ".join([points, *where, *why]), 200), link)

    def render(self) -> bytes:
        """Return the page of the class."""
        whole = summary.summarize(self._rows)
        order = sorted(self._students, key=lambda one: (one.percent is not None, one.percent or 0.0, one.name))
        links = {one.name: one.link for one in self._students}
        tests = list(self._tests.values())
        boards = _boards(self._rows, self._alias)
        kinds = Counter(one.kind for one in order)
        choices = {
            "all": f"all {len(order)}", "lost": f"with points to gain {kinds['lost']}",
            "full": f"all points {kinds['full']}", "none": f"no grade {kinds['none']}",
            "look": f"to look at {sum(one.look for one in order)}",
        }  # fmt: skip
        body = render(
            "class.html", title=self._title, whole=whole, number=number, tests=tests, students=order,
            choices=choices, histogram=class_pictures.histogram(whole.histogram), boards=boards,
            missed=sorted((one for one in tests if one.lost), key=_order_of_missed),
            places={test.name: at for at, test in enumerate(tests, 1)},
            progress=class_pictures.progress(self._progress), medians=_medians(self._progress),
            help=[*_common(self._mistakes), *_needing_help(whole, links)], look=list(_to_look_at(whole, links)),
            low=number(summary.LOW),
            similar=self._similar(), has_aliases=any(line["alias"] for board in boards for line in board["lines"]),
            early=bool(self._until), answers=self._answers, answered=sum(bool(row.answers) for row in self._rows),
        )  # fmt: skip
        style = read_style("class.css") + "".join(
            f"#board-{at}:checked ~ .boards > .board-{at} {{ display: block }}\n" for at in range(len(boards))
        )
        script = read_style("class.js")
        return page(f"{self._title}: class", [body], style=style, script=script, width="full")

    def _similar(self) -> dict[str, Any] | None:
        """Return the pairs that `similarity` has found, if it has written them here."""
        try:
            found = msgspec.json.decode((self._store.folder / f"{SIMILAR}.json").read_bytes(), type=_Pairs)
        except (OSError, msgspec.DecodeError):
            return None
        pairs = [clean_tree(msgspec.to_builtins(each)) for each in found.pairs[:_MAX_PAIRS]]
        page_there = (self._store.folder / f"{SIMILAR}.html").is_file()
        return {"pairs": pairs, "page": f"{SIMILAR}.html" if page_there else "", "compared": found.compared}


class _PairOf(msgspec.Struct):
    left: str
    right: str
    left_percent: float
    right_percent: float
    tokens: int


class _Pairs(msgspec.Struct):
    """What of similar.json the page shows."""

    compared: int = 0
    pairs: list[_PairOf] = []


def _mistakes(test: TestResult) -> list[str]:
    """Return what is wrong where the checks found nothing: the numbers beyond their limits, or the failure's tags."""
    numbers = [check.name for check in test.checks if check.outcome != "pass"]
    general = ("all", "wrong", COUNTERS)
    return numbers or [tag for tag in test.signs if tag not in general] or test.signs[-1:]


def _common(mistakes: Mapping[str, list[dict[str, str]]]) -> Iterator[dict[str, Any]]:
    """Yield the mistakes that several made, with who they are; those of most students first."""
    for title, notes in sorted(mistakes.items(), key=lambda each: -len(each[1]))[:_MAX_MISTAKES]:
        if len(notes) > 1:
            yield {"title": title, "count": len(notes), "notes": [{**one, "result": ""} for one in notes[:_MAX_NOTES]]}


def _order_of_missed(test: _Test) -> tuple[int, int, str]:
    return -test.lost, -test.mistakes.total(), test.name


def _share(record: Record) -> float:
    """Return an attempt's part of the points, in per cent; below 0 if it is not known."""
    known = record.is_done and record.max_points > 0
    return 100 * record.points / record.max_points if known else -1.0


def _medians(progress: Sequence[Sequence[float]]) -> list[str]:
    """Return the median of the first, second, … attempt of those who made several."""
    longest = max(map(len, progress), default=0)
    every = ([line[at] for line in progress if len(line) > at] for at in range(min(longest, 8)))
    return [f"{number(statistics.median(values))} %" for values in every]


def _needing_help(whole: summary.Summary, links: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    titles = {"lowest": f"below {number(summary.LOW)} %", "rejected": "not compiled", "refused": "not readable",
              "errors": "not graded, for the machine's sake", "missing": "nothing handed in"}  # fmt: skip
    for kind, title in titles.items():
        notes: list[StudentNote] = getattr(whole, kind)
        if notes:
            yield {"title": title, "count": len(notes), "notes": [_note(one, links) for one in notes[:_MAX_NOTES]]}


def _to_look_at(whole: summary.Summary, links: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    for cause, notes in sorted(whole.to_look_at.items(), key=lambda each: (-len(each[1]), each[0])):
        yield {"title": cause, "count": len(notes), "notes": [_note(one, links) for one in notes[:_MAX_NOTES]]}


def _note(one: StudentNote, links: Mapping[str, str]) -> dict[str, str]:
    percent = "" if one.percent is None else f"{number(one.percent)} %"
    return {"name": one.name, "link": links.get(one.name, ""), "about": one.about or percent, "result": one.result}


def _boards(rows: Sequence[Row], alias: Callable[[Row], str]) -> list[dict[str, Any]]:
    """Return a leaderboard for each metric, of all who have it, with names and with aliases where there are some."""
    everybody = [row.student for row in rows]
    boards = []
    for metric in leaderboard.list_metrics(rows)[:_MAX_BOARDS]:
        named = {row.student: one_line(row.name or row.student, _WIDTH) for row in rows}
        keyed = [msgspec.structs.replace(row, name=row.student) for row in rows]
        ranked = leaderboard.rank(keyed, leaderboard.Metric(metric), everybody).entries[:_BOARD_LINES]
        aliases = {one_line(row.student, 120): alias(row) for row in rows}
        lines = [
            {"rank": str(entry.rank), "name": named.get(entry.name, entry.name), "alias": aliases.get(entry.name, ""),
             "value": number(entry.value, 2)}
            for entry in ranked
        ]  # fmt: skip
        if lines:
            boards.append({"metric": one_line(metric, _WIDTH), "lines": lines})
    return boards


def write(
    store: Store, title: str, rows: Iterable[Row], load: Callable[[Row], Result | None], hidden_until: str,
    alias: Callable[[Row], str], questions: str = "",
) -> None:  # fmt: skip
    """Write class.html, answers.html and the students' pages into the class's folder; one result at a time is loaded.

    questions: those that students answered in a text file; "" if the lab has none.
    """
    pages = ClassPages(store, title, hidden_until, alias, answers=answers_page.PAGE if questions else "")
    for row in rows:
        pages.add(row, load(row))
    _remove_old(store.folder / STUDENTS, {f"{file_name(row.student)}.html" for row in rows})
    with reporting_disk_errors():
        files.replace(store.folder / PAGE, pages.render())
        if questions:
            files.replace(store.folder / answers_page.PAGE, answers_page.make(title, questions, rows))


def _remove_old(folder: Path, wanted: set[str]) -> None:
    """Remove the pages of students who have left the class."""
    for path in folder.glob("*.html"):
        if path.name not in wanted:
            path.unlink(missing_ok=True)
