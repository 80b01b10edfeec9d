"""The whole text that students read of mistakes that end in no result, or late: programs that hang or do not link.

All others are wrong solutions of the labs, with their texts in labs/*/wrong/messages.txt. Remake these with
WARPGRADE_UPDATE_GOLDEN=1, and read what changed.
"""

import os
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from warpgrade.dev import first_messages
from warpgrade.grading import grade
from warpgrade.intake import intake
from warpgrade.lab import labs, starter
from warpgrade.machine.paths import find_layout

pytestmark = pytest.mark.labs

LAYOUT = find_layout()
GOLDEN = Path(__file__).parent / "golden"
LAUNCH = "    static_reverse_kernel<<<1, n>>>(d_d, n);\n"
BODY = "    d[t] = s[n - 1 - t];\n"
MISTAKES = {
    "host_hangs": (LAUNCH, f"{LAUNCH}    volatile int left = n;\n    while (left > 0) left = left + 0;\n"),
    "kernel_hangs": (BODY, "    for (unsigned i = n - 1; i >= 0; --i) d[i % n] = s[n - 1 - i % n];\n"),
    "misspelt_function": ("void static_reverse(", "void static_revers("),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_the_whole_text(name: str, tmp_path: Path) -> None:
    old, new = MISTAKES[name]
    text = (LAYOUT.references / "reverse" / "reverse.cu").read_text(encoding="utf-8")
    source = "".join(f"{line.text}\n" for line in starter.solution(text, "reverse.cu"))
    assert old in source
    (tmp_path / "reverse.cu").write_text(source.replace(old, new, 1), encoding="utf-8")
    lab = labs.find(LAYOUT, "reverse")
    limits = msgspec.structs.replace(lab.file.limits, seconds=2, instructions=1_000_000)
    lab = replace(lab, file=msgspec.structs.replace(lab.file, limits=limits))
    options = grade.Options(seed=first_messages.SEED, public_only=True, only=("static_reverse",))
    shown = first_messages.text(grade.grade(LAYOUT, lab, intake.read(lab, tmp_path), options)) + "\n"
    path = GOLDEN / f"{name}.txt"
    if os.environ.get("WARPGRADE_UPDATE_GOLDEN"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(shown, encoding="utf-8")
    assert shown == path.read_text(encoding="utf-8")
