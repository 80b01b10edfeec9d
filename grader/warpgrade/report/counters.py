"""The names of counters: ours, and those of Nsight Compute, as docs/counters.md gives them."""

import functools
import re
from collections.abc import Mapping
from types import MappingProxyType

from warpgrade.report import explain

_ITEM = re.compile(r"^- `(?P<name>\w+)`, in Nsight Compute `(?P<metric>[^`]+)`", re.MULTILINE)


@functools.cache
def metrics() -> Mapping[str, str]:
    """Return Nsight Compute's metric for each counter, by the counter's name."""
    return MappingProxyType({item["name"]: item["metric"] for item in _ITEM.finditer(explain.read_page("counters.md"))})
