"""For which data the checks of a kernel's launches hold: read from the device's reports and told."""

import io
from typing import Any

import msgspec
import pytest
from rich.console import Console
from samples import GRADED

from warpgrade.report import any_data, terminal
from warpgrade.running.profile import AnyData, Collector, Kernel

HOLDS = {"holds": True}
BRANCH = {"holds": False, "because": "branch", "place": {"file": "/work/bins.cu", "line": 60, "code": 0}}


LAUNCH = {
    "kernel": "k", "name": "k", "grid": [1, 1, 1], "block": [32, 1, 1], "duration_ns": 5.0, "start_ns": 0.0,
    "registers_per_thread": 8, "static_shared_bytes": 0, "dynamic_shared_bytes": 0, "stream": 0, "lines": [],
    "occupancy": {"theoretical": 1.0, "achieved": 1.0, "limiter": "warps"}, "counters": {"inst_executed": 1},
    "error": None,
}  # fmt: skip


def _kernel(*proofs: Any) -> Kernel:
    """Return the sum of launches of one kernel of which the device said this."""
    collector = Collector()
    launches = [LAUNCH if proof is None else {**LAUNCH, "any_data": proof} for proof in proofs]
    collector.add({"launches": launches, "call_errors": [], "diagnostics": [], "clock_ns": 5})
    return collector.finish({}, 0).kernels[0]


@pytest.mark.parametrize(
    ("proofs", "expected"),
    [
        ([HOLDS, HOLDS], AnyData(holds=True)),
        ([BRANCH], AnyData(holds=False, because="branch", file="/work/bins.cu", line=60)),
        ([HOLDS, None], None),  # one that was not checked, or has an error
        ([None, HOLDS], None),
    ],
)
def test_all_launches_of_a_kernel_count(proofs: list[Any], expected: AnyData | None) -> None:
    assert _kernel(*proofs).any_data == expected


def test_the_words_say_for_which_data_and_why_not_for_all() -> None:
    assert any_data.words(AnyData(holds=True)).startswith("with any data: no race,")
    assert (
        any_data.words(AnyData(holds=False, because="branch", file="/work/bins.cu", line=60))
        == "with these data only: bins.cu:60 goes another way with other data"
    )
    unknown = any_data.words(AnyData(holds=False, because="calls"))
    assert unknown.endswith("a line calls a function, which is not looked into")
    assert any_data.words(AnyData(holds=False, because="\x1b[2J")).endswith("not known")


def test_a_summary_names_the_kernels_that_are_not_sure_and_says_nothing_of_those_with_errors() -> None:
    sure, unsure, wrong = _kernel(HOLDS), _kernel(BRANCH), _kernel(None)
    unsure.name = "unsure"
    first, second = any_data.summary([sure, unsure, wrong])
    assert first.endswith("of these sizes: 1 of 2 kernels.")
    assert second == ("Checked with the data of the tests only: unsure (bins.cu:60 goes another way with other data).")
    assert any_data.summary([unsure]) == [second]
    assert any_data.summary([sure, wrong])[0].endswith("of these sizes: 1 kernel.")
    assert any_data.summary([sure, sure])[0].endswith("of these sizes: all 2 kernels.")
    assert any_data.summary([wrong]) == []


def test_a_result_is_summed_up_once_no_test_fails() -> None:
    def shown(result: Any, *, full: bool = False) -> str:
        file = io.StringIO()
        terminal.show(Console(file=file, width=160), result, full=full)
        return file.getvalue()

    launches = [{**LAUNCH, "any_data": HOLDS}]
    failing = msgspec.structs.replace(
        GRADED, tests=[msgspec.structs.replace(test, launches=launches) for test in GRADED.tests]
    )
    good = [
        msgspec.structs.replace(test, status="pass", points=test.max_points, message="", launches=launches)
        for test in GRADED.tests
    ]
    passing = msgspec.structs.replace(GRADED, tests=good)
    line = f"Checked {any_data.PROVED}: 1 kernel."
    assert shown(passing).count(line) == 1
    assert line not in shown(failing)
    assert line in shown(failing, full=True)
    hidden = msgspec.structs.replace(GRADED, tests=[msgspec.structs.replace(test, hidden=True) for test in good])
    assert line not in shown(hidden)
