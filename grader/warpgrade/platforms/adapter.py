"""What the adapter of a platform may give. All else asks for it here, and knows no platform by its name.

A folder beside this file with a module `adapter` that has an `ADAPTER` is a platform. Names and contents of exports are
made by strangers: patterns take linear time, and at most `LONGEST_NAME` characters are looked at.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import IO, Protocol

from warpgrade.lab.labs import Lab
from warpgrade.report.format import Format

MAX_NAME_LENGTH = 300


class Entry(Protocol):
    """A file or a folder at the top of an export; `path` is where it is on disk, unless it is in an archive."""

    @property
    def name(self) -> str: ...
    @property
    def shown(self) -> str: ...
    @property
    def is_folder(self) -> bool: ...
    @property
    def path(self) -> Path | None: ...
    @property
    def is_checkout(self) -> bool: ...
    @property
    def why_no_submission(self) -> str: ...
    def open(self) -> AbstractContextManager[IO[bytes]]: ...


@dataclass(frozen=True)
class Attempt:
    """What a student handed in at one time, as the export tells it; nobody has looked into the roster yet.

    student: the best identifier. identifiers: others. accounts: names of which one may be the student's on the
    platform. order: larger for what was handed in later, if names tell. late: the platform says so. renamed: names that
    the lab knows, by names of entries.
    """

    student: str
    entries: Sequence[Entry]
    name: str = ""
    identifiers: tuple[str, ...] = ()
    accounts: tuple[str, ...] = ()
    submitted: datetime | None = None
    late: bool = False
    order: int | None = None
    renamed: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Contents:
    """What is in an export: attempts, and what is no submission, with why.

    unclaimed: entries that nobody can be named for, and lost: what the export tells of and does not hold, each with
    why. Both are errors that a person must look at, for they may be somebody's work.
    """

    attempts: list[Attempt]
    unclaimed: list[tuple[Entry, str]] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    others: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Export:
    """What "download all submissions" gives.

    is_entry: whether the platform made an entry. share: an export is recognised if more than this part of its entries
    are; below 0, whatever nobody else recognises. certainty: of several that recognise an export, the surest reads it.
    read: gets the lab, the export's name, and its entries in order; raises BadInput if it is none. metadata: the file
    at the top in which the platform says whose submissions are.
    """

    is_entry: Callable[[Entry], bool]
    read: Callable[[Lab, str, Sequence[Entry]], Contents]
    certainty: int
    share: float = 0.5
    metadata: str = ""

    def recognises(self, entries: Sequence[Entry]) -> bool:
        """Whether this is the platform's export."""
        return bool(entries) and sum(map(self.is_entry, entries)) / len(entries) > self.share


@dataclass(frozen=True)
class Sheet:
    """The platform's table of grades, as CSV with headings in English.

    identifiers: columns that say who a student is, the best first; names: columns for people. heading_suffix: what may
    stand behind an assignment's name in a heading. only_column: what is filled where no assignment is named.
    find_ids: what a name that the platform gave to a hand-in tells, as the columns of identifiers have it.
    most_points_column, most_points_row: where it stands how many points there are. read_only: a word there that forbids
    filling. locked_column: has "no" where a grade cannot be changed.
    """

    identifiers: tuple[str, ...]
    names: tuple[str, ...]
    heading_suffix: re.Pattern[str]
    find_ids: Callable[[str], list[str]]
    only_column: str = ""
    most_points_column: str = ""
    most_points_row: str = ""
    read_only: str = ""
    locked_column: str = ""


class Recipient(Protocol):
    """A student whom feedback is for; `source` is what was handed in, as the export called it."""

    @property
    def student(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def source(self) -> str: ...
    @property
    def identifiers(self) -> Iterable[str]: ...


@dataclass(frozen=True)
class FeedbackFile:
    """What a file of feedback must be called in the zip; `key` is what the platform finds the student by."""

    name: str
    key: str


@dataclass(frozen=True)
class Adapter:
    """A platform; what it does not have stays empty.

    title: for messages. original_names: what a file that it gives out may have been called before; nothing if the
    platform did not name it. name_feedback: raises BadInput with why there is no file for a student; without it,
    feedback is a folder a student. account_headings: columns of a roster, in small letters and digits, with the
    students' names there. formats: of results, each with its option.
    """

    title: str = ""
    original_names: Callable[[str], list[str]] = lambda name: []
    export: Export | None = None
    sheet: Sheet | None = None
    name_feedback: Callable[[Recipient], FeedbackFile] | None = None
    account_headings: tuple[str, ...] = ()
    formats: Sequence[Format] = ()
