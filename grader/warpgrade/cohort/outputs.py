"""The files that people take out of a class's folder, written anew after each change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec
from rich.console import Console

from warpgrade.cohort.grades import Policies, rows
from warpgrade.cohort.handed_in import Collected
from warpgrade.cohort.row import Row
from warpgrade.cohort.store import Store
from warpgrade.machine import files


def write(store: Store, all_rows: Sequence[Row]) -> None:
    """Write grades and feedback."""
    lines = b"".join(msgspec.json.encode(row) + b"\n" for row in all_rows)
    files.replace(store.folder / "grades.jsonl", lines)


def refresh(store: Store, policies: Policies, more: Mapping[str, str] | None = None) -> list[Row]:
    """Write them again, with the people who were in them, and those in `more`; return the rows."""
    path = store.folder / "grades.jsonl"
    known = [msgspec.json.decode(line, type=Row) for line in path.read_bytes().splitlines()] if path.is_file() else []
    new = list(rows(store, policies, {row.student: row.name for row in known} | dict(more or {})))
    write(store, new)
    return new


def show(console: Console, store: Store, all_rows: Sequence[Row], collected: Collected) -> None:
    """Show the class on the terminal."""
    console.print(f"{len(all_rows)} students", highlight=False)
