"""Findings as SARIF 2.1.0 (OASIS), which editors and code hosts read."""

import urllib.parse
from collections.abc import Sequence
from typing import Any

import msgspec

from warpgrade import __version__
from warpgrade.findings.diagnosis import Diagnostic, Place
from warpgrade.report.findings import Finding, describe, repository_path
from warpgrade.report.format import file_format

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS = {"error": "error", "warning": "warning", "advice": "note"}


def encode(findings: Sequence[Finding], folder: str = "") -> bytes:
    """Return the log; `folder` is where the files lie below the root of the sources."""
    return msgspec.json.format(msgspec.json.encode(log(findings, folder)), indent=1) + b"\n"


def log(findings: Sequence[Finding], folder: str = "") -> dict[str, Any]:
    """Return one run of one tool, with the rules that it needs."""
    rules = list({finding.diagnostic.rule: _rule(finding.diagnostic) for finding in findings}.values())
    numbers = {rule["id"]: number for number, rule in enumerate(rules)}
    driver = {"name": "Warpgrade", "version": __version__, "rules": rules}
    return {
        "$schema": _SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": driver},
                "columnKind": "unicodeCodePoints",
                "results": [_result(finding, numbers, folder) for finding in findings],
            }
        ],
    }


def _rule(one: Diagnostic) -> dict[str, Any]:
    return {
        "id": one.rule,
        "shortDescription": {"text": one.title},
        "help": {"text": one.help},
        "defaultConfiguration": {"level": _LEVELS[one.severity]},
        "properties": {"tags": ["cuda", one.rule.partition("/")[0]]},
    }


def _result(finding: Finding, numbers: dict[str, int], folder: str) -> dict[str, Any]:
    one = finding.diagnostic
    result: dict[str, Any] = {
        "ruleId": one.rule,
        "ruleIndex": numbers[one.rule],
        "level": _LEVELS[one.severity],
        "message": {"text": f"{one.title}: {describe(finding)}"},
        "locations": [_location(one.place, folder)] if repository_path(folder, one.place) else [],
        "occurrenceCount": max(one.count, 1),
    }
    related = [
        {
            "id": number,
            **_location(other.place, folder),
            "message": {"text": other.role + (f" {other.thread.text}" if other.thread else "")},
        }
        for number, other in enumerate(one.related, 1)
        if repository_path(folder, other.place)
    ]
    if related:
        result["relatedLocations"] = related
    return result


def _location(place: Place, folder: str) -> dict[str, Any]:
    region: dict[str, Any] = {"startLine": place.line}
    if place.source:
        region["snippet"] = {"text": place.source}
    uri = urllib.parse.quote(repository_path(folder, place))
    return {"physicalLocation": {"artifactLocation": {"uri": uri, "uriBaseId": "%SRCROOT%"}, "region": region}}


FORMAT = file_format(
    "findings",
    "--sarif",
    "Write what was found as SARIF; - is stdout.",
    lambda report: encode(report.findings, report.prefix),
)
