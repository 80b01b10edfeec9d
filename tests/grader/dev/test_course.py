"""docs/course.md and labs/<lab>/slides.md: what they name exists; no slide or task sheet gives a solution away."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from warpgrade.lab import labs, starter
from warpgrade.lab.labs import Lab
from warpgrade.machine.paths import find_layout

LAYOUT = find_layout()
ROOT = LAYOUT.root
COURSE = (ROOT / "docs" / "course.md").read_text(encoding="utf-8")
HARDWARE = (ROOT / "docs" / "hardware.md").read_text(encoding="utf-8")
SLIDES = sorted((ROOT / "labs").glob("*/slides.md"))
# A lab with slides is one of the course. Others need no row in its tables.
LABS = {lab.name: lab for lab in labs.discover(LAYOUT) if lab.folder / "slides.md" in SLIDES}
PAGES = [ROOT / "docs" / "course.md", ROOT / "docs" / "outlook.md", *SLIDES]
LONG = 25  # characters from which on a line, without white space, is like no other


def told(path: Path) -> str:
    return str(path.relative_to(ROOT))


def section(heading: str) -> str:
    """Return the course's section with this heading, up to the next one of its level."""
    level = heading.partition(" ")[0]
    found = re.search(rf"^{re.escape(heading)}$(.+?)(?=^{level} |\Z)", COURSE, re.MULTILINE | re.DOTALL)
    assert found, f"docs/course.md has no “{heading}”"
    return found[1]


def cells(text: str) -> Iterator[list[str]]:
    """Yield the cells of each row of the tables in a text."""
    for line in text.splitlines():
        if line.startswith("|") and not line.startswith("|---"):
            yield [cell.strip() for cell in line.strip("|").split("|")]


@pytest.mark.parametrize("heading", ["## Twelve weeks", "## Hours"])
def test_a_table_of_the_course_has_all_labs_and_no_others(heading: str) -> None:
    named = {name for row in cells(section(heading)) for name in re.findall(r"`(\w+)`", row[0] + row[1])}
    assert sorted(set(LABS) - named) == []
    assert sorted(named - set(LABS)) == []


def test_list_names_the_labs_in_the_order_of_the_course() -> None:
    weeks = [re.findall(r"`(\w+)`", row[1])[0] for row in list(cells(section("## Twelve weeks")))[1:]]
    assert list(LABS) == list(dict.fromkeys(weeks))


def test_the_parts_of_debug_are_all_its_functions_in_the_weeks_of_the_table() -> None:
    weeks = section("## Twelve weeks")
    parts = re.findall(r"^- week (\d+), .*?: (.*)[;.]$", weeks, re.MULTILINE)
    assert sorted(name for _, names in parts for name in re.findall(r"`(\w+)`", names)) == sorted(
        LABS["debug"].file.lab.functions
    )
    assert [week for week, _ in parts] == [row[0] for row in cells(weeks) if "`debug`" in row[1] and "part" in row[1]]


def test_the_points_for_clean_checks_are_those_of_the_labs() -> None:
    sums = {
        name: sum(item.points for item in lab.items if "the checks find" in item.name) for name, lab in LABS.items()
    }
    sums["debug"] = 8  # its points are for nothing else
    shown = next(cell for cell, what in cells(section("## What is graded")) if what.startswith("clean checks"))
    assert shown == f"{min(sums.values()):g} to {max(sums.values()):g}"


def test_the_hours_add_up() -> None:
    *rows, last = [row[2:] for row in cells(section("## Hours"))][1:]
    hours = [[0.0 if hour == "–" else float(hour) for hour in row] for row in rows]
    assert [sum(column) for column in zip(*hours, strict=True)] == [float(hour) for hour in last]


def test_hours_and_difficulty_are_those_of_the_labs() -> None:
    rows = {row[0].strip("`"): row[1:] for row in cells(section("## Hours")) if row[0].startswith("`")}
    shown = {name: (row[0], sum(float(hour) for hour in row[2:] if hour != "–")) for name, row in rows.items()}
    assert shown == {name: (lab.file.lab.difficulty, lab.file.lab.hours) for name, lab in LABS.items()}


def test_where_short_answers_take_hours_there_are_questions() -> None:
    rows = [row for row in cells(section("## Hours")) if row[0].startswith("`")]
    asked = {row[0].strip("`") for row in rows if row[-1] != "–"}
    assert asked == {name for name, lab in LABS.items() if (lab.folder / "questions.md").exists()}


@pytest.mark.parametrize(("row", "word"), [("the prelab", "prelab"), ("speed-up", "speed"), ("stretch", "stretch")])
def test_what_is_graded_has_the_points_of_the_labs(row: str, word: str) -> None:
    sums = [sum(item.points for item in lab.items if word in item.name) for lab in LABS.values()]
    shown = next(cell for cell, what in cells(section("## What is graded")) if what.startswith(row))
    least, most = min(points for points in sums if points), max(sums)
    assert shown in (f"{least:g} to {most:g}", f"at most {most:g}")


def test_each_lab_has_its_misconceptions_and_each_a_wrong_solution_that_is_there() -> None:
    rows = [row for row in cells(section("## Misconceptions")) if len(row) == 3][1:]
    assert {row[0].strip("`") for row in rows} == set(LABS)
    mistakes = []
    for lab, _, shown in rows:
        name, wrong = lab.strip("`"), re.findall(r"`(\w+)`", shown)
        assert wrong, f"no wrong solution of {name} in a row"
        mistakes += [
            f"{name}: {word}" for word in wrong if not (LABS[name].folder / "wrong" / f"{word}.patch").exists()
        ]
    assert mistakes == [], "these wrong solutions are not there; which ones show the misconceptions now?"


