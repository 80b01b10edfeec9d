"""lab.toml: what is accepted, and what each mistake is told."""

import pytest
from stand_ins import TOY_LAB, changed

from warpgrade.lab import labs, wrong
from warpgrade.lab.labs import Lab
from warpgrade.machine.errors import BadInput, GraderError
from warpgrade.machine.paths import Layout, find_layout


def test_a_lab_is_found_by_its_folder(layout: Layout, lab: Lab) -> None:
    assert [found.name for found in labs.discover(layout)] == ["toy"]
    assert lab.main_file == "toy.cu"
    assert lab.max_points == 40
    assert [item.name for item in lab.items] == ["adds", "adds odd sizes", "speed"]


def test_the_contract_is_never_the_students(lab: Lab) -> None:
    assert lab.allows("toy.cu")
    assert lab.allows("tile.cuh")
    assert not lab.allows("toy.h")
    assert not lab.allows("Toy.cu")


def test_an_unknown_lab_names_a_close_one(layout: Layout) -> None:
    with pytest.raises(BadInput) as caught:
        labs.find(layout, "Toyy")
    assert "did you mean toy?" in caught.value.hint
    with pytest.raises(BadInput):
        labs.find(layout, "../toy")


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ('points = 20\nhidden', 'pionts = 20\nhidden', "[[test]] number 2 “adds odd sizes”: unknown key `pionts`"),
        ("points = 10\nhint", 'points = "ten"\nhint', "[[test]] number 1 “adds”.points: Expected `float`, got `str`"),
        ('title = "Adding vectors"\n', "", "[lab]: missing key `title`"),
        ("seconds = 5", "second = 5", "[limits]: unknown key `second`"),
        ("seconds = 5", "seconds = 0", "limits.seconds must be above 0"),
        ('name = "adds odd sizes"', 'name = "adds"', "“adds” appears twice"),
        ("[[1.0, 0], [3.0, 10]]", "[[3.0, 0], [1.0, 10]]", "“speed”.vgpu: speed-ups must rise"),
        ("[[1.0, 0], [3.0, 10]]", "[[1.0, 0], [3.0, 9]]", "“speed”.vgpu: must end at the item's 10 points"),
        ("points = 10\n[[test]]", "points = 41\n[[test]]", "baseline.points must be between 0 and 40"),
        ('["toy.cu", "*.cuh"]', '["*.cu"]', "files: the first one must be a plain file name"),
        ('["toy.cu", "*.cuh"]', '["toy.cu", "../x.cu"]', "must be a plain file name"),
        ("[limits]", 'answers = "a.md"\n[limits]', "answers: a.md, the questions as students get them, is missing"),
        ("[limits]", 'answers = "../a.md"\n[limits]', "answers: “../a.md” must be the plain name of a"),
        ("[limits]", 'answers = "a.cu"\n[limits]', "answers: “a.cu” must be the plain name of a .md or .txt file"),
        ('["toy"]', '["1toy"]', "“1toy” is not a C++ name"),
        ("[lab]", "[lab", "not valid TOML"),
        ("points = 20\nhidden", "points = -1\nhidden", ":18: “adds odd sizes”: points must not be below 0"),
        ("points = 20\nhidden", "points = nan\nhidden", ":18: “adds odd sizes”: points must not be below 0"),
        ("[[1.0, 0], [3.0, 10]]", "[[1.0, 0], [inf, 10]]", ":24: “speed”.vgpu: speed-ups and points must be finite"),
        ("[[1.0, 0], [2.0, 10]]", "[[1.0, 0], [2.0, 11]]", ":25: “speed”.gpu: must end at the item's 10 points"),
        ("vgpu = [[1.0, 0], [3.0, 10]]\ngpu = [[1.0, 0], [2.0, 10]]\n", "", ":21: “speed” needs a curve: vgpu or gpu"),
        ("order = 10", "order = 10\npoints = 100", ":5: the points of all tests add up to 40, not to 100: change"),
        ("seconds = 5", "seconds = nan", ":9: limits.seconds must be above 0"),
        ("points = 20\nhidden", "pionts = 20\nhidden", ":18: [[test]] number 2"),
        ("points = 10\nhint", 'points = "ten"\nhint', ":14: [[test]] number 1"),
    ],
)  # fmt: skip
def test_mistakes_are_named(layout: Layout, old: str, new: str, complaint: str) -> None:
    assert complaint in changed(layout, old, new)


def test_a_total_that_is_given_and_holds(layout: Layout) -> None:
    description = layout.labs / "toy" / "lab.toml"
    description.write_text(TOY_LAB.replace("order = 10", "order = 10\npoints = 40"), encoding="utf-8")
    assert labs.find(layout, "toy").file.lab.points == 40


def test_points_of_nothing(layout: Layout) -> None:
    description = layout.labs / "toy" / "lab.toml"
    nothing = TOY_LAB.replace("points = 10", "points = 0").replace("points = 20", "points = 0")
    description.write_text(nothing.replace("10]]", "0]]"), encoding="utf-8")
    with pytest.raises(GraderError) as caught:
        labs.find(layout, "toy")
    assert caught.value.message == "labs/toy/lab.toml: all points together are 0: give at least one test points"


def test_the_projects_own_labs_are_sound() -> None:
    found = labs.discover(find_layout())
    assert {"matmul", "reverse"} <= {lab.name for lab in found}
    for lab in found:
        assert lab.max_points == 100
        assert (find_layout().references / lab.name / lab.main_file).is_file()
        assert (find_layout().starters / lab.name / lab.main_file).is_file()
        assert len(wrong.names(lab)) >= 4
        assert all(item.hint for item in lab.items)
