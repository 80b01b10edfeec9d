"""How far a result can be trusted, as it says itself."""

import re

import pytest

from warpgrade.machine import fidelity
from warpgrade.machine.device import Device
from warpgrade.machine.paths import find_layout

H100 = Device("auto", "vgpu:h100", "vgpu", {"name": "NVIDIA H100 80GB HBM3 (virtual, 4 multiprocessors)"})


def test_the_page_has_the_same_rows() -> None:
    """tests/model/test_families.py makes the rows of counters of what was measured."""
    page = (find_layout().root / "docs" / "virtual-gpu.md").read_text(encoding="utf-8")
    section = page.partition("## What each result says of itself\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (.+?) \| (.+?) \|$", section, re.MULTILINE)
    told = [*(("exact", each) for each in fidelity.EXACT), *((one.what, one.error) for one in fidelity.MODELLED)]
    assert rows == told


def test_as_many_forms_of_opcodes_are_exact_as_the_page_says_further_up() -> None:
    page = (find_layout().root / "docs" / "virtual-gpu.md").read_text(encoding="utf-8")
    assert "1033 opcode forms" in page
    assert any("1033 forms of opcodes" in each for each in fidelity.EXACT)


def test_errors_belong_to_the_device_on_which_they_were_measured() -> None:
    stated = fidelity.state(H100)
    assert (stated.modelled, stated.measured_on) == (fidelity.MODELLED, "NVIDIA H100 80GB HBM3")
    other = fidelity.state(Device("vgpu:t4", "vgpu:t4", "vgpu", {"name": "Tesla T4 (virtual)"}))
    assert {one.error for one in other.modelled} == {"not measured on this device"}
    assert other.measured_on == ""
    plain = fidelity.state(Device("plain", "plain:h100", "plain", H100.properties, analysed=False))
    assert (len(plain.exact), plain.modelled) == (1, [])


def test_a_real_gpu_models_nothing_and_times_what_the_virtual_one_would_model() -> None:
    gpu = Device("gpu", "gpu:0", "gpu", {"name": "Tesla\x1b[31m T4"}, repeatable=False, analysed=False)
    alone, both = fidelity.state(gpu), fidelity.state(H100, timing=gpu)
    assert (alone.exact, alone.modelled) == ([fidelity.REAL], [])
    assert both.exact == [*fidelity.EXACT, fidelity.REAL]
    assert both.summary.startswith("results exact; speed measured on Tesla")
    assert "\x1b" not in both.summary
    assert fidelity.state(H100, timing=H100) == fidelity.state(H100)


@pytest.mark.parametrize("hostile", ["\x1b[31mred", "a\nb", "x" * 5000])
def test_what_was_met_and_is_not_supported_is_one_short_line(hostile: str) -> None:
    stated = fidelity.state(H100, [hostile, "wgmma", "wgmma", *map(str, range(100))])
    assert len(stated.unsupported) == 10
    assert stated.unsupported[1] == "wgmma"
    assert stated.line.startswith("results exact; times modelled")
    assert "not supported: " in stated.line
    assert not {"\n", "\x1b"} & set(stated.line)
    assert len(stated.unsupported[0]) <= 201
