"""One access of a warp as a picture and in words; accesses.js draws the same."""

from collections.abc import Iterable, Mapping, Sequence

from markupsafe import Markup

from warpgrade.findings.accesses import WARP, Access
from warpgrade.machine.text import counted
from warpgrade.report.html import svg
from warpgrade.report.html.elements import tag

_LINE_BYTES, _SECTOR_BYTES, _BANKS, _WORD = 128, 32, 32, 4
_LEFT, _BYTE = 80, 2.5  # where lines of 128 bytes begin, and how wide a byte is
_BANK_LEFT, _BANK_WIDTH, _LANE_TOP, _LANE_HEIGHT = 34, 11, 12, 7
_WORD_HEIGHT, _MAX_HEIGHT = 1.5, 48  # in the bars below


def draw(name: str, begin: int, access: Access) -> tuple[Markup, str]:
    """Return the picture and what it says; `begin` is as in Array."""
    lanes = [(lane, begin + offset) for lane, offset in access.lanes()]
    if access.space == "shared":
        parts, height, words = _banks(lanes, access)
    else:
        parts, height, words = _sectors(lanes, access, name, begin)
    size = f"0 0 {svg.WIDTH} {height:g}"
    return tag("svg", parts, viewBox=size, role="img", aria_label=words, xmlns="http://www.w3.org/2000/svg"), words


