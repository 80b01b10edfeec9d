"""Starters from references."""

import pytest

from warpgrade.lab import labs, starter
from warpgrade.lab.labs import Lab
from warpgrade.machine.errors import GraderError
from warpgrade.machine.paths import Layout, find_layout

REFERENCE = """\
__global__ void add(float* a, int n) {
    int i = threadIdx.x;
    // SOLUTION BEGIN
    // TODO(student): guard the last block,
    // and add.
    // STARTER: a[0] = 0;
    // STARTER:
    //STARTER: not a marker
    // The reference's own remark.
    if (i < n)
        a[i] += 1;  // STARTER: not at the beginning

    // TODO(student): a second task
    return;
    // a remark that continues nothing
    // SOLUTION END
}
"""

STARTER = """\
__global__ void add(float* a, int n) {
    int i = threadIdx.x;
    // TODO(student): guard the last block,
    // and add.
    a[0] = 0;

    // TODO(student): a second task
}
"""


def test_todos_and_starter_lines_stay() -> None:
    assert starter.derive(REFERENCE) == STARTER


def test_a_block_that_leaves_nothing_leaves_no_gap() -> None:
    empty = "// SOLUTION BEGIN\nint helper();\n// SOLUTION END\n"
    assert starter.derive(f"int a;\n\n{empty}\nint b;\n") == "int a;\n\nint b;\n"
    assert starter.derive(f"int a;\n{empty}\nint b;\n") == "int a;\n\nint b;\n"


def test_text_without_markers_stays() -> None:
    assert starter.derive("int x;\n\n// TODO(student): y\n") == "int x;\n\n// TODO(student): y\n"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("// SOLUTION BEGIN\nx\n", "reference:1: SOLUTION BEGIN without"),
        ("x\n// SOLUTION END\n", "reference:2: SOLUTION END without"),
        ("// SOLUTION BEGIN\n// SOLUTION BEGIN\n// SOLUTION END\n", "reference:2: SOLUTION BEGIN inside"),
    ],
)
def test_markers_must_pair(text: str, complaint: str) -> None:
    with pytest.raises(GraderError, match=complaint):
        starter.derive(text)


def test_drift_is_shown_and_mended(layout: Layout, lab: Lab) -> None:
    folder = layout.references / "toy"
    folder.mkdir(parents=True)
    (folder / "toy.cu").write_text(REFERENCE, encoding="utf-8")
    assert "+    // TODO(student): a second task" in starter.drift(lab)
    assert starter.write(lab) == ["toy.cu"]
    assert starter.write(lab) == []
    assert starter.drift(lab) == ""


@pytest.mark.parametrize("lab", labs.discover(find_layout()), ids=lambda lab: lab.name)
def test_committed_starters_are_what_their_references_give(lab: Lab) -> None:
    assert starter.drift(lab) == ""
    for text in starter.derived_files(lab).values():
        assert "SOLUTION" not in text
        assert "TODO(student)" in text
