"""tests/benchmarks/beside.py: its table has the peers that are here, and it names those that are not."""

import os
import re
import subprocess
import sys

import pytest

from benchmarks import beside

_NUMBER = r"[\d.,]+(?:e[+-]\d+)?"
_CELL = rf" {_NUMBER} \({_NUMBER}×\) "


@pytest.mark.labs
def test_table_has_plain_cpp_and_the_virtual_gpu_and_missing_peers_are_named() -> None:
    done = subprocess.run(
        [sys.executable, beside.__file__, "--small", "--repeats", "1", "--numba", "/no/such/python"],
        capture_output=True, text=True, check=False, timeout=600,
        env={**os.environ, "OCL_ICD_VENDORS": "/no/such/folder", "OCL_ICD_FILENAMES": ""},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    tables = done.stdout.split("steps per second of ")[1:]
    assert [table.split(" time")[0] for table in tables] == ["processor", "wall"]
    for table in tables:
        assert "| | threads | matmul_naive 32 | matmul_tiled 32 | reduce_tree 2048 |" in table
        rows = re.findall(rf"^\| ([^|]+) \| 1 \|{_CELL}\|{_CELL}\|{_CELL}\|$", table, re.MULTILINE)
        assert rows == ["plain C++, g++ -O2", "plain C++, g++ -O3", "virtual GPU, counters", "virtual GPU, all checks"]
        assert table.count("(1×)") >= 3  # of the row with which all are compared
    assert re.search(r"^PoCL: missing: \S", done.stdout, re.MULTILINE)
    assert "Numba's CUDA simulator: missing: /no/such/python: No such file or directory" in done.stdout
    assert "GPGPU-Sim's functional mode, gpuocelot, HIP-CPU: not measured" in done.stdout


@pytest.mark.parametrize("got", [[1.0, 2.001], [1.0, float("nan")], [1.0]])
def test_wrong_output_of_a_peer_ends_the_benchmark(got: list[float]) -> None:
    with subprocess.Popen(["true"], text=True) as process:
        peer = beside.Peer("PoCL", 1, process, beside.SMALL_SIZES)
    with pytest.raises(SystemExit, match="PoCL: matmul_naive"):
        beside.check_close(peer, "matmul_naive", got, [1.0, 2.0])
    beside.check_close(peer, "matmul_naive", [1.0, 2.0001], [1.0, 2.0])


def test_peer_that_ended_before_its_first_command_is_missing() -> None:
    pipe = subprocess.PIPE
    with subprocess.Popen(["sh", "-c", "echo no device >&2"], stdin=pipe, stdout=pipe, stderr=pipe, text=True) as ended:
        ended.wait()
        with pytest.raises(beside.Missing, match="no device"):
            beside.Peer("PoCL", 1, ended, beside.SMALL_SIZES).ask("run")


def test_processor_time_is_that_of_descendants_too() -> None:
    work = "import time\nwhile time.process_time() < 0.3: pass\nprint('done', flush=True)\ninput()"
    command = ["sh", "-c", '"$0" -c "$1"; true', sys.executable, work]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as shell:
        assert shell.stdout and shell.stdout.readline() == "done\n"
        assert beside.processor_seconds(shell.pid) >= 0.3
