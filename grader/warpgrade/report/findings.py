"""What is shown of the checks' diagnostics: each once."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable
from dataclasses import dataclass

from warpgrade.findings import diagnosis
from warpgrade.findings.diagnosis import Diagnostic, Place
from warpgrade.grading.result import Result
from warpgrade.report import hidden


@dataclass(frozen=True)
class Finding:
    """One diagnostic, and the tests that found it (none for a program that was run)."""

    diagnostic: Diagnostic
    tests: tuple[str, ...] = ()


def of_program(diagnostics: Iterable[Diagnostic]) -> list[Finding]:
    """Return a run program's findings, worst first."""
    return [Finding(one) for one in _once_a_pair(diagnosis.merged(diagnostics))]


def of_result(result: Result, *, show_hidden: bool = False) -> list[Finding]:
    """Return a submission's findings, worst first; of hidden tests as much as students may see, or all."""
    shown = result if show_hidden else hidden.for_students(result)
    found = [(test, one) for test in shown.tests for one in test.diagnostics]
    tests: dict[tuple[str, str, int], list[str]] = {}
    for test, one in found:
        names = tests.setdefault(hidden.rule_and_place(one), [])
        name = hidden.TESTS if test.hidden and not show_hidden else test.name
        if name not in names:
            names.append(name)
    rows = _once_a_pair(diagnosis.merged(one for _, one in found))
    return [Finding(one, tuple(tests[hidden.rule_and_place(one)])) for one in rows]


def _once_a_pair(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Leave out what says the same with the parties exchanged, as where a race comes out either way."""
    pairs: dict[object, Diagnostic] = {}
    for number, one in enumerate(diagnostics):
        places = frozenset([one.place, *(other.place for other in one.related)])
        pairs.setdefault((one.rule, one.kernel, places) if one.related else number, one)
    return list(pairs.values())


def repository_path(folder: str, place: Place) -> str:
    """Return the path of an own file below the repository's root, in which `folder` lies; nothing outside of it."""
    path = posixpath.normpath(folder + place.file) if place.own else ""
    return "" if path.startswith(("..", "/")) else path


def describe(one: Diagnostic) -> str:
    """Return the facts, the other party and the help, one a line."""
    times = f" ({one.count:,} times)" if one.count > 1 else ""
    facts = " ".join(filter(None, [one.thread.text if one.thread else "", one.message])) + times
    rows = [facts] if one.message else []
    for other in one.related:
        where = f" at {other.place.text}" if other.place.text else ""
        rows.append(other.role + (f" {other.thread.text}" if other.thread else "") + where)
    return "\n".join([*rows, one.help])
