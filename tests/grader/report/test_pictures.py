"""The pictures of a page: what they say of counters, and that they say nothing where they would have to guess."""

import re

import msgspec
import pytest
from drawn_kernels import DEVICE, drawn

from warpgrade.report.html import device_rates, occupancy, roofline, time_parts, timeline, versions
from warpgrade.report.html.elements import Markup
from warpgrade.report.html.svg import Scale
from warpgrade.running.profile import Event, Kernel, Profile, Transfers

RATES = device_rates.Rates(multiprocessors=4, cycles=2, warp_instructions=32, l2_bytes=160, dram_bytes=80)


def words(picture: Markup) -> str:
    return re.sub(r"<[^>]*>", "\n", picture)


def test_the_rates_are_those_of_the_devices_properties() -> None:
    rates = device_rates.read(DEVICE)
    assert rates is not None
    assert (rates.warp_instructions, rates.dram_bytes) == (4 * 4 * 1.98, 90.9)
    for name in ("clock_ghz", "l2_bytes_per_ns", "multi_processor_count"):
        assert device_rates.read({**DEVICE, name: 0}) is None
        assert device_rates.read({**DEVICE, name: "many"}) is None


def test_a_kernel_on_the_roofline_is_held_against_the_lower_of_two_limits() -> None:
    kernel = drawn("k")  # 12800 instructions for 256 bytes in 2000 ns: the schedulers allow 1024 per ns
    assert "0.6 % of instructions" in words(roofline.section([kernel], RATES))
    kernel.counters["dram_read_sectors"] = 4000  # 0.1 for a byte: memory allows 8 per ns
    assert "80 % of memory" in words(roofline.section([kernel], RATES))
    kernel.counters["dram_read_sectors"] = 0
    assert roofline.section([kernel], RATES) == ""


def test_parts_of_the_time_come_from_counters_and_rates() -> None:
    kernel = drawn("k")
    shown = words(time_parts.kernel_bars(kernel, RATES))
    assert "Where the 2.00 µs go" in shown
    assert "12 ns, 0.6 %" in shown, "400 instructions, 32 per ns"
    assert "5 ns, 0.2 %" in shown, "40 wavefronts on four multiprocessors of 2 GHz"
    assert "red: bank conflicts" in shown
    kernel.counters["shared_load_bank_conflicts"] = 0
    assert "red: bank conflicts" not in words(time_parts.kernel_bars(kernel, RATES))
    kernel.total_ns = 0
    assert time_parts.kernel_bars(kernel, RATES) == ""
    copies = Profile(kernels=[drawn("k")], transfers={"to_host": Transfers(2, 100, 5000)})
    shown = words(time_parts.run_bars(copies))
    assert shown.index("copies to the host") < shown.rindex("2.00 µs")
    assert time_parts.run_bars(Profile(kernels=[drawn("k")])) == ""


@pytest.mark.parametrize(
    ("threads", "registers", "shared", "warps"),
    [
        # NVIDIA's occupancy calculator, for compute capability 9.0.
        (256, 32, 0, 64), (256, 64, 0, 32), (256, 33, 0, 48), (1024, 32, 0, 64), (32, 16, 0, 32), (96, 32, 0, 63),
        (256, 32, 48 * 1024, 32), (1024, 65, 0, 0),
    ],
)  # fmt: skip
def test_resident_warps(threads: int, registers: int, shared: int, warps: int) -> None:
    assert occupancy.resident_warps(DEVICE, threads, registers, shared) == warps


def test_occupancy_is_drawn_only_if_the_formula_gives_what_was_counted() -> None:
    shown = words(occupancy.picture(drawn("k"), DEVICE))
    assert "Occupancy: 50 %, limited by registers" in shown
    assert "100 % with 32 registers a thread" in shown
    kernel = drawn("k")
    kernel.occupancy = 0.75
    assert occupancy.picture(kernel, DEVICE) == ""
    assert occupancy.picture(drawn("k"), {**DEVICE, "warp_size": 0}) == ""
    kernel = drawn("k")
    kernel.block = None
    assert occupancy.picture(kernel, DEVICE) == ""


def test_a_timeline_has_a_row_for_each_stream_and_kind_of_work() -> None:
    events = [Event("k", "kernel", 1, 0, 10), Event("to_host", "to_host", 2, 5, 10), Event("k", "kernel", 1, 12, 4)]
    shown = words(timeline.picture(events, "Timeline"))
    assert "stream 1: kernels" in shown
    assert "stream 2: copies to the host" in shown
    assert "16 ns" in shown
    assert timeline.picture(events[:1], "Timeline") == ""
    many = [Event("k", "kernel", 0, at, 1) for at in range(1000)]
    assert "400 more are not shown" in words(timeline.picture(many, "Timeline"))


def test_versions_stand_beside_each_other_in_the_order_of_the_source() -> None:
    first, second = drawn("z"), drawn("a")
    second.lines = [msgspec.structs.replace(line, file="z", line=9) for line in second.lines]
    second.counters |= {"global_load_sectors": 64}
    shown = words(versions.kernels([second, first]))
    assert re.search(r"z\n+4\n.*a\n+32\n", shown, re.DOTALL)
    assert versions.kernels([first]) == ""
    assert versions.kernels([Kernel("k", "k"), Kernel("l", "l")]) == ""


def test_a_value_beyond_an_axis_stands_at_its_end() -> None:
    scale = Scale(1, 100, 0, 200, log=True)
    assert [scale(value) for value in (0.01, 1, 10, 1e9)] == [0, 0, 100, 200]
    assert scale.ticks() == [1, 10, 100]
