"""Documents: links lead somewhere, commands exist, and nothing names a place outside the project."""

import re
import subprocess
from pathlib import Path

import pytest

from warpgrade.cli.main import COMMANDS
from warpgrade.findings import conditional
from warpgrade.machine.paths import find_layout

ROOT = find_layout().root
PAGES = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")]
LECTURES = [path for name in ("README.md", "slides.md") for path in (ROOT / "labs").glob(f"*/{name}")]
DOCUMENTS = sorted([*PAGES, *(ROOT / "docs").glob("*.md"), *LECTURES])


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_and_commands(document: Path) -> None:
    text = document.read_text(encoding="utf-8")
    targets = [*re.findall(r"\]\(([^)\s]+)\)", text), *re.findall(r'(?:src|srcset|href)="([^"]+)"', text)]
    for target in targets:
        if "://" not in target and not target.startswith("#"):
            assert (document.parent / target.partition("#")[0]).exists(), f"{target} is not there"
    for command in re.findall(r"(?:\./|/path/to/)warpgrade ([a-z]+)", text):
        assert command in COMMANDS, f"there is no command {command}"
    assert "/work/" not in text


def anchors(page: Path) -> set[str]:
    """Return the names by which links reach the headings of a page, as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_into_pages_lead_to_a_heading(document: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]*#[^)\s]+)\)", document.read_text(encoding="utf-8")):
        page, _, anchor = target.partition("#")
        if "://" not in target and (not page or page.endswith(".md")):
            there = document.parent / page if page else document
            assert anchor in anchors(there), f"{target}: no such heading"


def test_every_path_of_the_guide_for_contributors_is_there() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    words = re.findall(r"`([\w.-]+/[\w./-]*|[\w-]+\.(?:md|toml|lock|py))`", text)
    paths = [word for word in words if "NAME" not in word and not word.startswith(("build/", ".venv/"))]
    assert len(paths) > 30
    beside = [ROOT, ROOT / "labs" / "matmul"]  # `lab.toml`: in the walk of a lab
    missing = [path for path in paths if not any((folder / path).exists() for folder in beside)]
    assert missing == []


def test_all_guides_are_named_in_the_readme() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for guide in (ROOT / "docs").glob("*.md"):
        assert f"docs/{guide.name}" in readme


def test_the_glossary_has_each_word_once_and_in_order() -> None:
    tables = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8").split("|---|---|\n")[1:]
    words = [re.findall(r"^\| (.+?) \|", table.partition("\n\n")[0], re.MULTILINE) for table in tables]
    assert [len(table) > 5 for table in words] == [True] * 4
    for table in words:
        assert table == sorted(table, key=lambda word: re.sub(r"[^a-z ,-]", "", word.lower()))
    once = [word for table in words for word in table]
    assert len(once) == len(set(once))


@pytest.mark.labs
def test_the_page_of_what_is_supported_is_that_of_the_tables() -> None:
    program = find_layout().program("warpgrade-reference")
    page = subprocess.run([str(program)], capture_output=True, check=True, text=True).stdout
    assert page == (ROOT / "docs" / "supported.md").read_text(encoding="utf-8"), (
        f"docs/supported.md is not that of the code; regenerate it: {program.relative_to(ROOT)} > docs/supported.md"
    )


RULE = re.compile(r'^WG_RULE\(\w+,\s*"(?P<id>[^"]+)",\s*\w+,\s*"(?P<title>[^"]+)"', re.MULTILINE)
RULES = [match.groupdict() for match in RULE.finditer((ROOT / "grader" / "device" / "rules.def").read_text())]
FROM_SOURCE = [{"id": conditional.RULE, "title": conditional.TITLE}]


def test_every_rule_of_the_checks_has_its_section_and_no_other() -> None:
    page = (ROOT / "docs" / "checks.md").read_text(encoding="utf-8")
    sections = {
        section.partition("\n")[0]: re.split(r"^## ", section, flags=re.MULTILINE)[0]
        for section in re.split(r"^### ", page, flags=re.MULTILINE)[1:]
    }
    rules = [*RULES, *FROM_SOURCE]
    assert sorted(sections) == sorted(rule["id"] for rule in rules)
    assert [name for name in sections if name != conditional.RULE] == [rule["id"] for rule in RULES]
    for rule in rules:
        section = sections[rule["id"]]
        title = section.replace("`", "").split("*")[1]
        assert title.rstrip(".").lower() == rule["title"].lower(), rule["id"]
        assert "```cpp" in section, f"{rule['id']}: no example"
        assert "Not found: " in section, f"{rule['id']}: what it does not find"
