"""The timeline: what each stream did when, and which copies ran beside which kernels."""

from collections.abc import Sequence

from warpgrade.report import profile
from warpgrade.report.html import svg
from warpgrade.report.html.elements import Markup
from warpgrade.running.profile import Event

_ROW, _MAX_ROWS, _MAX_EVENTS = 24, 16, 600
_KINDS = {
    "kernel": "kernels", "to_device": "copies to the device", "to_host": "copies to the host",
    "within_device": "copies within the device", "fill": "fills",
}  # fmt: skip


def picture(events: Sequence[Event], title: str) -> Markup:
    """Return a row for each stream and kind of work; nothing for a single piece of work."""
    shown = [each for each in events if each.duration_ns >= 0 and each.kind in _KINDS][:_MAX_EVENTS]
    rows = sorted({(each.stream, list(_KINDS).index(each.kind)) for each in shown})[:_MAX_ROWS]
    if len(shown) < 2:
        return Markup()
    first = min(each.start_ns for each in shown)
    last = max(each.start_ns + each.duration_ns for each in shown)
    if last <= first:
        return Markup()
    across = svg.Scale(first, last, 0, svg.WIDTH)
    parts = []
    for place, (stream, kind) in enumerate(rows):
        name = list(_KINDS)[kind]
        mine = [each for each in shown if (each.stream, each.kind) == (stream, name)]
        busy = profile.time(sum(each.duration_ns for each in mine))
        top = place * _ROW
        parts.append(svg.text(0, top + 10, f"stream {stream}: {_KINDS[name]}"))
        parts.append(svg.text(svg.WIDTH, top + 10, f"{len(mine)}, {busy}", anchor="end", style="small"))
        parts.append(svg.box(0, top + 13, svg.WIDTH, 7, "track"))
        parts += [
            svg.box(across(each.start_ns), top + 13, across(each.start_ns + each.duration_ns) - across(each.start_ns),
                    7, "bar" if name == "kernel" else "bar copy",
                    f"{profile.short_name(each.name)}: {profile.time(each.duration_ns)}")
            for each in mine
        ]  # fmt: skip
    height = len(rows) * _ROW + 14
    parts.append(svg.text(0, height, "0", style="small"))
    parts.append(svg.text(svg.WIDTH, height, profile.time(last - first), anchor="end", style="small"))
    left = len(events) - len(shown)
    told = f"{len(shown)} pieces of work in {len(rows)} rows" + (f"; {left} more are not shown" if left > 0 else "")
    return svg.figure(title, told, height + 4, parts, f"{told}.")
