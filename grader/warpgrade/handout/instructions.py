"""Writes CHECK.md and the container of a handout: how a student installs Warpgrade, checks the lab and hands it in."""

import json
import re
from dataclasses import dataclass
from pathlib import Path

from warpgrade.course import late
from warpgrade.course.course import Course, format_time
from warpgrade.lab.handout_note import HANDOUT
from warpgrade.lab.labs import Lab
from warpgrade.machine import paths
from warpgrade.machine.errors import BadInput
from warpgrade.machine.text import listing, printable_name

# What Debian and Ubuntu call what checking needs besides the wheel; Python itself comes with python3-venv.
PACKAGES = ("g++", "bubblewrap", "python3-venv")
_FILES = Path(__file__).parent / "files"
_WHEEL_NAME = re.compile(r"warpgrade-[\w.+-]+\.whl")
# Nothing that means anything to a shell inside of quotation marks, for it is printed as part of a command.
_URL = re.compile(rf"https?://[\w.~:/?@&()*+,;=%-]*/{_WHEEL_NAME.pattern}(?:#[\w=&]+)?", re.ASCII)
_MAX_CONTACT = 200
_LINK = re.compile(r"\[([^\]]+)\]\([^)]*\)")
_CALLED = re.compile(r"\./warpgrade\b")
_PAGE = """# How to check your work

## Once on each machine

A Linux machine (Debian 12, Ubuntu 24.04 or newer) or WSL, without a GPU.{wheel_note} In this folder:

    sudo apt-get install {packages}
    python3 -m venv ~/warpgrade
    ~/warpgrade/bin/pip install {wheel}
    echo 'export PATH="$HOME/warpgrade/bin:$PATH"' >> ~/.bashrc
    export PATH="$HOME/warpgrade/bin:$PATH"
    warpgrade doctor

`[cuda]` brings the CUDA compiler, about 300 MiB; leave it out where nvcc 12.4 or newer is installed. `doctor` says what
is missing, if anything is. In VS Code, *Reopen in Container* does all of this.

## After each change

In this folder:

    warpgrade check

It compiles {files}, runs the public tests and says what to fix first. `warpgrade check --only TEXT` runs the tests with
that in their names; `--full` shows everything that was found; `--watch` checks at each save. Your work may be graded
with more tests than these.

## Handing in

{handing_in}
"""
_REMOVE = """
## Removing it

    rm -rf ~/warpgrade ~/.cache/warpgrade

and the line with `warpgrade/bin` at the end of `~/.bashrc`.
"""


@dataclass(frozen=True)
class Wheel:
    """Where students get Warpgrade: a file that is put into each handout, or an address; else from the instructor."""

    file: Path | None = None
    url: str = ""

    @property
    def requirement(self) -> str:
        """What pip is to install, for a shell in the handout's folder; it must not ask an index for Warpgrade."""
        if self.url:
            return f'"warpgrade[cuda] @ {self.url}"'
        if self.file:
            return f'"./{HANDOUT}/{self.file.name}[cuda]"'
        return '"$(echo ./warpgrade-*.whl)[cuda]"'


def find_wheel(named: str) -> Wheel:
    """Return the wheel that `--wheel` names; raises BadInput."""
    if not named:
        return Wheel()
    if "://" in named:
        if not _URL.fullmatch(named):
            what = f"--wheel {printable_name(named)}: this is no address of a wheel"
            raise BadInput(what, hint="it looks like https://…/warpgrade-….whl, without quotation marks and spaces")
        return Wheel(url=named)
    path = Path(named)
    if not path.is_file() or not _WHEEL_NAME.fullmatch(path.name):
        why = "is no wheel of Warpgrade" if path.is_file() else "there is no such file"
        hint = f"{paths.COMMAND} package builds one" if paths.COMMAND.startswith("./") else "name warpgrade-….whl"
        raise BadInput(f"--wheel {printable_name(named)}: {why}", hint=hint)
    return Wheel(file=path)


def require_contact(contact: str) -> str:
    """Return whom students ask, if it is one short line of text; raises BadInput."""
    if len(contact) > _MAX_CONTACT or not contact.isprintable():
        raise BadInput(f"--contact is one line of up to {_MAX_CONTACT} characters", hint="such as --contact ta@uni.edu")
    return contact.strip()


def page(lab: Lab, course: Course | None, wheel: Wheel, contact: str) -> str:
    """Return CHECK.md."""
    ask = f" from {contact}" if contact else " from your instructor"
    text = _PAGE.format(
        files=" and ".join(lab.file.lab.files),
        packages=" ".join(PACKAGES),
        wheel=wheel.requirement,
        wheel_note="" if wheel.file or wheel.url else f" Get the file `warpgrade-….whl`{ask}, and put it here.",
        handing_in=_handing_in(lab, course, contact),
    )
    return text + _reading() + _REMOVE


def devcontainer(lab: Lab, wheel: Wheel) -> str:
    """Return the description of a container for editors in which the lab can be checked."""
    packages = " ".join(("ca-certificates", *PACKAGES))
    commands = [
        "apt-get update",
        f"apt-get install -y --no-install-recommends {packages}",
        "python3 -m venv /opt/warpgrade",
        f"/opt/warpgrade/bin/pip install {wheel.requirement}",
    ]
    about = json.loads((_FILES / "devcontainer.json").read_text(encoding="utf-8"))
    return json.dumps(
        {"name": lab.title, **about, "onCreateCommand": " && ".join(commands)}, ensure_ascii=False, indent=2
    )


def _handing_in(lab: Lab, course: Course | None, contact: str) -> str:
    entry = course.entry(lab.name) if course else None
    due = entry.due if entry else None
    lines = [f"Hand in {listing([f'`{name}`' for name in lab.file.lab.files])}."]
    if lab.answers:
        lines[0] += f" Your answers in `{lab.answers}` go with them; a person reads them, and no check does."
    if entry and entry.prelab_due:
        lines.append(
            f"The prelab is due {format_time(entry.prelab_due)}: hand in what you have by then. "
            "Of several submissions, the prelab of one and the rest of another can count."
        )
    if course and due:
        lines.append(f"It is due {format_time(due)}. {late.describe(course.file.late)}".rstrip())
    if contact:
        lines.append(f"Questions: {contact}")
    return "\n\n".join(lines)


def _reading() -> str:
    """Return what students read about reports, of the page that they have here."""
    try:
        text = (paths.docs() / "student.md").read_text(encoding="utf-8")
    except OSError:  # an installed package of before
        return ""
    found = re.search(r"^## Reading a failure\n.*?(?=^## )", text, re.MULTILINE | re.DOTALL)
    return f"\n{for_students(_LINK.sub(lambda link: link[1], found[0])).rstrip()}\n" if found else ""


def for_students(text: str) -> str:
    """Return a text with the command as students call it, who have no launcher."""
    return _CALLED.sub("warpgrade", text)
