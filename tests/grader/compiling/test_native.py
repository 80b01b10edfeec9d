"""`build --native`: an ordinary program of one's own functions, which makes the public tests' calls again."""

import re
import subprocess
from pathlib import Path

import pytest

from warpgrade.cli import main as cli
from warpgrade.lab import labs
from warpgrade.machine.device import machine_gpus
from warpgrade.machine.paths import find_layout
from warpgrade.running import run

LAYOUT = find_layout()
LAB = labs.find(LAYOUT, "reverse")
CALL_BYTES, RECORD_BYTES = 928, 952  # of grader/worker/call_record.hpp


def build(target: Path, *words: str) -> int:
    return cli.run(["build", LAB.name, str(LAB.reference_folder), "--native", "--out", str(target), *words])


@pytest.mark.labs
def test_it_links_says_that_it_does_not_count_and_where_no_gpu_is(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    program = tmp_path / "mine"
    assert build(program) == 0
    said = capfd.readouterr().err
    assert "nothing that it does counts" in said
    assert f"ncu {program} 3" in said
    needed = subprocess.run(["readelf", "-d", program], capture_output=True, text=True, check=True).stdout
    assert "cudart" not in needed  # NVIDIA's own runtime is in it
    assert (tmp_path / "mine.src" / LAB.main_file).read_bytes() == (LAB.reference_folder / LAB.main_file).read_bytes()

    listed = subprocess.run([program, "--list"], capture_output=True, text=True, check=False)
    assert listed.returncode == 0
    tests = set(re.findall(r"^\d+  \w+  \((.*)\)$", listed.stdout, re.MULTILINE))
    assert tests
    assert tests <= {item.name for item in LAB.items if not item.hidden}
    if machine_gpus():
        pytest.skip("this machine has a GPU")
    done = subprocess.run([program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert "Nothing that it does counts" in done.stderr
    assert "There is no GPU that it could run on: " in done.stderr


@pytest.mark.labs
def test_the_calls_are_those_of_the_tests_and_give_the_same(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Linked with the shared runtime it runs on the virtual GPU as well."""
    program = tmp_path / "mine"
    assert build(program, "-q", "-X", "-cudart=shared") == 0
    capfd.readouterr()
    profile = run.run(LAYOUT, [program], [], run.Options())
    calls = capfd.readouterr().out
    assert profile.exit_status == 0
    assert profile.kernels
    numbers = re.findall(r"^(\d+)  ", calls, re.MULTILINE)
    assert numbers == [str(number) for number in range(1, len(numbers) + 1)]
    assert calls.count("as on the virtual GPU") == len(numbers) > 3
    assert run.run(LAYOUT, [program], ["2"], run.Options()).exit_status == 0
    assert re.findall(r"^(\d+)  ", capfd.readouterr().out, re.MULTILINE) == ["2"]

    # What comes out differently is told: here the first call's recorded output is another one.
    calls_file = tmp_path / "mine.calls"
    raw = bytearray(calls_file.read_bytes())
    arena_bytes, test_bytes = (int.from_bytes(raw[at : at + 8], "little") for at in (16, CALL_BYTES))
    raw[RECORD_BYTES + test_bytes + arena_bytes] ^= 1
    calls_file.write_bytes(raw)
    assert run.run(LAYOUT, [program], ["1"], run.Options()).exit_status == 0
    assert (
        "argument 1: 1 of 64 elements differ from the virtual GPU's, by at most 1; the first is [0]"
        in capfd.readouterr().out
    )
    calls_file.write_bytes(b"no calls at all" * 1000)
    assert run.run(LAYOUT, [program], [], run.Options()).exit_status == 0
    assert capfd.readouterr().out == ""


@pytest.mark.labs
def test_a_call_that_does_not_return_is_there_for_the_debugger(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    code = (LAB.reference_folder / LAB.main_file).read_text(encoding="utf-8")
    (tmp_path / LAB.main_file).write_text(
        re.sub(r"(?m)^(void static_reverse\([^)]*\) \{)", r"\1 __builtin_trap();", code), encoding="utf-8"
    )
    target = tmp_path / "mine"
    assert (
        cli.run(["build", LAB.name, str(tmp_path), "--native", "-q", "--out", str(target), "-X", "-cudart=shared"]) == 0
    )
    capfd.readouterr()
    assert run.run(LAYOUT, [target], ["1"], run.Options()).exit_status == 128 + 4
    assert capfd.readouterr().out.startswith("1  static_reverse  (static_reverse reverses up to 64 elements)\n")


@pytest.mark.labs
def test_what_does_not_compile_makes_no_program(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / LAB.main_file).write_text("int x = ;\n", encoding="utf-8")
    assert cli.run(["build", LAB.name, str(tmp_path), "--native", "--out", str(tmp_path / "mine")]) == 2
    assert "does not compile" in capfd.readouterr().err
    assert not (tmp_path / "mine").exists()


def test_without_native_there_is_nothing_to_build(capfd: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["build", LAB.name]) == 2
    assert "--native builds an ordinary program" in capfd.readouterr().err
