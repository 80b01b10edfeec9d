"""A fault that is planted in a source file: one place, and what stands there instead."""

import hashlib
from dataclasses import dataclass

# What a maintainer confuses: an operator, and what takes its place. The first one is the likelier slip.
OPERATORS: dict[str, tuple[str, ...]] = {
    "==": ("!=",),
    "!=": ("==",),
    "<": ("<=", ">="),
    "<=": ("<", ">"),
    ">": (">=", "<="),
    ">=": (">", "<"),
    "+": ("-",),
    "-": ("+",),
    "*": ("/",),
    "/": ("*",),
    "%": ("/",),
    "&": ("|",),
    "|": ("&",),
    "^": ("|",),
    "<<": (">>",),
    ">>": ("<<",),
    "+=": ("-=",),
    "-=": ("+=",),
    "*=": ("/=",),
    "/=": ("*=",),
    "|=": ("&=",),
    "&=": ("|=",),
    "^=": ("|=",),
    "<<=": (">>=",),
    ">>=": ("<<=",),
}
# Names that are exchanged.
NAMES = {"min": "max", "max": "min", "min_element": "max_element", "max_element": "min_element"}


@dataclass(frozen=True)
class Fault:
    """`original` at this byte of the file becomes `replacement`; `nth` counts equal faults of equal lines, from 0."""

    path: str
    offset: int
    line: int
    kind: str
    original: str
    replacement: str
    text: str  # the line that it begins in, stripped
    nth: int = 0

    @property
    def change(self) -> str:
        """What is done, in few words."""
        original, replacement = (" ".join(word.split()) for word in (self.original, self.replacement))
        if self.kind == "dropped statement":
            return f"drop `{original}`"
        return f"`{original}` → `{replacement}`"

    @property
    def key(self) -> tuple[str, str, str, int]:
        """Names the fault as long as its own line stays as it is, wherever in the file that line stands."""
        return (self.path, self.text, self.change, self.nth)

    def __str__(self) -> str:
        which = f" (number {self.nth + 1} of these)" if self.nth else ""
        return f"{self.path}:{self.line}: {self.change}{which}"

    def rank(self, seed: str) -> bytes:
        """Return a number for samples: the same for a seed, and not moved by faults elsewhere."""
        return hashlib.sha256(repr((seed, *self.key)).encode()).digest()

    def plant(self, source: bytes) -> bytes:
        """Return the source with this fault in it."""
        original = self.original.encode()
        end = self.offset + len(original)
        if source[self.offset : end] != original:
            raise ValueError(f"{self.path}:{self.line} has changed since the fault was chosen")
        return source[: self.offset] + self.replacement.encode() + source[end:]


def find_line(source: bytes, offset: int) -> tuple[int, str]:
    """Return the number and the text of the line that holds this byte."""
    start = source.rfind(b"\n", 0, offset) + 1
    end = source.find(b"\n", offset)
    return source.count(b"\n", 0, offset) + 1, source[start : end if end >= 0 else None].decode().strip()


def count_equal(faults: list[Fault]) -> list[Fault]:
    """Return the faults in the file's order, those that would have the same key numbered."""
    counts: dict[tuple[str, str], int] = {}
    numbered = []
    for fault in sorted(faults, key=lambda f: (f.offset, f.replacement)):
        name = (fault.text, fault.change)
        nth = counts.get(name, 0)
        counts[name] = nth + 1
        numbered.append(Fault(fault.path, fault.offset, fault.line, fault.kind, fault.original, fault.replacement,
                              fault.text, nth))  # fmt: skip
    return numbered


def change_number(text: str) -> list[str]:
    """Return a whole number's neighbours, in its own base and with its suffix; twice a fraction."""
    digits = text.replace("'", "").replace("_", "")
    is_hex = digits[:2].lower() == "0x"
    body = digits.rstrip("uUlLzZ") if is_hex else digits.rstrip("uUlLzZfF")
    suffix = digits[len(body) :]
    if not is_hex and any(mark in digits for mark in ".eE"):
        return [f"(2 * {text})"] if float(body) != 0 else [f"1.0{suffix}"]
    try:
        value = int(body, 0) if body == "0" or not body.startswith("0") or body[1:2] in "xXbB" else int(body, 8)
    except ValueError:
        return []
    write = hex if is_hex else str
    if value == 0:
        return [f"{write(1)}{suffix}"]
    changed = [value ^ 1, value >> 1] if is_hex else [value - 1, value + 1]
    return [f"{write(number)}{suffix}" for number in dict.fromkeys(changed) if number != value]
