"""A submission or a program on one page: what to fix first, each test, each kernel, and the source with heat.

It is complete without a script: choices are radio buttons, and style shows what is chosen. Scripts add keys, and step
through recorded accesses.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from warpgrade import __version__
from warpgrade.compiling.ptx_lines import PtxLines
from warpgrade.findings.accesses import TracedLaunch
from warpgrade.grading.result import Result
from warpgrade.machine.fidelity import Fidelity
from warpgrade.machine.text import clean, one_line
from warpgrade.report import export, failures, launches, profile
from warpgrade.report.findings import Finding
from warpgrade.report.html import (
    accesses,
    changes,
    device_rates,
    first,
    kernels,
    roofline,
    source,
    tests,
    time_parts,
    timeline,
    versions,
)  # fmt: skip
from warpgrade.report.html.elements import Markup, page, read_style, render
from warpgrade.report.html.parts import WIDTH, show_finding
from warpgrade.running.profile import Kernel, Profile


def render_result(
    result: Result, findings: Sequence[Finding], folder: Path | None, earlier: Result | None = None,
    ptx: PtxLines | None = None, traces: Sequence[TracedLaunch] | None = None,
) -> bytes:  # fmt: skip
    """Return the page of a result, which holds what its reader may see, with what has changed since an earlier one.

    folder: where its files are; without one, the page has no source. ptx: the instructions of its lines.
    """
    counted = launches.collect(launch for test in result.tests for launch in test.launches).kernels
    rates = device_rates.read(result.device.properties)
    sources = list(source.read_submission(folder, [file.name for file in result.submission.files], counted, rates))
    files = {each.name for each in sources}
    body = [first.section(result)]
    if earlier is not None:
        body.append(changes.section(earlier, result))
    if result.problem is None:
        told = [msgspec.structs.replace(test, message=failures.message(test)) for test in result.tests]
        rows = export.rows(msgspec.structs.replace(result, tests=told))
        first_name = ""
        if test := next(iter(failures.in_order(result.tests)), None):
            row = rows[result.tests.index(test)]
            first_name = row.name
            body.append(first.card(test, row, findings, files))
        body.append(tests.section(rows, first_name, result.tests, folded=True, findings=findings, files=files))
    device = result.device.properties
    body.append(_charts("Versions", [versions.speed(result.tests), versions.kernels(counted)]))
    body.append(_charts("On the device", [*_roofline(counted, device), *_timeline(result)]))
    if counted:
        how = "Counted in all tests whose numbers you may see."
        body.append(kernels.section(counted, how, findings, files, device))
        body.append(accesses.section(traces))
    body.append(source.section(sources, findings, ptx or {}))
    device_name = str(device.get("name") or result.device.requested)
    return _page(export.headline(result), body, device_name, result.fidelity, traced=bool(counted and traces))


def render_profile(
    profiled: Profile, findings: Sequence[Finding], traces: Sequence[TracedLaunch] | None = None
) -> bytes:
    """Return the page of a program that was run."""
    title = f"{profile.time(profiled.clock_ns)} on the device"
    sources = list(source.read_program(profiled.kernels, device_rates.read(profiled.device)))
    files = {each.name for each in sources}
    told = [clean(each) for each in (profile.sample_note(profiled), *profiled.call_errors) if each]
    mistakes = [show_finding(one, files) for one in findings if one.diagnostic.severity != "advice"]
    body = [render("program.html", title=title, errors=told, found=mistakes)]
    pictures = [
        time_parts.run_bars(profiled), timeline.picture(profiled.timeline, "Timeline"),
        *_roofline(profiled.kernels, profiled.device), versions.kernels(profiled.kernels),
    ]  # fmt: skip
    body.append(_charts("On the device", pictures))
    if profiled.kernels:
        how = "The times are modelled."
        body.append(kernels.section(profiled.kernels, how, findings, files, profiled.device))
        body.append(accesses.section(traces))
    body.append(source.section(sources, findings))
    device_name = str(profiled.device.get("name", ""))
    return _page(title, body, device_name, profiled.fidelity, traced=bool(profiled.kernels and traces))


def _charts(title: str, pictures: Sequence[Markup]) -> Markup:
    shown = [each for each in pictures if each]
    return render("charts.html", title=title, pictures=shown) if shown else Markup()


def _roofline(counted: Sequence[Kernel], device: Mapping[str, Any]) -> Iterator[Markup]:
    if rates := device_rates.read(device):
        yield roofline.section(counted, rates)


def _timeline(result: Result) -> Iterator[Markup]:
    """Yield the timeline of the test that has most to show, if there is one with several streams."""
    seen = [(test.name, launches.collect(test.launches).timeline) for test in result.tests]
    name, events = max(seen, key=lambda one: (len({each.stream for each in one[1]}), len(one[1])), default=("", []))
    if len({each.stream for each in events}) > 1:
        yield timeline.picture(events, f"Timeline of “{one_line(name, WIDTH)}”")


def _page(title: str, body: Sequence[Markup], device: str, stated: Fidelity | None, *, traced: bool) -> bytes:
    foot = render("foot.html", device=one_line(device, WIDTH), version=__version__, stated=stated)
    style = source.style() + read_style("accesses.css")
    script = read_style("page.js") + (read_style("accesses.js") if traced else "")
    return page(title, [*body, foot], style=style, script=script, width="wide")
