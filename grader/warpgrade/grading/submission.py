"""What is graded: the files of a submission, as intake took them out of what was handed in."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Submission:
    """What is graded: plain file names and their bytes, and the names of source files that are not.

    `notes` say what was taken under another name, or from where; `repairs`, which are among them, what was not handed
    in as the lab asks, and could mean one thing only. `folder` is where the files lie, unless they were in
    a zip or have other names there.
    """

    name: str
    files: dict[str, bytes]
    ignored: list[str]
    folder: Path | None = None
    notes: list[str] = field(default_factory=list)
    repairs: list[str] = field(default_factory=list)
    seconds: float = 0.0  # of processor time that reading it took

    @property
    def digest(self) -> str:
        """A hash of names and contents."""
        total = hashlib.sha256()
        for name in sorted(self.files):
            total.update(f"{name}\0{len(self.files[name])}\0".encode())
            total.update(self.files[name])
        return total.hexdigest()
