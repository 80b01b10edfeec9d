"""What students are called: identifiers fit to be shown, and names of files made of them.

Platforms, rosters and folders name students, and some of these names were chosen by the students themselves.
"""

import hashlib
import re

from warpgrade.machine.text import one_line

_MAX_IDENTIFIER_LENGTH = 120
_MARKED_IDENTIFIER = re.compile(r"~[0-9a-f]{16}\Z")
_PLAIN = re.compile(r"[a-z0-9](?:[a-z0-9._-]{0,62}[a-z0-9_-])?")
_MARKED_FILE = re.compile(r"_[0-9a-f]{32}\Z")
# Names that Windows keeps for devices, whatever follows their first dot.
_DEVICES = re.compile(r"(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\.|\Z)")
_MAX_SLUG_LENGTH = 40


def identifier(raw: str) -> str:
    """Return a student's identifier without anything that is invisible, turns the text, or is no text at all.

    One that had such things, or is too long, ends in a mark made of all of it, so that no two become one.
    """
    shown = one_line(raw, _MAX_IDENTIFIER_LENGTH)
    if shown == raw and shown and not _MARKED_IDENTIFIER.search(raw):
        return raw
    return f"{shown[: _MAX_IDENTIFIER_LENGTH - 40]}~{_digest(raw)[:16]}"


def file_name(student: str) -> str:
    """Return a name for a student's files: other students have other names, on every file system.

    It has 1 to 80 of the characters a-z, 0-9, dot, dash and underscore, begins with a letter or a digit, and is no
    device of any system. Identifiers that are such names already stay as they are; others become what is left of them
    in lower case, and a hash of the whole.
    """
    if _PLAIN.fullmatch(student) and not _MARKED_FILE.search(student) and not _DEVICES.match(student):
        return student
    slug = re.sub(r"[^a-z0-9]+", "-", student[:1000].lower()).strip("-")[:_MAX_SLUG_LENGTH].strip("-")
    return f"{slug or 'student'}_{_digest(student)[:32]}"


def _digest(text: str) -> str:
    # Halves of pairs stand for bytes of a file name that are no text.
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
