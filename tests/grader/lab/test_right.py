"""Other right solutions: patches against the references, or whole files."""

from pathlib import Path

import pytest
from stand_ins import REFERENCE

from warpgrade.lab import labs, right, variant, wrong
from warpgrade.lab.labs import Lab
from warpgrade.machine.errors import BadInput, GraderError
from warpgrade.machine.paths import find_layout

LONG = REFERENCE + "".join(f"int x{number};\n" for number in range(20))
NEARLY = LONG.replace("if (threadIdx.x < n)", "if (n > threadIdx.x)")
ANOTHER = '// RIGHT (30 points): nothing of it\n#include "toy.h"\nvoid toy(float*, int) {}\n'


@pytest.fixture
def edited(lab: Lab, reference: Path, tmp_path: Path) -> Path:
    reference.write_text(LONG, encoding="utf-8")
    path = tmp_path / "edited.cu"
    path.write_text(f"// RIGHT: turned round\n{NEARLY}", encoding="utf-8")
    return path


def test_what_is_nearly_the_reference_is_kept_as_a_patch(lab: Lab, edited: Path) -> None:
    assert variant.update(lab, right.KIND, "other", edited) == lab.folder / "right" / "other.patch"
    assert right.names(lab) == ["other"]
    found = right.find(lab, "other")
    assert (found.what, found.points) == ("turned round", lab.max_points)
    text = variant.files(lab, found)["toy.cu"]
    assert text.startswith('// RIGHT: turned round\n#include "toy.h"\n')
    assert "if (n > threadIdx.x)" in text
    # Without a first line it keeps its own.
    edited.write_text(NEARLY.replace("+= 1", "+= 1.0f"), encoding="utf-8")
    variant.update(lab, right.KIND, "other", edited)
    assert right.find(lab, "other").what == "turned round"


def test_what_has_little_in_common_with_it_is_kept_whole(lab: Lab, edited: Path) -> None:
    variant.update(lab, right.KIND, "other", edited)
    edited.write_text(ANOTHER, encoding="utf-8")
    assert variant.update(lab, right.KIND, "other", edited) == lab.folder / "right" / "other.cu"
    assert right.names(lab) == ["other"]  # the patch is gone
    found = right.find(lab, "other")
    assert found.points == 30
    assert variant.files(lab, found) == {"toy.cu": ANOTHER}


def test_mistakes_are_named(lab: Lab, edited: Path) -> None:
    edited.write_text(NEARLY, encoding="utf-8")
    with pytest.raises(BadInput, match=r"the first line of .*edited\.cu must read: // RIGHT: <what it does"):
        variant.update(lab, right.KIND, "other", edited)
    variant.update(lab, right.KIND, "other", _with(edited, ANOTHER))
    path = lab.folder / "right" / "other.cu"
    path.write_text(ANOTHER.replace("RIGHT", "right"), encoding="utf-8")
    with pytest.raises(GraderError, match=r"labs/toy/right/other\.cu:1: the first line must read: // RIGHT"):
        right.find(lab, "other")
    with pytest.raises(BadInput, match="lab toy has no right solution “others”"):
        right.find(lab, "others")


def test_a_patch_may_change_a_right_solution(lab: Lab, edited: Path) -> None:
    variant.update(lab, right.KIND, "other", edited)
    edited.write_text('// WRONG: loses "adds" - too much\n' + NEARLY.replace("+= 1", "+= 2"), encoding="utf-8")
    path = variant.update(lab, wrong.KIND, "much", edited, "other")
    assert path.read_text(encoding="utf-8").splitlines()[1:] == [
        "--- right/other", "@@ -3,3 +3,3 @@", " __global__ void add(float* a, int n) {",
        "-    if (n > threadIdx.x) a[threadIdx.x] += 1;", "+    if (n > threadIdx.x) a[threadIdx.x] += 2;", " }",
    ]  # fmt: skip
    much = wrong.find(lab, "much")
    text = variant.files(lab, much)[variant.changed_file(lab, much)]
    assert text.startswith('// WRONG: loses "adds" - too much\n#include "toy.h"\n')
    assert "if (n > threadIdx.x) a[threadIdx.x] += 2;" in text
    # Where it no longer applies, the right solution's line is named, and how to make it again.
    _with(edited, f"// RIGHT: turned round\n{NEARLY.replace('+= 1', '+= 3')}")
    variant.update(lab, right.KIND, "other", edited)
    with pytest.raises(GraderError, match=r"the right solution changed at right/other:5$") as caught:
        variant.files(lab, much)
    assert "./warpgrade right toy other > FILE.cu, change it" in caught.value.hint
    assert caught.value.hint.endswith("./warpgrade wrong toy much --update FILE.cu --base other")
    # It is a right one, and not of a right one itself.
    path.write_text(path.read_text(encoding="utf-8").replace("right/other", "right/others"), encoding="utf-8")
    with pytest.raises(GraderError, match=r"much\.patch:2: lab toy has no right solution “others”"):
        variant.files(lab, wrong.find(lab, "much"))
    variant.update(
        lab, right.KIND, "others", _with(edited, f"// RIGHT: both\n{NEARLY.replace('n)', 'n + 0)')}"), "other"
    )
    with pytest.raises(GraderError, match=r"much\.patch:2: labs/toy/right/others\.patch is not made of reference/toy"):
        variant.files(lab, wrong.find(lab, "much"))


def _with(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


LAYOUT = find_layout()
ALL = [(lab, name) for lab in labs.discover(LAYOUT) for name in right.names(lab)]


@pytest.mark.parametrize(("lab", "name"), ALL, ids=[f"{lab.name}-{name}" for lab, name in ALL])
def test_every_one_applies_and_is_kept_in_the_shorter_way(lab: Lab, name: str) -> None:
    way = right.find(lab, name)
    text = variant.files(lab, way)[variant.changed_file(lab, way)]
    assert text.startswith(f"// {way.header}\n")
    assert "SOLUTION" not in text
    forms = [path.suffix for path in (lab.folder / "right").glob(f"{name}.*")]
    assert len(forms) == 1
