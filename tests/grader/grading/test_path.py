"""From a submission to its result, with a judge that says what a test says: what it is told, and what comes of it."""

import dataclasses
import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest
from samples import RACE
from stand_ins import Script, begin, case, end, speed, start

from warpgrade.compiling import build
from warpgrade.compiling.failure import BuildFailure
from warpgrade.grading import baseline, grade, judge
from warpgrade.grading.recall import Identity, Recall
from warpgrade.grading.result import Result
from warpgrade.intake import intake
from warpgrade.lab import labs
from warpgrade.lab.labs import Lab
from warpgrade.machine.device import Device
from warpgrade.machine.errors import BadInput, GraderError
from warpgrade.machine.paths import Layout

Install = Callable[[Script], Path]
GOOD = [start(), begin("adds"), case("adds"), case("adds odd sizes"), speed(3.0), end()]
BOTH = 'files = ["toy.cu", "tile.cuh"]'


def graded(layout: Layout, lab: Lab, folder: Path, **more: Any) -> Result:
    others = {key: more.pop(key) for key in ("say", "on_first", "recall") if key in more}
    return grade.grade(layout, lab, intake.read(lab, folder), grade.Options(**more), **others)


def calls(layout: Layout) -> list[list[str]]:
    file = layout.program("judge-toy").parent / "calls.jsonl"
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def with_files(layout: Layout, files: str = BOTH) -> Lab:
    path = layout.labs / "toy" / "lab.toml"
    path.write_text(path.read_text().replace('files = ["toy.cu", "*.cuh"]', files), encoding="utf-8")
    return labs.find(layout, "toy")


def test_the_judge_is_told_all_limits_and_where_everything_is(
    layout: Layout, lab: Lab, submission: Path, script: Install
) -> None:
    program = script([GOOD])
    data = lab.folder / "data"
    data.mkdir()
    limits = msgspec.structs.replace(lab.file.limits, seconds=2.5, memory_mib=77, instructions=1234)
    lab = dataclasses.replace(lab, file=msgspec.structs.replace(lab.file, limits=limits))
    graded(layout, lab, submission, threads=3, seed=9, checks="race,init")
    worker = str(layout.root / "worker")
    (said,) = calls(layout)
    kept = said.index("--baseline-cache")
    assert said[:20] == [
        "--worker", worker, "--baseline", worker, "--device-server", str(layout.device_server),
        "--sandbox", str(layout.program("warpgrade-sandbox")), "--device", "vgpu:h100", "--threads", "3",
        "--seconds", "2.5", "--memory-mib", "77", "--instructions", "1234", "--checks", "race,init",
    ]  # fmt: skip
    assert kept == 20
    assert Path(said[kept + 1]).parent == layout.cache / "baselines"
    assert said[22:26] == ["--data", str(data), "--parameters", "toy=a,n"]
    verdict = said.index("--verdict")
    assert said[verdict + 2 :] == ["--only", "all", "--seed", "9", "--parent", str(os.getpid())]
    (program.parent / "calls.jsonl").unlink()
    graded(layout, lab, submission, confined=False, public_only=True)
    (said,) = calls(layout)
    assert "--no-sandbox" in said
    assert said[said.index("--threads") + 1] == str(len(os.sched_getaffinity(0)))
    assert said[said.index("--only") + 1] == "public"
    assert "--test" not in said
    assert "--seed" not in said
    assert "--baseline-cache" not in said


def test_what_runs_is_said_test_by_test(layout: Layout, lab: Lab, submission: Path, script: Install) -> None:
    script([[start(), begin("adds"), case("adds"), begin("adds odd sizes"), case("adds odd sizes"), begin("speed"),
             case("speed", "error", "no memory"), end()],
            [start(), begin("speed"), speed(2.0), end()]])  # fmt: skip
    words: list[str] = []
    found = graded(layout, lab, submission, say=words.append)
    assert words[-5:] == ["compiling toy.cu", "test 1 of 3: adds", "test 2 of 3: adds odd sizes", "test 3 of 3: speed",
                          "running again: speed"]  # fmt: skip
    assert (found.status, found.score.points) == ("graded", 35)


