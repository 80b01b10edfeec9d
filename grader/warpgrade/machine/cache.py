"""A cache of folders by content: whole or not there, the oldest forgotten, bounded in entries and in bytes."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from warpgrade.machine import space

_KEPT_ENTRIES = 300
_KEPT_BYTES = 2 << 30
_UNFINISHED = ".new-"
_UNFINISHED_SECONDS = 24 * 3600.0  # no build takes as long: its maker was killed


def key(words: Iterable[str], contents: Mapping[str, bytes]) -> str:
    """Return a name for what is made of these words and files."""
    total = hashlib.sha256()
    for word in words:
        total.update(f"{len(word)}:{word}".encode())
    for name in sorted(contents):
        total.update(f"{name}\0{len(contents[name])}\0".encode())
        total.update(contents[name])
    return total.hexdigest()[:40]


def cached(folder: Path, make: Callable[[Path], None]) -> Path:
    """Return the folder, made by `make` under another name first, so that it is whole or not there."""
    with contextlib.suppress(FileNotFoundError):
        os.utime(folder)  # the latest use: what is old goes first
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    _forget_oldest(folder.parent)
    scratch = Path(tempfile.mkdtemp(prefix=_UNFINISHED, dir=folder.parent))
    try:
        make(scratch)
        try:
            scratch.rename(folder)
        except OSError:
            if not folder.is_dir():  # else another grader was faster
                raise
    except OSError as error:
        if known := space.trouble(error, [folder.parent]):
            raise known from None
        raise
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    return folder


def _forget_oldest(folder: Path) -> None:
    """Other graders may do the same at the same time: an entry that is gone is no trouble."""
    entries: list[tuple[float, int, Path]] = []
    for entry in folder.iterdir():
        with contextlib.suppress(FileNotFoundError):
            used = entry.stat().st_mtime
            if not entry.name.startswith(_UNFINISHED):
                entries.append((used, sum(file.stat().st_size for file in entry.iterdir()), entry))
            elif used < time.time() - _UNFINISHED_SECONDS:
                shutil.rmtree(entry, ignore_errors=True)
    kept = total = 0
    for _, size, entry in sorted(entries, reverse=True):  # the latest first
        kept, total = kept + 1, total + size
        if kept > _KEPT_ENTRIES or total > _KEPT_BYTES:
            shutil.rmtree(entry, ignore_errors=True)
