"""Writes the grades and the feedback of a class after each change, and shows its summary on the terminal."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from warpgrade.cohort import answers_page, class_page, feedback, gradebook, summary, summary_terminal
from warpgrade.cohort.attempts import ClassAttempts
from warpgrade.cohort.feedback import FeedbackArchive
from warpgrade.cohort.grades import Policies, make_rows
from warpgrade.cohort.row import Row
from warpgrade.cohort.store import Store, reporting_disk_errors
from warpgrade.lab.labs import Lab
from warpgrade.machine import files
from warpgrade.machine.text import printable_name
from warpgrade.platforms.registry import ADAPTERS, FALLBACK

# Of feedback: a platform that takes it in its own way, a folder a student, or none at all.
KINDS = (*(name for name, adapter in ADAPTERS.items() if adapter.name_feedback), FALLBACK, "none")
TABLE, LINES, FEEDBACK = "grades.csv", "grades.jsonl", "feedback.zip"
_MAX_LINES = 5
_WIDTH = 200


def kind_for(platform: str) -> str:
    """Return the feedback that a platform takes."""
    return platform if platform in KINDS else FALLBACK


def write(
    store: Store, policies: Policies, people: Mapping[str, str], kind: str | None, lab: Lab, *, whole: bool = False
) -> tuple[list[Row], FeedbackArchive | None]:
    """Write grades, pages and feedback of `people` and of all students with an attempt; return the rows.

    whole: `people` is the whole class: students of earlier calls leave it. kind: the kind of feedback; None keeps the
    kind of the last call. Feedback is written only if it has changed.
    """
    stamp = store.folder / f".{FEEDBACK}"
    before = stamp.read_text().split() if stamp.is_file() else []
    wanted = kind or next((each for each in KINDS if before[:1] == [each]), FALLBACK)
    known = dict(people) if whole else {**store.people(), **people}
    if known != store.people():
        store.save_people(known)
    all_rows = list(make_rows(store, policies, known))
    until = hidden_until(policies)
    digest = hashlib.sha256(f"{until} {sorted(store.aliases().items())}\n".encode())
    with reporting_disk_errors():
        with files.replacing_file(store.folder / TABLE) as file:
            file.writelines(gradebook.csv(all_rows))
        with files.replacing_file(store.folder / LINES) as file:
            for line in gradebook.json_lines(all_rows):
                digest.update(line)
                file.write(line)
    similar = store.folder / f"{class_page.SIMILAR}.json"
    digest.update(similar.read_bytes() if similar.is_file() else b"")
    archive = store.folder / FEEDBACK
    if before[1:] != [digest.hexdigest()] or not (store.folder / class_page.PAGE).is_file():
        asked = answers_page.questions(lab)
        class_page.write(store, lab.title, all_rows, store.result_of, until, _alias(store), asked)
    if wanted == "none" or (archive.is_file() and before == [wanted, digest.hexdigest()]):
        return all_rows, None
    packed = feedback.write(
        archive, wanted, all_rows, store.result_of, title=lab.title, hidden_until=until, alias=_alias(store)
    )
    with reporting_disk_errors():
        files.replace(stamp, f"{wanted} {digest.hexdigest()}\n".encode())
    return all_rows, packed


def hidden_until(policies: Policies) -> str:
    """Return the time until which tests are hidden (ISO 8601); "" if it has passed or there is none."""
    entry = policies.course.entry(policies.lab) if policies.course is not None else None
    until = entry.hidden_until if entry is not None else None
    return until.isoformat() if until is not None and datetime.now(UTC) < until else ""


def _alias(store: Store) -> Callable[[Row], str]:
    """Return a function from a row to the student's alias on the leaderboard, or ""."""
    aliases = store.aliases()
    return lambda row: aliases.get(row.student, "")


def show(
    console: Console, store: Store, all_rows: Sequence[Row], collected: ClassAttempts, packed: FeedbackArchive | None
) -> None:
    """Show the class on the terminal, and where things are."""
    summary_terminal.show(console, summary.summarize(all_rows))
    lists = (
        ("Not on the roster", [f"{name} ({who})" if name != who else who for who, name in collected.unknown]),
        ("No submission", collected.others),
        ("Not as asked, and taken", [f"{row.name or row.student}: {what}" for row in all_rows for what in row.repairs]),
        (
            "Points of the rubric to give, with `override --item`",
            [f"{row.name or row.student}: {', '.join(row.open_items)}" for row in all_rows if row.open_items],
        ),
        ("Without feedback", packed.left_out if packed else []),
    )
    for what, names in lists:
        if names:
            console.print()
            console.print(f"{what} ({len(names)})", markup=False, highlight=False, style="bold")
            for name in names[:_MAX_LINES]:
                console.print(Padding(Text(printable_name(name, _WIDTH)), (0, 0, 0, 4)))
            if len(names) > _MAX_LINES:
                console.print(f"    and {len(names) - _MAX_LINES} more", style="dim")
    folder = printable_name(str(store.folder), 200)
    console.print()
    console.print(f"Grades    {folder}/{TABLE}", markup=False, highlight=False, soft_wrap=True)
    console.print(f"Page      {folder}/{class_page.PAGE}", markup=False, highlight=False, soft_wrap=True)
    if (store.folder / FEEDBACK).is_file():
        console.print(f"Feedback  {folder}/{FEEDBACK}", markup=False, highlight=False, soft_wrap=True)
