"""The files of a lab that leave with it: no link leads elsewhere, and what should be text is."""

from pathlib import Path

from warpgrade.lab.labs import Lab, LabMistake
from warpgrade.machine.text import printable_name


def require(lab: Lab) -> None:
    """Refuse a lab with a link that leads out of its folder: what is behind it would be handed out with the lab."""
    inside = lab.folder.resolve()
    for path in sorted(lab.folder.rglob("*")):
        if path.is_symlink() and not path.resolve().is_relative_to(inside):
            name = printable_name(str(path.relative_to(lab.folder)))
            what = f"labs/{lab.folder.name}/{name} is a link to a place outside of the lab: put a copy there"
            raise LabMistake(what)


def read_text(path: Path) -> str:
    """Return what a file of a lab says; raises LabMistake where it is missing or no text."""
    name = f"{printable_name(path.parent.name)}/{printable_name(path.name)}"
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise LabMistake(f"{name} is not UTF-8 text", hint="save it as UTF-8") from None
    except OSError as error:
        raise LabMistake(f"{name} cannot be read: {error.strerror}") from None
