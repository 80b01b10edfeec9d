"""Findings as annotations of a GitHub workflow: they stand at the lines of a commit or a pull request."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from warpgrade.diagnosis import Diagnostic
from warpgrade.report.findings import Finding, repository_path

_COMMANDS = {"error": "error", "warning": "warning", "advice": "notice"}
_OF_A_KIND = 10  # GitHub shows no more of one step


def commands(findings: Sequence[Finding], folder: str = "") -> str:
    """Return the workflow commands, one a line; `folder` is where the files lie in the repository."""
    lines: list[str] = []
    kinds: Counter[str] = Counter()
    for finding in findings:
        one = finding.diagnostic
        command = _COMMANDS[one.severity]
        kinds[command] += 1
        if kinds[command] > _OF_A_KIND:
            continue
        properties = {"title": f"{one.title} [{one.rule}]"}
        if path := repository_path(folder, one.place):
            properties = {"file": path, "line": str(one.place.line), **properties}
        words = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
        lines.append(f"::{command} {words}::{_data(describe(one))}\n")
    return "".join(lines)


def describe(one: Diagnostic) -> str:
    """Return the facts, the other party and the help, one a line."""
    times = f" ({one.count:,} times)" if one.count > 1 else ""
    facts = " ".join(filter(None, [one.thread.text if one.thread else "", one.message])) + times
    rows = [facts] if one.message else []
    for other in one.related:
        where = f" at {other.place.text}" if other.place.text else ""
        rows.append(other.role + (f" {other.thread.text}" if other.thread else "") + where)
    return "\n".join([*rows, one.help])


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
