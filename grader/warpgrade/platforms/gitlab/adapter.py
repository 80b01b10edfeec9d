"""Findings as GitLab's report on code quality, which stands beside the lines of a merge request."""

import hashlib
from collections.abc import Sequence
from typing import Any

import msgspec

from warpgrade.machine.text import one_line
from warpgrade.platforms.adapter import Adapter
from warpgrade.report.findings import Finding, describe, repository_path
from warpgrade.report.format import file_format

_SEVERITIES = {"error": "critical", "warning": "major", "advice": "info"}


def encode(findings: Sequence[Finding], folder: str = "") -> bytes:
    """Return the list; `folder` is where the files lie in the repository. What has no line there is left out."""
    entries: list[dict[str, Any]] = []
    seen: dict[str, int] = {}
    for finding in findings:
        one = finding.diagnostic
        path = repository_path(folder, one.place)
        if not path or one.place.line < 1:
            continue
        # By the line's words, not its number: the same finding after a change elsewhere in the file.
        key = "\0".join([one.rule, path, one.kernel, one.place.source.strip()])
        seen[key] = seen.get(key, 0) + 1
        entries.append(
            {
                "description": one_line(f"{one.title}: {describe(finding)}", 600),
                "check_name": one.rule,
                "fingerprint": hashlib.sha256(f"{key}\0{seen[key]}".encode()).hexdigest(),
                "severity": _SEVERITIES[one.severity],
                "location": {"path": path, "lines": {"begin": one.place.line}},
            }
        )
    return msgspec.json.format(msgspec.json.encode(entries), indent=1) + b"\n"


_FORMAT = file_format(
    "findings",
    "--code-quality",
    "Write what was found as GitLab's code quality; - is stdout.",
    lambda report: encode(report.findings, report.prefix),
)

ADAPTER = Adapter(formats=(_FORMAT,))
