"""Reads a submission in a confined process, within the lab's limits."""

import dataclasses
from collections.abc import Callable
from pathlib import Path

from warpgrade.grading.submission import Submission
from warpgrade.intake import intake
from warpgrade.intake.intake import LENIENT, Leniency
from warpgrade.lab.budget import allowance_of
from warpgrade.lab.labs import Lab
from warpgrade.machine import confined
from warpgrade.machine.confined import Allowance, OverBudget
from warpgrade.machine.errors import BadInput
from warpgrade.machine.text import printable_name


def read(lab: Lab, path: Path, called: str = "", how: Leniency = LENIENT) -> Submission:
    """Read the submission at `path` as `intake.read` does; what takes too long or too much is refused as well."""
    shown = called or printable_name(str(path))
    return read_confined(lab, shown, lambda allowance: confined.call(allowance, intake.read, lab, path, called, how))


def read_confined(lab: Lab, shown: str, reader: Callable[[Allowance], Submission]) -> Submission:
    """Read a submission with `reader`, and note the processor time that it takes."""
    allowance = allowance_of(lab.file.limits)
    try:
        taken = reader(allowance)
    except OverBudget as over:
        raise BadInput(
            f"{shown}: reading it {over}", hint="hand in the source files alone, or a plain zip of them",
            review="a submission that takes too much to be read",
        ) from None  # fmt: skip
    return dataclasses.replace(taken, seconds=allowance.used)
