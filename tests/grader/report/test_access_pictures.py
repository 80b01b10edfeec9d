"""Pictures of accesses: sectors, banks, and what the page says of them."""

import html
import json
import re
from typing import Any

import pytest
from drawn_kernels import counted
from traced_launches import access, traced

from warpgrade.findings.accesses import TracedLaunch, Traces
from warpgrade.report.html import access_pictures, accesses, page
from warpgrade.running.profile import Profile

SHARED = {"space": "shared"}


def kept(*launches: dict[str, Any]) -> list[TracedLaunch]:
    traces = Traces()
    for launch in launches:
        traces.add(launch)
    return traces.kept


def draw(offsets: list[tuple[int, int, int]], units: int, begin: int = 0, **more: Any) -> tuple[str, str]:
    one = kept(traced(accesses=[access(0, 0, offsets, units, **more)]))[0].trace.accesses[0]
    picture, words = access_pictures.draw("d", begin, one)
    assert f'aria-label="{words}"' in picture
    return picture, words


def count(picture: str, *styles: str) -> list[int]:
    return [picture.count(f'class="{style}"') for style in styles]


def test_a_column_fetches_32_sectors_and_a_row_4() -> None:
    column, words = draw([(4, 4096, 32)], 32)
    assert words == "32 sectors fetched: 1,024 bytes, 128 of them used"
    assert count(column, "cell", "sector", "lane") == [32, 32, 32]
    assert "d[1024]" in column
    row, words = draw([(0, 4, 32)], 4)
    assert words == "4 sectors fetched: 128 bytes, 128 of them used"
    assert count(row, "cell", "sector", "lane") == [32, 4, 32]
    assert len(set(re.findall(r"hsl\((\d+)", row))) == 32, "each lane has its colour"


def test_a_word_for_all_lanes_says_for_how_many() -> None:
    picture, words = draw([(40, 0, 32)], 1)
    assert words == "1 sector fetched: 32 bytes, 4 of them used"
    assert count(picture, "cell", "sector") == [1, 1]
    assert "32×" in picture


def test_an_array_that_begins_within_a_line_and_a_few_lanes() -> None:
    picture, words = draw([(0, 4, 3)], 2, begin=120, mask=7, kind="store")
    assert words == "2 sectors written: 64 bytes, 12 of them used; 3 of 32 lanes take part"
    assert re.findall(r"d\[\d+\]", picture) == ["d[0]", "d[2]"]


@pytest.mark.parametrize(
    ("offsets", "units", "conflicts", "bytes_", "marks", "words"),
    [
        ([(0, 128, 32)], 32, 31, 4, [33, 0, 0, 0], "32 wavefronts, 31 of them for bank conflicts"),
        ([(0, 132, 32)], 1, 0, 4, [0, 32, 0, 32], "1 wavefront, no bank conflict"),
        ([(0, 0, 32)], 1, 0, 4, [0, 0, 32, 1], "1 wavefront, no bank conflict; 1 word for several lanes at once"),
        ([(0, 8, 32)], 2, 0, 8, [0, 64, 0, 32], "2 wavefronts, no bank conflict"),
        ([(0, 16, 32)], 4, 0, 16, [0, 128, 0, 32], "4 wavefronts, no bank conflict"),
        ([(0, 16, 32)], 4, 3, 8, [80, 0, 0, 0], "4 wavefronts, 3 of them for bank conflicts"),
        ([(0, 1, 32)], 1, 0, 1, [0, 0, 32, 8], "1 wavefront, no bank conflict; 8 words for several lanes at once"),
    ],
)
def test_conflicts_and_broadcasts_are_told_apart(
    offsets: list[tuple[int, int, int]], units: int, conflicts: int, bytes_: int, marks: list[int], words: str
) -> None:
    picture, told = draw(offsets, units, conflicts=conflicts, bytes=bytes_, space="shared")
    assert told == words
    assert count(picture, "conflict", "alone", "broadcast", "bar") == marks


def test_the_costliest_line_of_each_kernel_stands_there_and_the_script_knows_all() -> None:
    first, second = traced("v1"), traced("v0")
    second["trace"]["lines"] = [{"file": "toy.cu", "line": 1}, {"file": "toy.cu", "line": 2}]
    shown = accesses.section(kept(first, second))
    captions = re.findall(r"<figcaption>(.*?)</figcaption>", shown)
    assert captions == ["v0, grid 4, block 64", "v1, grid 4, block 64"] * 2, "in the order of the source"
    assert re.findall(r'class="title">(.*?)<', shown) == [
        "toy.cu:1: load of d", "toy.cu:3: load of d", "toy.cu:2: load of tile", "toy.cu:4: load of tile",
    ]  # fmt: skip
    data = json.loads(re.findall(r'id="recorded">(.*?)</script>', shown)[0])
    assert [launch["title"] for launch in data] == captions[:2]
    warps = [warp["title"] for warp in data[0]["sites"][1]["warps"]]
    assert warps == ["block 0, warp 0", "block 0, warp 1"]
    assert data[0]["sites"][0]["warps"][0]["list"][1] == [0xFFFFFFFF, 32, 0, 4, 4096, 32]


def test_of_a_lines_accesses_the_costliest_stands_there() -> None:
    both = [access(0, 0, [(0, 0, 32)], 1), access(0, 0, [(0, 4096, 32)], 32), access(0, 0, [(4, 4096, 32)], 32)]
    shown = accesses.section(kept(traced(accesses=both)))
    assert "32 sectors fetched: 1,024 bytes, 128 of them used" in shown
    assert "block 0, warp 0, access 2 of 3" in shown


def test_what_would_be_too_much_is_left_out_and_said() -> None:
    scattered = [access(0, 0, [(97 * lane * lane + at, 0, 1) for lane in range(32)], 32, block=at) for at in range(288)]
    launches = [traced(f"kernel{at}", accesses=scattered) for at in range(12)]
    shown = accesses.section(kept(*launches))
    assert len(shown) < 700_000
    left_out = re.search(r"(\d+) more kernels? (?:is|are) left out", shown)
    data = json.loads(re.findall(r'id="recorded">(.*?)</script>', shown)[0])
    assert left_out is not None
    assert len(data) + int(left_out[1]) == 12


def test_a_page_without_recorded_accesses_has_only_the_script_of_its_keys() -> None:
    profile = Profile(clock_ns=3000, kernels=[counted()])
    stored, plain = page.render_profile(profile, [], None), page.render_profile(profile, [], [])
    assert b"A stored result has no pictures of accesses" in stored
    assert b"ccesses of memory" not in plain
    traced_page = page.render_profile(profile, [], kept(traced()))
    assert [content.count(b"<script") for content in (stored, plain, traced_page)] == [1, 1, 2]


def test_words_of_others_stay_words() -> None:
    words = "</script><script>alert(1)</script><img src=x onerror=alert(1)>\u2028'\"&"
    launch = traced(words, file=words)
    launch["trace"]["arrays"][0]["memory"]["name"] = words
    profile = Profile(clock_ns=3000, kernels=[counted()])
    content = page.render_profile(profile, [], kept(launch)).decode()
    assert content.count("<script") == content.count("</script>") == 2
    assert "<img" not in content
    assert "alert(1)" in html.unescape(content)
