"""A notebook is executed as Jupyter does it: its cells run on the virtual GPU."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from warpgrade.machine.paths import find_layout

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")
LAYOUT = find_layout()

HELLO = """#include <cstdio>

__global__ void fill(int* a) { a[threadIdx.x] = threadIdx.x * 3; }

int main(int argc, char** argv) {
    int* a;
    int got[32];
    cudaMalloc(&a, sizeof got);
    fill<<<1, 32>>>(a);
    cudaMemcpy(got, a, sizeof got, cudaMemcpyDeviceToHost);
    std::printf("%s: %d\\n", argc > 1 ? argv[1] : "last", got[31]);
    cudaFree(a);
}
"""


def executed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *cells: str) -> list[str]:
    """Execute a notebook with these cells after loading the extension; return what each of them printed."""
    monkeypatch.setenv("PYTHONPATH", f"{LAYOUT.root / 'grader'}{os.pathsep}{os.environ.get('PYTHONPATH', '')}")
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in ("%load_ext warpgrade", *cells)])
    client = nbclient.NotebookClient(
        book, timeout=300, allow_errors=True, resources={"metadata": {"path": str(tmp_path)}}
    )
    client.execute()
    said = []
    for cell in book.cells[1:]:
        assert len(cell.outputs) < 10  # what comes in thousands of pieces is dropped in part
        text = "".join(
            out.get("text", "") or "\n".join(out.get("traceback", [])) or str(out.get("data", {}).get("text/plain", ""))
            for out in cell.outputs
        )
        plain = re.sub(r"\x1b\[[0-9;]*m", "", text)
        assert "\x1b" not in plain  # colours, but nothing that only a terminal can write over
        said.append(plain)
    return said


@pytest.mark.labs
def test_cells_run_and_are_checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reverse = (LAYOUT.references / "reverse" / "reverse.cu").read_text(encoding="utf-8")
    wrong = HELLO.replace("threadIdx.x]", "threadIdx.x + 1]")
    many = '#include <cstdio>\nint main() { for (int i = 0; i < 20000; ++i) std::printf("line %d\\n", i); }\n'
    ran, arguments, found, checked, nothing, lines, listed = executed(
        tmp_path, monkeypatch, f"%%cuda\n{HELLO}", f"%%cuda -q -- first\n{HELLO}", f"%%cuda\n{wrong}",
        f"%%check reverse --only dynamic_reverse_n\n{reverse}", "%%check\nint x;",
        f"%%cuda -q\n{many}", "%lsmagic",
    )  # fmt: skip
    assert "last: 93" in ran
    assert "fill" in ran  # the profile
    assert arguments.strip() == "first: 93"
    assert "access out of bounds [memcheck/out-of-bounds]" in found
    place = 1 + f"%%cuda\n{wrong}".splitlines().index(next(row for row in wrong.splitlines() if "+ 1]" in row))
    assert f"--> cell.cu:{place}," in found
    assert f"  {place} | __global__" in found
    assert lines.splitlines() == [f"line {number}" for number in range(20000)]
    assert "compiling" not in ran + checked
    assert {"%%cuda", "%%check"} <= set(listed.split())
    assert "100 %" in checked
    assert "%%check needs a lab" in nothing


def test_output_is_shown_in_few_pieces_cut_at_lines() -> None:
    magics = pytest.importorskip("warpgrade.notebook.magics")
    words = "for i in range(30000): print('zeile ä', i)"
    with subprocess.Popen([sys.executable, "-c", words], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        pieces = list(magics._pieces(process.stdout))
    assert "".join(pieces) == "".join(f"zeile ä {number}\n" for number in range(30000))
    assert all(piece.endswith("\n") for piece in pieces[:-1])
    assert len(pieces) < 30  # read in hundreds, by thousands of lines


def test_of_too_much_output_the_beginning_and_the_end_are_shown() -> None:
    magics = pytest.importorskip("warpgrade.notebook.magics")
    whole = "".join(f"{number}\n" for number in range(200_000))
    pieces = [whole[start : start + 9_999] for start in range(0, len(whole), 9_999)]
    shown = "".join(magics._bounded(pieces))
    begin, left_out, end = re.split(r"\n… (\d+) characters are left out here.*…\n", shown)
    assert (whole.startswith(begin), whole.endswith(end)) == (True, True)
    assert len(begin) + int(left_out) + len(end) == len(whole)
    assert "".join(magics._bounded(pieces[:50])) == "".join(pieces[:50])
