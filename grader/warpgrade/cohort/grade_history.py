"""How grading again changes points: old → new for each student, with the tests that differ."""

from dataclasses import dataclass

from warpgrade.cohort.store import Record, Store
from warpgrade.grading.result import Result, TestResult
from warpgrade.machine.text import number, one_line

_WIDTH = 160
_MAX_REASONS = 6


@dataclass(frozen=True)
class Change:
    """A student's points before and after. reasons: a line for each test that differs. number: of the attempt."""

    student: str
    name: str
    before: float | None
    after: float | None
    reasons: list[str]
    number: int = 1

    @property
    def summary(self) -> str:
        """Return `12345 (Ada Lovelace), submission 2: 85 → 95`."""
        old, new = ("–" if points is None else number(points, 2) for points in (self.before, self.after))
        who = (
            f"{self.student} ({self.name})"
            if self.name.casefold() not in ("", self.student.casefold())
            else self.student
        )
        which = f", submission {self.number}" if self.number > 1 else ""
        return f"{who}{which}: {old} → {new}"

    @property
    def direction(self) -> str:
        """Return new, up or down; "" if the points are the same."""
        if self.before is None:
            return "" if self.after is None else "new"
        if self.after is None or self.after < self.before:
            return "down"
        return "up" if self.after > self.before else ""


def compare_records(store: Store, old: Record, new: Record, result: Result | None) -> Change | None:
    """Return how two records of an attempt differ; None if points and status are the same.

    result: the new result, which may not be in the store yet.
    """
    before = old.points if old.is_done else None
    after = new.points if new.is_done else None
    if before == after and old.status == new.status:
        return None
    reasons = [new.problem] if new.status in ("error", "rejected", "refused") and new.problem else []
    previous = store.result(old.key)
    if previous is not None and result is not None and not reasons:
        reasons = _differences(previous, result)
    return Change(new.student, new.name, before, after, reasons, new.number)


def _differences(old: Result, new: Result) -> list[str]:
    before = {test.name: test for test in old.tests}
    after = {test.name: test for test in new.tests}
    told = [_difference(before.get(name), after.get(name)) for name in {**before, **after}]
    kept = [text for text in told if text]
    left = len(kept) - _MAX_REASONS
    return [*kept[:_MAX_REASONS], *([f"and {left} more tests"] if left > 0 else [])]


def _difference(old: TestResult | None, new: TestResult | None) -> str:
    if new is None:
        return f"{_points(old)} → gone: {old.name if old else ''}: the lab has no such test any more"
    name = one_line(new.name, _WIDTH)
    if old is None:
        return f"new → {_points(new)}: {name}{_why(new)}"
    if (old.points, old.max_points, old.status) == (new.points, new.max_points, new.status):
        return ""
    if old.max_points != new.max_points and old.status == new.status:
        worth = f"the test is worth {number(new.max_points)} now, not {number(old.max_points)}"
        return f"{_points(old)} → {_points(new)}: {name}: {worth}"
    return f"{_points(old)} → {_points(new)}: {name}{_why(new) or _why(old, 'before: ')}"


def _points(test: TestResult | None) -> str:
    if test is None:
        return "–"
    return f"{number(test.points)}/{number(test.max_points)}" if test.status in ("pass", "fail") else test.status


def _why(test: TestResult, prefix: str = "") -> str:
    first = one_line(test.message.split("\n")[0], _WIDTH)
    return f": {prefix}{first}" if first and test.points < test.max_points else ""
