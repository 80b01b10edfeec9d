"""Writes the report formats that the command line asks for: general ones and those of platforms."""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import click

from warpgrade.course.course import Course
from warpgrade.findings.accesses import Traces
from warpgrade.platforms import registry
from warpgrade.report import formats as general
from warpgrade.report import hidden
from warpgrade.report.format import Format, Reads, Report


def formats(reads: Reads) -> list[Format]:
    """Return the formats that a result, or a profile, can be written in, by their options."""
    found = [*general.find_formats(reads), *registry.formats(reads)]
    return sorted(found, key=lambda each: each.option.opts[0])


@dataclass(frozen=True)
class Outlets:
    """The formats, each with what its option says."""

    asked: Sequence[tuple[Format, Any]]

    @classmethod
    def take(cls, reads: Reads, given: dict[str, Any]) -> "Outlets":
        """Take the formats' options out of those that a command was given."""
        return cls([(each, given.pop(each.option.name or "")) for each in formats(reads)])

    @property
    def on_stdout(self) -> bool:
        """Whether stdout belongs to one of them."""
        return any(value == "-" for _, value in self.asked)

    @property
    def by_line(self) -> bool:
        """Whether one of them shows counters by source line."""
        return any(value is not None and each.by_line for each, value in self.asked)

    def new_traces(self) -> Traces | None:
        """Return what keeps recorded accesses, if one of them shows such."""
        return Traces() if any(value is not None and each.traced for each, value in self.asked) else None

    def check(self) -> None:
        """Raise BadInput, before the work, when a file cannot be written."""
        for each, value in self.asked:
            each.check(value)

    def write_instead(self, course: Course) -> str:
        """Write what platforms show where the course does not let a submission be graded; return why, or ""."""
        return next(filter(None, (each.write_instead(value, course) for each, value in self.asked)), "")

    def publish(self, report: Report) -> None:
        """Write them, with what students may see of the result; only a file for those who grade gets all of it."""
        gated = report
        if report.result is not None:
            earlier = report.earlier and hidden.for_students(report.earlier)
            gated = dataclasses.replace(report, result=hidden.for_students(report.result), earlier=earlier)
        for each, value in self.asked:
            each.write(value, report if each.whole else gated)


def with_formats(reads: Reads, command: click.Command) -> click.Command:
    """Add the options of the formats to a command."""
    command.params += [each.option for each in formats(reads)]
    return command
