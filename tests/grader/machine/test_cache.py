"""The cache of compiled programs."""

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from warpgrade.machine import cache


def test_graders_that_share_a_cache_do_not_trip_over_each_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache, "_MAX_ENTRIES", 1)
    monkeypatch.setattr(cache, "_ADDED_BETWEEN_LOOKS", 1)

    def make(folder: Path) -> None:
        (folder / "program").write_text("x", encoding="utf-8")

    def use(number: int) -> None:
        cache.cached(tmp_path / "workers" / str(number % 50), make)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(use, range(2000)))
    cache.cached(tmp_path / "workers" / "last", make)
    assert (cache.cached(tmp_path / "workers" / "last", make) / "program").read_text(encoding="utf-8") == "x"


def test_a_cache_is_bounded_in_bytes_and_drops_what_killed_graders_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache, "_MAX_BYTES", 2500)
    monkeypatch.setattr(cache, "_ADDED_BETWEEN_LOOKS", 1)

    def make(folder: Path) -> None:
        (folder / "program").write_bytes(bytes(1000))

    left = tmp_path / ".new-left"
    left.mkdir()
    os.utime(left, (1, 1))
    for number in range(5):
        cache.cached(tmp_path / str(number), make)
        os.utime(tmp_path / str(number), (number + 10, number + 10))
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["2", "3", "4"]


def test_what_was_used_last_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "_MAX_ENTRIES", 2)
    monkeypatch.setattr(cache, "_ADDED_BETWEEN_LOOKS", 1)
    made = []

    def use(name: str) -> None:
        cache.cached(tmp_path / name, lambda _: made.append(name))
        os.utime(tmp_path / name, (len(made) + uses.pop(0),) * 2)

    uses = [10, 20, 30, 40, 50]
    for name in ["a", "b", "a", "c", "a"]:
        use(name)
    assert made == ["a", "b", "c"]


def test_what_a_grader_works_with_stays_until_it_is_done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "_MAX_ENTRIES", 1)
    monkeypatch.setattr(cache, "_ADDED_BETWEEN_LOOKS", 1)

    def add(name: str, used: int) -> Path:
        folder = cache.cached(tmp_path / name, lambda _: None)
        os.utime(folder, (used, used))
        return folder

    first = add("first", 10)
    with cache.held(first):
        for number in range(4):
            add(f"another {number}", 20 + number)
        assert first.is_dir()
    add("last", 30)
    assert not first.is_dir()


def test_a_large_cache_is_not_listed_for_each_entry_and_bounded_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache, "_MAX_ENTRIES", 10)
    looks = []
    forget = cache._forget_oldest

    def look(folder: Path) -> None:
        looks.append(folder)
        forget(folder)

    monkeypatch.setattr(cache, "_forget_oldest", look)
    for number in range(200):
        cache.cached(tmp_path / str(number), lambda _: None)
    assert 2 <= len(looks) <= 20
    assert len(list(tmp_path.iterdir())) <= 10 + 32
