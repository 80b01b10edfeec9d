"""A new lab from the template beside this file: small and complete, so that its author begins with what proves itself.

In the template's texts and file names `@lab@` stands for the lab's name, `@order@` for its place in the course. Its
files end in `.in`, so that no tool takes them for code of this project.
"""

import shutil
from pathlib import Path

from warpgrade.lab import labs, starter
from warpgrade.lab.labs import Lab
from warpgrade.machine.errors import BadInput
from warpgrade.machine.files import remove, unfinished_path
from warpgrade.machine.paths import Layout

_TEMPLATE = Path(__file__).parent / "template"
_SYSTEM_HEADERS = Path("/usr/include")


def create(layout: Layout, name: str) -> Lab:
    """Write labs/NAME, reference/NAME and starter/NAME, where none of them is there; return the lab."""
    _check(layout, name)
    order = max((lab.file.lab.order for lab in labs.discover(layout)), default=0) + 10

    def filled(text: str) -> str:
        return text.replace("@lab@", name).replace("@order@", str(order))

    try:
        for source in sorted(_TEMPLATE.rglob("*.in")):
            target = layout.root / filled(str(source.relative_to(_TEMPLATE).with_suffix("")))
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(filled(source.read_text(encoding="utf-8")), encoding="utf-8")
        _give_common_headers(layout)
        lab = labs.find(layout, name)
        starter.write(lab)
    except BaseException:
        for folder in (layout.labs, layout.references, layout.starters):
            remove(folder / name)
        raise
    return lab


def _give_common_headers(layout: Layout) -> None:
    """Begin a course with what all labs give to submissions, if it has nothing of the kind."""
    common = layout.labs / "common"
    if layout.native is not None and not common.exists():
        with unfinished_path(common) as unfinished:
            shutil.copytree(layout.native / "common", unfinished)


def _check(layout: Layout, name: str) -> None:
    if not labs.is_name(name):
        raise BadInput(
            f"“{name}” cannot be the name of a lab",
            hint="use lower-case letters, digits and _, beginning with a letter",
        )
    for folder in (layout.labs, layout.references, layout.starters):
        if (folder / name).exists():
            raise BadInput(f"{folder.name}/{name} is already there", hint="choose another name, or remove that folder")
    if (_SYSTEM_HEADERS / f"{name}.h").exists():
        raise BadInput(
            f"the contract of lab {name} would hide the system's header <{name}.h>", hint="choose another name"
        )
