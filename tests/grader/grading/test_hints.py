"""A hint knows the failure: the one that a test shows is the lab's for it, or none where it would lead astray."""

import re
import shutil
from pathlib import Path

import msgspec
import pytest
from samples import LEAK, RACE

from warpgrade.compiling.warnings import CompilerWarning
from warpgrade.grading import hints, score
from warpgrade.grading.judge import Case
from warpgrade.lab import labs
from warpgrade.lab.failure_tags import COUNTERS, FAILURE_TAGS, HOST_POINTER, UNINITIALIZED
from warpgrade.lab.labs import Lab
from warpgrade.machine.errors import GraderError
from warpgrade.machine.paths import find_layout

SOME = labs.find(find_layout(), "vecadd")
LAB = "Which index must threadIdx.x choose?"


def chosen(*signs: str, **more: object) -> str:
    return hints.choose(LAB, {"tail": "the last block", "crash": "the host", "counters": "neighbours"}, signs, **more)  # type: ignore[arg-type]


def test_the_labs_hint_for_what_failed_comes_before_its_general_one() -> None:
    assert chosen("wrong", "tail") == "the last block"
    assert chosen("wrong", "zeros", "tail") == "the last block"
    assert chosen("wrong") == LAB
    assert chosen() == "neighbours"  # right results, wrong counters
    assert hints.choose(LAB, {}, []) == LAB


@pytest.mark.parametrize("sign", ["time-out", "device-fault", "cuda-error", "unwritten", "unset", "origin", "order"])
def test_no_hint_on_the_kernel_where_the_call_did_not_end_well(sign: str) -> None:
    assert chosen("wrong", sign) == ""
    assert chosen("crash") == "the host"


@pytest.mark.parametrize("rule", ["memcheck/host-pointer", "launch/runaway", "launch/configuration"])
def test_a_fault_that_explains_itself_has_no_hint_on_indices(rule: str) -> None:
    own = {"device-fault": "the last block"}
    fault = msgspec.structs.replace(RACE, rule=rule)
    assert hints.choose(LAB, own, ["device-fault"], diagnostics=[fault]) == ""
    named = {**own, "host-pointer": "the array's name"}
    assert hints.choose(LAB, named, ["device-fault"], diagnostics=[fault]) == (
        "the array's name" if rule == "memcheck/host-pointer" else ""
    )
    beyond = msgspec.structs.replace(RACE, rule="memcheck/out-of-bounds")
    assert hints.choose(LAB, own, ["device-fault"], diagnostics=[beyond]) == "the last block"


def test_a_race_and_wrong_results_come_before_counters() -> None:
    assert chosen("wrong", tags=["[counter]"]).endswith("Get the results right first.")
    assert chosen(tags=["[counter]"]) == "neighbours"
    assert "race" in chosen("wrong", diagnostics=[RACE])
    assert "race" in chosen("order", diagnostics=[RACE])
    assert chosen(diagnostics=[RACE], tags=["[counter]"]).startswith("Fix the race")


def test_a_race_says_why_nothing_was_written_in_time() -> None:
    assert hints.choose(LAB, {"unwritten": "the grid"}, ["wrong", "unwritten"]) == "the grid"
    assert "race" in hints.choose(LAB, {"unwritten": "the grid"}, ["wrong", "unwritten"], diagnostics=[RACE])


def test_uninitialized_memory_has_a_hint_of_its_own_where_results_are_wrong() -> None:
    found = [msgspec.structs.replace(RACE, rule="initcheck/shared")]
    own = {"uninitialized": "the halo", "all": "the mask"}
    assert hints.choose(LAB, own, ["wrong", "all"], diagnostics=found) == "the halo"
    assert "uninitialized memory" in hints.choose(LAB, {}, ["wrong", "all"], diagnostics=found)
    assert hints.choose(LAB, {"all": "the mask"}, ["wrong", "all"], diagnostics=found) == "the mask"
    absent = [msgspec.structs.replace(RACE, rule="initcheck/absent-lane")]
    assert hints.choose(LAB, {}, ["wrong", "all"], diagnostics=absent) == LAB
    assert hints.choose(LAB, own, [], diagnostics=found) == LAB
    assert hints.choose(LAB, {**own, "unwritten": "?"}, ["wrong", "unwritten", "all"], diagnostics=found) == "the halo"


def test_a_mistake_that_the_compiler_warns_of_is_first_to_fix(tmp_path: Path) -> None:
    assert "at sum.cu:3 first" in chosen("wrong", "zeros", "tail", warned="sum.cu:3")
    assert "at sum.cu:3 first" in chosen("wrong", "unwritten", warned="sum.cu:3")
    assert "at sum.cu:3 first" in chosen("wrong", "unset", warned="sum.cu:3")
    assert chosen("crash", warned="sum.cu:3") == "the host"
    assert "at sum.cu:3 first" in chosen(warned="sum.cu:3")
    assert "race" in chosen("wrong", diagnostics=[RACE], warned="sum.cu:3")

    def told(name: str, text: str) -> str:
        (test,) = score.score_tests(
            Lab(name, tmp_path, msgspec.structs.replace(SOME.file, test=[labs.TestItem(name, points=1)], speed=[])),
            {name: Case(name=name, status="fail", signs=["wrong"])}, "vgpu",
            warnings=[CompilerWarning("a.cu", 7, text)],
        )  # fmt: skip
        return test.hint

    unset = 'variable "sum" is used before its value is set'
    assert "at a.cu:7 first" in told("adds", unset)
    assert "at a.cu:7 first" in told("adds", 'a __device__ variable "n" cannot be directly read in a host function')
    assert told("adds", 'variable "n" was declared but never referenced') == ""
    assert told("prelab: sums", unset) == ""


