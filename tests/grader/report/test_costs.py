"""What each cause of lost time costs: on the terminal, and as bars of a page."""

import io
import re

import drawn_kernels
import msgspec
import pytest
from rich.console import Console
from samples import GRADED

from warpgrade.report import costs, profile, terminal
from warpgrade.report.html import device_rates, time_parts
from warpgrade.running.profile import Event, Kernel, Line, Profile, Transfers

LAUNCH = {
    "kernel": "_Z1kPfi", "name": "k", "grid": [4, 1, 1], "block": [64, 1, 1], "dynamic_shared_bytes": 0,
    "static_shared_bytes": 0, "registers_per_thread": 20, "stream": 0, "start_ns": 0.0, "duration_ns": 2000.0,
    "occupancy": {"theoretical": 0.5, "achieved": 0.25, "blocks_per_multiprocessor": 8, "limiter": "registers"},
    "counters": {"inst_executed": 1}, "error": None, "lines": [],
    "costs": {"uncoalesced": 0.61, "bank_conflicts": 0.38, "all": 0.8},
}  # fmt: skip
LINE = "bank conflicts −38\xa0%, low occupancy −4\xa0%, all of these −41\xa0%"


def kernel() -> Kernel:
    return drawn_kernels.drawn("k")


def test_causes_come_largest_first_and_all_of_them_last() -> None:
    assert costs.line(costs.shares(kernel())) == LINE
    one = msgspec.structs.replace(kernel(), costs={"divergence": 500, "all": 500})
    assert costs.line(costs.shares(one)) == "divergence −25\xa0%"
    assert costs.shares(msgspec.structs.replace(one, total_ns=0)) == []
    assert costs.shares(msgspec.structs.replace(one, costs={"of somebody": 900})) == []


def test_the_profile_has_a_row_for_them() -> None:
    file = io.StringIO()
    profile.show(Console(file=file, width=110), Profile(kernels=[kernel()], clock_ns=9), lines=False)
    assert f"time without {LINE}".replace("\xa0", " ") in " ".join(file.getvalue().split())


@pytest.mark.parametrize("width", [60, 80, 140])
def test_a_result_has_a_line_for_each_kernel_when_advice_is_wanted(width: int) -> None:
    test = msgspec.structs.replace(GRADED.tests[0], launches=[LAUNCH, {**LAUNCH, "costs": {"uncoalesced": -1}}])
    hidden = msgspec.structs.replace(test, hidden=True, launches=[{**LAUNCH, "name": "secret", "kernel": "secret"}])
    for advice in (True, False):
        file = io.StringIO()
        console = Console(file=file, width=width, highlight=False)
        terminal.show(console, msgspec.structs.replace(GRADED, tests=[test, hidden]), advice=advice)
        words = " ".join(file.getvalue().split())
        told = "k, 2.00 µs: without uncoalesced accesses −61 %, bank conflicts −38 %, all of these −80 %"
        assert (told in words) == advice
        assert "secret" not in words
        assert max(map(len, file.getvalue().splitlines())) <= width


def test_copies_cost_the_time_in_which_no_kernel_runs() -> None:
    def event(kind: str, start: float, duration: float) -> Event:
        return Event(kind, kind, 0, start, duration)

    both = [event("to_device", 0, 10), event("kernel", 5, 25), event("to_host", 20, 20), event("fill", 38, 4)]
    whole = Profile(kernels=[kernel()], clock_ns=100, timeline=both)
    assert costs.copies_share(whole) == (5 + 12) / 100
    assert costs.copies_share(msgspec.structs.replace(whole, timeline=[])) == 0
    assert costs.copies_share(msgspec.structs.replace(whole, timeline_complete=False)) == 0
    file = io.StringIO()
    profile.show(Console(file=file, width=60), whole, lines=False)
    assert re.search(r"time without copies +−17\xa0%", file.getvalue())
    assert "time without copies: −17\xa0%." in time_parts.run_bars(
        msgspec.structs.replace(whole, transfers={"to_host": Transfers(1, 8, 20)})
    )


def test_the_time_falls_to_the_lines_by_what_each_asks_of_the_parts() -> None:
    rates = device_rates.read(drawn_kernels.DEVICE)
    assert rates is not None
    of_lines = [
        {"inst_executed": 30, "shared_load_wavefronts": 40},
        {"inst_executed": 370, "l2_read_sectors": 8, "dram_read_sectors": 8, "global_load_sectors": 8},
    ]
    whole = {name: sum(each.get(name, 0) for each in of_lines) for each in of_lines for name in each}
    lines = [Line("a.cu", at, each) for at, each in enumerate(of_lines, 1)]
    one = msgspec.structs.replace(kernel(), counters=whole, lines=lines)
    found = {line: ns for _, line, ns in time_parts.line_times(one, rates)}
    assert sum(found.values()) == pytest.approx(one.total_ns)
    only_shared = msgspec.structs.replace(one, counters={"shared_load_wavefronts": 40})
    assert [line for _, line, _ in time_parts.line_times(only_shared, rates)] == [1]
    assert list(time_parts.line_times(msgspec.structs.replace(one, counters={}), rates)) == []


def test_bars_are_as_long_as_the_shares() -> None:
    bars = time_parts.cost_bars(kernel())
    told = "; ".join(f"without {each}" for each in LINE.split(", "))
    assert told in bars
    assert 'width="152" height="9" class="bar"' in bars
    assert time_parts.cost_bars(msgspec.structs.replace(kernel(), costs={})) == ""
