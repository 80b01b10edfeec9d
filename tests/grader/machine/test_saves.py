"""Saves are noticed however an editor writes a file, once each."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from warpgrade.machine import saves
from warpgrade.machine.saves import Saves


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "a.cu").write_text("one\n", encoding="utf-8")
    return tmp_path


def meanwhile(monkeypatch: pytest.MonkeyPatch, *steps: Callable[[], object]) -> None:
    """Do one of these whenever somebody sleeps; at their end, interrupt."""
    waiting: Iterator[Callable[[], object]] = iter(steps)

    def pause(seconds: float) -> None:
        step = next(waiting, None)
        if step is None:
            raise KeyboardInterrupt
        step()

    monkeypatch.setattr(saves, "pause", pause)


def rest() -> None:
    """Let nothing happen."""


def test_a_save(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = folder / "a.cu"
    seen = Saves(folder, lambda name: name.endswith(".cu"))
    meanwhile(monkeypatch, rest, lambda: file.write_text("two\n"), rest)
    assert seen.wait() == ["a.cu"]
    with pytest.raises(KeyboardInterrupt):
        seen.wait()


def test_a_save_by_renaming(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # As vim does: the old file goes away, the new one comes with the same size and, it may be, the same time.
    file, new = folder / "a.cu", folder / ".a.cu.swp"
    times = (file.stat().st_atime_ns, file.stat().st_mtime_ns)
    seen = Saves(folder, lambda name: name.endswith(".cu"))
    new.write_text("two\n", encoding="utf-8")
    os.utime(new, ns=times)
    meanwhile(
        monkeypatch, lambda: file.rename(folder / "a.cu~"), rest, rest, lambda: new.rename(file), rest, rest
    )  # fmt: skip
    assert seen.wait() == ["a.cu"]
    assert file.read_text(encoding="utf-8") == "two\n"


def test_a_save_in_several_writes_is_one(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def write() -> None:
        with (folder / "a.cu").open("a") as file:
            file.write("more\n")

    seen = Saves(folder, lambda name: True)
    meanwhile(monkeypatch, write, write, write, rest)
    assert seen.wait() == ["a.cu"]
    assert (folder / "a.cu").read_text(encoding="utf-8").count("more") == 3


def test_removed_and_new_files_and_those_that_nobody_wants(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = Saves(folder, lambda name: name.endswith(".cu"))
    meanwhile(monkeypatch, lambda: (folder / "notes.txt").write_text("x"), lambda: (folder / "b.cu").write_text("x"),
              (folder / "a.cu").unlink, *[rest] * 12)  # fmt: skip
    assert seen.wait() == ["a.cu", "b.cu"]
    meanwhile(monkeypatch, lambda: (folder / "b.cu").rename(folder / "a.cu"), *[rest] * 12)
    assert seen.wait() == ["a.cu", "b.cu"]


def test_what_happened_while_nobody_looked(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = Saves(folder, lambda name: True)
    (folder / "a.cu").write_text("two and more\n", encoding="utf-8")
    (folder / "dangling.cu").symlink_to("nowhere")
    meanwhile(monkeypatch, rest)
    assert seen.wait() == ["a.cu"]
