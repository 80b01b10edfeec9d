"""`doctor` and `test`: Warpgrade looks at its machine and at itself."""

from __future__ import annotations

import click

from warpgrade.cli.console import console
from warpgrade.dev import doctor, testing
from warpgrade.machine import paths
from warpgrade.machine.errors import EXIT_DONE, EXIT_GRADER_ERROR


@click.command("doctor")
def doctor_command() -> int:
    """Say what this machine has, what is missing and how to get it."""
    findings = doctor.examine(paths.find_layout())
    doctor.show(console(), findings)
    return EXIT_DONE if all(finding.good for finding in findings) else EXIT_GRADER_ERROR


@click.command("test")
@click.option("--quick", is_flag=True, help="Leave out clang-tidy and the grading of real submissions.")
def test_command(quick: bool) -> int:
    """Run the project's own tests."""
    return testing.run(paths.find_layout(), quick=quick)
