"""All kinds of pages that Warpgrade writes, of results with something to show in every part."""

import sys
from collections.abc import Callable
from pathlib import Path

import class_of_sixty
import msgspec
from class_rows import KAI
from samples import GRADED, LEAK, RACE, advice
from traced_launches import traced

from warpgrade.cohort import answers_page, class_page, feedback_text, similarity_page
from warpgrade.cohort.similarity import Pair, Piece, Side, Similar
from warpgrade.findings.accesses import TracedLaunch, Traces
from warpgrade.findings.diagnosis import Place
from warpgrade.grading.result import FileInfo, Result
from warpgrade.report import findings
from warpgrade.report.format import Report
from warpgrade.report.formats import page
from warpgrade.running.profile import Collector

SOURCE = """\
__global__ void k(float* a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        a[i] = a[32 * i] + a_line_that_is_much_longer_than_any_window_is_wide_and_cannot_be_broken_anywhere_at_all(i);
    __syncthreads();
}
"""
COUNTERS = {
    "inst_executed": 400, "thread_inst_executed": 9000, "global_load_requests": 32, "global_load_sectors": 1024,
    "global_store_requests": 32, "global_store_sectors": 128, "global_load_l1_hits": 100, "shared_load_requests": 10,
    "shared_load_wavefronts": 320, "shared_load_bank_conflicts": 310, "branches": 50, "divergent_branches": 20,
    "barriers": 8, "warps_launched": 8, "blocks_launched": 4, "dram_read_sectors": 900, "l2_read_sectors": 924,
    "l2_read_hits": 24,
}  # fmt: skip


def _launch(file: str) -> dict[str, object]:
    half = {name: count // 2 for name, count in COUNTERS.items()}
    return {
        "kernel": "_Z1kPfi", "name": "k", "grid": [4, 1, 1], "block": [64, 1, 1], "dynamic_shared_bytes": 0,
        "static_shared_bytes": 1024, "registers_per_thread": 20, "stream": 0, "start_ns": 0.0, "duration_ns": 2000.0,
        "occupancy": {"theoretical": 0.5, "achieved": 0.25, "blocks_per_multiprocessor": 8, "limiter": "registers"},
        "counters": COUNTERS, "error": None, "part_of_result": True, "cooperative": False,
        "lines": [{"file": file, "line": 3, "counters": half}, {"file": file, "line": 4, "counters": half}],
    }  # fmt: skip


def traces(file: str) -> list[TracedLaunch]:
    kept = Traces()
    kept.add(traced("v0", file))
    kept.add(traced("v1", file, traced()["trace"]["accesses"][:2:-1]))
    return kept.kept


def _result(folder: Path) -> Result:
    (folder / "toy.cu").write_text(SOURCE, encoding="utf-8")
    race = msgspec.structs.replace(RACE, place=Place("toy.cu", 4), related=[], kernel="k")
    slow = msgspec.structs.replace(advice(3, 900.0), place=Place("toy.cu", 3), kernel="k")
    failed = msgspec.structs.replace(
        GRADED.tests[0], status="fail", points=0.0, message="2 wrong\n\n3 wrong", hint="look again", signs=["wrong"],
        diagnostics=[race, slow], launches=[_launch("toy.cu")],
    )  # fmt: skip
    submission = msgspec.structs.replace(GRADED.submission, files=[FileInfo("toy.cu", len(SOURCE), "")])
    return msgspec.structs.replace(GRADED, tests=[failed, *GRADED.tests[1:]], submission=submission)


def write_result(folder: Path) -> Path:
    result = _result(folder)
    file = folder / "result.html"
    ptx = {"toy.cu": {4: ["ld.global.f32 %f1, [%rd1];"]}}
    found = findings.result_findings(result)
    page.FORMAT.write(str(file), Report(found, folder, result, ptx=ptx, traces=traces("toy.cu")))
    return file


def write_profile(folder: Path) -> Path:
    (folder / "toy.cu").write_text(SOURCE, encoding="utf-8")
    collector = Collector()
    launches = [_launch(str(folder / "toy.cu"))]
    copies = [{"kind": "to_device", "bytes": 4096, "duration_ns": 900.0, "start_ns": 2000.0, "stream": 0}]
    collector.add({"launches": launches, "transfers": copies, "call_errors": [], "diagnostics": [], "clock_ns": 3000.0})
    found = findings.program_findings([RACE, LEAK, msgspec.structs.replace(advice(3, 900.0), kernel="k")])
    file = folder / "profile.html"
    profile = collector.finish({"name": "a device"}, 0)
    page.FORMAT.write(str(file), Report(found, folder, profile=profile, traces=traces("toy.cu")))
    return file


def write_feedback(folder: Path) -> Path:
    made = feedback_text.make_feedback(KAI, GRADED)
    assert made is not None
    file = folder / "feedback.html"
    file.write_bytes(feedback_text.render_html(made))
    return file


def write_similarity(folder: Path) -> Path:
    sides = (Side("a.cu", 3, 9, SOURCE), Side("b.cu", 13, 19, SOURCE))
    pair = Pair("Ada (12345)", "Kai (12348)", 93.0, 71.5, 120, [Piece(80, *sides), Piece(40, *sides)], more=2)
    found = Similar(12, [pair, pair], same=[["Ada", "Kai"]], unread=["Lin: a link"])
    file = folder / "similarity.html"
    file.write_bytes(similarity_page.page(found, "Matrix multiplication: similar submissions"))
    return file


def write_class(folder: Path) -> Path:
    store = class_of_sixty.make(folder)
    store.save_aliases({"s001": "amber otter k7q2"})
    pair = {"left": "Ada", "right": "Kai", "left_percent": 93.0, "right_percent": 70.0, "tokens": 120}
    (folder / "similar.json").write_bytes(msgspec.json.encode({"compared": 60, "pairs": [pair]}))
    class_of_sixty.write(store)
    return folder / class_page.PAGE


def write_answers(folder: Path) -> Path:
    class_of_sixty.write(class_of_sixty.make(folder))
    return folder / answers_page.PAGE


PAGES: dict[str, Callable[[Path], Path]] = {
    name.removeprefix("write_"): made for name, made in vars(sys.modules[__name__]).items() if name.startswith("write_")
}