def test_tests_that_are_wanted_first_run_first_and_their_verdicts_are_handed_over(
    layout: Layout, lab: Lab, submission: Path, script: Install
) -> None:
    script([[start(31), speed(3.0), end(1)], [start(31), case("adds"), case("adds odd sizes", "fail"), end(2)]])
    early: list[Mapping[str, judge.Case]] = []
    found = graded(layout, lab, submission, first=("speed", "unknown"), on_first=early.append)
    assert [list(cases) for cases in early] == [["speed"]]
    chosen = [[call[i + 1] for i, word in enumerate(call) if word == "--test"] for call in calls(layout)]
    assert chosen == [["speed"], ["adds", "adds odd sizes"]]
    seeds = [call[call.index("--seed") + 1] if "--seed" in call else None for call in calls(layout)]
    assert seeds == [None, "31"]
    assert [(test.name, test.points) for test in found.tests] == [("adds", 10), ("adds odd sizes", 0), ("speed", 10)]
    assert found.seed == 31


@pytest.mark.parametrize("first", [(), ("adds", "adds odd sizes", "speed"), ("unknown",)])
def test_where_there_is_nothing_to_run_first_the_judge_is_called_once(
    layout: Layout, lab: Lab, submission: Path, script: Install, first: tuple[str, ...]
) -> None:
    script([GOOD])
    early: list[Mapping[str, judge.Case]] = []
    graded(layout, lab, submission, first=first, on_first=early.append)
    assert early == []
    assert len(calls(layout)) == 1


def test_only_the_tests_that_are_asked_for_run_and_count(
    layout: Layout, lab: Lab, submission: Path, script: Install
) -> None:
    script([[start(), speed(3.0), end(1)]])
    found = graded(layout, lab, submission, only=("speed",))
    (said,) = calls(layout)
    assert [said[i + 1] for i, word in enumerate(said) if word == "--test"] == ["speed"]
    assert [test.name for test in found.tests] == ["speed"]
    assert (found.scope, found.score.max_points) == ("chosen", 10)
    assert graded(layout, lab, submission, only=("speed",), public_only=True).scope == "chosen"


def test_what_is_known_does_not_run_again(layout: Layout, lab: Lab, submission: Path, script: Install) -> None:
    def memory(**tests: str) -> Recall:
        return Recall(layout.root / "known", Identity("v", tests, "r", 7))

    same = {"adds": "1", "adds odd sizes": "2", "speed": "3"}
    script([GOOD, [start(), case("adds", "fail", "no"), end(1)]])
    first = graded(layout, lab, submission, seed=7, recall=memory(**same))
    again = graded(layout, lab, submission, seed=7, recall=memory(**same))
    assert len(calls(layout)) == 1
    assert (again.tests, again.score, again.seed) == (first.tests, first.score, 7)
    assert again.device == first.device
    changed = graded(layout, lab, submission, seed=7, recall=memory(**{**same, "adds": "4"}))
    said = calls(layout)[1]
    assert [said[i + 1] for i, word in enumerate(said) if word == "--test"] == ["adds"]
    assert [test.status for test in changed.tests] == ["fail", "pass", "pass"]


def test_a_result_says_what_was_graded_how_and_with_what(
    layout: Layout, lab: Lab, submission: Path, script: Install
) -> None:
    script([[start(5), case("adds", review=["odd"]), case("adds odd sizes", review=["odd", "even"]),
             {"type": "used", "processor_seconds": 1.25}, speed(3.0), end()]])  # fmt: skip
    (submission / "other.cpp").write_text("int x;\n", encoding="utf-8")
    found = graded(layout, lab, submission, device="vgpu")
    assert found.status == "graded"
    assert (found.score.points, found.score.percent) == (40, 100)
    assert found.review == ["adds: odd", "adds odd sizes: odd", "adds odd sizes: even"]
    assert found.submission.ignored == ["other.cpp"]
    (file,) = found.submission.files
    assert (file.name, file.bytes) == ("toy.cu", (submission / "toy.cu").stat().st_size)
    assert len(file.sha256) == 64
    assert (found.device.requested, found.device.kind) == ("vgpu", "vgpu")
    assert found.device.properties == {"name": "toy GPU"}
    assert found.toolchain is not None
    assert (found.toolchain.nvcc, found.toolchain.architecture) == ("13.0.88", "sm_90")
    assert (found.seed, found.sandboxed, found.sandbox, found.scope) == (5, True, "namespaces", "all")
    assert found.used is not None
    assert found.used.tests == 1.25
    assert 0 <= found.used.analysis < 60
    assert found.used.exceeded == ""
    assert found.notes == []


