"""The profile of a program as JSON: schema `warpgrade/profile/1`."""

import msgspec

from warpgrade.report.format import Report, file_format


def _encode(report: Report) -> bytes:
    return msgspec.json.format(msgspec.json.encode(report.profile), indent=1) + b"\n"


FORMAT = file_format("profile", "--json", "Write the profile as JSON; - is stdout.", _encode)
