"""A program's profile for other tools: stacks, a table as Nsight Compute's, a trace."""

import csv
import io
import itertools
import json
import re
from pathlib import Path
from typing import Any

import pytest
from hostile import ACTS, ANY, HOSTILE, strings
from hypothesis import example, given
from rich.console import Console
from stand_ins import run

from warpgrade.machine.errors import BadInput
from warpgrade.report.counters import metrics
from warpgrade.report.format import Report
from warpgrade.report.formats import ncu_csv, stacks, trace
from warpgrade.report.profile import show
from warpgrade.running.profile import Collector, Profile

ROOT = Path(__file__).parents[3]
DEVICE = {"name": "toy", "major": 9, "minor": 0, "multi_processor_count": 4}


def launch(name: str = "add", file: str = "/elsewhere/add.cu", grid: int = 10, **more: Any) -> dict[str, Any]:
    return {
        "kernel": name, "name": name, "grid": [grid, 1, 1], "block": [48, 2, 1], "duration_ns": 1500.0,
        "start_ns": 100.0, "stream": 0, "registers_per_thread": 1, "static_shared_bytes": 0, "dynamic_shared_bytes": 0,
        "occupancy": {"theoretical": 1.0, "limiter": "blocks", "blocks_per_multiprocessor": 2},
        "counters": {"inst_executed": 100, "global_load_sectors": 32, "barriers": 0}, "error": None,
        "lines": [
            {"file": file, "line": 3, "counters": {"inst_executed": 60, "global_load_sectors": 32}},
            {"file": file, "line": 7, "counters": {"inst_executed": 30}},
        ],
        **more,
    }  # fmt: skip


def profile(*launches: dict[str, Any]) -> Profile:
    collector = Collector()
    collector.add({"launches": list(launches), "call_errors": [], "diagnostics": [], "clock_ns": 1.0})
    return collector.finish(dict(DEVICE), 0)


def test_stacks_add_up_to_the_counter() -> None:
    here = profile(launch(), launch(), launch("sub", lines=[]))
    assert stacks.encode(here).decode().splitlines() == [
        "add;/elsewhere/add.cu;/elsewhere/add.cu:3 120",
        "add;/elsewhere/add.cu;/elsewhere/add.cu:7 60",
        "add;(no line) 20",
        "sub;(no line) 100",
    ]
    assert stacks.encode(here, "global_load_sectors").decode().splitlines() == [
        "add;/elsewhere/add.cu;/elsewhere/add.cu:3 64",
        "sub;(no line) 32",
    ]
    assert stacks.encode(here, "barriers") == b""


def test_what_a_real_gpu_tells_is_times() -> None:
    counted, timed = profile(launch()), profile(launch(counters=None, lines=[]))
    assert (timed.kernels[0].total_ns, timed.kernels[0].counters) == (1500, {})
    texts = []
    for one in (counted, timed):
        file = io.StringIO()
        show(Console(file=file, width=100), one, lines=False)
        texts.append(file.getvalue())
    for word in ("modelled time of", "instructions", "occupancy"):
        assert [word in text for text in texts] == [True, False]
    assert "1 registers per thread" in texts[1]
    assert stacks.encode(timed) == b""


def test_the_counter_of_stacks_is_named_before_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    here = Report(profile=profile(launch()))
    for value, file in (("a.txt", "a.txt"), ("global_load_sectors:b.txt", "b.txt"), ("./c:d.txt", "./c:d.txt")):
        stacks.FORMAT.check(value)
        stacks.FORMAT.write(value, here)
        assert Path(file).read_text().count("\n") == (1 if value.startswith("global") else 3)
    with pytest.raises(BadInput, match="no counter is called sectors") as caught:
        stacks.FORMAT.check("sectors:a.txt")
    assert "global_load_sectors" in caught.value.hint


def test_the_names_are_those_of_the_device() -> None:
    declared = re.findall(r'WG_COUNTER\((\w+), "([^"]+)"', (ROOT / "grader" / "device" / "counters.def").read_text())
    assert dict(metrics()) == dict(declared)