def test_a_test_that_is_an_error_makes_the_result_one(
    layout: Layout, lab: Lab, submission: Path, script: Install
) -> None:
    script([[start(), case("adds"), case("adds odd sizes", "error", "no device"), speed(3.0), end()]])
    found = graded(layout, lab, submission)
    assert (found.status, found.score.error_points) == ("error", 20)


def test_what_the_device_lacks_is_not_tried_again(layout: Layout, lab: Lab, submission: Path, script: Install) -> None:
    lacking = case("adds", "error", "not supported", unsupported=True)
    script([[start(), lacking, case("adds odd sizes"), speed(3.0), end()]])
    plan = judge.Plan([str(layout.program("judge-toy"))], ["adds", "adds odd sizes", "speed"], False, 5.0)
    assert judge.judge(plan).cases["adds"].status == "error"
    assert len(calls(layout)) == 1


def test_files_that_were_not_handed_in_are_the_starters(
    layout: Layout, submission: Path, script: Install, monkeypatch: pytest.MonkeyPatch
) -> None:
    built: list[dict[str, bytes]] = []

    def note(self: build.Builder, files: dict[str, bytes]) -> Path:
        built.append(dict(files))
        return layout.root / "worker"

    monkeypatch.setattr(build.Builder, "build", note)
    (layout.starters / "toy" / "tile.cuh").write_bytes(b"// the starter's\n")
    lab = with_files(layout)
    script([GOOD])
    found = graded(layout, lab, submission)
    assert found.submission.notes == ["tile.cuh was not handed in: the starter's is graded in its place"]
    mine = {"toy.cu": (submission / "toy.cu").read_bytes(), "tile.cuh": b"// the starter's\n"}
    assert mine in built
    (submission / "tile.cuh").write_bytes(b"// mine\n")
    built.clear()
    found = graded(layout, lab, submission)
    assert found.submission.notes == []
    assert {**mine, "tile.cuh": b"// mine\n"} in built


@pytest.mark.parametrize("unsupported", [False, True])
def test_what_does_not_compile_has_no_points_and_its_reason(
    layout: Layout, lab: Lab, submission: Path, script: Install, monkeypatch: pytest.MonkeyPatch, *, unsupported: bool
) -> None:
    script([GOOD])
    (submission / "toy.cu").write_text("mine\n", encoding="utf-8")

    def fail(self: build.Builder, files: dict[str, bytes]) -> Path:
        if files["toy.cu"] == b"mine\n":
            raise BuildFailure("compile", "it does not compile", review=["odd", "odd"], unsupported=unsupported)
        return layout.root / "worker"

    monkeypatch.setattr(build.Builder, "build", fail)
    found = graded(layout, lab, submission, seed=3)
    assert found.status == ("error" if unsupported else "rejected")
    assert {(test.status, test.points, test.message) for test in found.tests} == {
        ("error" if unsupported else "fail", 0, "it does not compile")
    }
    assert [(test.kind, test.max_points, test.hidden) for test in found.tests] == [
        ("test", 10, False), ("test", 20, True), ("speed", 10, False),
    ]  # fmt: skip
    assert found.problem is not None
    assert found.problem.stage == "compile"
    assert (found.review, found.seed, found.seconds.judge) == (["odd"], 3, 0)
    assert found.score.error_points == (40 if unsupported else 0)
    assert found.device.properties["multi_processor_count"] == 4
    assert calls(layout) == []


