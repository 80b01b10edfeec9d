"""Brings parts of a class together that were graded elsewhere: shards of an array job, of a CI matrix."""

import shutil
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from warpgrade.cohort.store import Head, Record, Store
from warpgrade.machine.errors import BadInput
from warpgrade.machine.text import number, printable_name


@dataclass
class Merged:
    """The result of a merge. twice: submissions that two parts have graded. differing: those with different points."""

    submissions: int = 0
    twice: list[str] = field(default_factory=list)
    differing: list[str] = field(default_factory=list)
    decisions: int = 0


def merge(parts: Sequence[Path], out: Store) -> Merged:
    """Copy submissions, results, verdicts and decisions of all parts; raises BadInput if the parts do not fit together.

    If two parts have the same submission, the one with a grade is taken; if both have a grade, the first.
    """
    heads = [(path, _head(path)) for path in parts]
    first = heads[0][1]
    for path, head in heads[1:]:
        for name in ("lab", "seed", "device", "seed_per_student"):
            mine, theirs = getattr(first, name), getattr(head, name)
            if mine != theirs:
                what = name.replace("_", " ")
                raise BadInput(
                    f"{printable_name(str(path))} was graded with another {what}: {theirs}, not {mine}",
                    hint="parts of one class are graded with the same --seed and --device",
                )
    known = out.begin(first)
    if msgspec.structs.replace(known, warpgrade="") != msgspec.structs.replace(first, warpgrade=""):
        raise BadInput(f"{printable_name(str(out.folder))} holds another class", hint="choose another --out")
    merged = Merged()
    for path in parts:
        if path.resolve() != out.folder.resolve():
            _add(Store(path), out, merged)
            out.save_people({**out.people(), **Store(path).people()})
    return merged


def _head(path: Path) -> Head:
    head = Store(path).head()
    if head is None:
        raise BadInput(
            f"{printable_name(str(path))} is not the folder of a class", hint="name what `warpgrade class --out` wrote"
        )
    return head


def _add(part: Store, out: Store, merged: Merged) -> None:
    for student in part.students():
        have = {record.digest: record for record in out.records(student)}
        for record in part.records(student):
            _add_record(part, out, record, have.get(record.digest), merged)
    for student, decisions in part.all_decisions():
        mine = out.decisions(student)
        new = [one for one in decisions if one not in mine]
        if new:
            out.decide(student, sorted([*mine, *new], key=lambda one: one.at))
            merged.decisions += len(new)
    for student in part.students():
        if accepted := part.accepted(student):
            out.accept(student, accepted)
        marks = out.marks(student)
        if new_marks := [one for one in part.marks(student) if one not in marks]:
            out.save_marks(student, sorted([*marks, *new_marks], key=lambda one: one.at))
    for known in part.parts():
        out.save_part(known)
    for path in part.verdicts.glob("*/*.json.gz"):
        target = out.verdicts / path.parent.name / path.name
        if not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)


def _add_record(part: Store, out: Store, record: Record, mine: Record | None, merged: Merged) -> None:
    if mine is not None and mine.is_done:
        if record.is_done and mine.digest:
            merged.twice.append(record.student)
            if mine.points != record.points:
                told = f"{number(mine.points, 2)} and {number(record.points, 2)}"
                merged.differing.append(f"{printable_name(record.student)}: {told} points; the first is kept")
        return
    result = part.result(record.key)
    if record.is_done and result is None:
        record = msgspec.structs.replace(record, status="waiting", key="")
    elif result is not None:
        out.save_result(record.key, result)
    out.save(record)
    merged.submissions += 1
