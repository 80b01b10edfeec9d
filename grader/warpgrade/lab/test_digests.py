"""What each test of a lab is made of, as one hash a test: a change to one test leaves the hashes of the others alone.

The tests are read as text. What stands outside of test cases, headers included, belongs to all of them.
"""

import hashlib
import re
from pathlib import Path

from warpgrade.lab.handout_note import HANDOUT
from warpgrade.lab.labs import Lab

_TOKEN = re.compile(
    r"//[^\n]*|/\*.*?\*/"
    r"|R\"(?P<mark>[^()\\\s]{0,16})\((?:.*?)\)(?P=mark)\""
    r"|\"(?:\\.|[^\"\\\n])*\"|(?<![0-9A-Za-z_])'(?:\\.|[^'\\\n])+'"
    r"|\bTEST_CASE\b|[(){}]",
    re.DOTALL,
)
_NAME = re.compile(r'\(\s*"((?:\\.|[^"\\\n])*)"')


def digest_tests(lab: Lab) -> dict[str, str]:
    """Return a hash for each test of lab.toml; tests that are not found by name share one of all sources."""
    common = hashlib.sha256()
    bodies: dict[str, str] = {}
    for path in _sources(lab):
        content = path.read_bytes()
        if path.suffix == ".cpp":
            rest, cases = _split(content.decode("utf-8", errors="surrogateescape"))
            for name, body in cases:
                bodies[name] = bodies.get(name, "") + body  # one name twice: both are its
            content = rest.encode("utf-8", errors="surrogateescape")
        common.update(f"{path.relative_to(lab.folder)}\0{len(content)}\0".encode())
        common.update(content)
    whole = hashlib.sha256(common.digest() + repr(sorted(bodies.items())).encode()).hexdigest()
    return {
        item.name: _digest(common.digest(), bodies[item.name]) if item.name in bodies else whole for item in lab.items
    }


def _sources(lab: Lab) -> list[Path]:
    if lab.is_handout:  # its tests are compiled
        return sorted(path for path in (lab.folder / HANDOUT).glob("judge*") if path.is_file())
    folders = [(lab.folder / "tests", "*.[ch]pp"), (lab.folder / "tests", "*.h"), (lab.folder, "*.h*")]
    found = [path for folder, pattern in folders for path in folder.glob(pattern)]
    return sorted({*found, *(path for path in lab.data.glob("*") if path.is_file())})


def _digest(common: bytes, body: str) -> str:
    return hashlib.sha256(common + body.encode("utf-8", errors="surrogateescape")).hexdigest()


def _split(text: str) -> tuple[str, list[tuple[str, str]]]:
    """Return what stands outside of test cases, and each test case's name and text.

    A test case whose end or name is not certain is left where it stands, and so belongs to all tests.
    """
    cases: list[tuple[str, str]] = []
    rest: list[str] = []
    done = 0
    depth = parentheses = 0
    start: int | None = None
    for token in _TOKEN.finditer(text):
        word = token[0]
        if word == "TEST_CASE" and not depth and not parentheses:
            start = token.start()
        elif word in "()":
            parentheses += 1 if word == "(" else -1
        elif word == "{":
            depth += 1
        elif word == "}":
            depth -= 1
            # Test cases stand outside of namespaces, or in ones that are not closed before them.
            if not depth and start is not None and not parentheses:
                name = _NAME.search(text, start)
                if name and name.end() < token.start():
                    rest.append(text[done:start])
                    cases.append((name[1], text[start : token.end()]))
                    done = token.end()
                start = None
    rest.append(text[done:])
    return "".join(rest), cases
