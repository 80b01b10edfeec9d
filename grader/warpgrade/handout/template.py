"""Writes a platform's template for a lab: its files filled in, the wheels, and the lab with its tests compiled."""

import html
import io
import json
import shutil
import tarfile
import tempfile
import tomllib
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import msgspec

from warpgrade import platforms
from warpgrade.course import course as courses
from warpgrade.course import excerpt
from warpgrade.handout import essentials
from warpgrade.lab.labs import Lab
from warpgrade.machine import disk_space
from warpgrade.machine.errors import BadInput, GraderError
from warpgrade.machine.files import remove, write_zip
from warpgrade.machine.paths import COMMAND, Layout
from warpgrade.machine.text import number

Say = Callable[[str], None]
Tests = Literal["all", "public", "none"]

_PLATFORMS = Path(platforms.__file__).parent
_COMMON = "common"


class Description(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """platform.toml.

    install, course: the folders of the wheels and of the lab in the template; none where there is neither.
    tests: which of the lab's tests go there, `public` where students could read the files.
    executable: files with the right to be run. pack: archives, and the folder that each is made of.
    next: what the instructor does with it.
    """

    title: str
    next: str
    tests: Tests
    install: str = ""
    course: str = ""
    executable: list[str] = []
    pack: dict[str, str] = {}


@dataclass(frozen=True)
class Platform:
    """A platform: its folder here and what its platform.toml says."""

    name: str
    about: Description

    @property
    def folder(self) -> Path:
        """Where its template is."""
        return _PLATFORMS / self.name


def list_platforms() -> list[Platform]:
    """Return all platforms, by name."""
    files = sorted(_PLATFORMS.glob("*/platform.toml"))
    return [
        Platform(file.parent.name, msgspec.convert(tomllib.loads(file.read_text(encoding="utf-8")), Description))
        for file in files
    ]


def find_platform(name: str) -> Platform:
    """Return the platform of that name."""
    known = {platform.name: platform for platform in list_platforms()}
    if name not in known:
        raise BadInput(f"“{name}” is no platform", hint=f"there are {', '.join(known)}")
    return known[name]


def wheels(layout: Layout, given: Sequence[Path]) -> list[Path]:
    """Return the wheels to carry: those given, as files or folders of them, or the newest of a checkout's dist/."""
    if given:
        named = [path for each in given for path in (sorted(each.glob("*.whl")) if each.is_dir() else [each])]
        missing = next((path for path in named if not path.is_file()), None)
        if missing is not None:
            raise BadInput(f"--wheel {missing}: there is no such file")
    else:
        built = sorted((layout.root / "dist").glob("warpgrade-*.whl"), key=lambda path: path.stat().st_mtime)
        named = built[-1:]
    if not any(path.name.startswith("warpgrade-") for path in named):
        raise BadInput(
            "no wheel of Warpgrade to put into the template",
            hint="run ./warpgrade package first, or name a wheel, or a folder of wheels, with --wheel",
        )
    return named


def write(
    layout: Layout, platform: Platform, lab: Lab, out: Path, wheel_files: Sequence[Path], say: Say, tests: Tests
) -> list[Path]:
    """Write the template into the folder `out`, and return what is in it; nothing that is there is overwritten."""
    about = platform.about
    words = _words(platform, lab)
    with tempfile.TemporaryDirectory(prefix="warpgrade-platform-") as scratch:
        root = Path(scratch) / "template"
        sources = [_PLATFORMS / _COMMON, platform.folder] if about.install else [platform.folder]
        for source in sources:
            _fill(source, root, words)
        if about.install:
            target = root / _substitute(about.install, words) / "wheels"
            target.mkdir(parents=True)
            for path in wheel_files:
                shutil.copyfile(path, target / path.name)
        if tests != "none" and about.course:
            folder = root / _substitute(about.course, words) / "labs" / lab.name
            essentials.write(layout, lab, folder, say, public_only=tests == "public")
            found = courses.find_course(layout)
            names = [item.name for item in lab.chosen(public_only=tests == "public")]
            if text := excerpt.lab_excerpt(found, lab.name, names) if found else "":
                (folder.parents[1] / "course.toml").write_text(text, encoding="utf-8")
        for name in about.executable:
            (root / _substitute(name, words)).chmod(0o755)
        for archive, name in about.pack.items():
            _pack(root / _substitute(archive, words), root / _substitute(name, words))
        return _move(root, out)


def next_steps(platform: Platform, lab: Lab) -> str:
    """Return what the instructor does with the template."""
    return _substitute(platform.about.next, _words(platform, lab)).strip()


def _words(platform: Platform, lab: Lab) -> dict[str, str]:
    files = lab.file.lab.files
    words = {
        "lab": lab.name,
        "title": lab.title.replace("\\", "").replace('"', "'"),
        # Also for pages that PrairieLearn fills in where braces are doubled.
        "title_html": html.escape(lab.title).replace("{", "&#123;"),
        "file": lab.main_file,
        "files": ",".join(name for name in files if "*" not in name),
        "files_json": json.dumps(files),
        "handin": lab.main_file if len(files) == 1 else f"{lab.name}.zip",
        "points": number(lab.max_points),
        "uuid": str(uuid.uuid5(uuid.NAMESPACE_URL, f"warpgrade:{lab.name}")),
    }
    words["course"] = _substitute(platform.about.course, words)
    words["install"] = _substitute(platform.about.install, words)
    return words


def _substitute(text: str, words: dict[str, str]) -> str:
    for name, value in words.items():
        text = text.replace(f"@{name}@", value)
    return text


def _fill(source: Path, root: Path, words: dict[str, str]) -> None:
    for path in sorted(source.rglob("*.in")):
        target = root / _substitute(path.relative_to(source).as_posix().removesuffix(".in"), words)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(_substitute(path.read_text(encoding="utf-8"), words), encoding="utf-8")


def _pack(archive: Path, folder: Path) -> None:
    """Make the folder an archive: a zip has its files at the root, as Gradescope wants it; a tar, the folder itself."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    if archive.suffix == ".zip":
        write_zip(archive, files, folder)
    else:
        with tarfile.open(archive, "w") as tar:
            for path in files:
                member = tarfile.TarInfo(path.relative_to(folder.parent).as_posix())
                member.size, member.mode = path.stat().st_size, path.stat().st_mode & 0o777
                tar.addfile(member, io.BytesIO(path.read_bytes()))
    shutil.rmtree(folder)


def _move(root: Path, out: Path) -> list[Path]:
    names = sorted(path.relative_to(root) for path in root.rglob("*") if path.is_file())
    there = next((name for name in names if (out / name).exists()), None)
    if there is not None:
        raise BadInput(f"{out / there} is there already", hint="name an empty folder with --out")
    try:
        for name in names:
            (out / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.move(root / name, out / name)
    except OSError as error:
        for name in names:
            remove(out / name)
        if known := disk_space.trouble(error, [out]):
            raise known from None
        raise GraderError(f"{out} cannot be written: {error.strerror}", hint=f"see {COMMAND} doctor") from None
    return [out / name for name in names]
