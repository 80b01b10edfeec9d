"""Findings as annotations of a GitHub workflow: they stand at the lines of a commit or a pull request."""

import os
from collections import Counter
from collections.abc import Sequence

import click

from warpgrade.report.findings import Finding, describe, repository_path
from warpgrade.report.format import Format, Report

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
        lines.append(f"::{command} {words}::{_data(describe(finding))}\n")
    return "".join(lines)


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def _write(asked: str | None, report: Report) -> None:
    # As commands of a workflow they may come on stderr, too; stdout belongs to the program, or to JSON.
    if (asked or ("github" if os.environ.get("GITHUB_ACTIONS") == "true" else "none")) == "github":
        click.echo(commands(report.findings, report.prefix), err=True, nl=False)


FORMAT = Format(
    "findings",
    click.Option(
        ["--annotations"],
        type=click.Choice(["github", "none"]),
        help="Write annotations for a GitHub workflow; the default in GitHub Actions.",
    ),
    _write,
)
