"""Opens pages in Debian's Chromium, which `./warpgrade test` installs; without it the tests are skipped."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright

from browser.opened_page import OpenedPage, Opener


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    program = shutil.which("chromium")
    if program is None:
        pytest.skip("chromium is not on PATH: ./warpgrade test installs Debian's")
    with sync_playwright() as playwright:
        # The pages are ours, and root, as in a container, cannot use Chromium's own sandbox.
        browser = playwright.chromium.launch(executable_path=program, chromium_sandbox=False)
        yield browser
        browser.close()


@pytest.fixture
def opening(chromium: Browser) -> Opener:
    @contextmanager
    def opening(
        file: Path, *, theme: str = "light", width: int = 1000, scripts: bool = True, media: str = "screen"
    ) -> Iterator[OpenedPage]:
        context = chromium.new_context(
            color_scheme="dark" if theme == "dark" else "light", viewport={"width": width, "height": 900},
            java_script_enabled=scripts,
        )  # fmt: skip
        try:
            page = context.new_page()
            page.set_default_timeout(5000)
            if media == "print":
                page.emulate_media(media="print")
            opened = OpenedPage(page)
            page.goto(file.as_uri())
            yield opened
            opened.check_quiet(file)
        finally:
            context.close()

    return opening
