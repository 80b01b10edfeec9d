"""Writes what grading a lab needs without its sources: compiled tests, starter, contract and lab.toml.

Handouts and templates of platforms hold these files. They contain no test sources and no reference. Hidden tests are
only in the compiled judge, and with `public_only` not even there.
"""

import shutil
from collections.abc import Callable
from pathlib import Path

from warpgrade.compiling import judges, toolchain
from warpgrade.grading import grade
from warpgrade.handout import public_toml
from warpgrade.lab import good_numbers, handout_note, own_files
from warpgrade.lab.handout_note import HANDOUT
from warpgrade.lab.labs import Lab
from warpgrade.machine.errors import BadInput
from warpgrade.machine.paths import Layout

Say = Callable[[str], None]


def write(
    layout: Layout,
    lab: Lab,
    folder: Path,
    say: Say,
    *,
    public_only: bool,
    words: Callable[[str], str] = lambda text: text,
) -> None:
    """Write it into `folder`, which need not be there yet; `words` changes texts that students read."""
    if public_only and all(item.hidden for item in lab.items):
        raise BadInput(f"lab {lab.name} has no public tests", hint="give points to tests that are not hidden")
    own_files.require(lab)
    own = folder / HANDOUT
    (own / "starter").mkdir(parents=True)
    for name, content in grade.starter_files(lab).items():
        (own / "starter" / name).write_text(words(content.decode()), encoding="utf-8")
    for path in lab.given:
        place = folder / "given" if path.parent.name == "given" else folder
        place.mkdir(exist_ok=True)
        (place / path.name).write_text(words(own_files.read_text(path)), encoding="utf-8")
    for path in sorted(path for path in lab.data.glob("*") if path.is_file()):
        if not (public_only and path.name.startswith("hidden")):
            (folder / "data").mkdir(exist_ok=True)
            shutil.copyfile(path, folder / "data" / path.name)
    programs = judges.build(layout, lab, toolchain.find(layout), say, public_only=public_only)
    shutil.copy(programs.judge, own / "judge")
    shutil.copyfile(programs.binding, own / "binding.o")
    if good := good_numbers.read(lab):
        tests = [item.name for item in lab.chosen(public_only=public_only)]
        (own / good_numbers.path(lab).name).write_bytes(good_numbers.encode(good, tests))
    handout_note.write(folder, lab.name)
    text = public_toml.text(lab, 0) if public_only else own_files.read_text(lab.folder / "lab.toml")
    (folder / "lab.toml").write_text(text, encoding="utf-8")
