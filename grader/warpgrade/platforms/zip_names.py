"""Makes names of students into names of folders that are unique and can be unpacked on every system."""

import hashlib
import re
import unicodedata

from warpgrade.machine.text import clean

_MAX_NAME_BYTES = 80  # bytes: a file system allows 255, and platforms add their own
# What Windows forbids, what a shell or a web server would act on, and what separates folders.
_UNSAFE = re.compile(r"[^\w .,@+-]")
_DEVICES = re.compile(r"(?i)(con|prn|aux|nul|com\d|lpt\d)(\..*)?")


def safe(text: str) -> str:
    """Return a safe name similar to the text; `_` if no character is safe."""
    plain = unicodedata.normalize("NFC", " ".join(clean(text[:1000]).split()))
    # A dot, a tilde or a dash in front hides a file or makes it an option; Windows drops dots and blanks at the end.
    name = _UNSAFE.sub("_", plain).lstrip(".~- ")
    name = name.encode()[:_MAX_NAME_BYTES].decode(errors="ignore").rstrip(". ")
    return f"_{name}" if not name or _DEVICES.fullmatch(name) else name


class Names:
    """Gives each text a safe and unique name; different texts get the same names in every order."""

    def __init__(self) -> None:
        self._taken: dict[str, int] = {}

    def make_unique(self, text: str) -> str:
        """Return the name; if it had to be changed, or is taken (ignoring case), it ends in a part of a hash."""
        name = safe(text)
        if name != text or _key(name) in self._taken:
            name = f"{name}-{hashlib.sha256(text.encode(errors='surrogatepass')).hexdigest()[:8]}"
        count = self._taken.setdefault(_key(name), 0)
        self._taken[_key(name)] += 1
        return self.make_unique(f"{name}-{count + 1}") if count else name


def _key(name: str) -> str:
    return unicodedata.normalize("NFKC", name).casefold()
