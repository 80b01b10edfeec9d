"""What reads strangers' text has limits, cannot write or reach anything, and keeps nobody else waiting."""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import hostile_work
import pytest

from warpgrade.machine import confined
from warpgrade.machine.confined import Allowance, OverBudget, Session
from warpgrade.machine.errors import BadInput, GraderError


def test_a_call_returns_what_the_function_returns() -> None:
    allowance = Allowance()
    assert confined.call(allowance, hostile_work.sizes, {"a.cu": b"xyz"}, Path("/in")) == {"/in/a.cu": 3}
    assert 0 < allowance.used < allowance.seconds


def test_what_it_refuses_is_refused_here() -> None:
    with pytest.raises(BadInput) as caught:
        confined.call(Allowance(), hostile_work.refuses)
    assert (caught.value.message, caught.value.hint, caught.value.review) == (
        "ada.zip is no zip", "pack it again", "odd",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("function", "says"),
    [
        (hostile_work.takes_memory, "needs more than 512 MiB of memory"),
        (hostile_work.floods, "gives more than 1 MiB"), (hostile_work.crashes, "ends early"),
    ],
)  # fmt: skip
def test_a_limit_ends_it_and_says_which(function: Callable[[], Any], says: str) -> None:
    with pytest.raises(OverBudget, match=says):
        confined.call(Allowance(memory_mib=512, output_mib=1), function)


def test_processor_time_is_of_all_calls_together() -> None:
    allowance = Allowance(seconds=1, where="analysis_seconds")
    with pytest.raises(OverBudget, match=r"takes more than 1 s of processor time \(analysis_seconds\)"):
        confined.call(allowance, hostile_work.computes_forever)
    assert 0.5 < allowance.used < 3
    with pytest.raises(OverBudget, match="more than 1 s"):
        confined.call(allowance, hostile_work.sizes, {}, Path())


def test_it_can_only_read(tmp_path: Path) -> None:
    (tmp_path / "there").write_bytes(b"x")
    assert confined.call(Allowance(), hostile_work.breaks_out, tmp_path) == ["read"]
    assert [path.name for path in tmp_path.iterdir()] == ["there"]


def test_others_go_on_while_one_computes() -> None:
    ended = threading.Event()

    def compute() -> None:
        with pytest.raises(OverBudget):
            confined.call(Allowance(seconds=2), hostile_work.computes_forever)
        ended.set()

    thread = threading.Thread(target=compute)
    thread.start()
    count = 0
    while not ended.is_set():
        confined.call(Allowance(), hostile_work.sizes, {}, Path())
        count += 1
    thread.join()
    assert count > 5


def test_a_helper_that_has_ended_is_started_again() -> None:
    confined.call(Allowance(), hostile_work.sizes, {}, Path())
    helper = confined._helpers[-1]._process
    helper.kill()
    helper.wait()
    assert confined.call(Allowance(), hostile_work.sizes, {"a": b""}, Path()) == {"a": 0}


def test_a_session_answers_calls_each_with_its_own_limits() -> None:
    session = Session(Allowance(), hostile_work.table, 1000)
    assert session.made == 1000
    assert session.call(Allowance(), 999) == "999"
    with pytest.raises(OverBudget):
        session.call(Allowance(seconds=1), -1)
    with pytest.raises(GraderError, match="IndexError"):
        session.call(Allowance(), 1000)
    assert session.call(Allowance(), 7) == "7"
