"""Whatever a source holds, it is read in time in proportion to its length."""

import re
from collections.abc import Callable

import pytest
from hostile_sources import HOSTILE, check_growth

from warpgrade.findings import sources
from warpgrade.findings.barriers import Kernels

FEW, MANY = 14_000, 140_000


def read(text: str) -> None:
    kernels = Kernels(text)
    kernels.conditional()
    kernels.calls()
    lines = text.count("\n") + 1
    for line in (1, 2, lines // 2, lines):
        kernels.gaps(2, line)
        kernels.is_for_warps(line)
    own = sources.submission_sources({"k.cu": text.encode()}, re.compile("^/submission/"), lambda path: False)
    for line in range(1, 5):
        own.allocated_variable("k.cu", line)
        own.line("k.cu", line)


@pytest.mark.parametrize("make", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_source_takes_time_in_proportion_to_its_length(make: Callable[[int], str]) -> None:
    few, many = make(FEW), make(MANY)
    check_growth(lambda: read(few), lambda: read(many))
