"""`warpgrade run --budget` and `--sample`: how far a program is, and what some of its blocks tell of all."""

import csv
import json
import os
import re
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import click
import pytest

from warpgrade.cli.main import main
from warpgrade.machine.launch_progress import LaunchProgress, ProgressPage
from warpgrade.machine.paths import find_layout
from warpgrade.report.formats import stacks
from warpgrade.running import run, time_budget
from warpgrade.running.profile import AnyData, Profile

LAYOUT = find_layout()
PROGRAM = Path(__file__).parent / "programs" / "long.cu"
BUDGETS = (1, 5, 25, 125)  # a busy machine may take a while to begin the launch


def warpgrade(*words: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "warpgrade", "run", *map(str, words)], capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": str(LAYOUT.root / "grader"), "COLUMNS": "100"},
    )  # fmt: skip


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Compiled as users do it who want to run a program again and again."""
    shared = run.Options(nvcc=("-cudart", "shared"))
    return run._compile(LAYOUT, [PROGRAM], 90, shared, tmp_path_factory.mktemp("long"))


@pytest.fixture
def execute(program: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(run, "_program", lambda *_: program)
    return lambda *words, **options: run.run(LAYOUT, [PROGRAM], list(words), run.Options(**options))


@pytest.mark.labs
def test_a_program_of_10_to_the_15_instructions_is_stopped_and_says_how_far_it_was(tmp_path: Path) -> None:
    page = tmp_path / "profile.json"
    for seconds in BUDGETS:
        done = warpgrade(PROGRAM, "--budget", seconds, "--json", page, "--", "blocks")
        stopped = json.loads(page.read_text())["stopped"]
        if stopped["instructions"]:
            break
    assert done.returncode == time_budget.EXIT_STATUS
    assert done.stdout == "cudaErrorLaunchTimeout\n"
    told = " ".join(done.stderr.split())
    found = re.search(
        rf"stopped after {seconds} s \(--budget\): launch 1 has run ([\d,]+) of 1,000,000,000 blocks \((\S+) %\)", told
    )
    assert found, told
    assert found[1] == f"{stopped['blocks_done']:,}"
    assert float(found[2]) == pytest.approx(100 * stopped["blocks_done"] / 1e9, rel=0.5)
    assert stopped["blocks"] == 10**9
    kernel = json.loads(page.read_text())["kernels"][0]
    assert kernel["counters"]["inst_executed"] > 0
    assert "the program's time " in kernel["error"]
    assert "[launch/failed]" in told
    assert "kernel does not end" not in told


@pytest.mark.labs
@pytest.mark.parametrize("words", [("loop",), ("loop", "behind")])
def test_a_loop_without_end_is_named_even_if_the_program_has_gone(words: tuple[str, ...], execute: Any) -> None:
    for seconds in BUDGETS:
        profile = execute(*words, budget=seconds, instructions=0)
        if profile.stopped.instructions:
            break
    assert profile.exit_status == time_budget.EXIT_STATUS
    assert (profile.stopped.blocks_done, profile.stopped.blocks) == (0, 1)
    line = next(n for n, text in enumerate(PROGRAM.read_text().splitlines(), 1) if "while (*out" in text)
    assert f"long.cu:{line}: is still in this loop" in profile.kernels[0].error
    assert "whether its loops end" in time_budget.advise(profile.stopped)


@pytest.mark.labs
def test_a_program_whose_own_code_does_not_end_is_killed(execute: Any) -> None:
    profile = execute("host", budget=0.5)
    assert profile.exit_status == time_budget.EXIT_STATUS
    assert time_budget.describe(profile.stopped, 1) == "it has not launched a kernel yet"


@pytest.mark.labs
def test_a_program_within_its_time_is_left_alone(execute: Any) -> None:
    with_budget, without = execute("sum", budget=3600.0), execute("sum")
    assert with_budget == without
    assert (without.stopped, without.sampled, without.exit_status) == (None, False, 0)


@pytest.mark.labs
def test_sampled_launches_are_marked_everywhere_and_counted_as_if_all_blocks_ran(tmp_path: Path, execute: Any) -> None:
    whole: Profile = execute("sum")
    names = ("profile.json", "page.html", "trace.json", "stacks", "table.csv")
    files = dict(zip(("--json", "--html", "--trace", "--stacks", "--csv"), (tmp_path / n for n in names), strict=True))
    done = warpgrade(PROGRAM, "--sample", 64, *(word for pair in files.items() for word in pair), "--", "sum")
    assert done.returncode == 0, done.stderr
    total, odd = (int(word) for word in done.stdout.split()[1:])
    assert total == 64 * 64  # of 32,768 blocks of 64 threads
    assert 0 < odd < 64

    profile = json.loads(files["--json"].read_text())
    kernel, same = profile["kernels"][0], whole.kernels[0]
    assert profile["sampled"]
    assert kernel["sample"] == {"launches": 1, "blocks_run": 64, "blocks": 32768}
    for counter in ("inst_executed", "atomic_requests", "blocks_launched", "warps_launched"):
        assert kernel["counters"][counter] == same.counters[counter], counter
    assert kernel["total_ns"] == pytest.approx(same.total_ns, rel=0.1)
    assert [one["name"] for one in profile["timeline"] if one["kind"] == "kernel"] == ["sum [sampled]"]

    for shown in (done.stderr, files["--html"].read_text()):
        told = " ".join(shown.split())
        assert "sampled: 1 of 1 launch ran only some of their blocks" in told
        assert "64 of 32,768 blocks ran" in told
        assert "incomplete" in told
    assert '"sum [sampled]"' in files["--trace"].read_text()
    assert all(row.startswith("sum [sampled];") for row in files["--stacks"].read_text().splitlines())
    assert {row["Kernel Name"] for row in csv.DictReader(files["--csv"].open())} == {"sum [sampled]"}
    assert stacks.encode(whole).startswith(b"sum;")


def test_only_run_samples() -> None:
    """No other command has the option."""
    context = click.Context(main)
    commands = {name: main.get_command(context, name) for name in main.list_commands(context)}
    assert [n for n, one in commands.items() if one and any(o.name == "sample" for o in one.params)] == ["run"]


@pytest.mark.labs
def test_the_device_server_of_a_judge_refuses_to_sample() -> None:
    words = ("--origin", "--sample-blocks", "3", "--client-fd", "0", "--control-fd", "0")
    done = subprocess.run([LAYOUT.device_server, *words], capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "--origin excludes --sample-blocks" in done.stderr


@pytest.mark.parametrize(
    ("progress", "told"),
    [
        (LaunchProgress(0, 0, 0, 0, 0, 0), "not launched a kernel yet"),
        (LaunchProgress(2, 0, 0, 8, 8, 99), "no kernel was running; it has made 2 launches"),
        (LaunchProgress(1, 1, 0, 1, 0, 1), "launch 1 has run 0 of 1 block (0 %) and 1 warp instruction"),
        (
            LaunchProgress(3, 1, 0, 2000, 500, 7),
            "(25 %) and 7 warp instructions; the rest of this launch takes about 30 s",
        ),
        (LaunchProgress(1, 1, 0, 10**9, 3, 7), "3 of 1,000,000,000 blocks (3e-07 %)"),
        (LaunchProgress(1, 1, 0, 4, 9, 7), "4 of 4 blocks (100 %)"),
    ],
)
def test_how_far_a_program_is(progress: LaunchProgress, told: str) -> None:
    assert told in time_budget.describe(progress, 10)


@pytest.mark.parametrize(
    ("running", "launch_seconds", "blocks_done", "told"),
    [
        (False, 0, 0, "its own code"),
        (True, 1, 100, "no single launch"),
        (True, 9, 1, "a single block takes that long"),
        (True, 10, 800, "or fewer iterations, or --sample 400:"),
        (True, 10, 3, "--sample 1:"),
    ],
)
def test_what_makes_a_program_fit(running: bool, launch_seconds: float, blocks_done: int, told: str) -> None:
    stopped = time_budget.Stopped(10, 1, running, launch_seconds, 1000, blocks_done, 5)
    assert told in time_budget.advise(stopped)


def test_news_come_at_growing_intervals_until_the_program_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time_budget, "_FIRST_NEWS_SECONDS", 0.01)
    page, told, enough = ProgressPage(), list[str](), threading.Event()

    def tell(text: str) -> None:
        told.append(text)
        if len(told) == 3:
            enough.set()

    with time_budget.Watch(page, None, tell):
        enough.wait()
    page.close_file()
    assert all("not launched a kernel yet" in text for text in told)


@pytest.mark.labs
def test_a_launch_that_is_repeated_thousands_of_times_runs_once(execute: Any) -> None:
    """If each ran, 5,000 of them would take an hour."""
    one, all_of_them = (execute("again", str(launches)).kernels[0] for launches in (1, 5000))
    assert (one.launches, all_of_them.launches) == (1, 5000)
    assert all_of_them.counters == {name: 5000 * count for name, count in one.counters.items()}
    assert all_of_them.any_data == AnyData(holds=True)
