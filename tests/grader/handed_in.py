"""Submissions of the toy lab, in folders and archives, and what is said of those that are refused."""

import io
import tarfile
import zipfile
from pathlib import Path

import pytest

from warpgrade.intake import intake
from warpgrade.intake.intake import LENIENT, Leniency
from warpgrade.lab.labs import Lab
from warpgrade.machine.errors import BadInput

CODE = b"void toy(float*, int) {}\n"


def refused(lab: Lab, path: Path, how: Leniency = LENIENT) -> str:
    with pytest.raises(BadInput) as caught:
        intake.read(lab, path, how=how)
    assert "\x1b" not in caught.value.message
    return f"{caught.value.message} | {caught.value.hint}"


def folder_of(path: Path, **files: bytes) -> Path:
    path.mkdir(exist_ok=True)
    for name, content in files.items():
        (path / name.replace("__", ".")).write_bytes(content)
    return path


def zip_of(path: Path, *entries: tuple[str | zipfile.ZipInfo, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries:
            archive.writestr(name, content)
    return path


def tar_of(path: Path, *entries: tuple[str | tarfile.TarInfo, bytes], style: int = tarfile.GNU_FORMAT) -> Path:
    """Make a tar, packed as its name says; what an entry holds need not fit its kind."""
    packing = {"gz": "gz", "tgz": "gz", "bz2": "bz2", "tbz": "bz2", "xz": "xz", "txz": "xz"}.get(
        path.name.lower().rpartition(".")[2], ""
    )
    with tarfile.open(path, f"w:{packing}", format=style) as archive:  # type: ignore[call-overload]
        for given, content in entries:
            entry = tarfile.TarInfo(given) if isinstance(given, str) else given
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content) if content else None)
    return path
