"""labs/<lab>/README.md: as long as a student reads before the work, with the parts that all task sheets have."""

import re
from pathlib import Path

import pytest

from warpgrade.lab import labs
from warpgrade.lab.labs import Lab
from warpgrade.machine.paths import find_layout

LABS = labs.discover(find_layout())
ROOT = find_layout().root
SHEETS = sorted((ROOT / "labs").glob("*/README.md"))
MOST_WORDS = 900  # before "## More", without tables and code


def prose(text: str) -> str:
    """Return a page without its tables, code and pictures."""
    text = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    return "\n".join(line for line in text.splitlines() if not line.startswith(("|", "    ", "!["))) + "\n"


@pytest.mark.parametrize("sheet", SHEETS, ids=lambda path: path.parent.name)
def test_a_sheet_is_short_and_the_rest_stands_behind_more(sheet: Path) -> None:
    before, more, _ = sheet.read_text(encoding="utf-8").partition("\n## More\n")
    assert more, "no section “More”"
    assert len(prose(before).split()) <= MOST_WORDS
    assert before.startswith(f"# Lab {sheet.parent.name}: ")
    assert "\n**Goal.** " in before
    for heading in ("Background", "Steps", "Points", "See for yourself"):
        assert re.search(rf"^## {heading}$", before, re.MULTILINE), f"no section {heading}"


@pytest.mark.parametrize("lab", [lab for lab in LABS if (lab.folder / "slides.md").exists()], ids=lambda lab: lab.name)
def test_a_sheet_says_what_lab_toml_says_of_hours_and_difficulty(lab: Lab) -> None:
    head = lab.file.lab
    assert head.hours > 0
    assert head.difficulty
    line = f"\n**Time and difficulty.** About {head.hours:g} hours; {head.difficulty}.\n"
    assert line in (lab.folder / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("lab", [lab for lab in LABS if lab.answers], ids=lambda lab: lab.name)
def test_questions_that_students_answer_have_a_rubric(lab: Lab) -> None:
    asked = (lab.folder / lab.answers).read_text(encoding="utf-8")
    rubric = (lab.folder / "questions.md").read_text(encoding="utf-8")
    questions = re.findall(r"^## \d\. (.+)\n\n(.+)\n\nYour answer:$", asked, re.MULTILINE)
    assert 2 <= len(questions) <= 3
    for title, question in questions:
        assert title in rubric
        assert question in rubric, f"“{title}” is asked otherwise in questions.md"
    assert f"]({lab.answers})" in (lab.folder / "README.md").read_text(encoding="utf-8")
    assert not re.search(r"full answer|\bpoints?\b", asked)


@pytest.mark.parametrize("lab", [lab for lab in LABS if (lab.folder / "slides.md").exists()], ids=lambda lab: lab.name)
def test_each_lab_of_the_course_asks_for_explanations(lab: Lab) -> None:
    assert lab.answers == "answers.md"


def test_prose_is_what_is_not_table_code_or_picture() -> None:
    page = "one two\n\n```cpp\nint three;\n```\n\n| four |\n|---|\n\n    five\n\n![six](seven.svg)\n\neight\n"
    assert prose(page).split() == ["one", "two", "eight"]
