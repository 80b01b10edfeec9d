"""Right programs give the same results in other orders of blocks, warps and lanes."""

import corpus
import pytest

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
