"""What several sections show: a finding, and places in the source."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass

from warpgrade.machine.text import bounded, clean, one_line
from warpgrade.report.findings import Finding, describe

WIDTH = 240
_LINES = 12


@dataclass(frozen=True)
class Found:
    """A finding as its macro in parts.html shows it; `anchor` is empty where the page does not have its line."""

    title: str
    place: str
    anchor: str
    lines: list[str]
    advice: bool


def show_finding(finding: Finding, files: Container[str]) -> Found:
    """Return what is shown of a finding; its place is a link if the page has its file."""
    one = finding.diagnostic
    return Found(
        title=one_line(one.title, WIDTH),
        place=one_line(one.place.text, WIDTH),
        anchor=anchor(one.place.file, one.place.line) if one.place.line and one.place.file in files else "",
        lines=bounded(clean(describe(finding)), lines=_LINES, width=WIDTH).split("\n"),
        advice=one.severity == "advice",
    )


def anchor(file: str, line: int) -> str:
    """Return the id of a source line."""
    return f"{file}-L{line}"
