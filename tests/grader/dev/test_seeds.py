"""docs/seeds.md: the labs, headings and tests that it names exist, and nothing in the labs or the texts is left out.

The texts lie beside the repository on machines of the project only; what is asked of them is skipped elsewhere.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from warpgrade.lab import labs
from warpgrade.lab.labs import Lab
from warpgrade.machine.paths import find_layout

ROOT = find_layout().root
PAGE = ROOT / "docs" / "seeds.md"
TEXTS = ROOT.parent / "shared" / "seeds"
HEADER = "| Place in the text | What it teaches | Lab, section of the sheet | Test |"
BEYOND = "Beyond the texts"
IMPORTANT = 10  # points from which on a test has a row
LABS = {lab.name: lab for lab in labs.discover(find_layout()) if (lab.folder / "slides.md").exists()}  # of the course


@dataclass(frozen=True)
class Row:
    """A row of a table: its line, its section of the page, its four cells."""

    line: int
    section: str
    place: str
    what: str
    sheet: str
    graded: str

    @property
    def taught(self) -> bool:
        """Whether the row names a lab."""
        return self.sheet.startswith("`")

    @property
    def places(self) -> list[tuple[str, str]]:
        """Return the labs that the row names, each with the heading in its task sheet."""
        found = (re.fullmatch(r"`(\w+)` › (.+)", part) for part in self.sheet.split("; "))
        return [(match[1], match[2]) for match in found if match]

    @property
    def tests(self) -> list[str]:
        """Return the tests of labs that the row names."""
        return self._named(r"`(.+)`")

    @property
    def short_answers(self) -> list[str]:
        """Return the titles of the questions for a person to grade that the row names."""
        return self._named(r"short answer “(.+)”")

    @property
    def keepers(self) -> list[str]:
        """Return the tests of the project that the row names, each as file::function."""
        return self._named(r"kept true by `(.+)`")

    def _named(self, pattern: str) -> list[str]:
        parts = self.graded.split("; ")
        return [match[1] for match in (re.fullmatch(pattern, part) for part in parts) if match]

    def told(self, mistake: str) -> str:
        """Return the mistake with its place in the page."""
        return f"docs/seeds.md:{self.line}: {mistake}"


def read_rows() -> Iterator[Row]:
    section, inside = "", False
    for number, line in enumerate(PAGE.read_text(encoding="utf-8").splitlines(), start=1):
        if line.startswith("## "):
            section = line[3:]
        inside = line == HEADER or (inside and line.startswith("|"))
        if inside and line != HEADER and not line.startswith("|---"):
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            assert len(cells) == 4, f"docs/seeds.md:{number}: {len(cells)} cells, not four"
            yield Row(number, section, *cells)


ROWS = list(read_rows())


def headings(lab: Lab) -> set[str]:
    """Return what a row may name in a lab: sections and paragraphs of the sheet, numbered steps, files of the lab."""
    sheet = (lab.folder / "README.md").read_text(encoding="utf-8")
    found = re.findall(r"^(?:## |\*\*)(.+?)(?:\.?\*\*.*)?$", sheet, re.MULTILINE)
    steps = re.search(r"^## Steps$(.+?)^## ", sheet, re.MULTILINE | re.DOTALL)
    numbers = re.findall(r"^(\d+)\. ", steps[1], re.MULTILINE) if steps else []
    return {*found, *(f"Steps {number}" for number in numbers), *(path.name for path in lab.folder.iterdir())}


def test_every_row_says_where_it_is_taught_and_graded_or_why_not() -> None:
    assert len(ROWS) > 200
    for row in ROWS:
        assert row.place, row.told("no place")
        assert row.what, row.told("does not say what is taught")
        if row.taught:
            named = len(row.tests) + len(row.short_answers) + len(row.keepers)
            refused = row.graded.startswith("no test, because ")
            assert refused or named == len(row.graded.split("; ")), row.told(f"“{row.graded}” is no list of tests")
            assert len(row.places) == row.sheet.count("›"), row.told(f"“{row.sheet}” is no list of labs and headings")
        else:
            known = row.sheet == "not yet" or row.sheet.startswith("not taught, because ")
            assert known, row.told(f"“{row.sheet}” is neither a lab nor a reason")
            assert row.graded == "—", row.told("what is not taught has no test")


def test_no_place_appears_twice() -> None:
    places = [(row.section, row.place) for row in ROWS if row.section != BEYOND]
    assert sorted({place for place in places if places.count(place) > 1}) == []


def test_labs_and_headings_exist() -> None:
    known = {name: headings(lab) for name, lab in LABS.items()}
    mistakes = []
    for row in ROWS:
        for lab, heading in row.places:
            if lab not in known:
                mistakes.append(row.told(f"there is no lab {lab}"))
            elif heading not in known[lab]:
                others = [name for name, its in known.items() if heading in its]
                mistakes.append(row.told(f"the sheet of {lab} has no “{heading}”; those of {others} have"))
    assert not mistakes, "\n".join(mistakes)


def test_tests_exist_in_a_lab_of_their_row() -> None:
    homes: dict[str, list[str]] = {}
    for lab in LABS.values():
        for item in lab.items:
            homes.setdefault(item.name, []).append(lab.name)
    mistakes = []
    for row in ROWS:
        for test in row.tests:
            now = homes.get(test, [])
            if not {lab for lab, _ in row.places} & set(now):
                mistakes.append(row.told(f"“{test}” is no test of a lab in this row; labs that have it: {now}"))
    assert not mistakes, "\n".join(mistakes)


def questions(lab: Lab) -> list[str]:
    """Return the titles of a lab's short answers: headings, or what is bold at the beginning of a paragraph."""
    page = lab.folder / "questions.md"
    text = page.read_text(encoding="utf-8") if page.exists() else ""
    return re.findall(r"^(?:## |\*\*)(?:\d+\. )?(.+?)\.?(?:\*\*.*| \(.*\))?$", text, re.MULTILINE)