@pytest.mark.parametrize("page", PAGES, ids=told)
def test_wrong_solutions_and_programs_in_commands_exist(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for name, wrong in re.findall(r"warpgrade wrong (\w+) (\w+)", text):
        assert (ROOT / "labs" / name / "wrong" / f"{wrong}.patch").exists(), (
            f"there is no wrong solution {name} {wrong}"
        )
    lab = LABS.get(page.parent.name)
    if lab is not None:
        live = text[text.index("\n# The mistake to show") :].partition("\n\n---\n")[0]
        named = set(re.findall(r"`([a-z]+(?:_[a-z]+)*)`", live)) - {"racecheck"}
        assert [name for name in named if not (lab.folder / "wrong" / f"{name}.patch").exists()] == []
    for name in re.findall(r"warpgrade (?:grade|check|prove) ([a-z]\w*)", text):
        assert name in LABS, f"there is no lab {name}"
    for program in re.findall(r"warpgrade run (\S+\.cu)", text):
        assert "/" not in program or (ROOT / program).exists(), f"there is no {program}"


NOTE = re.compile(r"^<!--\n(.*?)\n-->$", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("deck", SLIDES, ids=told)
def test_slides_are_pages_with_what_a_lecture_needs(deck: Path) -> None:
    text = deck.read_text(encoding="utf-8")
    slides = [slide.strip() for slide in text.split("\n\n---\n\n")]
    assert 8 <= len(slides) <= 12
    for slide in slides:
        assert slide.startswith("# "), f"a slide begins with its title: {slide[:40]}"
        assert "\n# " not in slide, f"two titles on one slide: {slide[:40]}"
        shown = NOTE.sub("", slide).strip()
        assert len(shown.splitlines()) <= 30, f"more than fits on a slide: {slide[:40]}"
    titles = [slide.partition("\n")[0] for slide in slides]
    assert titles[0].startswith(f"# Lab {deck.parent.name}:")
    assert any(title.startswith("# Predict") for title in titles)
    assert any("H100" in title for title in titles)
    assert titles[-1] == "# To take home"
    assert "    ./warpgrade " in text, "no command to show the mistake with"
    assert "](figures/" in text or not (deck.parent / "figures").is_dir(), "no figure"


@pytest.mark.parametrize("deck", SLIDES, ids=told)
def test_speakers_notes_are_comments_at_the_end_of_slides(deck: Path) -> None:
    """As Marp reads them: a comment that is no directive is a note of the slide that it stands in."""
    noted = []
    for slide in deck.read_text(encoding="utf-8").split("\n\n---\n\n"):
        notes = NOTE.findall(slide)
        assert len(notes) == slide.count("<!--") <= 1
        if notes:
            assert slide.rstrip().endswith("-->"), "a note stands below what is shown"
            assert "\n\n" not in notes[0].strip()
            assert not re.match(r"\s*[$_]?\w+:", notes[0]), "this reads as a directive of Marp"
            noted.append(slide.partition("\n")[0])
    assert len(noted) >= 6
    for title in ("# Lab", "# Predict", "# The mistake"):
        assert any(one.startswith(title) for one in noted), f"no note on the slide “{title} …”"


NUMBER = r"\d[\d.,]*(?:e\+\d+)? (?:ms|GB/s|TFLOP/s|GFLOP/s|cycles)"


@pytest.mark.parametrize("deck", SLIDES, ids=told)
def test_tables_of_what_hardware_does_repeat_what_was_measured(deck: Path) -> None:
    for slide in deck.read_text(encoding="utf-8").split("\n\n---\n\n"):
        if "docs/hardware.md)" in slide:
            numbers = [number for row in cells(slide) for cell in row for number in re.findall(NUMBER, cell)]
            assert [number for number in numbers if f" {number} " not in HARDWARE] == []


def bare(text: str) -> str:
    return "".join(text.split())


def secrets(lab: Lab) -> set[str]:
    """Return the long lines, code and comments, that only the reference and hidden tests have, no handed-out file."""
    kept, shown = "", ""
    for path in starter.reference_files(lab):
        reference = path.read_text(encoding="utf-8")
        kept += "\n".join(line.text for line in starter.solution(reference)) + "\n"
        shown += starter.derive(reference)
    for path in (lab.folder / "tests").iterdir():
        text = path.read_text(encoding="utf-8")
        kept, shown = (kept + text, shown) if path.name.startswith("hidden") else (kept, shown + text)
    for path in [*(LAYOUT.labs / "common").glob("*.cuh"), *lab.folder.glob("*.h")]:
        shown += path.read_text(encoding="utf-8")
    lines = {bare(part) for line in kept.splitlines() for part in line.split("//")}
    return {line for line in lines if len(line) > LONG} - {
        bare(part) for line in shown.splitlines() for part in line.split("//")
    }


@pytest.mark.parametrize("lab", LABS.values(), ids=lambda lab: lab.name)
def test_no_slide_or_sheet_gives_a_solution_away(lab: Lab) -> None:
    hidden = secrets(lab)
    assert len(hidden) > 10
    others = [page for page in PAGES if page.parent.parent != LAYOUT.labs]
    pages = [*others, lab.folder / "slides.md", lab.folder / "README.md"]
    leaks = [f"{told(page)}: {line}" for page in pages for line in hidden if line in bare(page.read_text("utf-8"))]
    assert leaks == []


def test_a_line_of_the_reference_is_found_however_it_is_broken() -> None:
    found = secrets(LABS["transpose"])
    reference = (ROOT / "reference" / "transpose" / "transpose.cu").read_text(encoding="utf-8")
    declared = next(line for line in reference.splitlines() if "__shared__ float tile" in line)
    assert any(line in bare(f"text\n  {declared.replace('[', '[ ').strip()}  // why\n") for line in found)
