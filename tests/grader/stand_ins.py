"""A toy lab, a judge, a device and a sandbox that do as a test says, and the command line called from within."""

import stat
import sys
from pathlib import Path
from typing import Any

import pytest

from warpgrade.cli import main
from warpgrade.lab import labs
from warpgrade.machine.errors import GraderError
from warpgrade.machine.paths import Layout

TOY_LAB = """
[lab]
title = "Adding vectors"
order = 10
summary = "One thread an element."
files = ["toy.cu", "*.cuh"]
functions = ["toy"]
[limits]
seconds = 5
[baseline]
points = 10
[[test]]
name = "adds"
points = 10
hint = "Which element is this thread's?"
[[test]]
name = "adds odd sizes"
points = 20
hidden = true
hint = "Guard the last block."
[[speed]]
name = "speed"
points = 10
vgpu = [[1.0, 0], [3.0, 10]]
gpu = [[1.0, 0], [2.0, 10]]
hint = "Neighbouring threads, neighbouring elements."
"""

# Of the toy lab: its reference, and a wrong solution.
REFERENCE = """\
// SOLUTION BEGIN
// STARTER: // Lab toy.
// The reference.
// SOLUTION END
#include "toy.h"

__global__ void add(float* a, int n) {
    // SOLUTION BEGIN
    // TODO(student): guard the last block.
    if (threadIdx.x < n) a[threadIdx.x] += 1;
    // SOLUTION END
}
"""

PATCH = """\
WRONG: loses "adds", "adds odd sizes" - no guard
@@ -3,3 +3,3 @@
 __global__ void add(float* a, int n) {
-    if (threadIdx.x < n) a[threadIdx.x] += 1;
+    a[threadIdx.x] += 1;
 }
"""

# Each list of lines is one call of the judge; the last list serves all later calls. A line is a verdict (a dict), raw
# text, or one of the words: die, hang.
FAKE_JUDGE = """#!{python}
import json, os, pathlib, sys, time
here = pathlib.Path(__file__).parent
script = json.loads((here / "script.json").read_text())
calls = here / "calls.jsonl"
number = len(calls.read_text().splitlines()) if calls.exists() else 0
with calls.open("a") as log:
    log.write(json.dumps(sys.argv[1:]) + "\\n")
verdict = open(sys.argv[sys.argv.index("--verdict") + 1], "a")
for step in script[min(number, len(script) - 1)]:
    if step == "die":
        print("judge: cannot go on", file=sys.stderr, flush=True)
        os.abort()
    if step == "hang":
        time.sleep(600)
    verdict.write(step if isinstance(step, str) else json.dumps(step) + "\\n")
    verdict.flush()
"""

FAKE_DEVICE = """#!{python}
import sys
spec = sys.argv[sys.argv.index("--device") + 1]
if spec != "vgpu:h100":
    sys.exit(f"no profile {{spec}}; there is h100")
print('{{"name": "toy GPU", "profile": "h100", "major": 9, "minor": 0, "multi_processor_count": 4,')
print('"kind": {{"name": "vgpu", "repeatable": true, "analysed": true}}}}')
"""

FAKE_SANDBOX = """#!{python}
import sys
sys.exit(0)
"""

Step = dict[str, Any] | str
Script = list[list[Step]]


def write_program(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text.replace("{python}", sys.executable).replace("{{", "{").replace("}}", "}"), encoding="utf-8")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def start(seed: int = 7) -> Step:
    return {"type": "start", "seed": seed, "device": {"name": "toy GPU"}}


def begin(name: str) -> Step:
    return {"type": "case_start", "name": name}


def case(name: str, status: str = "pass", message: str = "", **more: Any) -> Step:
    return {"type": "case", "name": name, "tags": [], "status": status, "seconds": 0.1, "message": message, **more}


def speed(value: float) -> Step:
    return case("speed", measurements=[{"name": "speedup", "value": value, "unit": "x"}])


def end(cases: int = 3) -> Step:
    return {"type": "end", "cases": cases}


def changed(layout: Layout, old: str, new: str) -> str:
    """Load the toy lab with one change; return the complaint."""
    assert old in TOY_LAB
    (layout.labs / "toy" / "lab.toml").write_text(TOY_LAB.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(GraderError) as caught:
        labs.find(layout, "toy")
    assert caught.value.message.startswith("labs/toy/lab.toml")
    return caught.value.message


def run(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> tuple[int, str, str]:
    capsys.readouterr()
    status = main.run([str(argument) for argument in arguments])
    captured = capsys.readouterr()
    assert "Traceback" not in captured.out + captured.err
    return status, captured.out, captured.err
