"""The kernels: what each did, and what its time would lose without each cause."""

from __future__ import annotations

from collections.abc import Container, Sequence

from warpgrade.report import profile
from warpgrade.report.findings import Finding
from warpgrade.report.html.elements import Markup, render
from warpgrade.report.html.parts import show_finding
from warpgrade.running.profile import Kernel


def section(kernels: Sequence[Kernel], how: str, findings: Sequence[Finding], files: Container[str]) -> Markup:
    """Return each kernel with its advice, the longest first; `how` says what was counted."""
    advice = [one for one in findings if one.diagnostic.severity == "advice"]
    shown = []
    for kernel in kernels:
        mine = [one for one in advice if one.diagnostic.kernel in (kernel.name, kernel.symbol)]
        mine.sort(key=lambda one: -one.diagnostic.weight)
        shown.append({
            "name": profile.short_name(kernel.name), "launches": kernel.launches, "time": profile.time(kernel.total_ns),
            "advice": [show_finding(one, files) for one in mine], "facts": list(profile.kernel_facts(kernel)),
            "unfolded": any(not one.settled for one in mine),
        })  # fmt: skip
    return render("kernels.html", kernels=shown, how=how)
