"""Pages of HTML that stand alone: no script, nothing from elsewhere, and other people's words are only words."""

from __future__ import annotations

import html
from collections.abc import Iterable

from warpgrade.machine.text import clean

_VOID = {"meta", "br", "col", "input"}
# Should a word ever become markup, it still runs nothing and fetches nothing.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
_STYLE = """
:root { color-scheme: light dark; --line: #d4d7dc; --soft: #f4f5f7; --dim: #5c636e; --good: #1a7f37; --part: #8a5a00;
  --bad: #c4251c; --mark: #fff3c4 }
@media (prefers-color-scheme: dark) { :root { --line: #3c424b; --soft: #1f2329; --dim: #a0a8b4; --good: #57c26b;
  --part: #e0b050; --bad: #ff7b72; --mark: #4a3f12 } }
* { box-sizing: border-box }
body { font: 16px/1.5 system-ui, sans-serif; margin: 0 auto; padding: 1.5rem 1rem 4rem; overflow-wrap: anywhere }
h1 { font-size: 1.5rem; line-height: 1.25; margin: 0 0 .25rem }
h2 { font-size: 1.1rem; margin: 2rem 0 .5rem }
table { border-collapse: collapse; width: 100% }
th, td { text-align: left; vertical-align: top; padding: .4rem .5rem .4rem 0; border-bottom: 1px solid var(--line) }
th { color: var(--dim); font-weight: 600; font-size: .875rem; overflow-wrap: normal }
a { color: inherit }
.number { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; padding-right: 0 }
pre, code { font: .8125rem/1.45 ui-monospace, monospace }
pre { background: var(--soft); padding: .6rem .75rem; margin: .4rem 0; white-space: pre-wrap; border-radius: 4px }
.dim { color: var(--dim) }
.good { color: var(--good) } .part { color: var(--part) } .bad { color: var(--bad) }
"""


class Markup(str):
    """Text that is HTML already."""

    __slots__ = ()


Child = str | Iterable[str]


def escaped(words: str) -> Markup:
    """Return words as HTML; what is HTML already stays."""
    return words if isinstance(words, Markup) else Markup(html.escape(clean(words)))


def tag(element: str, *children: Child, **attributes: str) -> Markup:
    """Return an element. Children are words, elements, or lists of these; attributes may end in an underscore."""
    inside = "".join(escaped(each) for child in children for each in ([child] if isinstance(child, str) else child))
    given = "".join(f' {name.rstrip("_")}="{html.escape(clean(value))}"' for name, value in attributes.items() if value)
    return Markup(f"<{element}{given}>" if element in _VOID else f"<{element}{given}>{inside}</{element}>")


def page(title: str, *body: Child, style: str = "", width: str = "52rem") -> bytes:
    """Return a whole page; `style` and `width` are ours, never other people's."""
    head = [
        tag("meta", charset="utf-8"),
        Markup(f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="referrer", content="no-referrer"),
        tag("title", title),
        Markup(f"<style>{_STYLE}body {{ max-width: {width} }}\n{style}</style>"),
    ]
    document = tag("html", "\n", tag("head", (Markup(f"{each}\n") for each in head)), "\n",
                   tag("body", *body), "\n", lang="en")  # fmt: skip
    return f"<!DOCTYPE html>\n{document}\n".encode()