def _sectors(
    lanes: Sequence[tuple[int, int]], access: Access, name: str, begin: int
) -> tuple[list[Markup], float, str]:
    """Rows are lines of 128 bytes; what is fetched is tinted, what is used has its lane's colour and number."""
    cells = _group((place, lane) for lane, place in lanes)
    sectors = {byte // _SECTOR_BYTES for place in cells for byte in range(place, place + access.bytes)}
    rows = sorted({sector * _SECTOR_BYTES // _LINE_BYTES for sector in sectors})
    high = 16 if len(rows) <= 8 else 10
    element = _WORD if access.bytes > 8 else access.bytes
    parts: list[Markup] = []
    for at, row in enumerate(rows):
        top, first = at * high, row * _LINE_BYTES
        index = max(0, -(-(first - begin) // element))
        parts.append(svg.text(0, top + high - 2, svg.shorten(f"{svg.shorten(name, 8)}[{index}]", 17), style="small"))
        whole = range(first // _SECTOR_BYTES, (first + _LINE_BYTES) // _SECTOR_BYTES)
        boxes = {each: (_LEFT + (each * _SECTOR_BYTES - first) * _BYTE, top, _SECTOR_BYTES * _BYTE, high - 1)
                 for each in whole}  # fmt: skip
        parts += [svg.box(*boxes[each], "sector") for each in whole if each in sectors]
        for place, mine in sorted(cells.items()):
            if place // _LINE_BYTES == row:
                parts += _cell(_LEFT + (place - first) * _BYTE, top, access.bytes * _BYTE, high - 1, mine)
        parts += [svg.box(*boxes[each], "line") for each in whole]
    moved, used = access.units * _SECTOR_BYTES, len(cells) * access.bytes
    verb = "fetched" if access.kind == "load" else "written" if access.kind == "store" else "updated"
    words = f"{counted(access.units, 'sector')} {verb}: {moved:,} bytes, {used:,} of them used"
    return parts, len(rows) * high, words + _active(lanes)


def _cell(left: float, top: float, width: float, high: float, lanes: Sequence[int]) -> list[Markup]:
    fill = f"hsl({lanes[0] * 10} 65% 65%)"
    cell = tag("rect", x=svg.number(left), y=svg.number(top), width=svg.number(width), height=svg.number(high),
               fill=fill, class_="cell")  # fmt: skip
    if width < _WORD * _BYTE:
        return [cell]
    told = str(lanes[0]) if len(lanes) == 1 else f"{len(lanes)}×"
    return [cell, svg.text(left + width / 2, top + high / 2 + 2.5, told, anchor="middle",
                          style="lane" if len(told) < 3 else "lane many")]  # fmt: skip


def _banks(lanes: Sequence[tuple[int, int]], access: Access) -> tuple[list[Markup], float, str]:
    """A punch card: rows are lanes, columns are banks; below, how many words each bank has to deliver."""
    words_each = max(1, access.bytes // _WORD)
    # As measured on sm_90 (vgpu/access/access.cpp): accesses of 16 bytes are made for each half of the warp.
    together = WARP // 2 if words_each > 2 else WARP
    words, bad = [0] * _BANKS, set()
    marks: list[Markup] = []
    broadcast = 0
    for start in range(0, WARP, together):
        group = [(lane, place // _WORD + word) for lane, place in lanes if start <= lane < start + together
                 for word in range(words_each)]  # fmt: skip
        readers = _group((word, lane) for lane, word in group)
        ideal = max(1, -(-len(group) // _BANKS))
        count = [0] * _BANKS
        for word in readers:
            count[word % _BANKS] += 1
            words[word % _BANKS] += 1
        broadcast += sum(len(mine) > 1 for mine in readers.values())
        for lane, word in group:
            bank = word % _BANKS
            if count[bank] > ideal:
                bad.add(bank)
            kind = "conflict" if count[bank] > ideal else "broadcast" if len(readers[word]) > 1 else "alone"
            marks.append(_mark(lane, bank, kind))
    bottom = _LANE_TOP + WARP * _LANE_HEIGHT
    parts = [svg.text(0, _LANE_TOP - 3, "bank", style="small")]
    parts += [svg.text(_BANK_LEFT + (bank + 0.5) * _BANK_WIDTH, _LANE_TOP - 3, told, anchor="middle", style="small")
              for bank, told in ((0, "0"), (8, "8"), (16, "16"), (24, "24"), (31, "31"))]  # fmt: skip
    for lane in range(0, WARP, 8):
        top = _LANE_TOP + lane * _LANE_HEIGHT
        parts.append(svg.text(0, top + _LANE_HEIGHT, f"lane {lane}", style="small"))
        parts += [svg.box(_BANK_LEFT + bank * _BANK_WIDTH, top, 8 * _BANK_WIDTH, 8 * _LANE_HEIGHT, "line")
                  for bank in range(0, _BANKS, 8)]  # fmt: skip
    parts += marks
    parts.append(svg.text(0, bottom + 9, "words", style="small"))
    bars = [min(each * _WORD_HEIGHT, _MAX_HEIGHT) for each in words]
    parts += [
        svg.box(_BANK_LEFT + bank * _BANK_WIDTH + 1, bottom + 2, _BANK_WIDTH - 2, bar,
                "conflict" if bank in bad else "bar")
        for bank, bar in enumerate(bars) if bar
    ]  # fmt: skip
    told = f"{counted(access.units, 'wavefront')}, " + (
        f"{access.conflicts:,} of them for bank conflicts" if access.conflicts else "no bank conflict"
    )
    if broadcast:
        told += f"; {counted(broadcast, 'word')} for several lanes at once"
    return parts, bottom + 4 + max(12, *bars), told + _active(lanes)


def _mark(lane: int, bank: int, kind: str) -> Markup:
    x, y = _BANK_LEFT + bank * _BANK_WIDTH, _LANE_TOP + lane * _LANE_HEIGHT
    if kind == "conflict":
        return svg.box(x + 1.5, y + 0.5, _BANK_WIDTH - 3, _LANE_HEIGHT - 2, "conflict")
    return tag("circle", cx=svg.number(x + _BANK_WIDTH / 2), cy=svg.number(y + 3), r="2.5", class_=kind)


def _group(pairs: Iterable[tuple[int, int]]) -> Mapping[int, list[int]]:
    found: dict[int, list[int]] = {}
    for key, value in pairs:
        found.setdefault(key, []).append(value)
    return found


def _active(lanes: Sequence[tuple[int, int]]) -> str:
    return "" if len(lanes) == WARP else f"; {len(lanes)} of 32 lanes take{'s' if len(lanes) == 1 else ''} part"
