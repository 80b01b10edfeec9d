"""The options of `grade`, `check` and `run` about the device's checks, and where findings go besides the terminal."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from warpgrade.files import check_writable, write
from warpgrade.report import github, sarif
from warpgrade.report.findings import Finding

CHECKS = ("race", "init", "sync", "advice")


@dataclass(frozen=True)
class Outlets:
    """Where findings go; `annotations` is what --annotations says, None if it says nothing."""

    sarif_file: str | None = None
    annotations: str | None = None

    def check(self) -> None:
        """Raise BadInput, before the work, when a file cannot be written."""
        if self.sarif_file is not None:
            check_writable("--sarif", self.sarif_file)

    def publish(self, findings: Sequence[Finding], folder: Path | None) -> None:
        """Write them; `folder` is where the files lie that they name. They name no place outside the repository."""
        prefix = _below_repository(folder)
        write(self.sarif_file, "--sarif", sarif.encode(findings, prefix))
        # As commands of a workflow they may come on stderr, too; stdout belongs to the program, or to JSON.
        if (self.annotations or ("github" if os.environ.get("GITHUB_ACTIONS") == "true" else "none")) == "github":
            click.echo(github.commands(findings, prefix), err=True, nl=False)


def options(command: Any) -> Any:
    """Add the options to a command."""
    for option in reversed(
        [
            click.option(
                "--checks", default="all", callback=_checks, metavar="all|none|race,init,sync,advice",
                help="What the device looks for besides.",
            ),
            click.option("--advice", is_flag=True, help="Show all advice on speed, not only the weightiest."),
            click.option("--sarif", "sarif_file", metavar="FILE", help="Write what was found as SARIF; - is stdout."),
            click.option(
                "--annotations", type=click.Choice(["github", "none"]),
                help="Write annotations for a workflow; in GitHub Actions they are on.",
            ),
        ]
    ):  # fmt: skip
        command = option(command)
    return command


def _checks(context: click.Context, parameter: click.Parameter, value: str) -> str:
    words = value.split(",")
    if value not in ("all", "none") and not all(word in CHECKS for word in words):
        raise click.BadParameter(f"say all, none, or some of {','.join(CHECKS)}", ctx=context, param=parameter)
    return value


def _below_repository(folder: Path | None) -> str:
    """Return `hand-ins/jane/`: the folder from the workflow's repository, or from here; nothing outside of it."""
    if folder is None:
        return ""
    root = Path(os.environ.get("GITHUB_WORKSPACE") or Path.cwd()).resolve()
    place = folder.resolve()
    if place == root or not place.is_relative_to(root):
        return ""
    return f"{place.relative_to(root).as_posix()}/"
