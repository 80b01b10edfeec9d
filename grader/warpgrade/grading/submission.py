"""What is graded: the files of a submission, as intake took them out of what was handed in."""

import hashlib
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Submission:
    """What is graded: plain file names and their bytes, and the names of source files that are not.

    `notes` say what was taken under another name, or from where; `repairs`, which are among them, what was not handed
    in as the lab asks, and could mean one thing only. `answers` are those to the lab's short questions, for a person:
    they are no part of `files`, which is what is compiled and judged. `folder` is where the files lie, unless
    they were in a zip or have other names there.
    """

    name: str
    files: dict[str, bytes]
    ignored: list[str]
    folder: Path | None = None
    notes: list[str] = field(default_factory=list)
    repairs: list[str] = field(default_factory=list)
    answers: str = ""
    seconds: float = 0.0  # of processor time that reading it took

    @property
    def digest(self) -> str:
        """A hash of names and contents, answers included: who has rewritten them has not been read yet."""
        total = hashlib.sha256()
        for name in sorted(self.files):
            total.update(f"{name}\0{len(self.files[name])}\0".encode())
            total.update(self.files[name])
        if self.answers:
            total.update(f"answers\0{self.answers}".encode("utf-8", "surrogatepass"))
        return total.hexdigest()
