"""The files that a command writes: found out before the work whether they can be, and never half written."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

from warpgrade.machine.errors import BadInput
from warpgrade.machine.text import printable_name


def check_writable(option: str, name: str) -> None:
    """Find out before the work, not after it."""
    if name == "-":
        return
    folder = Path(name).absolute().parent
    if not folder.is_dir():
        raise BadInput(f"{option} {printable_name(name)}: the folder {printable_name(str(folder))} does not exist")
    if Path(name).is_dir() or not os.access(folder, os.W_OK):
        raise BadInput(f"{option} {printable_name(name)} cannot be written")


def write(name: str | None, option: str, content: bytes) -> None:
    """Write to the file of that name; - is stdout, and None nowhere."""
    if name is None:
        return
    if name == "-":
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()
        return
    path = Path(name).absolute()
    try:
        if path.exists() and not path.is_file():  # /dev/stderr and the like
            path.write_bytes(content)
            return
        # Under another name first: whoever reads it never sees half a result.
        descriptor, scratch = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
        Path(scratch).chmod(0o644)
        Path(scratch).replace(path)
    except OSError as error:
        raise BadInput(f"{option} {printable_name(name)} cannot be written: {error.strerror}") from None
