"""Every page in a real browser: by mouse and keyboard, in both themes, in three widths, on paper, without scripts."""

from pathlib import Path

import pytest

from browser.made_pages import PAGES
from browser.opened_page import BUTTONS, FOLDS, LINKS, RADIOS, Opener

EVERY = pytest.mark.parametrize("name", PAGES)


@EVERY
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing(name: str, theme: str, opening: Opener, tmp_path: Path) -> None:
    with opening(PAGES[name](tmp_path), theme=theme) as opened:
        opened.unfold()
        assert opened.findings() == []


@EVERY
@pytest.mark.parametrize("width", [320, 768, 1400])
def test_nothing_is_wider_than_the_window(name: str, width: int, opening: Opener, tmp_path: Path) -> None:
    with opening(PAGES[name](tmp_path), width=width) as opened:
        opened.unfold()
        assert opened.overflow <= 0


@EVERY
def test_controls_work_by_mouse(name: str, opening: Opener, tmp_path: Path) -> None:
    with opening(PAGES[name](tmp_path)) as opened:
        for radio in opened.seen(RADIOS):
            label = opened.page.locator(f"label[for='{radio.get_attribute('id')}']")
            label.click()
            assert radio.is_checked()
        for fold in opened.seen(FOLDS):
            before = fold.evaluate("one => one.parentElement.open")
            fold.click(position={"x": 5, "y": 8})
            assert fold.evaluate("one => one.parentElement.open") != before
        opened.unfold()
        for button in opened.seen(BUTTONS):
            button.click()
        for link in opened.seen(LINKS):
            link.click()
            assert opened.page.url.endswith(link.get_attribute("href") or "?")


@EVERY
def test_controls_work_by_keyboard(name: str, opening: Opener, tmp_path: Path) -> None:
    with opening(PAGES[name](tmp_path)) as opened:
        for fold in opened.seen(FOLDS):
            for key in ("Enter", "Space"):
                before = fold.evaluate("one => one.parentElement.open")
                fold.press(key)
                assert fold.evaluate("one => one.parentElement.open") != before
        opened.page.reload()  # the focus is nowhere
        opened.unfold()
        stops = opened.tab_stops()
        for control in opened.seen(f"{FOLDS}, {LINKS}, {BUTTONS}"):
            assert opened.place(control) in stops, control.evaluate("one => one.outerHTML")
        groups = {radio.get_attribute("name") for radio in opened.seen(RADIOS)}
        for group in groups:
            radios = opened.page.locator(f"{RADIOS}[name='{group}']").all()
            assert any(opened.place(radio) in stops for radio in radios)
            radios[0].check(force=True)
            for before, after in zip(radios, [*radios[1:], radios[0]], strict=True):
                before.press("ArrowRight")
                assert after.is_checked()
        for link in opened.seen(LINKS):
            link.press("Enter")
            assert opened.page.url.endswith(link.get_attribute("href") or "?")


@EVERY
def test_without_scripts_all_of_it_is_there(name: str, opening: Opener, tmp_path: Path) -> None:
    file = PAGES[name](tmp_path)
    texts = []
    for scripts in (True, False):
        with opening(file, scripts=scripts) as opened:
            texts.append(opened.page.locator("body").text_content())
            assert opened.page.locator("h1").is_visible()
            for label in opened.page.locator("label").all():
                if label.is_visible():
                    label.click()
                    assert opened.page.locator(f"id={label.get_attribute('for')}").is_checked()
    assert texts[0] == texts[1]


@EVERY
def test_on_paper_no_control_is_left(name: str, opening: Opener, tmp_path: Path) -> None:
    with opening(PAGES[name](tmp_path), media="print") as opened:
        assert [
            one for one in opened.page.locator("label, select, button:not(th button)").all() if one.is_visible()
        ] == []
        assert opened.page.locator("h1").is_visible()
        assert opened.overflow <= 0