def test_a_table_has_the_columns_and_names_of_nsight_compute() -> None:
    here = profile(launch(grid=5), launch("sub", start_ns=5000.0, duration_ns=70.0))
    rows = list(csv.DictReader(io.StringIO(ncu_csv.encode(here).decode())))
    assert list(rows[0]) == list(ncu_csv.COLUMNS)
    first = [row for row in rows if row["ID"] == "0"]
    assert {row["Metric Name"]: (row["Metric Unit"], row["Metric Value"]) for row in first} == {
        "gpu__time_duration.sum": ("ns", "1500.00"),
        "smsp__inst_executed.sum": ("", "100"),
        "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum": ("", "32"),
        "sass__inst_executed_per_opcode (BAR)": ("", "0"),  # counted, and none; what was not counted has no row
    }
    assert {(row["Kernel Name"], row["Grid Size"], row["Block Size"], row["CC"]) for row in first} == {
        ("add", "(5, 1, 1)", "(48, 2, 1)", "9.0")
    }
    assert {row["Kernel Name"] for row in rows if row["ID"] == "1"} == {"sub"}


def test_a_table_says_which_launches_it_lacks(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    here = profile(*(launch(start_ns=float(at)) for at in range(1002)))
    ncu_csv.FORMAT.write(str(tmp_path / "out.csv"), Report(profile=here))
    assert "the first 1,000 of 1,002 launches" in capsys.readouterr().err
    assert len((tmp_path / "out.csv").read_text().splitlines()) == 1 + 4 * 1000


def test_multiprocessors_are_processes_with_their_share_of_blocks() -> None:
    events = json.loads(trace.encode(profile(launch(grid=10), launch("one", grid=1, start_ns=5000.0, stream=3))))
    rows = [row for row in events["traceEvents"] if row["ph"] == "X"]
    names = {row["pid"]: row["args"]["name"] for row in events["traceEvents"] if row["name"] == "process_name"}
    assert names == {0: "toy", **{1 + at: f"multiprocessor {at}" for at in range(4)}}
    shares = {row["pid"]: row["args"] for row in rows if row["name"] == "add" and row["pid"]}
    assert [shares[at]["blocks"] for at in (1, 2, 3, 4)] == [3, 3, 2, 2]
    assert shares[1] == {"blocks": 3, "blocks at a time": 2, "warps at a time": 6, "waves": 2}
    # A grid of one block leaves the others idle; streams have rows of their own.
    assert [(row["pid"], row["tid"]) for row in rows if row["name"] == "one"] == [(0, 3), (1, 3)]
    # When a block or a warp runs is not modelled: every slice is a whole kernel's or copy's.
    assert {(row["ts"], row["dur"]) for row in rows} == {(0.1, 1.5), (5.0, 1.5)}


def test_a_trace_is_bounded() -> None:
    here = profile(*(launch(start_ns=float(at)) for at in range(1000)))
    here.device["multi_processor_count"] = 132
    rows = json.loads(trace.encode(here))["traceEvents"]
    assert 0 < sum(row["pid"] > 0 and row["ph"] == "X" for row in rows) <= trace._MAX_SLICES


@ANY
@given(words=HOSTILE.map(lambda words: words.replace("\ud800", "?")))
@example(words="=cmd|' /C calc'!A0")
@example(words="a;b;c 9\n;d 1\r\n")
@example(words='","x",\n"')
@example(words="-0")
def test_names_stay_names(words: str) -> None:
    here = profile(launch(words, words), launch("add"))
    for line, after in itertools.pairwise([*stacks.encode(here).decode().split("\n"), ""]):
        if not line:
            assert not after
            continue
        frames, _, count = line.rpartition(" ")
        assert count.isdigit()
        assert len(frames.split(";")) in (2, 3)
        assert not ACTS.search(line), line
    rows = list(csv.reader(io.StringIO(ncu_csv.encode(here).decode(), newline="")))
    assert {len(row) for row in rows} == {len(ncu_csv.COLUMNS)}
    # A number is no formula.
    assert not any(re.match(r"[=+@-](?![\d.]+\Z)", cell) for row in rows for cell in row)
    for each in strings(json.loads(trace.encode(here))):
        assert not ACTS.search(each), each


def test_run_has_the_options(capsys: pytest.CaptureFixture[str]) -> None:
    shown = run(capsys, "run", "--help")[1]
    assert "--stacks [COUNTER:]FILE" in shown
    assert "--csv FILE" in shown