def test_short_answers_are_asked_by_a_lab_of_their_row() -> None:
    asked = {name: questions(lab) for name, lab in LABS.items()}
    assert sum(map(len, asked.values())) > 30
    mistakes = [
        row.told(f"no questions.md of a lab in this row asks “{title}”")
        for row in ROWS
        for title in row.short_answers
        if not any(title in asked.get(name, []) for name, _ in row.places)
    ]
    assert not mistakes, "\n".join(mistakes)


def test_what_keeps_a_text_true_exists() -> None:
    keepers = [(row, keeper) for row in ROWS for keeper in row.keepers]
    assert len(keepers) > 5
    for row, keeper in keepers:
        file, _, function = keeper.partition("::")
        assert (ROOT / file).is_file(), row.told(f"there is no {file}")
        assert f"def {function}(" in (ROOT / file).read_text(encoding="utf-8"), row.told(f"no test {function}")


def test_what_labs_grade_has_its_row() -> None:
    named = {(lab, test) for row in ROWS for lab, _ in row.places for test in row.tests}
    missing = [
        f"{lab.name}: “{item.name}”"
        for lab in LABS.values()
        for item in lab.items
        if item.points >= IMPORTANT and (lab.name, item.name) not in named
    ]
    assert missing == [], f"say in docs/seeds.md where this is in the texts, or put it under “{BEYOND}”"
    assert sorted(set(LABS) - {lab for row in ROWS for lab, _ in row.places}) == []


@dataclass(frozen=True)
class Text:
    """One text: how its section of the page begins, and patterns of what must have a row.

    A heading is a row's place, or what stands before its first comma; a name stands in backticks.
    """

    title: str
    file: str
    headings: str
    names: str


BETWEEN_EMPTY_LINES = r"(?<=\n\n)((?!About )[A-Z][^\n.:;$#]{2,60})(?=\n\n)"
NOTHING = r"(?!)()"
FROM_TEXTS = [
    Text("Programming Parallel Computers, chapter 4: version 2", "ppc-chapter4-v2-registers.txt", NOTHING,
         r"^(?:__global__ )?void (\w+)"),
    Text("Programming Parallel Computers, chapter 4: version 3", "ppc-chapter4-v3-shared-memory.txt",
         BETWEEN_EMPTY_LINES, r"^__global__ void (\w+)"),
    Text("Using Shared Memory in CUDA Fortran", "cuda-fortran-shared-memory.txt", BETWEEN_EMPTY_LINES,
         r"(?:global\) subroutine |end program |using (?=cuda))(\w+)"),
    Text("Parallel Computing with Graphical Processing Units", "sheffield-lab06-shared-memory.txt", NOTHING,
         r"(?:__global__ void |(?=requiredSM|cudaOccupancyMax|fig:))([\w:]+)"),
    Text("Topics in Parallel and Distributed Computing", "tcpp-chapter8-gpu-computing.txt",
         r"^(8\.\d(?:\.\d)? .+|Abstract|Bibliography)$", NOTHING),
]  # fmt: skip
NUMBERS = r"(?:\d[\d.]*|i\b)"
LABELS = rf"\b(Listing|Figure|Table|Equation|Exercise)s? ({NUMBERS}(?:, {NUMBERS})*)"


def labels(place: str) -> set[str]:
    """Return what a place names by number: “Equations 8.3, 8.4” are two."""
    found = re.findall(LABELS, place, re.IGNORECASE)
    return {f"{kind.capitalize()} {number}" for kind, numbers in found for number in numbers.split(", ")}


def labels_of_text(text: str) -> set[str]:
    """Return what a text has by number: captions, exercises, equations with their number or in their order."""
    captions = re.findall(r"^(?:Active Learning )?(Listing|Figure|Table|Exercise) ([\d.]*\d|i)\b", text, re.MULTILINE)
    exercises = re.findall(r"\b[Ee](?=xercise (\d+) (?:we|asks))", text)
    tagged = re.findall(r"\\quad \((\d[\d.]*)\)", text)
    in_order = range(1, text.count(r"\begin{equation}") + 1)
    return {
        *(f"{kind} {number}" for kind, number in captions),
        *(f"Exercise {number}" for number in exercises),
        *(f"Equation {number}" for number in [*tagged, *in_order]),
    }


@pytest.mark.skipif(not TEXTS.is_dir(), reason="the texts are not beside the repository")
@pytest.mark.parametrize("source", FROM_TEXTS, ids=lambda source: source.file)
def test_nothing_in_the_texts_is_left_out(source: Text) -> None:
    text = (TEXTS / source.file).read_text(encoding="utf-8")
    places = [row.place for row in ROWS if row.section.startswith(source.title)]
    found = set(re.findall(source.headings, text, re.MULTILINE))
    names = set(re.findall(source.names, text, re.MULTILINE))
    numbered = labels_of_text(text)
    assert found | names | numbered, "the patterns find nothing in this text"
    listed = {*places, *(place.partition(",")[0] for place in places), *source.title.split(", ")}
    assert sorted(found - listed) == []
    assert sorted(name for name in names if not any(f"`{name}`" in place for place in places)) == []
    assert sorted(numbered - {label for place in places for label in labels(place)}) == []


@pytest.mark.skipif(not TEXTS.is_dir(), reason="the texts are not beside the repository")
def test_every_text_has_its_table() -> None:
    assert sorted(path.name for path in TEXTS.glob("*.txt")) == sorted(source.file for source in FROM_TEXTS)
