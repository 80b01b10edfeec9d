"""Patches: made small, applied strictly."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warpgrade.lab import patch

OLD = """\
void one() {
    load();

    store();
}
void two() {
    load();

    wait();
    store();
}
""".splitlines()

lines = st.lists(st.sampled_from(["", "a", "b", " c", "--- a", "@@ -1 +1 @@"]), max_size=12)


def changed(*edits: tuple[str, str]) -> list[str]:
    text = "\n".join(OLD)
    for old, new in edits:
        assert old in text
        text = text.replace(old, new, 1)
    return text.splitlines()


def test_a_patch_has_as_little_around_it_as_says_where_it_is() -> None:
    assert patch.make(OLD, changed(("    wait();\n", "")), "x.cu") == [
        "--- x.cu", "@@ -8,3 +8,2 @@ void two() {", "", "-    wait();", "     store();",
    ]  # fmt: skip
    # The first load() is told from the other by the line before it, and not by that after it.
    assert patch.make(OLD, changed(("    load();", "    LOAD();"))) == [
        "@@ -1,3 +1,3 @@", " void one() {", "-    load();", "+    LOAD();", "",
    ]  # fmt: skip


def test_changes_that_lie_together_are_one_hunk_and_line_numbers_go_on() -> None:
    new = changed(
        ("    load();", "    a();\n    b();"), ("    store();\n}\nvoid", "}\nvoid"), ("    wait();", "    c();")
    )
    made = patch.make(OLD, new, "x.cu")
    assert [line for line in made if line.startswith("@@")] == ["@@ -1,5 +1,5 @@", "@@ -8,3 +8,3 @@ void two() {"]
    assert patch.apply(patch.parse(made), OLD) == new


@given(lines.filter(bool), lines)
def test_a_patch_makes_what_it_was_made_of(old: list[str], new: list[str]) -> None:
    made = patch.make(old, new)
    if old == new:
        assert made == []
    else:
        assert patch.apply(patch.parse(made), old) == new


def test_a_hunk_may_move_but_not_change() -> None:
    made = patch.parse(patch.make(OLD, changed(("    wait();\n", "")), "x.cu"))
    assert "    wait();" not in patch.apply(made, ["int more;", "", *OLD])
    with pytest.raises(patch.Misfit) as caught:
        patch.apply(made, changed(("    wait();", "    wait(1);")))
    assert (caught.value.number, caught.value.hunk.line, caught.value.places) == (1, 2, [])
    assert (caught.value.line, caught.value.expected) == (8, "    wait();")
    with pytest.raises(patch.Misfit) as caught:
        patch.apply(made, [*OLD, *OLD])
    assert caught.value.places == [7, 18]


@pytest.mark.parametrize(
    ("text", "line", "complaint"),
    [
        ("", 2, "nothing is changed"),
        ("--- a.cu\n+++ a.cu\n@@ -1 +1 @@\n-x\n+y", 3, "expected @@"),
        ("--- a.cu", 3, "nothing is changed"),
        ("--- a.cu\n@@ -1 +1 @@\n-x\n+y\n+z", 3, "@@ counts 1 old and 1 new lines; 1 and 2 follow"),
        ("@@ -1 +1 @@\n-x\n+y\n\\ No newline at end of file", 5, "begins with a space, - or +"),
    ],
)
def test_what_is_no_patch_is_told_with_its_line(text: str, line: int, complaint: str) -> None:
    with pytest.raises(patch.Malformed, match=complaint.replace("+", r"\+")) as caught:
        patch.parse(text.splitlines(), first=2)
    assert caught.value.line == line
