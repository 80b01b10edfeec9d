"""Reads a page of HTML as a browser would, and finds what should not be in it."""

import html.parser


class Reader(html.parser.HTMLParser):
    """Holds a page against the elements and attributes that we write."""

    ELEMENTS = ("html", "head", "meta", "title", "style", "body", "header", "h1", "h2", "div", "p", "small", "table",
                "tr", "td", "th", "pre", "span", "a", "section", "main")  # fmt: skip

    def __init__(self, page: bytes) -> None:
        super().__init__()
        self.text = ""
        self.pieces: list[str] = []
        self.open: list[str] = []
        self.feed(page.decode())
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in self.ELEMENTS, tag
        for name, value in attrs:
            assert name in ("class", "lang", "name", "charset", "content", "http-equiv", "id", "href", "tabindex"), name
            assert name != "href" or str(value).startswith("#")
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open[-1:] != ["style"]:
            self.text += data
            self.pieces.append(data)
