"""What students read of wrong solutions, kept in messages.txt: on the toy lab; test_grade.py holds the real ones."""

from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from samples import GRADED, REJECTED
from stand_ins import Script, case, end, run, speed, start

from warpgrade.dev import first_messages, prove
from warpgrade.dev.first_messages import Messages
from warpgrade.grading.result import DeviceInfo
from warpgrade.lab import wrong
from warpgrade.lab.labs import Lab
from warpgrade.machine.paths import Layout

Capture = pytest.CaptureFixture[str]
Install = Callable[[Script], Path]

SECTION = """\
## no_guard: no guard
    Fix this first: adds
      a[3] is 1
      hint: Which element is this thread's?
"""


def lost(adds: str) -> Script:
    return [[start(), case("adds", "fail", adds), case("adds odd sizes", "fail", "secret"), speed(9.0), end()]]


def test_it_is_what_stands_below_the_table_of_check() -> None:
    text = first_messages.text(GRADED)
    assert text.startswith("Fix this first: ")
    assert not any(test.name in text for test in GRADED.tests if test.hidden)
    assert "Total" not in text
    assert first_messages.text(REJECTED).startswith(REJECTED.problem.message if REJECTED.problem else "?")


def test_where_only_hidden_tests_are_lost_it_is_what_students_see_of_them() -> None:
    tests = [
        msgspec.structs.replace(test, status="fail", points=0, hint="Think.", message="a[3] is 1")
        if test.hidden
        else msgspec.structs.replace(test, status="pass", points=test.max_points, diagnostics=[])
        for test in GRADED.tests
    ]
    text = first_messages.text(msgspec.structs.replace(GRADED, tests=tests))
    name = next(test.name for test in tests if test.hidden)
    assert text.startswith(f"(all public tests pass; of the hidden tests:)\n\n{name}  hidden\nhint: Think.")
    assert "a[3]" not in text


def test_one_wrong_element_stands_for_all_and_options_are_not_counted() -> None:
    rows = ["c: 3 are wrong", "  [0] expected 1, got 2", "  [1] expected 3, got 4", "  …", "  in add(n = 3)"]
    rest = ["", "5 more pieces of advice on speed: --advice shows them", "", "error: race", "", "advice: uncoalesced"]
    assert first_messages.shorten([*rows, *rest, "1 piece of advice on speed: --advice shows it"]) == (
        "c: 3 are wrong\n  [0] expected 1, got 2\n  in add(n = 3)\n\nerror: race\n\nadvice: uncoalesced"
    )


@pytest.mark.usefixtures("submission", "reference")
def test_a_proof_fails_where_file_and_report_differ(layout: Layout, lab: Lab, script: Install) -> None:
    script(lost("a[3] is 1"))
    assert prove.wrong_solution(layout, lab, "no_guard") == ""  # there is no such file
    first_messages.path(lab).write_text(f"A head of its own.\n\n{SECTION}", encoding="utf-8")
    assert prove.wrong_solution(layout, lab, "no_guard") == ""
    script(lost("a[3] is 2"))
    first, *difference = prove.wrong_solution(layout, lab, "no_guard").splitlines()
    assert first == (
        "expected what students read to be in wrong/messages.txt, which says otherwise: "
        "run ./warpgrade prove toy --only no_guard --write-messages, and read it"
    )
    assert difference == ["@@ -3 +3 @@", "-      a[3] is 1", "+      a[3] is 2"]
    first_messages.path(lab).write_text("A head of its own.\n", encoding="utf-8")
    assert "has no section on it" in prove.wrong_solution(layout, lab, "no_guard")


@pytest.mark.usefixtures("submission", "reference")
def test_inputs_are_the_same_each_time(layout: Layout, lab: Lab, script: Install) -> None:
    program = script(lost("a[3] is 1"))
    prove.wrong_solution(layout, lab, "no_guard")
    assert f'"--seed", "{first_messages.SEED}"' in (program.parent / "calls.jsonl").read_text(encoding="utf-8")


@pytest.mark.usefixtures("reference")
def test_a_section_of_no_wrong_solution_is_stale(lab: Lab) -> None:
    assert Messages(lab).stale() == ""
    first_messages.path(lab).write_text(SECTION + "\n## gone: nobody knows\n\n    Fix\n", encoding="utf-8")
    assert "there is no gone: run ./warpgrade prove toy --write-messages" in Messages(lab).stale()


@pytest.mark.usefixtures("reference")
def test_a_real_device_has_its_own_words(lab: Lab) -> None:
    first_messages.path(lab).write_text("A head of its own.\n", encoding="utf-8")
    device = DeviceInfo(requested="gpu", kind="gpu")
    result = msgspec.structs.replace(GRADED, device=device)
    assert Messages(lab).what_differs(wrong.find(lab, "no_guard"), result) == ""


@pytest.mark.usefixtures("submission", "reference")
def test_the_command_writes_and_compares(in_project: Layout, lab: Lab, script: Install, capsys: Capture) -> None:
    script(lost("a[3] is 1"))
    kept = first_messages.path(lab)
    kept.write_text("A head of its own.\n\n## gone: nobody knows\n\n    Fix\n", encoding="utf-8")
    assert "FAILED messages: " in run(capsys, "prove", "toy", "--only", "messages")[1]
    status, out, _ = run(capsys, "prove", "toy", "--only", "no_guard", "--write-messages")
    assert (status, out.splitlines()[0]) == (0, "labs/toy/wrong/messages.txt written: read what changed in it")
    assert kept.read_text(encoding="utf-8") == f"A head of its own.\n\n{SECTION}"
    script(lost("a[3] is 2"))
    assert run(capsys, "prove", "toy", "--only", "no_guard")[0] == 1
    assert kept.read_text(encoding="utf-8") == f"A head of its own.\n\n{SECTION}"
    kept.unlink()
    assert run(capsys, "prove", "toy", "--only", "no_guard", "--write-messages")[0] == 0
    assert kept.read_text(encoding="utf-8").startswith("What a student reads first of each wrong solution of lab toy.")
    assert "a[3] is 2" in kept.read_text(encoding="utf-8")


def test_host_addresses_are_left_out_since_they_are_others_each_time() -> None:
    message = "reads 4 bytes at 0x413ffaf08000, which is host memory; got 0x1f"
    tests = [msgspec.structs.replace(GRADED.tests[0], status="fail", points=0, message=message, hint="")]
    shown = first_messages.text(msgspec.structs.replace(GRADED, tests=tests))
    assert "reads 4 bytes at 0x…, which is host memory; got 0x1f" in shown
