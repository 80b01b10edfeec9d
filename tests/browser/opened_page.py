"""A page in a browser: what it said and asked for, and its controls."""

from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Locator, Page

RADIOS, FOLDS, LINKS = "input[type=radio]", "summary", "a[href^='#']"
BUTTONS = "button, select, input:not([type=radio])"
_IS_SEEN = "element => element.checkVisibility({opacityProperty: false, visibilityProperty: true})"
# The one that has the focus, by its place among all elements; and whether one sees that it has.
_FOCUS = """() => {
    const one = document.activeElement;
    if (!one || one === document.body) return null;
    const marked = [one, one.nextElementSibling, one.closest('label')].some(each =>
        each && getComputedStyle(each).outlineStyle !== 'none' && parseFloat(getComputedStyle(each).outlineWidth) > 0);
    return [[...document.querySelectorAll('*')].indexOf(one), marked];
}"""
_PLACE = "element => [...document.querySelectorAll('*')].indexOf(element)"


class OpenedPage:
    """Records errors and requests from the beginning."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.errors: list[str] = []
        self.requests: list[str] = []
        page.on("console", lambda one: self.errors.append(one.text) if one.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("request", lambda request: self.requests.append(request.url))

    def check_quiet(self, file: Path) -> None:
        """Fail on any error, and on any request but that for the page."""
        assert self.errors == []
        # A link to a place within the page is no request; one to a page beside it may have been followed.
        beside = file.parent.as_uri()
        assert self.requests
        assert all(url.startswith(beside) and url.partition("#")[0].endswith(".html") for url in self.requests)

    def findings(self) -> list[str]:
        """Return what axe finds: the rule, and the element."""
        found: list[dict[str, Any]] = Axe().run(self.page).response["violations"]
        return [f"{each['id']}: {node['html'][:160]}" for each in found for node in each["nodes"]]

    @property
    def overflow(self) -> int:
        """How many pixels wider the page is than the window."""
        return int(self.page.evaluate("() => document.documentElement.scrollWidth - window.innerWidth"))

    def seen(self, selector: str) -> list[Locator]:
        """Return the elements that are shown; of a radio button its label may be all that is."""
        return [each for each in self.page.locator(selector).all() if each.evaluate(_IS_SEEN)]

    def unfold(self) -> None:
        """Open all that is folded."""
        self.page.evaluate("() => document.querySelectorAll('details').forEach(each => each.open = true)")

    def tab_stops(self) -> list[int]:
        """Press Tab until the focus has gone round; return the places of the elements that had it."""
        stops: list[int] = []
        for _ in range(2000):
            self.page.keyboard.press("Tab")
            found = self.page.evaluate(_FOCUS)
            if found is None or found[0] in stops:
                break
            assert found[1], "one cannot see where the focus is"
            stops.append(found[0])
        return stops

    def place(self, element: Locator) -> int:
        """Return the place of an element among all."""
        return int(element.evaluate(_PLACE))


class Opener(Protocol):
    """Opens a page; at the end it must have been quiet."""

    def __call__(
        self, file: Path, *, theme: str = "light", width: int = 1000, scripts: bool = True, media: str = "screen"
    ) -> AbstractContextManager[OpenedPage]: ...
