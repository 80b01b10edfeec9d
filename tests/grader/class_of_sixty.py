"""A graded class in its folder, without grading: of each three students, one forgot the barrier, one is slow."""

from pathlib import Path

import msgspec
from samples import GRADED, RACE

from warpgrade.cohort import outputs
from warpgrade.cohort.grades import Policies
from warpgrade.cohort.row import Row
from warpgrade.cohort.run import record_result
from warpgrade.cohort.store import Head, Record, Store
from warpgrade.findings.diagnosis import Place
from warpgrade.grading import score
from warpgrade.grading.result import Result, TestResult
from warpgrade.lab.labs import Baseline, Lab, LabFile, LabHead

MOST = 105.0
HOSTILE_NAME = '</script><img src=x onerror="alert(1)">\u202e'


def _passed(test: TestResult) -> TestResult:
    return msgspec.structs.replace(
        test, status="pass", points=test.max_points, message="", hint="", signs=[], output="", diagnostics=[]
    )


def _result(kind: int, number: int) -> Result:
    tests = [_passed(test) for test in GRADED.tests[:6]]
    if kind == 0:
        race = msgspec.structs.replace(RACE, place=Place("matmul.cu", 40 + number % 5), related=[])
        for at in (0, 2, 3):
            tests[at] = msgspec.structs.replace(
                tests[at], status="fail", points=0.0, message=f"C: {7 + number} of 63 elements are wrong",
                signs=["race", "wrong"], diagnostics=[race],
            )  # fmt: skip
    elif kind == 1:
        tests[1] = GRADED.tests[1]
        tests[4] = msgspec.structs.replace(GRADED.tests[4], points=8.3)
    review = ["its result was not computed by the device"] if number % 20 == 7 else []
    return msgspec.structs.replace(
        GRADED, status="graded", tests=tests, score=score.total(tests), review=review,
        submission=msgspec.structs.replace(GRADED.submission, name=f"s{number:03}"),
    )  # fmt: skip


def make(folder: Path, count: int = 60) -> Store:
    """Make the folder with its results and records."""
    store = Store(folder)
    store.begin(Head("toy", 5))
    people = {}
    for number in range(count):
        student = f"s{number:03}"
        people[student] = HOSTILE_NAME if number == 3 else f"Student {number}"
        kinds = [0, number % 3] if number % 4 == 0 else [number % 3]
        for attempt, kind in enumerate(kinds, 1):
            result = _result(kind, number)
            key = f"{number}-{attempt}"
            store.save_result(key, result)
            record = Record(
                student, people[student], f"{student}.zip", "2026-11-20T10:00:00+00:00", attempt, digest=key, key=key,
                submitted=f"2026-11-2{attempt}T10:00:00+00:00",
            )  # fmt: skip
            record = msgspec.structs.replace(record, answers=f"{HOSTILE_NAME}\nWarps wait." if number % 2 else "")
            store.save(record_result(record, result))
    people["absent"] = "Nobody <b>"
    store.save_people(people)
    return store


def write(store: Store, kind: str = "none") -> list[Row]:
    """Write the class's files, and return the rows."""
    head = LabHead("Adding vectors", 1, "", ["toy.cu"], ["toy"], answers="answers.md")
    lab = Lab("toy", store.folder, LabFile(head, Baseline(0)))
    (store.folder / lab.answers).write_text("## 1. Why?\n\nYour answer:\n", encoding="utf-8")
    return outputs.write(store, Policies("toy", MOST), store.people(), kind, lab)[0]
