"""A submission or a program on one page: what to fix first, each test, each kernel, and the source with heat.

It needs no script: choices are radio buttons, and style shows what is chosen.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from warpgrade import __version__
from warpgrade.grading.result import Result
from warpgrade.machine.text import clean, one_line
from warpgrade.report import export, failures, pictures, profile
from warpgrade.report.findings import Finding
from warpgrade.report.html import first, kernels, source, tests
from warpgrade.report.html.elements import Markup, page, render, tag
from warpgrade.report.html.parts import WIDTH, show_finding
from warpgrade.running.profile import Collector, Kernel, Profile


def render_result(result: Result, findings: Sequence[Finding], folder: Path | None) -> bytes:
    """Return the page of a result, which holds what its reader may see.

    folder: where its files are; without one, the page has no source.
    """
    counted = _count_kernels(launch for test in result.tests for launch in test.launches)
    sources = list(source.read_submission(folder, [file.name for file in result.submission.files], counted))
    files = {each.name for each in sources}
    body = [first.section(result)]
    if result.problem is None:
        rows = export.rows(result)
        first_name = ""
        if test := next(iter(failures.in_order(result.tests)), None):
            row = rows[result.tests.index(test)]
            first_name = row.name
            body.append(first.card(test, row, findings, files))
        body.append(tests.section(rows, first_name, folded=True))
        body += [tag("figure", Markup(svg), tag("figcaption", title, class_="dim"), class_="picture")
                 for title, svg in pictures.draw_speed(result)]  # fmt: skip
    if counted:
        how = "Counted in all tests whose numbers you may see."
        body.append(kernels.section(counted, how, findings, files))
    body.append(source.section(sources, findings))
    return _page(export.headline(result), body, str(result.device.properties.get("name") or result.device.requested))


def render_profile(profiled: Profile, findings: Sequence[Finding]) -> bytes:
    """Return the page of a program that was run."""
    title = f"{profile.time(profiled.clock_ns)} on the device"
    sources = list(source.read_program(profiled.kernels))
    files = {each.name for each in sources}
    mistakes = [show_finding(one, files) for one in findings if one.diagnostic.severity != "advice"]
    body = [render("program.html", title=title, errors=[clean(each) for each in profiled.call_errors], found=mistakes)]
    if profiled.kernels:
        body.append(kernels.section(profiled.kernels, "The times are modelled.", findings, files))
    body.append(source.section(sources, findings))
    return _page(title, body, str(profiled.device.get("name", "")))


def _page(title: str, body: Sequence[Markup], device: str) -> bytes:
    foot = tag("footer", tag("p", f"{one_line(device, WIDTH)}; Warpgrade {__version__}", class_="dim"))
    return page(title, [*body, foot], style=source.style(), width="wide")


def _count_kernels(launches: Iterable[Mapping[str, object]]) -> list[Kernel]:
    """Return the kernels with their counters; a launch that is not as a device server writes it is left out."""
    collector = Collector()
    for launch in launches:
        try:
            collector.add({"launches": [dict(launch)], "call_errors": [], "diagnostics": [], "clock_ns": 0})
        except (KeyError, TypeError, ValueError, AttributeError):
            continue
    return collector.finish({}, 0).kernels