def test_a_starter_that_does_not_build_is_the_graders_error(
    layout: Layout, lab: Lab, submission: Path, script: Install, monkeypatch: pytest.MonkeyPatch
) -> None:
    script([GOOD])
    (submission / "toy.cu").write_text("mine\n", encoding="utf-8")

    def fail(self: build.Builder, files: dict[str, bytes]) -> Path:
        if files["toy.cu"] != b"mine\n":
            raise BuildFailure("compile", "no", detail="in line 3")
        return layout.root / "worker"

    monkeypatch.setattr(build.Builder, "build", fail)
    with pytest.raises(GraderError, match="the starter of lab toy does not build: no") as caught:
        graded(layout, lab, submission)
    assert caught.value.detail == "in line 3"


def test_a_lab_without_a_starter_is_the_authors_mistake(layout: Layout, lab: Lab) -> None:
    assert grade.starter_files(lab) == {"toy.cu": b"void toy(float*, int) {}\n"}
    (layout.starters / "toy" / "toy.cu").rename(layout.starters / "toy" / "toi.cu")
    with pytest.raises(GraderError, match=r"starter/toy has no toy\.cu"):
        grade.starter_files(lab)


def test_what_cannot_be_read_is_rejected_with_all_its_tests(lab: Lab) -> None:
    found = grade.rejected_result(
        lab, "ada", BadInput("it is empty", hint="hand something in", review="empty"), grade.Options(seed=4)
    )
    assert (found.status, found.seed, found.score.points, found.score.max_points) == ("rejected", 4, 0, 40)
    assert {(test.status, test.message) for test in found.tests} == {("fail", "it is empty")}
    assert found.problem is not None
    assert (found.problem.stage, found.problem.hint) == ("intake", "hand something in")
    assert (found.review, found.device.kind, found.sandboxed) == (["empty"], "vgpu", True)
    plain = grade.rejected_result(
        lab, "ada", BadInput("no"), grade.Options(device="gpu:0", public_only=True, confined=False)
    )
    assert (plain.device.kind, plain.scope, plain.review, plain.sandboxed) == ("gpu", "public", [], False)
    assert [test.name for test in plain.tests] == ["adds", "speed"]


def test_a_judge_is_given_its_tests_time_and_some(tmp_path: Path) -> None:
    plan = judge.Plan([], ["a", "b", "c"], public_only=False, seconds_each=5)
    assert (plan.patience, plan.seconds) == (90, 105)


def test_limits_data_and_programs_begin_another_file_of_baselines(lab: Lab, layout: Layout) -> None:
    virtual = Device("vgpu", "vgpu:h100", "vgpu", {})
    program = layout.device_server

    def name(known: Lab = lab, server: Layout = layout, **limits: int) -> Path | None:
        changed = msgspec.structs.replace(known.file.limits, **limits)
        one = dataclasses.replace(known, file=msgspec.structs.replace(known.file, limits=changed))
        return baseline.cache_file(server, one, virtual, program, Path("starter/worker"), 1, "all")

    names = [name(), name(memory_mib=5), name(instructions=5)]
    lab.data.mkdir()
    (lab.data / "a.bin").write_bytes(b"1")
    names.append(name())
    (lab.data / "a.bin").write_bytes(b"2")
    names.append(name())
    layout.device_server.write_bytes(b"another server")
    names.append(name())
    assert len(set(names)) == len(names)
    assert name() == name()


def test_a_hint_and_signs_are_those_of_what_failed(layout: Layout, lab: Lab, submission: Path, script: Install) -> None:
    race = json.loads(msgspec.json.encode(RACE))
    wrong = case("adds", "fail", "no", signs=["wrong", "tail", "nonsense"], diagnostics=[race])
    script([[start(), wrong, case("adds odd sizes", "fail", "no", diagnostics=[race]), speed(1.0), end()]])
    first, second, third = graded(layout, lab, submission).tests
    assert first.signs == ["wrong", "tail"]
    assert first.hint.startswith("Fix the race")
    assert second.hint == "Guard the last block."  # of a hidden test, whatever was found
    assert third.hint == "Neighbouring threads, neighbouring elements."
