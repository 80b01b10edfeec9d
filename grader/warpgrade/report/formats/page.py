"""A result or a profile as a page of HTML that stands alone."""

from warpgrade.report.format import Report, file_format


def _encode(report: Report) -> bytes:
    from warpgrade.report.html import page  # noqa: PLC0415  only where a page is made

    if report.result is not None:
        return page.render_result(
            report.result, report.findings, report.folder, report.earlier, report.ptx, report.traces
        )
    return page.render_profile(report.profile, report.findings, report.traces) if report.profile is not None else b""


FORMAT = file_format(
    "findings", "--html", "Write a page with all of it, to open in a browser; - is stdout.", _encode, by_line=True,
    traced=True,
)  # fmt: skip
