"""What several sections show: a finding, and places in the source."""

from collections.abc import Container
from dataclasses import dataclass

from warpgrade.findings.diagnosis import Place
from warpgrade.machine.text import bounded, clean, one_line
from warpgrade.report.findings import Finding, describe

WIDTH = 240
_LINES = 12


@dataclass(frozen=True)
class Line:
    """A line of a finding; one that names the other party ends with its place, as a link."""

    text: str
    place: str = ""
    anchor: str = ""


@dataclass(frozen=True)
class Found:
    """A finding as its macro in parts.html shows it; `anchor` is empty where the page does not have its line."""

    title: str
    place: str
    anchor: str
    lines: list[Line]
    advice: bool


def show_finding(finding: Finding, files: Container[str]) -> Found:
    """Return what is shown of a finding; its place is a link if the page has its file."""
    one = finding.diagnostic
    return Found(
        title=one_line(one.title, WIDTH),
        place=one_line(one.place.text, WIDTH),
        anchor=_find_anchor(one.place, files),
        lines=[
            _link_party(line, finding, files)
            for line in bounded(clean(describe(finding)), lines=_LINES, width=WIDTH).split("\n")
        ],
        advice=one.severity == "advice",
    )


def _link_party(line: str, finding: Finding, files: Container[str]) -> Line:
    for other in finding.diagnostic.related:
        place = one_line(other.place.text, WIDTH)
        if (target := _find_anchor(other.place, files)) and line.endswith(f" at {place}"):
            return Line(line.removesuffix(place), place, target)
    return Line(line)


def _find_anchor(place: Place, files: Container[str]) -> str:
    return anchor(place.file, place.line) if place.line and place.file in files else ""


def anchor(file: str, line: int) -> str:
    """Return the id of a source line."""
    return f"{file}-L{line}"
