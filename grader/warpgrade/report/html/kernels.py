"""The kernels: what each did, and what its time would lose without each cause."""

from collections.abc import Container, Mapping, Sequence
from typing import Any

from warpgrade.report import costs, profile
from warpgrade.report.findings import Finding
from warpgrade.report.html import device_rates, occupancy, time_parts
from warpgrade.report.html.elements import Markup, render
from warpgrade.report.html.parts import show_finding
from warpgrade.running.profile import Kernel

_MAX_PICTURES = 12  # kernels


def section(
    kernels: Sequence[Kernel], how: str, findings: Sequence[Finding], files: Container[str], device: Mapping[str, Any]
) -> Markup:
    """Return each kernel with its advice, the longest first; `how` says what was counted on the device."""
    advice = [one for one in findings if one.diagnostic.severity == "advice"]
    shown = []
    for place, kernel in enumerate(kernels):
        mine = [one for one in advice if one.diagnostic.kernel in (kernel.name, kernel.symbol)]
        mine.sort(key=lambda one: -one.diagnostic.weight)
        shown.append({
            "name": profile.short_name(kernel.name), "launches": kernel.launches, "time": profile.time(kernel.total_ns),
            "advice": [show_finding(one, files) for one in mine], "facts": list(profile.kernel_facts(kernel)),
            "costs": costs.line(costs.shares(kernel)[:1]),
            "pictures": _pictures(kernel, device) if place < _MAX_PICTURES else [],
            "unfolded": any(not one.settled for one in mine),
        })  # fmt: skip
    return render("kernels.html", kernels=shown, how=how)


def _pictures(kernel: Kernel, device: Mapping[str, Any]) -> list[Markup]:
    rates = device_rates.read(device)
    of_device = [time_parts.kernel_bars(kernel, rates), occupancy.picture(kernel, device)] if rates else []
    return [time_parts.cost_bars(kernel), *of_device]
