"""What is asked of a program once a process."""

import os
import shutil
from pathlib import Path

import pytest

from warpgrade.machine import facts
from warpgrade.machine.paths import find_layout
from warpgrade.machine.sandbox import Sandbox


@pytest.fixture
def program(tmp_path: Path) -> Path:
    return Path(shutil.copy("/bin/true", tmp_path / "program"))


def test_a_program_is_asked_once(program: Path) -> None:
    answers = iter([7, 8])
    assert [facts.cached_answer("version", [program], lambda: next(answers)) for _ in range(3)] == [7, 7, 7]
    assert facts.cached_answer("another question", [program], lambda: next(answers)) == 8


def test_a_program_that_was_replaced_is_asked_again(program: Path, tmp_path: Path) -> None:
    answers = iter([1, 2, 3])
    link = tmp_path / "link"
    link.symlink_to(program)
    assert facts.cached_answer("version", [link], lambda: next(answers)) == 1
    os.utime(program, ns=(1, 1))
    assert facts.cached_answer("version", [link], lambda: next(answers)) == 2
    other = Path(shutil.copy("/bin/false", tmp_path / "other"))
    link.unlink()
    link.symlink_to(other)
    assert facts.cached_answer("version", [link], lambda: next(answers)) == 3
    old = facts.digest(program)
    shutil.copy("/bin/false", program)
    assert facts.digest(program) != old


def test_what_failed_and_what_a_script_says_is_asked_again(program: Path, tmp_path: Path) -> None:
    def fail() -> int:
        raise OSError

    with pytest.raises(OSError):
        facts.cached_answer("version", [program], fail)
    answers = iter(range(1, 6))
    assert facts.cached_answer("version", [program], lambda: next(answers)) == 1
    script = tmp_path / "script"
    script.write_text("#!/bin/sh\nexec g++-12\n", encoding="utf-8")  # which may become another one
    for path in (script, tmp_path / "missing"):
        first, second = (facts.cached_answer("version", [path], lambda: next(answers)) for _ in range(2))
        assert second == first + 1


def test_the_sandbox_is_the_one_that_was_chosen_last(monkeypatch: pytest.MonkeyPatch) -> None:
    program = find_layout().program("warpgrade-sandbox")
    kinds = []
    for name in ("plain", "namespaces", "plain"):
        monkeypatch.setenv("WARPGRADE_SANDBOX", name)
        kinds.append(Sandbox(program).strongest().kind)
    assert kinds == ["plain", "namespaces", "plain"]
