"""Templates and small elements of pages: other people's words are only words, and nothing comes from elsewhere."""

import base64
import hashlib
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from markupsafe import Markup, escape

from warpgrade.machine.text import clean

if TYPE_CHECKING:
    import jinja2

__all__ = ["Child", "Markup", "page", "render", "tag"]

_HERE = Path(__file__).parent
_VOID = {"br", "col", "input"}

Child = str | Iterable[str]


@lru_cache(maxsize=1)
def _templates() -> "jinja2.Environment":
    import jinja2  # noqa: PLC0415  only where a page is made: it takes longer to load than `list` to run

    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(_HERE), autoescape=True, finalize=_finalize, undefined=jinja2.StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip


def _finalize(value: object) -> object:
    """Make the words of others harmless; what is HTML already stays."""
    return clean(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def render(template: str, **values: Any) -> Markup:
    """Return a template of this folder, filled in."""
    return Markup(_templates().get_template(template).render(values))  # noqa: S704  escaped by the template


def tag(element: str, *children: Child, **attributes: str | float) -> Markup:
    """Return an element. Children are words, elements, or lists of these.

    Attributes without a value are left out. `class_` is `class`, `stroke_width` is `stroke-width`.
    """
    inside = Markup().join(
        escape(_finalize(each))
        for child in children
        for each in ([child] if isinstance(child, str) else child)
    )  # fmt: skip
    given = Markup().join(
        Markup(' {}="{}"').format(name.rstrip("_").replace("_", "-"), _finalize(value))
        for name, value in attributes.items()
        if value != ""
    )
    end = Markup() if element in _VOID else Markup("</{}>").format(element)
    return Markup("<{}{}>{}{}").format(element, given, inside, end)


def page(
    title: str, body: Iterable[Markup], *, style: str = "", script: str = "",
    width: Literal["narrow", "wide", "full"] = "narrow",
) -> bytes:  # fmt: skip
    """Return a whole page. `style` and `script` are ours, never other people's."""
    style = read_style("style.css") + style
    # Should a word ever become markup, it still runs nothing and fetches nothing.
    policy = f"default-src 'none'; style-src {_hash(style)}; base-uri 'none'; form-action 'none'"
    if script:
        policy += f"; script-src {_hash(script)}"
    ours = {"style": Markup(style), "script": Markup(script)}  # noqa: S704  the hash is of these very characters
    return render("frame.html", title=title, policy=policy, body=list(body), width=width, **ours).encode() + b"\n"


def _hash(content: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}'"


@lru_cache
def read_style(name: str) -> str:
    """Return a file of style or script of this folder."""
    return (_HERE / name).read_text(encoding="utf-8")
