"""Canvas: "Download Submissions" of an assignment, the exported gradebook, "Re-upload Submissions" for feedback.

The names are those of its own source, content_zipper.rb.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import NamedTuple

from warpgrade.lab.labs import Lab
from warpgrade.machine.errors import BadInput
from warpgrade.platforms.adapter import (
    MAX_NAME_LENGTH,
    Adapter,
    Attempt,
    Contents,
    Entry,
    Export,
    FeedbackFile,
    Recipient,
    Sheet,
)
from warpgrade.platforms.file_names import choose_lab_name, is_archive, without_archive_suffix, without_copy_number
from warpgrade.platforms.zip_names import safe

# lovelaceada_LATE_12345_678910_matmul.cu; without names: LATE_anon_x1Y2z_678910_matmul.cu. The last number is the
# file's, and grows from one hand-in to the next.
_NAME = re.compile(
    r"(?:(?P<name>.+?)(?P<late>_LATE)?_(?P<user>\d{2,20})|(?P<late2>LATE_)?anon_(?P<anonymous>[A-Za-z0-9]{3,12}))"
    r"_(?P<file>\d{2,20})_(?P<rest>.+)",
    re.DOTALL,
)
_TYPED = re.compile(r".+_\w{3,20}_(?:text|link)\.html", re.DOTALL)
# matmul-1.cu, of who hands in again.
_AGAIN = re.compile(r"(?P<stem>.+)-\d{1,3}(?P<suffix>(?:\.[^.]+)?)", re.DOTALL)
# Feedback of such a type would look like a damaged file.
_NO_FEEDBACK = {".tar", ".gz", ".tgz", ".bz2", ".tbz2", ".xz", ".txz", ".7z", ".rar", ".pdf", ".docx"}


class CanvasName(NamedTuple):
    """`user` is Canvas's number of the student; empty where names are hidden, and then `anonymous` stands for it."""

    name: str
    user: str
    anonymous: str
    file: int
    late: bool
    rest: str

    @property
    def student(self) -> str:
        """What the student is called."""
        return self.user or f"anon_{self.anonymous}"


def parse_name(name: str) -> CanvasName | None:
    """Return the parts of a name that Canvas gave to a file."""
    found = _NAME.fullmatch(name) if len(name) <= MAX_NAME_LENGTH else None
    if found is None:
        return None
    part = found.groupdict(default="")
    late = bool(part["late"] or part["late2"])
    return CanvasName(part["name"], part["user"], part["anonymous"], int(part["file"]), late, part["rest"])


def _original_names(name: str) -> list[str]:
    parsed = parse_name(name)
    if parsed is None:
        return []
    again = _AGAIN.fullmatch(parsed.rest)
    return [parsed.rest, again["stem"] + again["suffix"]] if again and again["suffix"] else [parsed.rest]


# --- export ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Upload:
    entry: Entry
    parsed: CanvasName


def _read(lab: Lab, _: str, entries: Sequence[Entry]) -> Contents:
    """Read files of students; of one who handed in again, each time is an attempt."""
    uploads: dict[str, list[_Upload]] = {}
    contents = Contents([])
    for entry in entries:
        if parsed := parse_name(entry.name):
            uploads.setdefault(parsed.student, []).append(_Upload(entry, parsed))
        elif len(entry.name) <= MAX_NAME_LENGTH and _TYPED.fullmatch(entry.name):
            contents.others.append(f"{entry.shown}: typed in the browser")
        else:
            contents.unclaimed.append((entry, "not named as Canvas names files"))
    for student, several in uploads.items():
        late = any(upload.parsed.late for upload in several)
        for files in _attempts(lab, sorted(several, key=lambda upload: upload.parsed.file)):
            contents.attempts.append(
                Attempt(
                    student, [upload.entry for upload in files], several[0].parsed.name, late=late,
                    order=max(upload.parsed.file for upload in files),
                )
            )  # fmt: skip
    return contents


def _attempts(lab: Lab, uploads: Sequence[_Upload]) -> list[list[_Upload]]:
    """Split a student's files by those that were handed in again, matmul.cu and matmul-1.cu."""
    versions: dict[str, list[_Upload]] = {}
    for upload in uploads:
        if key := _first_name(lab, upload):
            versions.setdefault(key, []).append(upload)
    most = max(versions.values(), key=len, default=[])
    if len(most) < 2:
        return [list(uploads)]
    attempts = []
    for end in [*(uploads.index(upload) for upload in most[1:]), len(uploads)]:
        latest = {_first_name(lab, upload) or str(upload.parsed.file): upload for upload in uploads[:end]}
        attempts.append(list(latest.values()))
    return attempts


def _first_name(lab: Lab, upload: _Upload) -> str:
    """Return the name under which the lab takes a file, or an archive's name when it was first handed in."""
    if is_archive(upload.parsed.rest):
        stem = without_archive_suffix(upload.parsed.rest)
        again = _AGAIN.fullmatch(stem)
        return f"archive {again['stem'] + again['suffix'] if again else stem}"
    names = [upload.entry.name, *_original_names(upload.entry.name)]
    return "" if upload.entry.is_folder else choose_lab_name(lab, [*names, without_copy_number(names[-1])])


# --- grades and feedback ---------------------------------------------------------------------------------------------


def _find_ids(name: str) -> list[str]:
    parsed = parse_name(name)
    return [parsed.user] if parsed and parsed.user else []


def _name_feedback(recipient: Recipient) -> FeedbackFile:
    """Name it by the two numbers of what was handed in, which Canvas goes by; and by its type, which Canvas keeps."""
    source = _first_file(PurePosixPath(recipient.source).name)
    parsed = parse_name(source)
    if parsed is None or not parsed.user:
        raise BadInput("its name has not Canvas's numbers")
    suffix = PurePosixPath(source).suffix.lower()
    if suffix in _NO_FEEDBACK:
        raise BadInput(f"handed in a {suffix} file, and feedback would look like a damaged one")
    # Canvas reads the first two numbers, and ignores a link.
    first, *_, last = source.split("_")
    if safe(source) != source or first.isdigit() or last.startswith("link"):
        source = f"student_{parsed.user}_{parsed.file}_feedback{safe('x' + suffix)[1:]}"
    return FeedbackFile(source, f"{parsed.user} {parsed.file}")


def _first_file(source: str) -> str:
    """Return the first of several files, which are listed with commas; a name may have commas of its own."""
    first, *others = source.split(", ")
    for other in others:
        if parse_name(other):
            break
        first += f", {other}"
    return first


ADAPTER = Adapter(
    title="Canvas",
    original_names=_original_names,
    export=Export(lambda entry: parse_name(entry.name) is not None, _read, certainty=2),
    sheet=Sheet(
        identifiers=("ID", "SIS User ID", "SIS Login ID", "Integration ID"),
        names=("Student",),
        heading_suffix=re.compile(r"\s+\(\d+\)$"),
        find_ids=_find_ids,
        most_points_row="points possible",
        read_only="read only",
    ),
    name_feedback=_name_feedback,
)
