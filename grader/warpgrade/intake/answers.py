"""What a person reads of a file of answers, whatever a student has saved as it."""

from warpgrade.machine.text import bounded, clean

_MAX_LINES, _MAX_WIDTH = 200, 1000
_MARKS = {b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}


def read(content: bytes) -> str:
    """Return the text: clean and bounded, in UTF-8 or in UTF-16 with its mark; other bytes are replaced."""
    text = content.decode(_MARKS.get(content[:2], "utf-8"), "replace")
    return bounded(clean(text.removeprefix("\ufeff")).strip(), lines=_MAX_LINES, width=_MAX_WIDTH)
