"""Accesses of a few warps: global memory as sectors, shared memory as a punch card of lanes and banks.

Each picture is drawn here as it is at first, and stands there without a script; accesses.js draws the others in the
same way, which a test compares.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from markupsafe import Markup

from warpgrade.findings.accesses import Access, Array, TracedLaunch
from warpgrade.findings.diagnosis import Place
from warpgrade.machine.text import clean, one_line
from warpgrade.report import profile
from warpgrade.report.html import access_pictures
from warpgrade.report.html.elements import render
from warpgrade.report.html.svg import shorten

_MAX_PICTURES = 8  # of each kind of memory
_MAX_DATA = 300_000  # characters of all that the script can show
_KEPT = (8, 4, 2, 1)  # accesses of a line and a warp, as many as there is room for
_WIDTH = 160
_NAME = 24


@dataclass
class Site:
    """A line that accesses an array: its accesses by the name of the warp, in the warp's order."""

    place: Place
    array: Array
    kind: str
    space: str
    bytes: int
    warps: dict[str, list[Access]] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The array's name, or nothing."""
        memory = self.array.memory
        return one_line(memory.name, _NAME) if memory.variable else ""

    @property
    def title(self) -> str:
        """“step.cu:12: load of d”."""
        place = f"{one_line(self.place.text, _WIDTH)}: " if self.place.text else ""
        default = "shared memory" if self.space == "shared" else "an array"
        return f"{place}{self.kind} of {self.name or default}"

    @property
    def cost(self) -> tuple[int, int]:
        """How many sectors or wavefronts all its accesses take, and how many elements they touch."""
        all_ = [one for accesses in self.warps.values() for one in accesses]
        return sum(one.units for one in all_), sum(len({place for _, place in one.lanes()}) for one in all_)


def section(traces: Sequence[TracedLaunch] | None) -> Markup:
    """Return a viewer for each kernel's most costly lines; None: nobody asked for the accesses."""
    if traces is None:
        return render("accesses.html", groups=[], data="")
    if not traces:
        return Markup()
    launches = [(launch, list(_sites(launch))) for launch in sorted(traces, key=_first_line)]
    data, shown = _fit(launches)
    groups = []
    for space in ("global", "shared"):
        viewers = [
            _viewer(data, at, sites, max(reversed(mine), key=lambda site: site.cost))
            for at, (_, sites) in enumerate(launches[:shown])
            if (mine := [site for site in sites if site.space == space])
        ]
        if viewers:
            groups.append({"space": space, "viewers": viewers[:_MAX_PICTURES]})
    return render("accesses.html", groups=groups, data=_script_text(data), left_out=len(launches) - shown)


def _first_line(launch: TracedLaunch) -> tuple[str, int]:
    """Return where a kernel begins: kernels stand in the source in the order of the versions."""
    return min(((place.file, place.line) for place in launch.trace.lines), default=("", 0))


def _sites(launch: TracedLaunch) -> Iterator[Site]:
    """Yield the lines, each array by itself, in the order of their first accesses."""
    trace = launch.trace
    found: dict[tuple[object, ...], Site] = {}
    for one in trace.accesses:
        key = (one.line, one.array, one.kind, one.space, one.bytes)
        if key not in found:
            found[key] = Site(trace.lines[one.line], trace.arrays[one.array], one.kind, one.space, one.bytes)
        found[key].warps.setdefault(f"block {one.block}, warp {one.warp}", []).append(one)
    yield from found.values()


def _fit(launches: Sequence[tuple[TracedLaunch, list[Site]]]) -> tuple[list[dict[str, Any]], int]:
    """Return what the script knows, and of how many launches: fewer accesses of each line where they are too many."""
    for most in _KEPT:
        data = [_describe(launch, sites, most) for launch, sites in launches]
        if len(json.dumps(data)) <= _MAX_DATA:
            return data, len(data)
    while len(data) > 1 and len(json.dumps(data)) > _MAX_DATA:
        data.pop()
    return data, len(data)


def _describe(launch: TracedLaunch, sites: Sequence[Site], most: int) -> dict[str, Any]:
    def shape(values: Sequence[int]) -> str:
        return " × ".join(map(str, values[: 3 if values[2] > 1 else 2 if values[1] > 1 else 1]))

    name = shorten(profile.short_name(launch.name), 60)
    return {
        "title": clean(f"{name}, grid {shape(launch.grid)}, block {shape(launch.block)}"),
        "sites": [
            {
                "title": site.title, "source": shorten(site.place.source.strip(), _WIDTH), "name": site.name,
                "space": site.space, "kind": site.kind, "bytes": site.bytes, "begin": site.array.begin,
                "warps": [
                    {"title": warp, "list": [[one.mask, one.units, one.conflicts, *_flat(one)] for one in all_[:most]]}
                    for warp, all_ in site.warps.items()
                ],
            }
            for site in sites
        ],
    }  # fmt: skip


def _flat(one: Access) -> list[int]:
    return [number for triple in one.offsets for number in triple]


def _viewer(data: Sequence[dict[str, Any]], launch: int, sites: Sequence[Site], site: Site) -> dict[str, Any]:
    """Return a viewer that shows what took most of the first warp's accesses, the first of these."""
    at = sites.index(site)
    shown = data[launch]["sites"][at]
    warp = next(iter(site.warps.values()))[: len(shown["warps"][0]["list"])]
    costliest = max(warp, key=lambda one: one.units)
    picture, words = access_pictures.draw(site.name, site.array.begin, costliest)
    return {
        "launch": launch, "site": at, "picture": picture, "words": words,
        "launches": [each["title"] for each in data], "sites": [each["title"] for each in data[launch]["sites"]],
        "warps": [each["title"] for each in shown["warps"]], "title": shown["title"], "source": shown["source"],
        "at": warp.index(costliest), "count": len(warp),
    }  # fmt: skip


def _script_text(data: object) -> Markup:
    """Return JSON that can stand in an element of script: nothing in it ends the element."""
    text = json.dumps(data, ensure_ascii=True, separators=(",", ":"))
    for sign in "<>&":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return Markup(text)  # noqa: S704  it has no sign that is markup
