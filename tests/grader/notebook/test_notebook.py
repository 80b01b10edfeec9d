"""A notebook is executed as Jupyter does it: its cells run on the virtual GPU."""

from __future__ import annotations

import os
import re
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
        text = "".join(out.get("text", "") or "\n".join(out.get("traceback", [])) for out in cell.outputs)
        said.append(re.sub(r"\x1b\[[0-9;]*m", "", text))
    return said


@pytest.mark.labs
def test_cells_run_and_are_checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reverse = (LAYOUT.references / "reverse" / "reverse.cu").read_text(encoding="utf-8")
    wrong = HELLO.replace("threadIdx.x]", "threadIdx.x + 1]")
    ran, arguments, found, checked, nothing = executed(
        tmp_path, monkeypatch, f"%%cuda\n{HELLO}", f"%%cuda -q -- first\n{HELLO}", f"%%cuda\n{wrong}",
        f"%%check reverse --only dynamic_reverse_n\n{reverse}", "%%check\nint x;",
    )  # fmt: skip
    assert "last: 93" in ran
    assert "fill" in ran  # the profile
    assert arguments.strip() == "first: 93"
    assert "access out of bounds [memcheck/out-of-bounds]" in found
    assert "cell.cu:3" in found
    assert "100 %" in checked
    assert "%%check needs a lab" in nothing
