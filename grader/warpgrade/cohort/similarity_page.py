"""Similar submissions for a person to look at: a table on the terminal, JSON, and a page with pieces side by side."""

from collections.abc import Iterator, Sequence

import msgspec
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from warpgrade.cohort.similarity import MIN_TOKENS, Pair, Piece, Side, Similar
from warpgrade.machine.text import clean_tree, listing, number, one_line
from warpgrade.report.html import elements
from warpgrade.report.html.elements import Markup, tag

_MAX_WIDTH = 120
_NAME_WIDTH = 100
_MAX_UNREAD = 8
_CAUTION = (
    "Similar code has many reasons: the same idea, the same help, the same page on the web. Look at the pieces, and "
    "talk to the students. This is no grade, and no proof."
)


def show(console: Console, found: Similar, *, top: int = 20) -> None:
    """Print a line or two for each pair."""
    width = min(console.width, _MAX_WIDTH)
    for line in _describe_scope(found):
        console.print(Text(line), width=width)
    if not found.pairs:
        return
    console.print()
    table = Table(box=box.SIMPLE_HEAD, width=width, pad_edge=False, padding=(0, 1), show_edge=False, leading=1)
    table.add_column("of whose own code", ratio=1, overflow="fold")
    table.add_column("tokens", justify="right", no_wrap=True)
    table.add_column("largest piece", ratio=1, overflow="fold")
    for pair in found.pairs[:top]:
        names = _whose(found, pair)
        whose = Text(f"{_percent(pair.left_percent)} {names[0]}\n{_percent(pair.right_percent)} {names[1]}")
        piece = pair.pieces[0]
        table.add_row(whose, str(pair.tokens), Text(f"{_where(piece.left)}\n{_where(piece.right)}", style="dim"))
    console.print(table)
    if left := len(found.pairs) - top:
        console.print(Text(f"and {left} more" if left > 0 else "", style="dim"), width=width)
    console.print(Text(_CAUTION, style="dim"), width=width)


def _describe_scope(found: Similar) -> Iterator[str]:
    """Yield what was compared, and what was not."""
    pairs = len(found.pairs)
    yield (
        f"{found.compared} submission{'' if found.compared == 1 else 's'} compared, "
        f"{pairs or 'no'} similar pair{'' if pairs == 1 else 's'}"
    )
    for group in found.same:
        yield f"the same own code: {listing(group)}"
    for what, names in (
        ("hardly anything of their own", found.without_own), ("only the beginning compared, for its size", found.cut),
    ):  # fmt: skip
        if names:
            yield f"{what}: {listing(names)}"
    for each in found.unread[:_MAX_UNREAD]:  # in a line each: a reason has commas
        yield f"could not be read: {each}"
    if (left := len(found.unread) - _MAX_UNREAD) > 0:
        yield f"could not be read: {left} more"
    if found.left_out:
        yield f"{found.left_out} more pairs are not shown"


def _name(words: str) -> str:
    return one_line(words, _NAME_WIDTH)


def _whose(found: Similar, pair: Pair) -> list[str]:
    """Return the two names of a pair, each with how many others it stands for, whose own code is the same."""
    told = []
    left, right = _name(pair.left), _name(pair.right)
    for name, other in ((left, right), (right, left)):
        group = next((each for each in found.same if name in each), [other])
        others = 0 if other in group else len(group) - 1
        told.append(name + (f" and {others} with the same own code" if others else ""))
    return told


def _percent(value: float) -> str:
    return f"{number(value, 0)} %"


def _where(side: Side) -> str:
    lines = str(side.first) if side.first == side.last else f"{side.first}–{side.last}"
    return f"{one_line(side.file, _NAME_WIDTH)}:{lines}"


def encode(found: Similar) -> bytes:
    """Return it as indented JSON; of the pieces where they are, without their text."""
    document = {
        "schema": "warpgrade/similarity/1",
        "compared": found.compared,
        "same": found.same,
        "pairs": [_pair(pair) for pair in found.pairs],
        "without_own": found.without_own,
        "cut": found.cut,
        "unread": found.unread,
        "left_out": found.left_out,
    }
    return msgspec.json.format(msgspec.json.encode(clean_tree(document)), indent=2) + b"\n"


def _pair(pair: Pair) -> dict[str, object]:
    def lines(side: Side) -> dict[str, object]:
        return {"file": side.file, "first": side.first, "last": side.last}

    return {
        "left": pair.left, "right": pair.right, "left_percent": pair.left_percent, "right_percent": pair.right_percent,
        "tokens": pair.tokens,
        "pieces": [{"tokens": one.tokens, "left": lines(one.left), "right": lines(one.right)} for one in pair.pieces],
    }  # fmt: skip


def page(found: Similar, title: str) -> bytes:
    """Return a page: the pairs in a table, and below it each with its pieces side by side."""
    about = (
        "Names, numbers, texts, comments and layout do not count, nor what the lab gave, nor what many of the class "
        f"have. A pair has at least {MIN_TOKENS} tokens in common."
    )
    body: list[Markup] = [tag("h1", title), tag("p", _CAUTION), tag("p", about, class_="dim")]
    body += [tag("p", line) for line in _describe_scope(found)]
    if found.pairs:
        head = tag("tr", tag("th", "pair"), tag("th", "of whose own code"), tag("th", "tokens", class_="number"))
        rows = (_row(place, pair, _whose(found, pair)) for place, pair in enumerate(found.pairs, start=1))
        body.append(tag("table", head, rows))
    body += [_section(place, pair) for place, pair in enumerate(found.pairs, start=1)]
    return elements.page(title, body, width="full")


def _row(place: int, pair: Pair, names: Sequence[str]) -> Markup:
    shares = zip((pair.left_percent, pair.right_percent), names, strict=True)
    whose = [tag("div", _share(percent, name)) for percent, name in shares]
    link = tag("a", str(place), href=f"#pair{place}")
    return tag("tr", tag("td", link), tag("td", whose), tag("td", str(pair.tokens), class_="number"))


def _share(percent: float, name: str) -> list[str]:
    return [
        tag("span", _percent(percent), class_="bad" if percent >= 80 else ""),
        " of ",
        one_line(name, 2 * _NAME_WIDTH),
    ]


def _section(place: int, pair: Pair) -> Markup:
    more = [tag("p", f"and {pair.more} smaller pieces", class_="dim")] if pair.more else []
    return tag(
        "section", tag("h2", f"{place}. {_name(pair.left)} and {_name(pair.right)}"),
        tag("p", _share(pair.left_percent, pair.left), " and ", _share(pair.right_percent, pair.right),
            f": {pair.tokens} tokens in {len(pair.pieces) + pair.more} piece{'s' if len(pair.pieces) > 1 else ''}"),
        (_sides(piece) for piece in pair.pieces), more, id=f"pair{place}", class_="pair",
    )  # fmt: skip


def _sides(piece: Piece) -> Markup:
    sides = (tag("div", tag("div", _where(side), class_="dim"), tag("pre", _unindented(side.text), tabindex="0"))
             for side in (piece.left, piece.right))  # fmt: skip
    return tag("div", sides, class_="sides")


def _unindented(text: str) -> str:
    """Return lines without the indentation that all of them have."""
    lines = text.expandtabs(4).split("\n")
    indent = min((len(line) - len(line.lstrip(" ")) for line in lines if line.strip(" ⋮")), default=0)
    return "\n".join(line if line == "⋮" else line[indent:] for line in lines)
