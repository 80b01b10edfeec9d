"""The result as Markdown: the summary of a step in GitHub Actions, beside the annotations.

What other people worded stands in blocks of code, or has its marks escaped, so that it is no markup, no link and
mentions nobody.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import click

from warpgrade.machine.files import check_writable, write
from warpgrade.report import export
from warpgrade.report.format import Format, Report

_MARKS = re.compile(r"([\\`*_{}\[\]()#+\-.!|~:@$])")
_SYMBOLS = {"pass": "✅", "partial": "🟡", "slow": "🟡", "fail": "❌", "error": "⚠️", "pending": "⏳"}
_MAX_BYTES = 900_000  # GitHub refuses more than 1 MiB a step


def encode(report: Report) -> bytes:
    """Return the Markdown."""
    result = report.result
    if result is None:
        return b""
    parts = [f"## {_escaped(export.headline(result))}"]
    parts += [_block(note) for note in export.notes(result)]
    rows = export.rows(result)
    table = ["| | test | points |", "|---|---|---:|"]
    table += [
        f"| {_SYMBOLS[row.outcome]} {row.outcome} | {_escaped(row.name)}{' *(hidden)*' if row.hidden else ''} "
        f"| {row.points_text} |"
        for row in rows
    ]
    parts.append("\n".join(table))
    for row in rows:
        if row.text and row.outcome != "pass":
            parts.append(f"<details><summary>{_html(row.name)}</summary>\n\n{_block(row.text)}\n\n</details>")
    parts += [_block(found) for found in export.mistakes(report.findings)]
    raw = ("\n\n".join(parts) + "\n").encode()
    return raw if len(raw) <= _MAX_BYTES else "\n\n".join([parts[0], "\n".join(table)]).encode() + b"\n"


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
        # Steps share the file: what stands there stays.
        try:
            with Path(place).open("ab") as file:
                file.write(encode(report))
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
