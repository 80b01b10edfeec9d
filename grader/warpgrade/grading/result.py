"""The result of grading one submission: schema `warpgrade/result/1`.

Everything that reports or exports reads these structs and nothing else. docs/result.schema.json is generated from them.
"""

from typing import Any, Final, Literal

import msgspec

from warpgrade.compiling.failure import Problem
from warpgrade.compiling.warnings import CompilerWarning
from warpgrade.findings.diagnosis import Diagnostic
from warpgrade.machine import device, schemas
from warpgrade.machine.fidelity import Fidelity
from warpgrade.machine.sandbox import Kind

SCHEMA: Final = "warpgrade/result/1"

TestStatus = Literal["pass", "fail", "error", "pending"]


class Measurement(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One number that a test measured, e.g. a speed-up of 3.1 ×."""

    name: str
    value: float
    unit: str = ""


class Check(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A number that a test holds against a limit.

    relation: of `between`, the limits are `limit` and `upper`. words: where the limit comes from.
    outcome: `part` if the number is nearly good. good: what the reference has in the same check on the same device;
    null where that is not known.
    """

    name: str
    now: float
    relation: Literal["is", "at most", "at least", "below", "between"]
    limit: float
    outcome: Literal["pass", "part", "fail"]
    unit: str = ""
    upper: float | None = None
    words: str = ""
    good: float | None = None


class TestResult(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What became of one test. `error` is the grader's, `pending` waits for a device; neither is a zero.

    signs: names of what is known about a failure, such as `transposed` (grading/hints.py).
    output: the last lines that the program printed in the test, in its own words.
    diagnostics: what the device's checks found while it ran, in the submission's own lines.
    checks: the numbers that it held against limits, of a speed test its speed-up.
    begun: false if a function that the test calls is as the starter has it, in all that it reaches.
    """

    name: str
    kind: Literal["test", "speed"]
    status: TestStatus
    points: float
    max_points: float
    hidden: bool
    tags: list[str] = []
    message: str = ""
    hint: str = ""
    signs: list[str] = []
    output: str = ""
    seconds: float = 0.0
    measurements: list[Measurement] = []
    launches: list[dict[str, Any]] = []
    diagnostics: list[Diagnostic] = []
    checks: list[Check] = []
    begun: bool = True


class Score(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Sums over the tests; `percent` is of max_points. Points in error or pending are not decided yet."""

    points: float
    max_points: float
    percent: float
    error_points: float
    pending_points: float


class LabInfo(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which lab."""

    name: str
    title: str


class FileInfo(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One graded file."""

    name: str
    bytes: int
    sha256: str


class SubmissionInfo(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What was graded; `digest` covers all files, `ignored` names source files that the lab does not take.

    `notes` say which file was taken under another name, or out of which archive.
    """

    name: str
    digest: str = ""
    files: list[FileInfo] = []
    ignored: list[str] = []
    notes: list[str] = []


class DeviceInfo(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The device that was asked for and what it says of itself."""

    requested: str
    kind: device.Kind
    properties: dict[str, Any] = {}


class Toolchain(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What compiled the submission."""

    nvcc: str
    host_compiler: str
    architecture: str


class Seconds(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Wall-clock time of the grader's stages."""

    build: float
    judge: float


class Used(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What grading the submission has used of its budget, `[limits]` of lab.toml.

    Processor seconds: `intake` of reading what was handed in, `analysis` of reading sources, objects and messages,
    `build` of compilers and linker, `tests` of judge, program and device; what a cache had takes none. made_bytes: its
    files and what they compile to. output_bytes: what compilers said and the record of the tests. `exceeded` says what
    was over its limit.
    """

    intake: float = 0.0
    analysis: float = 0.0
    build: float = 0.0
    tests: float = 0.0
    made_bytes: int = 0
    output_bytes: int = 0
    exceeded: str = ""


class Result(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One graded submission.

    status: `graded` (each test has its outcome), `rejected` (the submission could not be read, compiled or linked; its
    points are zero), `error` (the grader or the machine failed; the points are not to be used).
    scope: `public` when only the public tests ran (`warpgrade check`), `chosen` when only those that --only names did.
    sandbox: what kept the student's code apart (docs/security.md); nothing where none of it ran.
    review: what a person should look at, because honest work does not do it; it costs no points by itself.
    warnings: what the compilers warn of in the submission's own files; those of a program that they refuse are in
    the detail of `problem`.
    notes: on how it was graded, such as with another compiler than the course's.
    fidelity: what the device did exactly, what it modelled and how well; nothing where that is not known.
    hidden_until: before this moment (ISO 8601) students see nothing of the hidden tests; empty if there is none.
    """

    lab: LabInfo
    submission: SubmissionInfo
    status: Literal["graded", "rejected", "error"]
    score: Score
    tests: list[TestResult]
    device: DeviceInfo
    started_at: str
    seconds: Seconds
    schema: Literal["warpgrade/result/1"] = SCHEMA
    warpgrade: str = ""
    scope: Literal["all", "public", "chosen"] = "all"
    sandboxed: bool = True
    sandbox: Kind | None = None
    seed: int | None = None
    problem: Problem | None = None
    review: list[str] = []
    warnings: list[CompilerWarning] = []
    toolchain: Toolchain | None = None
    notes: list[str] = []
    hidden_until: str = ""
    used: Used | None = None
    fidelity: Fidelity | None = None


def encode(result: Result) -> bytes:
    """Return the result as indented JSON."""
    return msgspec.json.format(msgspec.json.encode(result), indent=2) + b"\n"


def decode(raw: bytes) -> Result:
    """Read a result; raises msgspec.ValidationError when it is none."""
    return msgspec.json.decode(raw, type=Result)


def json_schema() -> bytes:
    """Return the JSON Schema of a result, as docs/result.schema.json holds it.

    All keys are required: a result is written with every key, also where it may be empty.
    """
    document = schemas.schema("Warpgrade result, version 1", Result)
    for definition in document["$defs"].values():
        definition["required"] = list(definition["properties"])
    return schemas.text(document).encode() + b"\n"
