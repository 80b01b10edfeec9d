"""The table of attacks is whole: each known class has its answer, each fixture is used, and the page says the same."""

import golden_files
from table import CLASSES, HERE, LAYOUT, as_markdown, names_of_course, read, read_attacks
from test_link import FIXTURES as OF_THE_LINK

FIXTURES = read()
PAGE = LAYOUT.root / "docs" / "security.md"
BEFORE, BEGIN, REST = PAGE.read_text(encoding="utf-8").partition("<!-- attacks: begin -->\n")
ROWS, END, AFTER = REST.partition("<!-- attacks: end -->\n")
ATTACKS = read_attacks(ROWS)


def test_every_class_has_an_answer() -> None:
    answered = [number for attack in ATTACKS for number in attack.classes]
    assert sorted(set(answered)) == list(CLASSES)


def test_every_fixture_is_used_and_every_name_is_one() -> None:
    named = {name for attack in ATTACKS for name in attack.fixtures}
    assert named == {one.name for one in FIXTURES}
    used = {one.file(lab) for one in FIXTURES for lab in one.labs}
    modules = "".join(path.read_text(encoding="utf-8") for path in HERE.glob("test_*.py"))
    for path in [*HERE.glob("*.cu"), *HERE.glob("host/*.cu")]:
        assert path in used or path in OF_THE_LINK or path.name in modules, f"{path.name} is in no table"
    assert all(path is None or path.is_file() for path in used)


def test_every_lab_meets_those_attacks_that_fit_all() -> None:
    for name in ("empty", "reference_for_show", "sent_up"):
        assert names_of_course() <= {lab for one in FIXTURES if one.name == name for lab in one.labs}, name


def test_the_other_tests_are_there() -> None:
    for attack in ATTACKS:
        for path, words in attack.tests:
            assert words in (LAYOUT.root / path).read_text(encoding="utf-8"), path


def test_the_page_shows_the_verdicts() -> None:
    golden_files.check(PAGE, BEFORE + BEGIN + as_markdown(ATTACKS, FIXTURES) + END + AFTER)
