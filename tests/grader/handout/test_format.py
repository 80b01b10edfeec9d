"""A handout's format: what an installed Warpgrade reads, what it says of others, and when the number must change."""

import hashlib
import json
import os
import re
import shutil
from pathlib import Path

import msgspec
import pytest
from stand_ins import run

from warpgrade import __version__
from warpgrade.lab import handout_note, labs
from warpgrade.lab.handout_note import FORMAT, HANDOUT, MIN_FORMAT
from warpgrade.lab.labs import LabFile
from warpgrade.machine.errors import GraderError
from warpgrade.machine.paths import Layout, find_layout

ROOT = find_layout().root
GOLDEN = Path(__file__).parent / "golden" / "format.json"
# What a judge in a handout and the programs of another Warpgrade must agree on.
AGREED = (
    "grader/device/counters.def",
    "grader/device/descriptor_passing.hpp",
    "grader/device/fields.hpp",
    "grader/device/origin_request.cpp",
    "grader/device/packing.hpp",
    "grader/device/protocol.def",
    "grader/device/protocol.hpp",
    "grader/device/report.cpp",
    "grader/device/rules.def",
    "grader/judge/main.cpp",
    "grader/judge/options.hpp",
    "grader/judge/verdict.cpp",
    "grader/sandbox/options.cpp",
    "grader/sandbox/spawn_wire.hpp",
    "grader/worker/bind.hpp",
    "grader/worker/wire.hpp",
)


def handout(folder: Path, toy: Layout, text: bytes) -> Path:
    """Make the toy lab look like a handout with that note."""
    shutil.copytree(toy.labs / "toy", folder, dirs_exist_ok=True)
    (folder / "toy.cu").write_text("void toy(float*, int) {}\n", encoding="utf-8")
    (folder / HANDOUT).mkdir()
    (folder / HANDOUT / "handout.json").write_bytes(text)
    return folder


def saying(number: object, version: str = __version__) -> bytes:
    return json.dumps({"lab": "toy", "format": number, "warpgrade": version, "a later key": [1]}).encode()


@pytest.mark.parametrize("version", [__version__, "0.0.9", "99.0.0"])
def test_a_handout_of_this_format_is_read_whoever_made_it(layout: Layout, tmp_path: Path, version: str) -> None:
    assert labs.load(handout(tmp_path / "toy", layout, saying(FORMAT, version))).is_handout


@pytest.mark.parametrize(
    ("text", "complaint", "hint"),
    [
        (saying(FORMAT + 1, "9.9.9"), "by Warpgrade 9.9.9: that is newer than this Warpgrade", "as its CHECK.md says"),
        (saying(MIN_FORMAT - 1, "0.0.1"), "by Warpgrade 0.0.1: that is older than", "install Warpgrade 0.0.1"),
        (b'{"lab": "toy", "warpgrade": "0.0.1"}', "handed out in format 0, by Warpgrade 0.0.1", "fetch the lab again"),
        (saying(FORMAT + 1, "\x1b[2J::error::" + "9" * 5000), "is missing or broken", "fetch the lab again"),
        (saying(FORMAT + 1, "\x1b[2J\n::error::x"), "by Warpgrade ?", "as its CHECK.md says"),
        (b"", "is missing or broken", "fetch the lab again"),
        (saying("one"), "is missing or broken", "fetch the lab again"),
        (b"[" * 4000, "is missing or broken", "fetch the lab again"),
    ],
)  # fmt: skip
def test_a_handout_of_another_format_is_refused_in_one_sentence(
    in_project: Layout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
    text: bytes, complaint: str, hint: str,
) -> None:  # fmt: skip
    folder = handout(tmp_path / "toy", in_project, text)
    # Of a format that this Warpgrade does not know, nothing else is read.
    (folder / "lab.toml").write_text("[a-table-of-later-days]\n", encoding="utf-8")
    monkeypatch.chdir(folder)
    status, out, err = run(capsys, "check")
    assert status == 3
    assert not out
    assert complaint in err
    assert hint in err
    assert "\x1b" not in err


def test_what_is_written_is_read(layout: Layout, tmp_path: Path) -> None:
    folder = handout(tmp_path / "toy", layout, b"")
    with pytest.raises(GraderError):
        handout_note.require_readable(folder)
    handout_note.write(folder, "toy")
    handout_note.require_readable(folder)


def test_the_number_is_looked_at_when_what_it_stands_for_changes() -> None:
    """If handouts made before no longer work, raise FORMAT (and MIN_FORMAT); then write the golden file again."""
    found = {name: _digest((ROOT / name).read_text(encoding="utf-8")) for name in AGREED}
    found["lab.toml"] = hashlib.sha256(msgspec.json.encode(msgspec.json.schema(LabFile), order="sorted")).hexdigest()
    now = {"format": FORMAT, "files": found}
    if os.environ.get("WARPGRADE_UPDATE_GOLDEN"):
        GOLDEN.write_text(json.dumps(now, indent=2) + "\n", encoding="utf-8")
    known = json.loads(GOLDEN.read_text(encoding="utf-8"))
    changed = [name for name in found if known["files"].get(name) != found[name]]
    assert known == now, f"{changed} changed: does a handout made before still work? See handout_note.py"


def _digest(code: str) -> str:
    """Return a file's digest, without its comments and white space."""
    bare = re.sub(r"\s+", "", re.sub(r"//[^\n]*|/\*.*?\*/", "", code, flags=re.DOTALL))
    return hashlib.sha256(bare.encode()).hexdigest()
