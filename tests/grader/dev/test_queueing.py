"""The simulated queue of submissions, and docs/scale.md, whose tables it makes and whose examples fit the commands."""

import random
import re
import subprocess

import golden_files
import pytest

from warpgrade.cli.cohort import class_command, merge_command
from warpgrade.dev import queueing
from warpgrade.dev.queueing import DAY, HANGING, HOUR, MEASURED, Course
from warpgrade.machine.paths import find_layout

PAGE = find_layout().root / queueing.PAGE


def test_the_tables_are_those_of_the_simulation() -> None:
    text = PAGE.read_text(encoding="utf-8")
    golden_files.check(PAGE, queueing.page(text))


def test_submissions_come_as_they_are_said_to() -> None:
    came = queueing.arrivals(20_000, random.Random(1))  # noqa: S311
    assert came == sorted(came, reverse=True)
    for before, share in queueing.ARRIVALS[1:]:
        assert sum(moment <= before for moment in came) / len(came) == pytest.approx(share, abs=0.01)
    assert sum(HOUR <= moment <= DAY for moment in came) / len(came) == pytest.approx(0.48, abs=0.01)


def test_one_worker_takes_one_after_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queueing, "arrivals", lambda *_: [100.0, 99.0, 98.0, 50.0])
    monkeypatch.setattr(queueing, "_seconds", lambda _: 10.0)
    alone, two = (queueing.simulate(Course(1, workers)) for workers in (1, 2))
    # Begins at -100, -90, -80, -50 and ends ten seconds later: waits of 10, 19, 28, 10.
    assert (alone.median, alone.longest, alone.queue) == (19, 28, 2)
    # The second worker takes the second at once, and the third waits for the first to be free.
    assert (two.median, two.longest, two.queue) == (10, 18, 1)
    assert alone.busy == pytest.approx(40 / HOUR)


def test_enough_workers_leave_nothing_but_the_grade_itself() -> None:
    had = queueing.simulate(Course(1_000, 50))
    assert had.queue == 0
    assert had.slow <= max(MEASURED)
    assert had.longest == queueing.HANGING_SECONDS
    slower = queueing.simulate(Course(1_000, 50, slowness=2))
    assert slower.longest == 2 * had.longest
    assert slower.busy == pytest.approx(2 * had.busy)


def test_too_few_workers_let_everybody_wait() -> None:
    waits = [queueing.simulate(Course(5_000, workers)) for workers in (3, 4, 8)]
    assert waits[0].longest > waits[1].longest > waits[2].longest
    assert waits[0].busy > waits[2].busy > HANGING


def test_commands_on_the_page_exist() -> None:
    known = {option for command in (class_command, merge_command) for each in command.params for option in each.opts}
    calls = re.findall(r"\./warpgrade (?:class|merge) [^\n\\]*(?:\\\n[^\n\\]*)*", PAGE.read_text(encoding="utf-8"))
    assert len(calls) >= 5
    assert {option for call in calls for option in re.findall(r"(?<= )--[a-z-]+", call)} <= known


def test_the_script_of_the_job_array_is_one() -> None:
    (script,) = re.findall(r"```bash\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    subprocess.run(["bash", "-n"], input=script, text=True, check=True)
