"""Compares two results of a student: points, outcomes, measurements and counters."""

from collections.abc import Iterator
from dataclasses import dataclass

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from warpgrade.grading.result import Result, TestResult
from warpgrade.lab.failure_tags import COUNTERS
from warpgrade.machine.text import number

_MAX_NUMBERS = 6  # of one test
_COUNTER_TAG = "counter"
# Those that docs/student.md explains, in its order.
_COUNTED = (
    "global_load_requests", "global_store_requests", "global_load_sectors", "global_store_sectors",
    "shared_load_requests", "shared_store_requests", "shared_load_bank_conflicts", "shared_store_bank_conflicts",
    "barriers", "divergent_branches", "inst_executed",
)  # fmt: skip


@dataclass(frozen=True)
class Change:
    """A test whose outcome, points or numbers changed. numbers: the old and new value of each."""

    before: TestResult
    after: TestResult
    numbers: dict[str, tuple[float, float]]

    @property
    def gained(self) -> float:
        """The points gained, below zero where some were lost."""
        return self.after.points - self.before.points


def compare_results(before: Result, after: Result) -> list[Change]:
    """Return the changed tests that both results have, those with the largest gain first."""
    old = {test.name: test for test in before.tests}
    found = []
    for test in after.tests:
        was = old.get(test.name)
        if was is None:
            continue
        numbers = dict(_changed_numbers(was, test))
        if numbers or (was.status, was.points) != (test.status, test.points):
            found.append(Change(was, test, numbers))
    return sorted(found, key=lambda one: -one.gained)


def _changed_numbers(before: TestResult, after: TestResult) -> Iterator[tuple[str, tuple[float, float]]]:
    old, new = _numbers(before), _numbers(after)
    for name, value in new.items():
        # A test that failed early lacks numbers; that is no change of them.
        if name in old and old[name] != value:
            yield name, (old[name], value)


def _numbers(test: TestResult) -> dict[str, float]:
    """Return a test's measurements, the smallest of each name, and for counter tests the sums of the counters."""
    found: dict[str, float] = {}
    for one in test.measurements:
        name = f"{one.name} ({one.unit})" if one.unit not in ("", "x") else one.name
        found[name] = min(one.value, found.get(name, one.value))
    if any(_COUNTER_TAG in tag for tag in test.tags) or COUNTERS in test.signs:
        for name in _COUNTED:
            sums = [counters for launch in test.launches if isinstance(counters := launch.get("counters"), dict)]
            values = [counters.get(name) for counters in sums]
            if counted := [value for value in values if isinstance(value, int | float)]:
                found[name] = sum(counted)
    return found


def show(console: Console, before: Result, after: Result) -> None:
    """Print the changes; one line if there are none."""
    changes = compare_results(before, after)
    if not changes:
        console.print(Text("the results are the same as before", style="dim"))
    said: set[str] = set()
    for one in changes:
        console.print(_line(one))
        numbers = [f"{name} {_number(old)} → {_number(new)}" for name, (old, new) in one.numbers.items()]
        if left := len(numbers) - _MAX_NUMBERS:
            numbers[_MAX_NUMBERS:] = [f"and {left} more"] if left > 0 else []
        if numbers:
            text = "; ".join(numbers)
            console.print(
                Padding(Text("the same as above" if text in said else text, style="dim"), (0, 0, 0, 4), expand=False)
            )
            said.add(text)
    console.print(_points(before, after))
    console.print()


def _line(one: Change) -> Text:
    style = "green" if one.gained > 0 else "red" if one.gained < 0 else ""
    same = one.before.status == one.after.status
    what = one.after.status if same else f"{one.before.status} → {one.after.status}"
    text = Text.assemble((what, style), "  ", one.after.name)
    if one.gained:
        text.append(f"  {number(one.before.points)} → {number(one.after.points)} points", style=style)
    return text


def _points(before: Result, after: Result) -> Text:
    old, new = before.score.points, after.score.points
    style = "bold green" if new > old else "bold red" if new < old else "bold"
    moved = f"{number(old)} → {number(new)}" if new != old else number(new)
    return Text(f"{moved} of {number(after.score.max_points)} points", style=style)


def _number(value: float) -> str:
    return f"{value:,.0f}" if float(value).is_integer() or abs(value) >= 1000 else number(value, 2)
