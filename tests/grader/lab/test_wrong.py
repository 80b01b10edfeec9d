"""Wrong solutions: patches against the references."""

import statistics
from pathlib import Path

import pytest
from stand_ins import PATCH, REFERENCE

from warpgrade.lab import labs, variant, wrong
from warpgrade.lab.labs import Lab
from warpgrade.lab.patch import Patch
from warpgrade.machine.errors import BadInput, GraderError
from warpgrade.machine.paths import Layout, find_layout

WHOLE = """\
// WRONG: loses "adds", "adds odd sizes" - no guard
#include "toy.h"

__global__ void add(float* a, int n) {
    a[threadIdx.x] += 1;
}
"""


def test_a_patch_makes_the_whole_file_without_tasks_and_markers(layout: Layout, lab: Lab, reference: Path) -> None:
    assert wrong.names(lab) == ["no_guard"]
    found = wrong.find(lab, "no_guard")
    assert (found.loses, found.what) == (("adds", "adds odd sizes"), "no guard")
    (reference.parent / "tile.cuh").write_text("int x;\n", encoding="utf-8")
    assert variant.files(lab, found) == {"tile.cuh": "int x;\n", "toy.cu": WHOLE}


def test_a_patch_is_made_of_a_whole_file(layout: Layout, lab: Lab, reference: Path, tmp_path: Path) -> None:
    path = lab.folder / "wrong" / "no_guard.patch"
    path.unlink()
    edited = tmp_path / "edited.cu"
    edited.write_text(WHOLE, encoding="utf-8")
    assert variant.update(lab, wrong.KIND, "no_guard", edited) == path
    assert path.read_text(encoding="utf-8") == PATCH
    # Of a copy of the reference as well, with its tasks and markers; then the first line stays.
    edited.write_text(REFERENCE.replace("if (threadIdx.x < n)", "if (threadIdx.x <= n)"), encoding="utf-8")
    variant.update(lab, wrong.KIND, "no_guard", edited)
    assert path.read_text(encoding="utf-8") == PATCH.replace("+    a[", "+    if (threadIdx.x <= n) a[")
    # A patch of another file than the main one names it.
    (reference.parent / "tile.cuh").write_text("int x;\n", encoding="utf-8")
    (tmp_path / "tile.cuh").write_text("int y;\n", encoding="utf-8")
    variant.update(lab, wrong.KIND, "no_guard", tmp_path / "tile.cuh")
    assert path.read_text(encoding="utf-8").splitlines()[1:3] == ["--- tile.cuh", "@@ -1,1 +1,1 @@"]
    assert variant.files(lab, wrong.find(lab, "no_guard"))["tile.cuh"].endswith("\nint y;\n")


def test_what_is_no_wrong_solution_is_refused(layout: Layout, lab: Lab, reference: Path, tmp_path: Path) -> None:
    edited = tmp_path / "edited.cu"
    edited.write_text(WHOLE.partition("\n")[2], encoding="utf-8")
    with pytest.raises(BadInput, match=r"the first line of .*edited\.cu must read: // WRONG: loses"):
        variant.update(lab, wrong.KIND, "another", edited)
    edited.write_text(REFERENCE, encoding="utf-8")
    with pytest.raises(BadInput, match=r"changes nothing: it is what reference/toy/toy\.cu gives"):
        variant.update(lab, wrong.KIND, "no_guard", edited)
    with pytest.raises(BadInput, match="cannot be the name"):
        variant.update(lab, wrong.KIND, "../x", edited)
    with pytest.raises(BadInput, match="cannot be read"):
        variant.update(lab, wrong.KIND, "no_guard", tmp_path / "nowhere.cu")
    with pytest.raises(BadInput) as caught:
        wrong.find(lab, "no_gaurd")
    assert caught.value.hint == "did you mean no_guard?"


def test_a_patch_that_no_longer_applies_says_where_and_what_to_do(layout: Layout, lab: Lab, reference: Path) -> None:
    reference.write_text(REFERENCE.replace("+= 1", "+= 2"), encoding="utf-8")
    with pytest.raises(GraderError) as caught:
        variant.files(lab, wrong.find(lab, "no_guard"))
    assert caught.value.message == (
        "labs/toy/wrong/no_guard.patch:2: hunk 1 no longer applies: the reference changed at reference/toy/toy.cu:10"
    )
    assert caught.value.detail.splitlines() == [
        "the patch has:     if (threadIdx.x < n) a[threadIdx.x] += 1;",
        "the reference:     if (threadIdx.x < n) a[threadIdx.x] += 2;",
    ]
    assert "copy reference/toy/toy.cu to FILE.cu" in caught.value.hint
    assert "./warpgrade wrong toy no_guard --update FILE.cu" in caught.value.hint
    body = REFERENCE[REFERENCE.index("__global__") :]
    reference.write_text(REFERENCE + body, encoding="utf-8")
    with pytest.raises(GraderError, match=r"its old lines are in reference/toy/toy\.cu at lines 7 and 13"):
        variant.files(lab, wrong.find(lab, "no_guard"))


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ('"adds", ', "adds, ", "no_guard.patch:1: the first line must read: WRONG: loses"),
        ("@@ -3,3", "--- a b\n@@ -3,3", "no_guard.patch:2: expected @@"),
        ("@@ -3,3", "--- other.cu\n@@ -3,3", "no_guard.patch:2: reference/toy has no other.cu"),
        ("@@ -3,3", "@@ -3,2", "no_guard.patch:2: @@ counts 2 old"),
    ],
)
def test_mistakes_in_a_patch_are_named(
    layout: Layout, lab: Lab, reference: Path, old: str, new: str, complaint: str
) -> None:
    (lab.folder / "wrong" / "no_guard.patch").write_text(PATCH.replace(old, new), encoding="utf-8")
    with pytest.raises(GraderError, match=complaint):
        variant.files(lab, wrong.find(lab, "no_guard"))


LAYOUT = find_layout()
ALL = [(lab, name) for lab in labs.discover(LAYOUT) for name in wrong.names(lab)]


def patch_of(lab: Lab, name: str) -> Patch:
    change = wrong.find(lab, name).change
    assert isinstance(change, Patch)
    return change


@pytest.mark.parametrize(("lab", "name"), ALL, ids=[f"{lab.name}-{name}" for lab, name in ALL])
def test_every_patch_applies_and_names_tests_of_its_lab(lab: Lab, name: str) -> None:
    mistake = wrong.find(lab, name)
    assert set(mistake.loses) <= {item.name for item in lab.items}
    text = variant.files(lab, mistake)[variant.changed_file(lab, mistake)]
    assert text.startswith(f"// WRONG: loses {mistake.header.removeprefix('WRONG: loses ')}\n#include")
    assert "SOLUTION" not in text
    assert "TODO" not in text


def test_a_wrong_solution_is_one_mistake() -> None:
    changes = [sum(len(hunk.new) for hunk in patch_of(lab, name).hunks) for lab, name in ALL]
    assert statistics.median(changes) <= 3  # the changed line between two others
    assert sorted(changes)[-1] < 60
    for lab in labs.discover(LAYOUT):
        assert {path.name for path in (lab.folder / "wrong").iterdir() if path.suffix != ".patch"} <= {"messages.txt"}
