"""The page of all messages: what is on it, and that it is that of the code."""

from __future__ import annotations

import os
from pathlib import Path

from warpgrade.dev import messages
from warpgrade.machine.paths import find_layout

ROOT = find_layout().root


def test_the_page_is_that_of_the_sources() -> None:
    page, file = messages.page(ROOT), ROOT / messages.PAGE
    if os.environ.get("WARPGRADE_UPDATE_GOLDEN"):
        file.write_text(page, encoding="utf-8")
    assert page == file.read_text(encoding="utf-8"), f"remake {messages.PAGE} with WARPGRADE_UPDATE_GOLDEN=1"


def test_messages_of_each_kind_are_on_it() -> None:
    found = messages.messages(ROOT)
    assert "fix the first error first; it often causes the later ones" in found["grader/warpgrade/compiling/build.py"]
    assert "race in shared memory" in found["grader/device/rules.def"]
    assert "the device server is gone" in found["grader/cudart/client/connection.cpp"]
    assert len(found) > 100


PYTHON = '''
"""A docstring of a module."""
import re
_WORDS = re.compile(r"some words")
TEXT = (
    "one text in "
    "two parts"
)
def f(name: str) -> str:
    """Say what."""
    # a comment of words
    one = f"{name.strip()!r} is {len(name):,} " f"characters{'s' if name else ''}"
    print("word", "Two Words", "bold red", one, f"{name}", f"the {f'inner {name} text'} one")
    return {"a key of words": "a value\\nof words"}["x"]
'''


def test_strings_of_python() -> None:
    texts = [messages._shown(text) for text in messages.python_texts(PYTHON) if messages._is_message(text)]
    assert texts == [
        "one text in two parts",
        "{name.strip()} is {len(name)} characters{'s' if name else ''}",
        "Two Words",
        "the {f'inner {name} text'} one",
        "a key of words",
        "a value\\nof words",
    ]


CPP = r"""
#include "a file of words.hpp"
// a comment of "some words"
/* and "one more"
   of these */
static_assert(sizeof(int) == 4, "an int has (four) bytes");
fail(fmt::format("{} has \"{}\"; // not a "  // comment
                 "comment", '"', 'x'));
char quote = '\'';
const char* raw = R"(a raw text of words)";
say("two\nlines of it", "single", "%s: %s\n");
"""


def test_strings_of_cpp() -> None:
    texts = [messages._shown(text) for text in messages.cpp_texts(CPP) if messages._is_message(text)]
    assert texts == ['{} has "{}"; // not a ', "two\\nlines of it"]


def test_what_is_listed_elsewhere_is_left_out(tmp_path: Path) -> None:
    for name, text in {
        "docs/supported.md": "| `add.sync.aligned` | `f16 bf16` | adds halves |\n",
        "grader/vgpu/a.cpp": 'row{"f16 bf16", "sync aligned", "adds halves", "adds no halves"};',
        "grader/supported/b.cpp": '"a text of words"',
        "grader/c.txt": '"a text of words"',
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    assert messages.messages(tmp_path) == {"grader/vgpu/a.cpp": ["adds no halves"]}
    assert messages.page(tmp_path).endswith("\n## grader/vgpu/a.cpp\n\n```text\nadds no halves\n```\n")