def test_values_that_are_nearly_right_say_what_to_keep() -> None:
    own = {"all": "the mask"}
    assert hints.choose(LAB, own, ["wrong", "precision", "all"]).startswith("Only precision is missing.")
    assert hints.choose(LAB, {**own, "precision": "bits"}, ["wrong", "precision", "all"]) == "bits"
    assert "race" in hints.choose(LAB, {}, ["wrong", "precision"], diagnostics=[RACE])


def test_where_nothing_was_written_tells_more_than_that() -> None:
    own = {"tail": "round up", "unwritten": "the copy back"}
    assert hints.choose(LAB, own, ["wrong", "unwritten", "tail"]) == "round up"
    assert hints.choose(LAB, own, ["wrong", "unwritten"]) == "the copy back"
    assert hints.choose(LAB, {"tail": "round up"}, ["wrong", "crash", "tail"]) == ""


def test_where_the_checks_found_a_mistake_counters_are_not_what_failed() -> None:
    assert chosen(diagnostics=[msgspec.structs.replace(RACE, rule="initcheck/shared")]) == LAB
    assert chosen(diagnostics=[LEAK]) == "neighbours"


def test_the_judges_signs_are_the_ones_that_are_known() -> None:
    header = (find_layout().root / "grader" / "judge" / "signs.hpp").read_text(encoding="utf-8")
    named = set(re.findall(r'= "([a-z-]+)"', header))
    assert named == FAILURE_TAGS - {COUNTERS, HOST_POINTER, UNINITIALIZED}


def test_a_lab_can_only_name_what_can_be_known(tmp_path: Path) -> None:
    folder = shutil.copytree(find_layout().labs / "matmul", tmp_path / "matmul")
    text = (folder / "lab.toml").read_text(encoding="utf-8")
    spoiled = text.replace("[[test]]\n", '[[test]]\nhints = { tails = "?" }\n', 1)
    (folder / "lab.toml").write_text(spoiled, encoding="utf-8")
    with pytest.raises(GraderError, match="hints: “tails” is no sign of a failure; there are all, constant, "):
        labs.load(folder)


@pytest.mark.parametrize(
    ("lab", "test", "signs", "words"),
    [
        ("vecadd", "vecadd_copies adds", ["wrong", "unwritten", "tail"], "blocks before"),
        ("vecadd", "vecadd_mapped adds in the host's memory, without copies", ["wrong", "all"], "pointer of its own"),
        ("vecadd", "vecadd_streams does each piece in a stream of its own", ["wrong", "tail"], "piece's first element"),
        ("matmul", "matmul_one_block multiplies", ["wrong", "zeros", "all"], "Is the sum a float"),
        ("matmul", "matmul_tiled multiplies square matrices", ["wrong", "unwritten", "tail"], "dim3 grid(x, y)"),
        ("matmul", "matmul_tiled multiplies square matrices", ["wrong", "all"], "once, before the loop"),
        (
            "transpose",
            "transpose_shared transposes whole tiles",
            ["wrong", "unwritten", "tail"],
            "condition of its own",
        ),
        ("scan", "scan adds up the whole array", ["time-out"], "has to end"),
        ("histogram", "histogram_match counts", ["wrong", "zeros", "all"], "counts bits from 1"),
        ("histogram", "histogram_shared adds once for each bin of a block", ["wrong", "all"], "b * BLOCK_VALUES"),
        ("histogram", "contention measures the queues of warps", ["device-fault"], "one queue for each warp"),
    ],
)
def test_what_beginners_do_wrong_has_a_hint(lab: str, test: str, signs: list[str], words: str) -> None:
    item = next(item for item in labs.find(find_layout(), lab).items if item.name == test)
    assert isinstance(item, labs.TestItem)
    assert words in hints.choose(item.hint, item.hints, signs, tags=["[counter]"])


@pytest.mark.parametrize("rule", ["memcheck/out-of-bounds", "synccheck/lane-mask", "memcheck/copy-direction"])
def test_where_results_are_wrong_what_the_checks_found_comes_before_the_labs_hint(rule: str) -> None:
    found = [msgspec.structs.replace(RACE, rule=rule)]
    assert chosen("wrong", "tail", diagnostics=found) == "Fix what the checks found first: it may well be the cause."
    assert chosen("wrong", "tail") == "the last block"
    assert chosen("wrong", diagnostics=[msgspec.structs.replace(found[0], severity="warning")]) == LAB


def test_a_message_that_says_why_values_are_multiples_or_cut_off_needs_no_hint() -> None:
    for sign in ("repeated", "truncated"):
        assert chosen("wrong", sign, "all") == ""
        assert hints.choose(LAB, {sign: "the type"}, ["wrong", sign, "all"]) == "the type"
