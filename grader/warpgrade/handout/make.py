"""`warpgrade release`: what students get of a lab, and a look through it before it leaves.

A handout is a folder that is complete: sheet, contract, starter, public tests to read, and in `.warpgrade/` what
checking needs (the judge of the public tests, compiled, and the unmodified starter). It does not need this repository.
"""

import re
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from warpgrade.compiling import judges
from warpgrade.course import course as courses
from warpgrade.grading import grade
from warpgrade.handout import essentials, instructions, leaks, public_toml, sheet
from warpgrade.handout.instructions import Wheel
from warpgrade.intake import intake
from warpgrade.lab import agreement, labs, own_files
from warpgrade.lab.handout_note import HANDOUT
from warpgrade.lab.labs import Lab
from warpgrade.machine.errors import BadInput, GraderError
from warpgrade.machine.files import unfinished_path, write_zip
from warpgrade.machine.paths import COMMAND, Layout

Say = Callable[[str], None]

# A test's source with this line is handed out compiled only: it would tell answers.
NOT_AS_SOURCE = "// Not handed out as source."
_OWN_INCLUDE = re.compile(r'^\s*#\s*include\s+"([\w.-]+)"', re.MULTILINE)


@dataclass(frozen=True)
class Handout:
    """What was made: its folder or archive, its files, and what the starter scores in it."""

    path: Path
    files: list[str]
    points: float
    max_points: float


def release(
    layout: Layout,
    lab: Lab,
    out: Path,
    say: Say = lambda text: None,
    *,
    wheel: Wheel = Wheel(),  # noqa: B008 - frozen
    contact: str = "",
) -> Handout:
    """Make the handout of a lab as the folder `out`/LAB, or as the archive `out` where that ends in .zip.

    contact: whom students ask. The wheel is put in last: it is no part of the lab, and `package` has looked through it.
    Raises GraderError when anything in it is not for students, or its starter does not reach its baseline.
    """
    if lab.is_handout:
        raise BadInput(f"{lab.folder.name} is a handout itself", hint="name a lab of the course")
    agreement.require(lab)
    own_files.require(lab)
    target = out if out.suffix == ".zip" else out / lab.name
    if target.exists():
        raise BadInput(f"{target} is already there", hint="remove it, or choose another --out")
    with tempfile.TemporaryDirectory(prefix="warpgrade-release-") as scratch:
        folder = Path(scratch) / lab.name
        _fill(layout, lab, folder, say, wheel, contact)
        say(f"checking the handout of {lab.name} from a fresh place")
        points, most = _baseline(layout, lab, folder)
        say(f"looking through the handout of {lab.name}")
        _look_through(layout, lab, folder)
        if wheel.file:
            shutil.copyfile(wheel.file, folder / HANDOUT / wheel.file.name)
        files = [name for name, _ in leaks.read_folder(folder)]
        if target.suffix == ".zip":
            write_zip(target, [path for path in sorted(folder.rglob("*")) if path.is_file()], folder.parent)
        else:
            with unfinished_path(target) as unfinished:
                shutil.copytree(folder, unfinished)
    return Handout(target, files, points, most)


def _fill(layout: Layout, lab: Lab, folder: Path, say: Say, wheel: Wheel, contact: str) -> None:
    essentials.write(layout, lab, folder, say, public_only=True, words=instructions.for_students)
    for path in (folder / HANDOUT / "starter").iterdir():
        shutil.copyfile(path, folder / path.name)
    if (lab.folder / "figures").is_dir():
        shutil.copytree(lab.folder / "figures", folder / "figures")
    if lab.answers:
        text = instructions.for_students(own_files.read_text(lab.folder / lab.answers))
        (folder / lab.answers).write_text(text, encoding="utf-8")
    found = courses.find_course(layout)
    entry = found.entry(lab.name) if found else None
    text = sheet_text(lab) + sheet.rubric_section(entry.rubric if entry else [])
    (folder / "README.md").write_text(text, encoding="utf-8")
    (folder / "README.html").write_text(sheet.page(text, folder), encoding="utf-8")
    how = instructions.page(lab, found, wheel, contact)
    (folder / "CHECK.md").write_text(how, encoding="utf-8")
    (folder / ".devcontainer").mkdir()
    (folder / ".devcontainer" / "devcontainer.json").write_text(instructions.devcontainer(lab, wheel), encoding="utf-8")
    for path in public_sources(lab):
        (folder / "tests").mkdir(exist_ok=True)
        shutil.copyfile(path, folder / "tests" / path.name)


def sheet_text(lab: Lab) -> str:
    """Return the task sheet as students get it."""
    text = instructions.for_students(own_files.read_text(lab.folder / "README.md"))
    text = sheet.with_points(text, {item.name: item.points for item in lab.items})
    return sheet.without_hidden_rows(sheet.without_links_out(text))


def public_sources(lab: Lab) -> list[Path]:
    """Return the sources of public tests, and the headers of the lab that these include, which students may read."""
    found: dict[str, Path] = {}
    waiting = judges.test_sources(lab, public_only=True)
    while waiting:
        path = waiting.pop()
        text = own_files.read_text(path)
        if path.name in found or NOT_AS_SOURCE in text.splitlines():
            continue
        found[path.name] = path
        waiting += [path.parent / name for name in _OWN_INCLUDE.findall(text) if (path.parent / name).is_file()]
    return [found[name] for name in sorted(found)]


def _baseline(layout: Layout, lab: Lab, folder: Path) -> tuple[float, float]:
    """Grade the starter as a student's first check would, and write what it scores."""
    handed = labs.load(folder)
    result = grade.grade(layout, handed, intake.read(handed, folder), grade.Options(public_only=True))
    if result.status != "graded":
        reason = result.problem.message if result.problem else result.status
        raise GraderError(f"the handout's starter cannot be graded: {reason}", hint=f"run {COMMAND} prove {lab.name}")
    (folder / "lab.toml").write_text(public_toml.text(lab, result.score.points), encoding="utf-8")
    labs.load(folder)
    return result.score.points, result.score.max_points


def _look_through(layout: Layout, lab: Lab, folder: Path) -> None:
    given = [path.read_bytes() for path in (*lab.given, *lab.starter_folder.iterdir()) if path.is_file()]
    given += [path.read_bytes() for path in judges.test_sources(lab, public_only=True)]
    given += [path.read_bytes() for path in (lab.folder / "tests").glob("*.hpp")]
    places = {str(layout.root), str(lab.folder.parent.parent), str(Path.home()), str(layout.state), str(folder.parent)}
    found_course = courses.find_course(layout)
    students = {one.student for one in found_course.file.extension} if found_course else set()
    secrets = [*leaks.secrets(lab, given, sorted(places - {"/"})), *leaks.student_names(students)]
    found = list(leaks.find(leaks.read_folder(folder), secrets))
    if found:
        first, *rest = (leak.message for leak in found)
        raise GraderError(
            f"not released: {first}", detail="\n".join(rest[:12]), hint="remove it from what students get"
        )
