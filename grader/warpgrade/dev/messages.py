"""All texts that users can read, out of the sources: docs/messages.md, so that they can be read as one text.

A text is a string of two words or more; what stands in braces is filled in and counts as a word. Left out are
comments, docstrings, patterns, static assertions, what the page of supported PTX lists already, and files that hold no
texts of ours.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

PAGE = Path("docs") / "messages.md"

_HEAD = f"""# Every message

Made from the strings in the sources; `WARPGRADE_UPDATE_GOLDEN=1 pytest tests/grader/dev/test_messages.py` remakes it. \
What stands in braces is filled in, `\\n` begins a new line. Read this page through as one text after a change: \
{PAGE.name} exists for nothing else.
"""
_LISTED = Path("docs") / "supported.md"
_LEFT_OUT = (
    "grader/cudart/client/errors.def",  # CUDA's own words
    "grader/device/protocol.def",  # read by who reads the code
    "grader/supported/",  # writes the page of supported PTX
    "grader/warpgrade/dev/layers.py",  # writes a page
    "grader/warpgrade/dev/messages.py",
)
_PLACE = re.compile(r"\{[^{}]*\}")
_WORD = re.compile(r"\S*[a-z]{2}\S*")
_STYLE = re.compile(r"(?:bold|dim) [a-z]+")
_PATTERNS = {"compile", "sub", "search", "match", "fullmatch", "findall", "finditer", "split"}

_CPP_STRING = r'"(?:\\.|[^"\\\n])*"'
_CPP = re.compile(
    r"//[^\n]*|/\*.*?\*/|^[ \t]*#[ \t]*include[^\n]*|'(?:\\.|[^'\\\n])+'|R\"(?P<mark>[^(\s]*)\(.*?\)(?P=mark)\""
    rf"|\bstatic_assert\s*\((?:{_CPP_STRING}|[^;\"])*\)\s*;|(?P<text>{_CPP_STRING}(?:\s*{_CPP_STRING})*)",
    re.DOTALL | re.MULTILINE,
)
_CPP_ESCAPE = re.compile(r"\\(.)")
_CPP_JOINT = re.compile(r'(?<!\\)"\s*"')


def page(root: Path) -> str:
    """Return docs/messages.md."""
    parts = [_HEAD]
    for file, texts in messages(root).items():
        parts.append(f"## {file}\n\n```text\n" + "\n".join(texts) + "\n```\n")
    return "\n".join(parts)


def messages(root: Path) -> dict[str, list[str]]:
    """Return the texts of each source file, in their order, each once."""
    listed = (root / _LISTED).read_text(encoding="utf-8") if (root / _LISTED).is_file() else ""
    cells = {cell.strip(" `") for cell in listed.replace("\n", "|").split("|")}
    found: dict[str, list[str]] = {}
    for path in sorted((root / "grader").rglob("*")):
        name = path.relative_to(root).as_posix()
        if name.startswith(_LEFT_OUT):
            continue
        if path.suffix == ".py":
            texts = python_texts(path.read_text(encoding="utf-8"))
        elif path.suffix in (".cpp", ".hpp", ".h", ".def"):
            texts = cpp_texts(path.read_text(encoding="utf-8"))
        else:
            continue
        told = [text for text in texts if _is_message(text) and not _is_listed(text, cells, listed)]
        if told:
            found[name] = list(dict.fromkeys(map(_shown, told)))
    return found


def python_texts(source: str) -> Iterator[str]:
    """Yield the strings of a Python source in their order, with what an f-string fills in in braces."""
    tree = ast.parse(source)
    left_out: set[ast.AST] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            left_out.add(node.value)  # docstrings
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _PATTERNS:
            left_out.update(node.args[:1] if ast.unparse(node.func.value) == "re" else ())
        elif isinstance(node, (ast.JoinedStr, ast.FormattedValue)):
            left_out.update(part for part in ast.iter_child_nodes(node) if not isinstance(part, ast.FormattedValue))
    yield from _strings(tree, left_out)


def _strings(node: ast.AST, left_out: set[ast.AST]) -> Iterator[str]:
    if isinstance(node, ast.JoinedStr):
        yield "".join(
            "{" + ast.unparse(part.value) + "}" if isinstance(part, ast.FormattedValue) else ast.literal_eval(part)
            for part in node.values
        )
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    for child in ast.iter_child_nodes(node):
        if child not in left_out:
            yield from _strings(child, left_out)


def cpp_texts(source: str) -> Iterator[str]:
    """Yield the strings of a C++ source in their order, those that stand side by side as one."""
    for found in _CPP.finditer(source):
        if found["text"]:
            text = _CPP_JOINT.sub("", found["text"])[1:-1]
            yield _CPP_ESCAPE.sub(lambda escape: {"n": "\n", "t": "\t"}.get(escape[1], escape[1]), text)


def _is_listed(text: str, cells: set[str], listed: str) -> bool:
    """Tell whether it is a row's cell, or part of an opcode that is made of it by dots."""
    words = text.strip()
    return words in cells or (" " in words and words.replace(" ", ".") in listed)


def _is_message(text: str) -> bool:
    if _STYLE.fullmatch(text):
        return False
    words = _PLACE.sub("{}", text).split()
    return len(words) > 1 and any(_WORD.fullmatch(word) and word.strip("(“\"'`.,:;)”")[:1].isalpha() for word in words)


def _shown(text: str) -> str:
    return text.replace("\n", "\\n").replace("```", "'''")
