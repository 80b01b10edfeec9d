"""What is shown of the checks' diagnostics: each once, and of hidden tests nothing that tells their data."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable
from dataclasses import dataclass

from warpgrade import diagnosis
from warpgrade.diagnosis import Diagnostic, Place
from warpgrade.result import Result


@dataclass(frozen=True)
class Finding:
    """One diagnostic, and the tests that found it (none for a program that was run)."""

    diagnostic: Diagnostic
    tests: tuple[str, ...] = ()


def of_program(diagnostics: Iterable[Diagnostic]) -> list[Finding]:
    """Return a run program's findings, worst first."""
    return [Finding(one) for one in _once_a_pair(diagnosis.merged(diagnostics))]


def of_result(result: Result, *, show_hidden: bool = False) -> list[Finding]:
    """Return a submission's findings, worst first.

    What only hidden tests found is redacted, unless `show_hidden`; where a public test found the same, that says more.
    """
    whole: list[Diagnostic] = []
    redacted: dict[tuple[str, str, int], Diagnostic] = {}
    tests: dict[tuple[str, str, int], list[str]] = {}
    for test in result.tests:
        for one in test.diagnostics:
            if test.hidden and not show_hidden:
                redacted[_line(one)] = diagnosis.redacted(one)
            else:
                whole.append(one)
            names = tests.setdefault(_line(one), [])
            if test.name not in names:
                names.append(test.name)
    for one in whole:
        redacted.pop(_line(one), None)
    shown = _once_a_pair(diagnosis.worst_first([*diagnosis.merged(whole), *redacted.values()]))
    return [Finding(one, tuple(tests[_line(one)])) for one in shown]


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


def _line(one: Diagnostic) -> tuple[str, str, int]:
    return (one.rule, one.place.file, one.place.line) if one.place.own else (one.rule, "", 0)
