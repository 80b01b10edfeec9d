"""Right programs give the same results in other orders of blocks, warps and lanes."""

from __future__ import annotations

import corpus
import pytest
from test_programs import run

pytestmark = pytest.mark.labs

RIGHT = [path for path in corpus.PROGRAMS if path.stem.endswith("_ok")]
ORDERS = ["reverse", "interleaved", "ahead"]


@pytest.mark.parametrize("order", [*(pytest.param(one, marks=pytest.mark.nightly) for one in ORDERS[:2]), ORDERS[2]])
def test_a_right_program_of_the_corpus_ends_well_in_each_order(order: str) -> None:
    wrong = {}
    for source in RIGHT:
        profile = corpus.execute(source, order)
        found = [one.rule for one in corpus.counted(profile, source) if one.severity == "error"]
        if profile.exit_status or found:
            wrong[f"{source.parent.name}/{source.stem}"] = (profile.exit_status, found)
    assert not wrong


@pytest.mark.nightly
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("name", ["thrust_algorithms", "cub_device", "cub_block"])
def test_a_program_of_the_cuda_core_libraries_is_right_in_each_order(name: str, order: str) -> None:
    done = run(name, "--order", order)
    assert (done.returncode, done.stdout) == (0, "right\n"), done.stderr
