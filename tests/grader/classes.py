"""Folders and archives as platforms export them, and what is collected of them."""

import io
import tarfile
import zipfile
from collections.abc import Mapping
from pathlib import Path

from warpgrade.cohort.attempts import ClassAttempts, StudentAttempt
from warpgrade.intake.intake import LENIENT
from warpgrade.machine.errors import BadInput

CODE = b"void toy(float*, int) {}\n"
Tree = Mapping[str, bytes]


def packed(**files: bytes) -> bytes:
    """Return a zip's bytes."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name.replace("__", "."), content)
    return buffer.getvalue()


def laid(home: Path, kind: str, tree: Tree, name: str = "export") -> Path:
    """Lay the files down as a folder, or in an archive of that kind."""
    if kind == "folder":
        for path, content in tree.items():
            file = home / name / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
        return home / name
    target = home / f"{name}.{kind}"
    if kind == "zip":
        with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
            for path, content in tree.items():
                archive.writestr(path, content)
        return target
    packing = kind.partition(".")[2]
    with tarfile.open(target, f"w:{packing}") as tar:  # type: ignore[call-overload]
        for path, content in tree.items():
            entry = tarfile.TarInfo(path)
            entry.size = len(content)
            tar.addfile(entry, io.BytesIO(content))
    return target


def read(one: StudentAttempt) -> dict[str, bytes] | str:
    """Return its files, or why it is refused."""
    try:
        return one.read(LENIENT).files
    except BadInput as problem:
        assert "\x1b" not in problem.message
        return problem.message


def students(collected: ClassAttempts) -> list[tuple[str, str]]:
    return [(one.student, one.name) for one in collected.submissions]


def outcomes(collected: ClassAttempts) -> dict[str, dict[str, bytes] | str]:
    """Return what each student's reading gives; fails if one has several."""
    found = {one.student: read(one) for one in collected.submissions}
    assert len(found) == len(collected.submissions)
    return found
