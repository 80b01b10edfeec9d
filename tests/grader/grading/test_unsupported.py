"""What the device does not run is our lack where nvcc asks for it, and the submission's doing else."""

import pytest

from warpgrade.compiling.failure import BuildFailure
from warpgrade.grading import unsupported
from warpgrade.grading.judge import Case
from warpgrade.machine.confined import Allowance

ASKED = (
    "the device cannot run this program: a.cu:3: kernel 'k': 'mma.sp.sync.m16n8k16' is not supported by the virtual GPU"
)
PLAIN = """
.visible .entry k()
{
	@!%p1 mma.sp.sync.m16n8k16 	{%r1}, {%r2};
	mma.sp.sync.m16n8k16.other 	%r1;
	ret;
}
"""
INLINE = PLAIN + "\n\t// begin inline asm\n\tmov.u32 %r1, 1;\n\t// end inline asm\n"


def test_code_that_cannot_be_written_out_is_the_submissions_doing() -> None:
    def too_much() -> bytes:
        raise BuildFailure("compile", "too large")

    case = unsupported.settle_unsupported({"adds": lacking()}, too_much, Allowance())["adds"]
    assert case.status == "fail"
    assert case.review


def lacking(message: str = ASKED, name: str = "adds", **more: object) -> Case:
    return Case(name=name, status="error", unsupported=True, message=message, **more)  # type: ignore[arg-type]


def settled(code: str, *cases: Case) -> list[Case]:
    return list(unsupported.settle_unsupported({case.name: case for case in cases}, code.encode, Allowance()).values())


def test_what_nvcc_asks_for_is_our_lack() -> None:
    assert settled(PLAIN, lacking()) == [lacking()]


@pytest.mark.parametrize(
    ("code", "message", "reason"),
    [
        (INLINE, ASKED, "inline assembly"),
        (PLAIN.replace("mma.sp.sync.m16n8k16 ", "mma.sp.sync.m16n8k16.x "), ASKED, "nvcc did not generate"),
        (PLAIN, ASKED.replace("k16'", "k1'"), "nvcc did not generate"),
        (PLAIN, "the device cannot run this program: another reason", "nvcc did not generate"),
        # A kernel's name that says the like does not count: what the device says comes last.
        ("\tret;\n", ASKED.replace("'k'", "'ret' is not supported by the virtual GPU"), "nvcc did not generate"),
        ("", ASKED, "nvcc did not generate"),
    ],
)  # fmt: skip
def test_what_somebody_wrote_is_a_fail_for_review(code: str, message: str, reason: str) -> None:
    (case,) = settled(code, lacking(message))
    assert case.status == "fail"
    assert message in case.message
    assert reason in case.message
    assert [reason in note for note in case.review] == [True]


def test_what_the_device_lacks_is_named_of_public_tests_only() -> None:
    cases = {case.name: case for case in (lacking(), lacking("no such call\nmore", "calls"), Case("fine", "pass"))}
    assert unsupported.list_lacking(cases, ["adds", "calls", "fine", "absent"]) == [
        "mma.sp.sync.m16n8k16",
        "no such call",
    ]
    assert unsupported.list_lacking(cases, ["fine"]) == []


def test_only_what_the_device_lacks_is_looked_into() -> None:
    other = Case(name="broken", status="error", message="the sandbox did not start")
    passed = Case(name="fine", status="pass")
    cases = settled(INLINE, other, passed, lacking(), lacking(name="again"))
    assert [case.status for case in cases] == ["error", "pass", "fail", "fail"]
    assert [bool(case.review) for case in cases] == [False, False, True, True]

    def never() -> bytes:
        raise AssertionError("nvcc was asked without need")

    assert unsupported.settle_unsupported({"broken": other, "fine": passed}, never, Allowance()) == {
        "broken": other,
        "fine": passed,
    }
