"""What L1 keeps of stores, as Nsight Compute counted it on an H100 (tests/hardware/kept.cu)."""

import csv
import json
import subprocess
from pathlib import Path

from warpgrade.machine.paths import find_layout

ROOT = find_layout().root
COUNTERS = {
    "ld.sum": "global_load_sectors",
    "ld_lookup_hit.sum": "global_load_l1_hits",
    "st.sum": "global_store_sectors",
    "read.sum": "l2_read_sectors",
    "write.sum": "l2_write_sectors",
}


def test_l1_keeps_of_stores_what_it_keeps_on_an_h100(tmp_path: Path) -> None:
    profile = tmp_path / "profile.json"
    program = ROOT / "tests" / "hardware" / "kept.cu"
    command = [str(ROOT / "warpgrade"), "run", str(program), "-q", "--json", str(profile),
               "-I", str(ROOT / "labs" / "common"), "-X", "-std=c++20"]  # fmt: skip
    subprocess.run(command, check=True, capture_output=True)
    kernels = {
        kernel["name"].replace("(anonymous namespace)::", ""): kernel["counters"]
        for kernel in json.loads(profile.read_text(encoding="utf-8"))["kernels"]
    }
    with (Path(__file__).parent / "kept.ncu.tsv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            name = row.pop("kernel")
            ours = {metric: kernels[name][counter] for metric, counter in COUNTERS.items()}
            assert ours == {metric: int(value) for metric, value in row.items()}, name
