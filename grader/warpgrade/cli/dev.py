"""`doctor` and `test`: Warpgrade looks at its machine and at itself."""

from pathlib import Path

import click

from warpgrade.cli.console import console
from warpgrade.dev import doctor, package, testing
from warpgrade.machine import paths
from warpgrade.machine.errors import EXIT_DONE, EXIT_GRADER_ERROR
from warpgrade.machine.progress import Count, Progress


@click.command("doctor")
def doctor_command() -> int:
    """Say what this machine has, what is missing and how to get it."""
    findings = doctor.examine(paths.find_layout())
    doctor.show(console(), findings)
    return EXIT_DONE if all(finding.good for finding in findings) else EXIT_GRADER_ERROR


@click.command("package")
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), default="dist", help="Folder of the wheel.")
@click.option(
    "--level", "levels", multiple=True, type=click.Choice(package.ALL_LEVELS),
    help="Build for this level of x86-64 only; may be repeated.",
)  # fmt: skip
def package_command(out: Path, levels: tuple[str, ...]) -> int:
    """Build the wheel that other machines install."""
    with Progress(console(stderr=True)) as progress:
        steps = Count(progress, "steps")
        levels = levels or package.ALL_LEVELS
        wheel = package.build(paths.find_layout(), out, progress.say, steps.show, levels=levels)
    click.echo(f"{wheel}  {wheel.stat().st_size / 1e6:.1f} MB")
    return EXIT_DONE


@click.command("test")
@click.option("--quick", is_flag=True, help="Leave out clang-tidy and the grading of real submissions.")
@click.option("--all", "nightly", is_flag=True, help="With the tests that otherwise run at night only.")
@click.option(
    "--changed", metavar="[REV]", is_flag=False, flag_value="HEAD",
    help="Only what the changes since a revision of git can break; without one, those not committed yet.",
)  # fmt: skip
@click.option("--gpu", is_flag=True, help="Only what needs an NVIDIA GPU.")
def test_command(quick: bool, nightly: bool, changed: str | None, gpu: bool) -> int:
    """Run the project's own tests."""
    if gpu:
        return testing.run_gpu(paths.find_layout())
    if changed is not None:
        return testing.run_changed(paths.find_layout(), changed)
    return testing.run(paths.find_layout(), quick=quick, nightly=nightly)
