"""The versions of four teaching problems (programs/versions.cu): their counters and the order of their times."""

import csv
from pathlib import Path

import pytest

from warpgrade.machine.paths import find_layout
from warpgrade.running import run
from warpgrade.running.profile import Profile

pytestmark = pytest.mark.labs
LAYOUT = find_layout()
EQUAL_COUNTERS = (
    "global_load_requests", "global_load_sectors", "global_store_requests", "global_store_sectors",
    "shared_load_requests", "shared_load_wavefronts", "shared_load_bank_conflicts",
    "shared_store_requests", "shared_store_wavefronts", "shared_store_bank_conflicts",
    "blocks_launched", "warps_launched",
)  # fmt: skip
MERGED_LOADS = {("matmul_tiled", "shared_load_requests"), ("matmul_tiled", "shared_load_wavefronts")}
COLLECTED_STORES = ("matmul_rows", "step_v0", "step_v2", "step_v3")  # of parts of a sector, by a real L1


@pytest.fixture(scope="module")
def versions(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Profile]:
    """Profiles of programs/versions.cu at n = 256, on a slice and on the whole device."""
    source = Path(__file__).parent / "programs" / "versions.cu"
    program = run._compile(LAYOUT, [source], 90, run.Options(), tmp_path_factory.mktemp("versions"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(run, "_program", lambda *_: program)
        profiles = {
            device: run.run(LAYOUT, [source], ["256"], run.Options(device=device))
            for device in ("vgpu:h100:4", "vgpu:h100:all")
        }
    assert all(profile.exit_status == 0 for profile in profiles.values())
    return profiles


def test_versions_come_in_the_order_of_a_real_gpu(versions: dict[str, Profile]) -> None:
    """As an H100 has them with more data; on a slice it takes little to fill the device."""
    time = {kernel.name: kernel.total_ns for kernel in versions["vgpu:h100:4"].kernels}
    assert time["matmul_rows"] > 1.5 * time["matmul_naive"] > 1.8 * time["matmul_tiled"]
    assert time["transpose_naive"] > 2 * time["transpose_shared"]
    assert time["transpose_shared"] > 1.3 * time["transpose_padded"]
    assert time["reduction_1"] > 1.3 * time["reduction_2"] > 1.6 * time["reduction_shuffles"]
    assert time["step_v0"] > 2 * time["step_v1"]
    assert time["step_v1"] > 1.8 * time["step_v2"] > 2.0 * time["step_v3"]


def test_counters_are_those_of_nsight_compute(versions: dict[str, Profile]) -> None:
    """versions.ncu.tsv: what ncu says of the same program on an H100 (CUDA 13.0, driver 580, `versions 256`).

    tests/model/test_families.py does the same with 77 more kernels at night.
    """
    with (Path(__file__).parent / "programs" / "versions.ncu.tsv").open(encoding="utf-8") as file:
        measured = {row["kernel"]: row for row in csv.DictReader(file, delimiter="\t")}
    kernels = {kernel.name: kernel for kernel in versions["vgpu:h100:all"].kernels}
    assert measured.keys() == kernels.keys()
    different = set()
    for name, row in measured.items():
        kernel, ours = kernels[name], kernels[name].counters
        real = {counter: float(value) for counter, value in row.items() if counter != "kernel"}
        different |= {(name, counter) for counter in EQUAL_COUNTERS if ours[counter] != real[counter]}
        assert max(kernel.registers_per_thread, 16) == real["registers_per_thread"], name  # ncu never says less
        assert kernel.static_shared_bytes == real["static_shared_bytes"], name
        assert kernel.occupancy == real["occupancy"], name
        # A model, where caches come in. Blocks that share an L1 find some of each other's lines on a real device.
        hit_rate = [c["global_load_l1_hits"] / c["global_load_sectors"] for c in (ours, real)]
        assert abs(hit_rate[0] - hit_rate[1]) < 0.04, name
        assert 1 <= ours["l2_read_sectors"] / real["l2_read_sectors"] < 1.07, name
        # On their way to L2, requests of several multiprocessors for the same sector meet.
        assert real["lts_read_sectors"] <= real["l2_read_sectors"], name
        assert (ours["l2_write_sectors"] == real["l2_write_sectors"]) != (name in COLLECTED_STORES), name
        assert 0.97 < ours["dram_read_sectors"] / real["dram_read_sectors"] <= 1, name
        assert abs(kernel.achieved_occupancy - real["achieved_occupancy"]) < 0.021, name
    assert different == MERGED_LOADS
