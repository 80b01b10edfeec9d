"""The viewer of accesses in a browser: it steps, plays and chooses, and draws what the page's own pictures show."""

from collections.abc import Iterator
from pathlib import Path

from playwright.sync_api import Locator

from browser.made_pages import PAGES, traces
from browser.opened_page import Opener
from warpgrade.findings.accesses import Access
from warpgrade.report.html import access_pictures

# What is in an SVG element, as the browser writes it.
_INSIDE = "markup => { const one = document.createElement('template'); one.innerHTML = markup; \
return one.content.firstChild.innerHTML }"


def drawn_by_python() -> Iterator[tuple[str, str]]:
    """Yield pictures and words as a reader meets them: each launch, line and warp, from the costliest access on."""
    for launch in traces("toy.cu"):
        sites: dict[tuple[object, ...], dict[int, list[Access]]] = {}
        for one in launch.trace.accesses:
            key = (one.line, one.array, one.kind, one.space, one.bytes)
            sites.setdefault(key, {}).setdefault(one.warp, []).append(one)
        for accesses in (each for warps in sites.values() for each in warps.values()):
            first = max(range(len(accesses)), key=lambda at: accesses[at].units)
            for one in accesses[first:] + accesses[:first]:
                array = launch.trace.arrays[one.array]
                yield access_pictures.draw(array.memory.name, array.begin, one)


def options(select: Locator) -> list[str]:
    return [option.get_attribute("value") or "" for option in select.locator("option").all()]


def test_the_script_draws_what_the_page_would(opening: Opener, tmp_path: Path) -> None:
    with opening(PAGES["profile"](tmp_path)) as opened:
        viewer = opened.page.locator("[data-viewer]").first
        launch, line, warp = (viewer.locator(f"[data-choice={name}]") for name in ("launch", "line", "warp"))
        drawn = []
        for one in options(launch):
            launch.select_option(one)
            for two in options(line):
                line.select_option(two)
                for three in options(warp):
                    warp.select_option(three)
                    for _ in range(int(viewer.locator(".where").inner_text().rsplit(" ", 1)[1])):
                        picture = viewer.locator("svg")
                        words = viewer.locator(".words").inner_text()
                        assert picture.get_attribute("aria-label") == words
                        drawn.append((picture.inner_html(), words))
                        viewer.get_by_label("next access").click()
        expected = [(opened.page.evaluate(_INSIDE, str(picture)), words) for picture, words in drawn_by_python()]
        assert len(expected) > 20
        for mine, theirs in zip(drawn, expected, strict=True):
            assert mine == theirs


def test_it_steps_by_button_and_arrow_and_goes_round(opening: Opener, tmp_path: Path) -> None:
    with opening(PAGES["profile"](tmp_path)) as opened:
        viewer, other = opened.page.locator("[data-viewer]").nth(0), opened.page.locator("[data-viewer]").nth(1)
        where, before = viewer.locator(".where"), other.inner_html()
        assert where.inner_text() == "block 0, warp 0, access 1 of 3"
        first = viewer.locator("svg").inner_html()
        viewer.get_by_label("next access").click()
        assert where.inner_text() == "block 0, warp 0, access 2 of 3"
        assert viewer.locator("svg").inner_html() != first
        for key, at in (("ArrowRight", 3), ("ArrowRight", 1), ("ArrowLeft", 3), ("ArrowLeft", 2), ("ArrowLeft", 1)):
            opened.page.keyboard.press(key)
            assert where.inner_text() == f"block 0, warp 0, access {at} of 3"
        assert viewer.locator("svg").inner_html() == first
        assert other.inner_html() == before, "each viewer is for itself"


def test_it_plays_until_it_is_stopped(opening: Opener, tmp_path: Path) -> None:
    with opening(PAGES["profile"](tmp_path)) as opened:
        viewer = opened.page.locator("[data-viewer]").first
        opened.page.clock.install()
        play, where = viewer.locator("[data-play]"), viewer.locator(".where")
        play.click()
        assert play.inner_text() == "stop"
        opened.page.clock.run_for(1500)
        assert where.inner_text().endswith("access 3 of 3")
        play.click()
        assert play.inner_text() == "play"
        opened.page.clock.run_for(3000)
        assert where.inner_text().endswith("access 3 of 3")


def test_without_scripts_the_pictures_are_there_and_no_control(opening: Opener, tmp_path: Path) -> None:
    with opening(PAGES["result"](tmp_path), scripts=False) as opened:
        viewers = opened.page.locator("[data-viewer]")
        assert viewers.count() == 4
        for viewer in viewers.all():
            assert viewer.locator("svg rect").first.is_visible()
            assert not viewer.locator("select").first.is_visible()
        assert "32 sectors fetched: 1,024 bytes, 128 of them used" in viewers.first.inner_text()
        assert "32 wavefronts, 31 of them for bank conflicts" in viewers.nth(2).inner_text()
