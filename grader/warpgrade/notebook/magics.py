"""`%load_ext warpgrade`: cells of a notebook on the virtual GPU, in Jupyter and Colab without a GPU.

    %%cuda [options of `warpgrade run`] [-- ARGUMENT…]     compiles and runs the cell: output, profile, findings
    %%check LAB [options of `warpgrade check`]             puts the cell into the lab's file and checks it

They call the command line as a program of its own, so that a notebook shows what a terminal shows, and nothing that a
cell does harms the notebook's own process.
"""

import codecs
import os
import select
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import IO

from IPython.core.error import UsageError
from IPython.core.magic import Magics, cell_magic, line_magic, magics_class

from warpgrade.lab import labs
from warpgrade.machine import paths
from warpgrade.machine.errors import WarpgradeError

_COLUMNS = "100"
# A notebook drops output that comes in thousands of pieces, or in more than about a million bytes a second.
_SECONDS_OF_A_PIECE = 1.0
_MAX_PIECE = 250_000
_MAX_CHARACTERS = 500_000
_MAX_END = 50_000  # of what is longer: the end, where the report is


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
            source.write_text(_as_in_the_notebook(cell), encoding="utf-8")
            called = os.path.relpath(source)
            run = ["run", *words[:at], str(source), "--", *words[at + 1 :]]
            self._call(run, Path.cwd(), lambda text: text.replace(called, source.name))

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
            (lab.folder / lab.main_file).write_text(_as_in_the_notebook(cell), encoding="utf-8")
            self._call(["check", *words[1:]], lab.folder)
            return
        with tempfile.TemporaryDirectory(prefix="warpgrade-cell-") as folder:
            Path(folder, lab.main_file).write_text(_as_in_the_notebook(cell), encoding="utf-8")
            self._call(["check", str(lab.folder), *words[1:]], Path(folder))

    @line_magic
    def warpgrade(self, line: str) -> None:
        """Call the command line, e.g. `%warpgrade doctor`."""
        self._call(shlex.split(line), Path.cwd())

    def _call(self, words: list[str], folder: Path, change: Callable[[str], str] = str) -> None:
        environment = {**os.environ, "COLUMNS": _COLUMNS, "FORCE_COLOR": "1", "PYTHONUNBUFFERED": "1"}
        environment |= {"TTY_INTERACTIVE": "0"}  # colours, but nothing that is written over
        with subprocess.Popen(
            [sys.executable, "-m", "warpgrade", *words], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        ) as process:  # fmt: skip
            try:
                for text in _bounded(map(change, _pieces(process.stdout)) if process.stdout else ()):
                    sys.stdout.write(text)
            except KeyboardInterrupt:
                process.terminate()
                raise
        self.status = process.returncode


def _as_in_the_notebook(cell: str) -> str:
    """Return the cell with the lines that the notebook numbers: the first of them is the magic's."""
    return f"\n{cell}"


def _pieces(file: IO[bytes]) -> Iterator[str]:
    """Yield what a command says, about once a second, at ends of lines where it writes lines."""
    decode = codecs.getincrementaldecoder("utf-8")("replace").decode
    text, end = "", 0.0
    while True:
        left = max(0.0, end - time.monotonic()) if text else None
        if select.select([file], [], [], left)[0]:
            chunk = os.read(file.fileno(), 1 << 16)
            if not chunk:
                break
            if not text:
                end = time.monotonic() + _SECONDS_OF_A_PIECE
            text += decode(chunk)
        if text and (time.monotonic() >= end or len(text) >= _MAX_PIECE):
            cut = text.rfind("\n") + 1 or len(text)
            yield text[:cut]
            text, end = text[cut:], time.monotonic() + _SECONDS_OF_A_PIECE
    yield text + decode(b"", final=True)


def _bounded(pieces: Iterable[str]) -> Iterator[str]:
    """Yield the beginning and, when they are too much, how many characters are left out, and the end."""
    room, rest, left_out = _MAX_CHARACTERS, "", 0
    for text in pieces:
        if text[:room]:
            yield text[:room]
        rest += text[room:]
        room = max(0, room - len(text))
        left_out += max(0, len(rest) - _MAX_END)
        rest = rest[-_MAX_END:]
    if left_out:
        yield f"\n… {left_out} characters are left out here; `warpgrade run` in a terminal shows all …\n"
    yield rest
