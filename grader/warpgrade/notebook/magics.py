"""`%load_ext warpgrade`: cells of a notebook on the virtual GPU, in Jupyter and Colab without a GPU.

    %%cuda [options of `warpgrade run`] [-- ARGUMENT…]     compiles and runs the cell: output, profile, findings
    %%check LAB [options of `warpgrade check`]             puts the cell into the lab's file and checks it

They call the command line as a program of its own, so that a notebook shows what a terminal shows, and nothing that a
cell does harms the notebook's own process.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

from IPython.core.error import UsageError
from IPython.core.magic import Magics, cell_magic, line_magic, magics_class

from warpgrade.lab import labs
from warpgrade.machine import paths
from warpgrade.machine.errors import WarpgradeError

_COLUMNS = "100"


@magics_class
class WarpgradeMagics(Magics):
    """The magics; `status` is the exit status of the last command."""

    status: int = 0

    @cell_magic
    def cuda(self, line: str, cell: str) -> None:
        """Compile and run a whole CUDA program on the virtual GPU; the line holds options of `warpgrade run`."""
        words = shlex.split(line)
        at = words.index("--") if "--" in words else len(words)
        with tempfile.TemporaryDirectory(prefix="warpgrade-cell-") as folder:
            source = Path(folder, "cell.cu")
            source.write_text(cell, encoding="utf-8")
            self._call(["run", *words[:at], str(source), "--", *words[at + 1 :]], Path.cwd())

    @cell_magic
    def check(self, line: str, cell: str) -> None:
        """Check a lab with the cell as its main file; LAB is a handout's folder, or a lab of the course around us."""
        words = shlex.split(line)
        if not words or words[0].startswith("-"):
            raise UsageError("%%check needs a lab: the folder that you were given, or a lab's name")
        try:
            is_folder = "/" in words[0] or Path(words[0], "lab.toml").is_file()
            lab = labs.find(paths.find_layout(), os.path.join(words[0], "") if is_folder else words[0])  # noqa: PTH118
        except WarpgradeError as problem:
            raise UsageError("\n".join(filter(None, (problem.message, problem.hint)))) from None
        if lab.is_handout:
            (lab.folder / lab.main_file).write_text(cell, encoding="utf-8")
            self._call(["check", *words[1:]], lab.folder)
            return
        with tempfile.TemporaryDirectory(prefix="warpgrade-cell-") as folder:
            Path(folder, lab.main_file).write_text(cell, encoding="utf-8")
            self._call(["check", str(lab.folder), *words[1:]], Path(folder))

    @line_magic
    def warpgrade(self, line: str) -> None:
        """Call the command line, e.g. `%warpgrade doctor`."""
        self._call(shlex.split(line), Path.cwd())

    def _call(self, words: list[str], folder: Path) -> None:
        environment = {**os.environ, "COLUMNS": _COLUMNS, "FORCE_COLOR": "1", "PYTHONUNBUFFERED": "1"}
        with subprocess.Popen(
            [sys.executable, "-m", "warpgrade", *words], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
        ) as process:  # fmt: skip
            try:
                for text in process.stdout or ():
                    print(text, end="", flush=True)
            except KeyboardInterrupt:
                process.terminate()
                raise
        self.status = process.returncode
