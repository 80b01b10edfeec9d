"""The PTX of each source line: of text, of nvcc, and of what is no PTX."""

from hypothesis import given
from hypothesis import strategies as st

from warpgrade.compiling import ptx_lines
from warpgrade.grading import grade
from warpgrade.grading.submission import Submission
from warpgrade.intake import intake
from warpgrade.lab import labs
from warpgrade.machine.paths import find_layout

LAYOUT = find_layout()
PTX = b"""\
.version 8.0
.visible .entry k(.param .u64 p)
{
\t.reg .b32 %r<3>;
\t.loc\t1 7 5
\tmov.u32 \t%r1, %tid.x;
$L__BB0_1:
\t.loc\t2 40 1, function_name $L__info_string0, inlined_at 1 7 5
\tadd.s32 %r2, %r1, 1;
\t.loc\t1 8 5
\t@%p1 bra \t$L__BB0_1;
\t.loc\t1 7 9
\tret;
}
\t.file\t1 "/submission/own.cu"
\t.file\t2 "/usr/include/own.cuh"
.version 8.0
\t.loc\t1 3 1
\texit;
\t.file\t1 "/submission/other.cu"
"""


def test_instructions_are_those_of_their_lines_and_files() -> None:
    assert ptx_lines.read(PTX, ["own.cu", "other.cu"]) == {
        "own.cu": {7: ["mov.u32 %r1, %tid.x;", "ret;"], 8: ["@%p1 bra $L__BB0_1;"]},
        "other.cu": {3: ["exit;"]},
    }


def test_what_is_too_much_is_cut() -> None:
    head, tail = b'.file 1 "a.cu"\n', b"".join(b".loc 1 %d 1\n" % line + b"ret;\n" * 1000 for line in range(1, 200))
    found = ptx_lines.read(head + tail, ["a.cu"])["a.cu"]
    assert len(found[1]) == 120
    assert sum(map(len, found.values())) == 6000
    (row,) = ptx_lines.read(b'.file 1 "a.cu"\n.loc 1 1 1\n' + b"x" * 5000, ["a.cu"])["a.cu"][1]
    assert len(row) <= 120


@given(st.text(alphabet='.locfile 0123456789"\n/acu;', max_size=300))
def test_any_text_is_read(text: str) -> None:
    ptx_lines.read(text.encode(), ["a.cu"])


def test_nvcc_says_what_became_of_a_submissions_lines() -> None:
    lab = labs.find(LAYOUT, "matmul")
    submission = intake.read(lab, lab.reference_folder)
    found = grade.read_ptx(LAYOUT, lab, submission, grade.Options())
    source = submission.files[lab.main_file].decode().splitlines()
    rows = {source[line - 1].strip(): rows for line, rows in found[lab.main_file].items()}
    assert any(row.startswith("bar.sync") for row in next(rows[text] for text in rows if "__syncthreads" in text))
    refused = Submission("x", {lab.main_file: b"this is no program"}, [])
    assert grade.read_ptx(LAYOUT, lab, refused, grade.Options()) == {}
