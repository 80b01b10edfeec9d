"""An existing folder of a class, with its lab and the course's policies."""

from dataclasses import dataclass
from pathlib import Path

from warpgrade.cohort.grades import Attempts, Policies
from warpgrade.cohort.store import Store
from warpgrade.course import course as courses
from warpgrade.course.course import Course
from warpgrade.lab import labs
from warpgrade.lab.labs import Lab
from warpgrade.machine.errors import BadInput
from warpgrade.machine.paths import Layout
from warpgrade.machine.text import printable_name


@dataclass(frozen=True)
class ClassFolder:
    """The folder of a class, its lab, and the course's policies for the lab."""

    store: Store
    lab: Lab
    policies: Policies


def load_class(layout: Layout, folder: Path, attempts: Attempts | None = None) -> ClassFolder:
    """Load the class of a folder; raises BadInput if the folder has none."""
    store = Store(folder)
    head = store.head()
    if head is None:
        raise BadInput(
            f"{printable_name(str(folder))} is not the folder of a class", hint="name the --out of `warpgrade class`"
        )
    lab, course = labs.find(layout, head.place or head.lab), courses.find_course(layout)
    return ClassFolder(store, lab, course_policies(lab, course, attempts))


def course_policies(lab: Lab, course: Course | None, attempts: Attempts | None = None) -> Policies:
    """Return the course's policies for a lab."""
    most = (course.applied(lab) if course else lab).max_points
    return Policies(lab.name, most, course, attempts)
