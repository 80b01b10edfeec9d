"""The keys of a result's page: the next failure or finding, the one before, the next filter."""

from pathlib import Path

from browser.made_pages import PAGES
from browser.opened_page import Opener

_FOCUS = "() => [document.activeElement.id, document.activeElement.className]"


def test_keys_go_through_failures_and_findings_and_filters(opening: Opener, tmp_path: Path) -> None:
    with opening(PAGES["result"](tmp_path)) as opened:
        stops = []
        count = opened.page.locator("tr.lost:visible, .source .found:visible").count()
        for _ in range(count):
            opened.page.keyboard.press("j")
            stops.append(opened.page.evaluate(_FOCUS))
        assert stops[0] == ["test-1", "lost"]
        assert stops[-1] == ["", "found"]
        opened.page.keyboard.press("k")
        assert opened.page.evaluate(_FOCUS) == stops[-2]
        opened.page.keyboard.press("Control+j")
        assert opened.page.evaluate(_FOCUS) == stops[-2]
        for name in ("all", "kept", "lost"):
            opened.page.keyboard.press("f")
            assert opened.page.locator(f"id=tests-{name}").is_checked()


def test_the_ptx_is_shown_below_its_line_when_chosen(opening: Opener, tmp_path: Path) -> None:
    for scripts in (True, False):
        with opening(PAGES["result"](tmp_path), scripts=scripts) as opened:
            row = opened.page.locator("tr[id='toy.cu-L4'] .ptx")
            assert not row.is_visible()
            opened.page.locator("label[for=ptx0-shown]").click()
            assert row.is_visible()


def test_from_nowhere_the_last_one_is_before(opening: Opener, tmp_path: Path) -> None:
    with opening(PAGES["profile"](tmp_path)) as opened:
        for key in "fjk":  # there is nothing to go to
            opened.page.keyboard.press(key)
    with opening(PAGES["result"](tmp_path)) as opened:
        opened.page.keyboard.press("k")
        assert opened.page.evaluate(_FOCUS) == ["", "found"]
