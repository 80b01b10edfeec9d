"""Golden files: what is made is compared with what is kept; WARPGRADE_UPDATE_GOLDEN=1 keeps it anew: read it then."""

import difflib
import os
from pathlib import Path


def check(path: Path, made: str | bytes | None, other: str | bytes = "") -> None:
    """Compare with the file; there is none where nothing is made. With `other`, the file is what differs from that."""
    text = made.decode() if isinstance(made, bytes) else made
    before = other.decode() if isinstance(other, bytes) else other
    if text is not None and before:
        text = "\n".join(difflib.unified_diff(before.splitlines(), text.splitlines(), n=0, lineterm="")) + "\n"
    if os.environ.get("WARPGRADE_UPDATE_GOLDEN"):
        path.unlink(missing_ok=True)
        if text is not None:
            path.write_bytes(text.encode())
    assert (text is not None) == path.is_file()
    if text is not None:
        assert text == path.read_bytes().decode()  # if this was meant: WARPGRADE_UPDATE_GOLDEN=1
