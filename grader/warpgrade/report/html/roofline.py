"""The roofline: what each kernel does with a byte of the device's memory, and how near it is to what limits it."""

from collections.abc import Iterator, Sequence

from warpgrade.machine.text import number
from warpgrade.report import profile
from warpgrade.report.html import svg
from warpgrade.report.html.device_rates import WARP, Rates, dram_bytes
from warpgrade.report.html.elements import Markup, render
from warpgrade.report.html.versions import first_line
from warpgrade.running.profile import Kernel

_HEIGHT, _LEFT, _TOP, _BOTTOM = 240, 34, 10, 205
_MAX_KERNELS = 12


def section(kernels: Sequence[Kernel], rates: Rates) -> Markup:
    """Return the picture with a table of its points; nothing if no kernel moved data."""
    shown = [each for each in kernels if dram_bytes(each.counters) and each.total_ns > 0][:_MAX_KERNELS]
    shown = [each for each in shown if each.counters.get("thread_inst_executed", 0) > 0]
    shown.sort(key=first_line)
    if not shown:
        return Markup()
    peak = rates.warp_instructions * WARP
    points = [_point(kernel) for kernel in shown]
    low_x, high_x = min([0.1, *(x for x, _ in points)]), max([1000.0, *(x for x, _ in points)])
    low_y = min([peak / 1000, *(y for _, y in points)])
    across = svg.Scale(low_x, high_x, _LEFT, svg.WIDTH - 8, log=True)
    up = svg.Scale(low_y, peak * 1.6, _BOTTOM, _TOP, log=True)
    rows = []
    for place, (kernel, (x, y)) in enumerate(zip(shown, points, strict=True), start=1):
        roof = min(peak, x * rates.dram_bytes)
        rows.append({
            "place": place, "name": profile.short_name(kernel.name), "intensity": number(x, 2), "rate": number(y, 2),
            "share": number(100 * y / roof), "limit": "memory" if roof < peak else "instructions",
        })  # fmt: skip
    parts = [*_axes(across, up, rates, peak)]
    for row, (x, y) in zip(rows, points, strict=True):
        parts.append(svg.dot(across(x), up(y), f"{row['name']}: {row['share']} % of what {row['limit']} allow"))
        parts.append(svg.text(across(x) + 6, up(y) + 3, str(row["place"])))
    title = "Roofline: what memory and the schedulers allow, and where the kernels are"
    told = "; ".join(f"{row['name']} reaches {row['share']} % of its limit, {row['limit']}" for row in rows)
    picture = svg.figure(title, told, _HEIGHT, parts)
    return render("roofline.html", picture=picture, rows=rows)


def _point(kernel: Kernel) -> tuple[float, float]:
    """Return operations per byte and per nanosecond: an instruction of a thread is an operation."""
    operations = kernel.counters["thread_inst_executed"]
    return operations / dram_bytes(kernel.counters), operations / kernel.total_ns


def _axes(across: svg.Scale, up: svg.Scale, rates: Rates, peak: float) -> Iterator[Markup]:
    for x in across.ticks():
        yield svg.line([(across(x), _TOP), (across(x), _BOTTOM)], "grid")
        yield svg.text(across(x), _BOTTOM + 13, f"{x:g}", anchor="middle", style="small")
    for y in up.ticks():
        yield svg.line([(_LEFT, up(y)), (svg.WIDTH - 8, up(y))], "grid")
        yield svg.text(_LEFT - 4, up(y) + 3, f"{y:g}", anchor="end", style="small")
    for bandwidth, name in ((rates.dram_bytes, "device memory"), (rates.l2_bytes, "L2")):
        ridge = peak / bandwidth
        start = max(across.low, up.low / bandwidth)
        if start < ridge:
            yield svg.line([(across(start), up(start * bandwidth)), (across(ridge), up(peak))],
                           "roof" if name == "device memory" else "roof second")  # fmt: skip
    yield svg.line([(across(peak / rates.l2_bytes), up(peak)), (across(across.high), up(peak))], "roof")
    yield svg.text(across(across.high), up(peak) - 4, f"schedulers: {peak:,.0f} per ns", anchor="end", style="small")
    words = f"device memory: {number(rates.dram_bytes)} bytes per ns; dashed, L2: {number(rates.l2_bytes)}"
    yield svg.text(_LEFT + 4, _BOTTOM - 5, words, style="small")
    yield svg.text(svg.WIDTH - 8, _BOTTOM + 28, "thread instructions for each byte of device memory", anchor="end",
                   style="small")  # fmt: skip
    yield svg.text(0, _BOTTOM + 28, "per ns ↑", style="small")
