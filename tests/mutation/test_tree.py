"""A copy to plant faults in: its tests run behind a wall, and decide what is noticed."""

import sys
from pathlib import Path

import plant_python
import pytest
import tree
from fault import Fault
from tree import Part, Tree

SOURCE = """
def is_even(number):
    number = abs(number)
    while number > 1:
        number -= 2
    return number == 0 or unused == 1

unused = 7
"""
TESTS = """
from code_under_test import is_even

def test_even():
    assert is_even(4)

def test_odd():
    assert not is_even(5)
"""
PART = Part("toy", "toy", pytest=("toy",))


@pytest.fixture
def copy(tmp_path: Path) -> Tree:
    try:
        tree.find_wall()
    except RuntimeError as why:
        pytest.skip(str(why))
    toy = tmp_path / "toy"
    toy.mkdir()
    (toy / "code_under_test.py").write_text(SOURCE)
    (toy / "test_toy.py").write_text(TESTS)
    return Tree(tmp_path)


def test_faults_are_noticed_or_survive_and_are_taken_out_again(copy: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    copy.prepare([PART], 1)
    monkeypatch.setattr(tree, "LEAST_SECONDS", 3600.0)
    source = copy.home / "toy" / "code_under_test.py"
    faults = {fault.change: fault for fault in plant_python.find_faults("toy/code_under_test.py", SOURCE.encode())}
    assert copy.judge(faults["`7` → `8`"], PART, 1).status == "survived"
    noticed = copy.judge(faults["`2` → `1`"], PART, 1)
    assert (noticed.status, noticed.by) == ("killed", "toy/test_toy.py::test_even")
    monkeypatch.setattr(tree, "LEAST_SECONDS", 0.0)
    monkeypatch.setattr(tree, "SLOWER", 2.0)
    endless = copy.judge(faults["`-=` → `+=`"], PART, 1)
    assert (endless.status, endless.by[:16]) == ("killed", "runs without end")
    assert source.read_text() == SOURCE


def test_a_fault_that_the_compiler_drops_changes_nothing(copy: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    """`build` copies a source without its comments: faults in a comment make the same program."""
    part = Part("toy", "toy", targets=("toy",), tests=("toy",), whole_targets=("toy",))
    source, program = copy.home / "toy" / "code.cpp", copy.home / "build" / "release" / "bin" / "toy"
    source.write_text("int a = 1;  // 1 of 2\n")
    program.parent.mkdir(parents=True)

    def build(*_: object) -> bool:
        program.write_text(source.read_text().partition("//")[0])
        return True

    monkeypatch.setattr(Tree, "build", build)
    monkeypatch.setattr(Tree, "test", lambda *_: (0, ""))
    build()
    copy.programs = copy._digest_programs()
    copy.seconds = {" ".join(command): 1.0 for command in [*part.commands(), *part.last_commands()]}
    text = source.read_text()

    def fault(offset: int) -> Fault:
        return Fault("toy/code.cpp", offset, 1, "constant", "1", "3", text.strip())

    assert copy.judge(fault(text.rindex("1")), part, 1).status == "equivalent"
    assert copy.judge(fault(text.index("1")), part, 1).status == "survived"


def test_a_second_copy_is_seen_in_the_place_of_the_first(copy: Tree, tmp_path: Path) -> None:
    (copy.home / "toy" / "built").write_text("for the first")
    second = copy.copy(tmp_path.with_name(f"{tmp_path.name}-second"))
    seen = ["sh", "-c", f"cat {copy.home}/toy/built && pwd && touch toy/made"]
    for run in second.test, second._call:
        (second.home / "toy" / "made").unlink(missing_ok=True)
        (second.home / "toy" / "built").write_text("for the second, ")
        assert run(seen, 3600) == (0, f"for the second, {copy.home}\n")
        assert (second.home / "toy" / "made").exists()
        assert not (copy.home / "toy" / "made").exists()
    assert (copy.home / "toy" / "built").read_text() == "for the first"


def test_tests_that_fail_without_a_fault_are_an_error(copy: Tree) -> None:
    (copy.home / "toy" / "test_toy.py").write_text("def test_never():\n    assert False\n")
    with pytest.raises(RuntimeError, match="fails without any fault"):
        copy.prepare([PART], 1)


def test_a_machine_without_pytest_has_noticed_nothing(copy: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    copy.prepare([PART], 1)
    [fault, *_] = plant_python.find_faults("toy/code_under_test.py", SOURCE.encode())
    monkeypatch.setattr(Tree, "test", lambda *_: (1, "python: No module named pytest\n"))
    with pytest.raises(RuntimeError, match="pytest could not run"):
        copy.judge(fault, PART, 1)


def test_a_fault_reaches_neither_processes_nor_files_of_others(copy: Tree, tmp_path: Path) -> None:
    beside = Path(__file__).parent / "written-by-a-fault"
    attack = f"touch inside; touch {beside}; touch /tmp/lost; kill -9 -1"
    status, _ = copy.test(["sh", "-c", attack], 3600)
    assert (tmp_path / "inside").exists()
    assert not beside.exists()
    assert not Path("/tmp/lost").exists()
    assert status is not None


def test_what_never_ends_is_stopped_with_its_children(copy: Tree) -> None:
    status, _ = copy.test([sys.executable, "-c", "import os, time\nos.fork()\ntime.sleep(1000)"], 2)
    assert status is None


def test_memory_is_bounded(copy: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tree, "MEMORY_BYTES", 1 << 28)
    status, output = copy.test([sys.executable, "-c", "bytearray(1 << 29)"], 3600)
    assert status == 1
    assert "MemoryError" in output


def test_a_copy_follows_the_checkout(tmp_path: Path) -> None:
    copy = Tree(tmp_path)
    copy.update()
    assert (tmp_path / "tests" / "mutation" / "tree.py").read_bytes() == Path(tree.__file__).read_bytes()
    changed, surplus = tmp_path / "README.md", tmp_path / "grader" / "surplus.cpp"
    built = tmp_path / "build" / "release" / "kept"
    changed.write_text("a fault")
    surplus.write_text("")
    built.parent.mkdir(parents=True)
    built.write_text("")
    copy.update()
    assert changed.read_bytes() == (tree.ROOT / "README.md").read_bytes()
    assert not surplus.exists()
    assert built.exists()
