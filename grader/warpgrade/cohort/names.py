"""Names of files for students, whose identifiers may be anything."""

from __future__ import annotations

import hashlib
import re
import unicodedata

_PLAIN = re.compile(r"[a-z0-9][a-z0-9._-]{0,47}")
_OTHER = re.compile(r"[^a-z0-9._-]+")
_RESERVED = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?|.*\.")  # no names of files elsewhere


def file_name(student: str) -> str:
    """Return a name of at most 60 plain characters; different for each student, also where case does not count.

    An identifier that is plain is its own name. Others are simplified, and followed by ~ and a hash, so that nobody can
    choose an identifier whose name is another's.
    """
    if _PLAIN.fullmatch(student) and not _RESERVED.fullmatch(student):
        return student
    letters = unicodedata.normalize("NFKD", student).encode("ascii", "ignore").decode().lower()
    simple = _OTHER.sub("-", letters).strip("-.")[:40] or "student"
    return f"{simple}~{hashlib.sha256(student.encode('utf-8', 'surrogatepass')).hexdigest()[:16]}"
