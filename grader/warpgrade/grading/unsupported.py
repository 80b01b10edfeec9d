"""Decides who is responsible for an instruction that the device cannot run: Warpgrade or the submission.

An instruction that the virtual GPU does not run is our lack where nvcc chose it, and the submission's doing where
somebody wrote it: else inline assembly would turn every fail into an error. What the source looks like says nothing,
for macros hide everything; nvcc marks inline assembly in the PTX that it makes, and is asked only when it matters.
"""

import re
from collections.abc import Callable, Iterable, Mapping

import msgspec

from warpgrade.compiling.failure import BuildFailure
from warpgrade.grading.judge import Case
from warpgrade.machine import confined
from warpgrade.machine.confined import Allowance, OverBudget

_INLINE = "// begin inline asm"
# What the virtual GPU says of an opcode that it knows and does not run. A kernel's name may say the like before it.
_OPCODE = re.compile(r"'([\w.:]+)' is not supported by the virtual GPU")
_ASSEMBLY = "its device code contains inline assembly, and the device cannot run one of its kernels"
_TOO_MUCH = "its device code is too large for nvcc to write out, and the device cannot run one of its kernels"
_FOREIGN = "it runs device code that nvcc did not generate from its files, and that the device cannot run"


def settle_unsupported(
    cases: Mapping[str, Case], device_code: Callable[[], bytes], allowance: Allowance
) -> dict[str, Case]:
    """Return the verdicts, with a fail and a note for review for each error that the submission caused.

    `device_code` returns nvcc's PTX; it is called only when a test is an error because the device lacks something.
    """
    lacking = [case for case in cases.values() if case.status == "error" and case.unsupported]
    if not lacking:
        return dict(cases)
    settled = dict(cases)
    try:
        code: bytes | None = device_code()
    except BuildFailure:  # it was compiled before: what stops it now is a limit
        code = None
    for case in lacking:
        if cause := _TOO_MUCH if code is None else _read(case.message, code, allowance):
            message = f"{case.message}\n  the submission itself causes this: {cause}"
            settled[case.name] = msgspec.structs.replace(
                case, status="fail", unsupported=False, message=message, review=[*case.review, cause]
            )
    return settled


def _read(message: str, code: bytes, allowance: Allowance) -> str:
    try:
        return confined.call(allowance, reason, message, code)
    except OverBudget:
        return _TOO_MUCH


def list_lacking(cases: Mapping[str, Case], public: Iterable[str]) -> list[str]:
    """Return the opcodes that the device lacks in public tests, or what else their messages begin with.

    What hidden tests met tells of their data.
    """
    lacking = [cases[name].message for name in public if name in cases and cases[name].unsupported]
    return [next(reversed(_OPCODE.findall(message)), message.partition("\n")[0]) for message in lacking]


def reason(message: str, raw: bytes) -> str:
    """Return why the submission is responsible; "" if nvcc chose the instruction."""
    code = raw.decode("utf-8", "replace")
    if _INLINE in code:
        return _ASSEMBLY
    opcodes = _OPCODE.findall(message)
    if opcodes and re.search(rf"(?m)^\s*(?:@!?\S+\s+)?{re.escape(opcodes[-1])}(?![\w.:])", code):
        return ""
    return _FOREIGN
