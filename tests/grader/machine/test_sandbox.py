"""Which sandbox the grader takes, and how it calls it."""

from pathlib import Path

import pytest

from warpgrade.machine.errors import GraderError
from warpgrade.machine.sandbox import Limits, Run, Sandbox

LIMITS = Limits(seconds=1, cpu_seconds=1, memory_mib=1, file_size_mib=1, processes=1, tmp_mib=1)


def saying(folder: Path, words: str, status: int = 0) -> Path:
    program = folder / "warpgrade-sandbox"
    program.write_text(f"#!/bin/sh\necho '{words}'\nexit {status}\n")
    program.chmod(0o755)
    return program


@pytest.mark.parametrize("kind", ["namespaces", "plain"])
def test_the_strongest_that_works_is_taken(kind: str, tmp_path: Path) -> None:
    sandbox = Sandbox(saying(tmp_path, f"the sandbox works ({kind})\nand more (plain)")).strongest()
    assert sandbox.kind == kind
    assert sandbox.has_own_paths == (kind == "namespaces")


def test_nothing_falls_back_below_the_plain_one(tmp_path: Path) -> None:
    sandbox = Sandbox(saying(tmp_path, "the sandbox does not work: the kernel has no Landlock", 1))
    assert "no Landlock" in sandbox.probe()
    with pytest.raises(GraderError, match="the sandbox does not work"):
        sandbox.strongest()


def test_whoever_wants_none_is_not_asked(tmp_path: Path) -> None:
    sandbox = Sandbox(tmp_path / "none", confined=False).strongest()
    assert (sandbox.kind, sandbox.has_own_paths) == ("none", False)


def test_the_command_line_names_the_plain_one() -> None:
    run = Run(["tool"], LIMITS, "/tmp", read_only={"/in": Path("/host")}, files={"/x": Path("/y")})
    line = " ".join(Sandbox(Path("sandbox"), plain=True).command_line("compile", run))
    assert line.startswith("sandbox --profile compile --sandbox plain --ro-bind /host /in --file /y /x ")
    assert "--sandbox" not in Sandbox(Path("sandbox")).command_line("compile", run)
    assert "--ro-bind" not in Sandbox(Path("sandbox"), confined=False).command_line("compile", run)
