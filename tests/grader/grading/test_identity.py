"""What verdicts and results are found by: what makes a difference makes another name, and nothing else does."""

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from stand_ins import Script, end, start

from warpgrade.compiling.toolchain import Compilers
from warpgrade.grading import grade, identity
from warpgrade.grading.recall import Identity
from warpgrade.lab.labs import Lab
from warpgrade.machine.paths import Layout

COMPILERS = Compilers(Path("/usr/bin/nvcc"), "13.0.88", Path("/usr/bin/g++"), "g++ 12.2.0")


@pytest.fixture
def find(
    layout: Layout, lab: Lab, script: Callable[[Script], Path], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Identity]:
    script([[start(), end()]])
    (lab.folder / "tests").mkdir()

    def find(compilers: Compilers = COMPILERS, known: Lab = lab, **more: Any) -> Identity:
        monkeypatch.setattr("warpgrade.compiling.toolchain.find", lambda layout: compilers)
        options = grade.Options(**{"seed": 1, **more})
        return identity.find(layout, known, options, None)

    return find


def with_limits(lab: Lab, **limits: float) -> Lab:
    return dataclasses.replace(
        lab, file=msgspec.structs.replace(lab.file, limits=msgspec.structs.replace(lab.file.limits, **limits))
    )


def test_verdicts_depend_on_all_that_runs_and_is_checked(
    find: Callable[..., Identity], layout: Layout, lab: Lab
) -> None:
    names = [find().verdicts]
    assert find().verdicts == names[0]
    assert find(seed=2).verdicts == names[0]  # verdicts_key() has it
    assert find(compilers=dataclasses.replace(COMPILERS, nvcc=Path("/opt/nvcc"))).verdicts == names[0]
    assert find(threads=3, only=("adds",), public_only=True).verdicts == names[0]
    names += [
        find(checks="race").verdicts,
        find(compilers=dataclasses.replace(COMPILERS, nvcc_version="13.1")).verdicts,
        find(compilers=dataclasses.replace(COMPILERS, host_version="g++ 13")).verdicts,
        find(known=with_limits(lab, seconds=6)).verdicts,
        find(known=with_limits(lab, instructions=6)).verdicts,
    ]
    (layout.starters / "toy" / "toy.cu").write_text("void toy(float*, int) { }\n", encoding="utf-8")
    names.append(find().verdicts)
    (lab.folder / "toy.h").write_text("void toy(float* b, int n);\n", encoding="utf-8")
    names.append(find().verdicts)
    with layout.device_server.open("a", encoding="utf-8") as program:
        program.write("# changed\n")
    names.append(find().verdicts)
    library = layout.library("wg_judge")
    library.parent.mkdir(parents=True, exist_ok=True)
    library.write_bytes(b"a library")
    names.append(find().verdicts)
    library.write_bytes(b"another library")
    names.append(find().verdicts)
    assert len(set(names)) == len(names)


def test_results_depend_on_points_scope_and_what_was_chosen(find: Callable[..., Identity], lab: Lab) -> None:
    titled = dataclasses.replace(
        lab, file=msgspec.structs.replace(lab.file, lab=msgspec.structs.replace(lab.file.lab, title="Other"))
    )
    names = [find(), find(public_only=True), find(only=("adds",)), find(only=("speed",)), find(known=titled)]
    assert len({one.results for one in names}) == len(names)
    assert find().results == find(seed=2, checks="race").results
    assert find(known=titled).verdicts == find().verdicts


def test_without_a_seed_nothing_is_found_again(find: Callable[..., Identity]) -> None:
    with pytest.raises(ValueError, match="have none"):
        find(seed=None)


def test_names_hold_files_tests_and_the_seed() -> None:
    one = Identity("v", {"adds": "1", "speed": "2"}, "r", 7)
    files = {"toy.cu": b"x"}
    others = [
        dataclasses.replace(one, verdicts="w"), dataclasses.replace(one, seed=8),
        dataclasses.replace(one, results="s"), dataclasses.replace(one, tests={"adds": "1", "speed": "3"}),
    ]  # fmt: skip
    assert len({each.result_key(files) for each in [one, *others]}) == 5
    assert len({each.verdicts_key(files) for each in [one, *others]}) == 3  # tests and points are not the verdicts'
    assert one.result_key(files) != one.verdicts_key(files)
    assert one.result_key(files) != one.result_key({"toy.cu": b"y"})
    assert one.verdicts_key(files) != one.verdicts_key({"toy.cuh": b"x"})
    turned = dataclasses.replace(one, tests={"speed": "2", "adds": "1"})
    assert turned.result_key(files) == one.result_key(files)
