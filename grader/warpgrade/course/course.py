"""A course: which labs in which order, with the points that it gives their tests."""

import zoneinfo
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime, tzinfo

import msgspec

from warpgrade.course import reader
from warpgrade.course.schema import CourseFile, LabEntry
from warpgrade.lab import labs
from warpgrade.lab.labs import Lab, Mistake, SpeedItem
from warpgrade.lab.speed_curve import Curve
from warpgrade.machine.paths import Layout
from warpgrade.machine.text import number


@dataclass(frozen=True)
class Course:
    """A course's file, and its text for messages with lines."""

    file: CourseFile
    text: str = ""

    def entry(self, name: str) -> LabEntry | None:
        """Return what the course says of a lab; None of one that is not in it."""
        return next((entry for entry in self.file.lab if entry.name == name), None)

    @property
    def zone(self) -> tzinfo | None:
        """The time zone of times that say none."""
        name = self.file.course.timezone
        return zoneinfo.ZoneInfo(name) if name else None

    def in_order(self, known: list[Lab]) -> list[Lab]:
        """Return those of the labs that are in the course, in its order and with its points."""
        by_name = {lab.name: lab for lab in known}
        return [self.applied(by_name[entry.name]) for entry in self.file.lab if entry.name in by_name]

    def others(self, known: list[Lab]) -> list[Lab]:
        """Return those of the labs that are not in the course."""
        return [lab for lab in known if self.entry(lab.name) is None]

    def applied(self, lab: Lab) -> Lab:
        """Return a lab with the points that the course gives its tests; raises CourseMistake where they do not fit."""
        entry = self.entry(lab.name)
        if entry is None or not (entry.points or entry.prelab_due):
            return lab
        reader.refuse(self._mistakes_with(lab))
        points = {item.name: item.points for item in lab.items} | entry.points
        tests = [msgspec.structs.replace(item, points=points[item.name]) for item in lab.file.test]
        speed = [_scaled(item, points[item.name]) for item in lab.file.speed]
        return replace(lab, file=msgspec.structs.replace(lab.file, test=tests, speed=speed))

    def share(self, name: str) -> float:
        """Return a lab's percent of the course's grade."""
        entry = self.entry(name)
        return 100 * entry.weight / sum(each.weight for each in self.file.lab) if entry else 0.0

    def facts(self, name: str) -> str:
        """Say in one line when prelab and lab are due, share of the grade, rubric, and when hidden tests are shown."""
        entry = self.entry(name)
        if entry is None:
            return "not in the course"
        facts = [f"prelab due {format_time(entry.prelab_due)}"] if entry.prelab_due else []
        facts += [f"due {format_time(entry.due)}"] if entry.due else []
        facts.append(f"{number(self.share(name))} % of the course")
        if entry.rubric:
            items = ", ".join(f"{item.name} {number(item.points)}" for item in entry.rubric)
            facts.append(f"a person gives {number(sum(item.points for item in entry.rubric))} more ({items})")
        if entry.hidden_until:
            facts.append(f"hidden tests from {format_time(entry.hidden_until)}")
        return " · ".join(facts)

    def is_pinned_compiler(self, version: str) -> bool:
        """Tell whether a version of nvcc is the course's: 13.0 stands for 13.0.88."""
        pinned = self.file.course.compiler
        return not pinned or f"{version}.".startswith(f"{pinned}.")

    def mistakes(self, layout: Layout) -> Iterator[Mistake]:
        """Yield where the course does not fit the labs that are there."""
        yield from reader.missing_labs(self.file, self.text, layout)
        for lab in labs.discover(layout):
            yield from self._mistakes_with(lab)

    def _mistakes_with(self, lab: Lab) -> Iterator[Mistake]:
        for index, entry in enumerate(self.file.lab):
            if entry.name == lab.name:
                yield from reader.mistakes_with_lab(entry, index, lab, self.text)
                for item in lab.file.speed:
                    if entry.points.get(item.name, 0) > 0 and item.points == 0:
                        what = f"“{item.name}” has 0 points in lab.toml, so its curve cannot be scaled: change it there"
                        yield Mistake(reader.NAME, 0, what)


def _scaled(item: SpeedItem, points: float) -> SpeedItem:
    """Return a speed test with other points: its curve keeps its speed-ups."""

    def curve(old: Curve | None) -> Curve | None:
        return old and [*((value, worth * points / item.points) for value, worth in old[:-1]), (old[-1][0], points)]

    if points == item.points:
        return item
    return msgspec.structs.replace(item, points=points, vgpu=curve(item.vgpu), gpu=curve(item.gpu))


def find_course(layout: Layout) -> Course | None:
    """Return the course that these labs belong to; None where there is no course.toml. Raises CourseMistake."""
    found = reader.read(layout)
    return None if found is None else Course(*found)


def format_time(moment: datetime) -> str:
    """Return a moment as people read it: 2027-03-01 23:59 CET."""
    return f"{moment:%Y-%m-%d %H:%M} {moment.tzname() or ''}".rstrip()
