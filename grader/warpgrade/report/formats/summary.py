"""The result as Markdown for CI: the summary of a step in GitHub Actions, a file or a comment in GitLab.

What other people worded stands in blocks of code, or has its marks escaped, so that it is no markup, no link and
mentions nobody.
"""

import os
import re
from collections.abc import Iterator
from pathlib import Path

import click

from warpgrade.machine.files import check_writable, write
from warpgrade.report import export, failures, hidden
from warpgrade.report.format import Format, Report

_MARKS = re.compile(r"([\\`*_{}\[\]()#+\-.!|~:@$%^])")
_SYMBOLS = {"pass": "✅", "partial": "🟡", "slow": "🟡", "fail": "❌", "error": "⚠️", "pending": "⏳"}
# GitHub shows up to 1 MiB a step, and nothing of more; GitLab takes a million characters in a comment.
_MAX_BYTES = 900_000
_LEFT_OUT = "*More than fits here is left out.*"


def encode(report: Report, max_bytes: int = _MAX_BYTES) -> bytes:
    """Return the Markdown: points, what to fix first, all tests, then the rest as far as it fits."""
    kept, left = [], max_bytes - len(_LEFT_OUT) - 2
    for part in _parts(report):
        left -= len(part.encode()) + 2
        if left < 0:
            kept.append(_LEFT_OUT)
            break
        kept.append(part)
    return ("\n\n".join(kept) + "\n").encode() if kept else b""


def _parts(report: Report) -> Iterator[str]:
    if report.result is None:
        return
    result = hidden.for_students(report.result)
    yield f"## {_escaped(export.headline(result))}"
    yield from (_block(note) for note in export.notes(result))
    rows = export.rows(result)
    first = next(iter(failures.in_order(result.tests)), None) if result.problem is None else None
    row_of_first = rows[result.tests.index(first)] if first is not None else None
    mine = [one for one in report.findings if first is not None and first.name in one.tests]
    if first is not None and row_of_first is not None:
        yield f"**{'Fix this first' if first.begun else 'Next'}:** {_escaped(row_of_first.name)}"
        yield _block(row_of_first.text)
        yield from (_block(found) for found in export.mistakes(mine))
    yield "\n".join(["| | test | points |", "|---|---|---:|", *map(_table_row, rows)])
    for row in rows:
        if row.text and row.outcome != "pass" and row is not row_of_first:
            yield f"<details><summary>{_html(row.name)}</summary>\n\n{_block(row.text)}\n\n</details>"
    yield from (_block(found) for found in export.mistakes([one for one in report.findings if one not in mine]))


def _table_row(row: export.Row) -> str:
    name = f"{_escaped(row.name)}{' *(hidden)*' if row.hidden else ''}"
    return f"| {_SYMBOLS[row.outcome]} {row.outcome} | {name} | {row.points_text} |"


def _html(words: str) -> str:
    """Escape for text in HTML that Markdown reads again."""
    entities = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
    return "".join(
        entities.get(letter, letter) if letter in entities or letter.isalnum() or letter == " " else f"&#{ord(letter)};"
        for letter in words
    )


def _escaped(words: str) -> str:
    plain = words.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _MARKS.sub(r"\\\1", plain)


def _block(words: str) -> str:
    longest = max((len(run) for run in re.findall(r"`+", words)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}text\n{words}\n{fence}"


def _check(name: str | None) -> None:
    if name is not None:
        check_writable("--summary", name)


def _write(name: str | None, report: Report) -> None:
    if name is not None:
        write(name, "--summary", encode(report))
    elif os.environ.get("GITHUB_ACTIONS") == "true" and (place := os.environ.get("GITHUB_STEP_SUMMARY")):
        # What stands there already stays, and counts.
        try:
            with Path(place).open("ab") as file:
                file.write(encode(report, _MAX_BYTES - file.tell()))
        except OSError as error:
            click.echo(f"warpgrade: the step's summary cannot be written: {error.strerror}", err=True)


FORMAT = Format(
    "result",
    click.Option(
        ["--summary"],
        metavar="FILE",
        help="Write a summary as Markdown; in GitHub Actions it is added to the step's own.",
    ),
    _write,
    _check,
)
