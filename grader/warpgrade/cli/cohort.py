"""`class`, `merge` and `leaderboard`: a whole class, graded."""

import os
import signal
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import click

from warpgrade import __version__
from warpgrade.cli.console import console
from warpgrade.cohort import class_folder, grades, leaderboard, merge, outputs, receive, run, store
from warpgrade.cohort import roster as rosters
from warpgrade.cohort.attempts import ClassAttempts, with_time_zone
from warpgrade.cohort.store import Head, Part, Store
from warpgrade.compiling import judges, toolchain
from warpgrade.course import course as courses
from warpgrade.engine import cluster_file
from warpgrade.engine.cluster_file import Settings
from warpgrade.engine.job import Engine
from warpgrade.engine.local import LocalEngine
from warpgrade.engine.parsl import ParslEngine
from warpgrade.engine.work import Grader
from warpgrade.grading.grade import Options
from warpgrade.lab import agreement
from warpgrade.lab.labs import Lab
from warpgrade.machine import paths
from warpgrade.machine.errors import EXIT_BELOW_THRESHOLD, EXIT_DONE, EXIT_GRADER_ERROR, EXIT_INTERRUPTED, BadInput
from warpgrade.machine.files import check_writable, write
from warpgrade.machine.paths import Layout
from warpgrade.machine.progress import Count, Progress
from warpgrade.machine.text import listing, printable_name
from warpgrade.platforms.registry import EXPORTS
from warpgrade.report import hidden
from warpgrade.report.stream import say

_DONE = "Exit status: 0 done, 2 wrong usage."


def _shard(context: click.Context, parameter: click.Parameter, value: str | None) -> tuple[int, int]:
    first, _, last = (value or "1/1").partition("/")
    if not (first.isdigit() and last.isdigit() and 1 <= int(first) <= int(last)):
        raise click.BadParameter("use I/N, such as 2/8: the second of eight parts", ctx=context, param=parameter)
    return int(first), int(last)


@click.command(
    "class",
    epilog="Exit status: 0 all graded, whatever their points, 2 wrong usage, 3 some not graded, 130 interrupted.",
)
@click.argument("lab_name", metavar="LAB")
@click.argument("path", metavar="PATH", type=click.Path(path_type=Path, exists=True))
@click.option("--out", required=True, type=click.Path(path_type=Path, file_okay=False), help="Folder of the class.")
@click.option("--roster", type=click.Path(path_type=Path, exists=True, dir_okay=False), help="CSV of who is in it.")
@click.option("--platform", type=click.Choice(list(EXPORTS)), help="Whose export it is, where that is not recognised.")
@click.option("--latest", "attempts", flag_value="latest", help="Of each student the last submission counts.")
@click.option("--best", "attempts", flag_value="best", help="Of each student the best submission counts.")
@click.option("--regrade", is_flag=True, help="Grade again what an earlier lab or warpgrade has graded.")
@click.option("--student", "students", multiple=True, metavar="STUDENT", help="With --regrade: of this student only.")
@click.option(
    "--test", "tests", multiple=True, metavar="TEXT",
    help="With --regrade: run tests with that in their name again, also where nothing has changed.",
)  # fmt: skip
@click.option("--dry-run", "dry", is_flag=True, help="Show old → new and why; keep everything as it is.")
@click.option("--jobs", type=click.IntRange(1, 1024), help="Submissions at a time; one for each core otherwise.")
@click.option("--engine", type=click.Choice(["local", "parsl"]), default="local", help="Grade here, or on a cluster.")
@click.option("--cluster", type=click.Path(path_type=Path), metavar="FILE", help="The cluster of --engine parsl.")
@click.option("--shard", callback=_shard, metavar="I/N", help="Grade this part of the class; see `merge`.")
@click.option("--device", default="auto", metavar="auto|vgpu[:PROFILE]|gpu[:N]", help="Where to run.")
@click.option("--seed", type=click.IntRange(0, 2**48 - 1), help="Of the inputs, the same for all; random otherwise.")
@click.option("--seed-per-student", is_flag=True, help="Give each student other inputs.")
@click.option(
    "--feedback", type=click.Choice(outputs.KINDS),
    help="Who the zip of feedback is for; what the export is of, if not said.",
)  # fmt: skip
@click.option("-q", "--quiet", is_flag=True, help="No progress, and no summary.")
def class_command(lab_name: str, path: Path, out: Path, **given: Any) -> int:
    """Grade a class: every submission in a folder or in what a platform exported.

    The same command again goes on where the last one ended, and grades what has come since.
    """
    layout = paths.find_layout()
    lab = agreement.find_own(layout, lab_name)
    course = courses.find_course(layout)
    # Before the machine is asked for anything: a mistake here is the user's.
    if (given["students"] or given["tests"]) and not given["regrade"]:
        raise BadInput("--student and --test say what is graded again", hint="add --regrade")
    tests = _named_tests(lab, given["tests"])
    settings = _cluster(given["engine"], given["cluster"], given["jobs"])
    if path.resolve() in (out.resolve(), *out.resolve().parents):
        raise BadInput("--out lies in the folder of the submissions, and would be taken for one of them next time",
                       hint="choose a folder beside it")  # fmt: skip
    collected = receive.read(lab, path, roster=given["roster"], platform=given["platform"])
    if course is not None and course.zone is None and any(each.lacks_time_zone for each in collected.submissions):
        raise BadInput(
            "in which time zone are the times of the roster?",
            hint='write `timezone = "Europe/Berlin"` in [course] of course.toml, or times such as '
            "2027-03-08T23:59:59+01:00",
        )
    collected = with_time_zone(collected, course.zone if course else None)
    class_store = Store(out)
    head = _head(class_store, lab, "" if lab.folder.parent == layout.labs else str(lab.folder), given)
    quiet: bool = given["quiet"]
    policies = class_folder.course_policies(lab, course, given["attempts"])
    wanted = run.RunOptions(
        policies.which == "latest", given["shard"], given["regrade"], given["dry"], policies.repairs,
        frozenset(map(class_store.find_student, given["students"])), tests,
    )  # fmt: skip
    part = "all" if wanted.shard == (1, 1) else "{}-of-{}".format(*wanted.shard)
    with class_store.lock(part), Progress(console(stderr=True), quiet=quiet) as progress, _interrupts() as stopped:
        _prepare(layout, lab, progress.say)
        counted = Count(progress, "submissions")
        grader = Grader(layout, lab, course, class_store.verdicts)
        engine: Engine = (
            ParslEngine(
                settings, out / "parsl", class_store.verdicts, waits=lambda on: counted.wait("the queue" if on else "")
            )
            if settings is not None
            else LocalEngine(grader, given["jobs"])
        )
        graded = run.ClassRun(
            course.applied(lab) if course else lab, class_store, head, grader, Options(device=head.device), wanted,
            lambda tally: counted.show(tally.ended, tally.to_do),
        )  # fmt: skip
        tally = graded.run(engine, collected.submissions, stopped)
    kind = given["feedback"] or outputs.kind_for(collected.platform)
    return _finish(
        class_store, policies, collected, tally, wanted, kind, lab,
        whole=given["roster"] is not None and part == "all", stopped=stopped(), quiet=quiet,
    )  # fmt: skip


def _named_tests(lab: Lab, texts: Iterable[str]) -> tuple[str, ...]:
    """Return the names of the tests that each of the texts is part of."""
    names: list[str] = []
    for text in texts:
        fitting = [item.name for item in lab.items if text.casefold() in item.name.casefold()]
        if not fitting:
            there = "; ".join(item.name for item in lab.items)
            raise BadInput(
                f"no test of {lab.name} has “{printable_name(text)}” in its name", hint=f"there are: {there}"
            )
        names += fitting
    return tuple(dict.fromkeys(names))


def _cluster(engine: str, path: Path | None, jobs: int | None) -> Settings | None:
    """Return what the file of --cluster says; raises BadInput where engine and other options do not fit."""
    if engine == "local":
        if path is not None:
            raise BadInput("--cluster is for --engine parsl", hint="add --engine parsl, or leave --cluster out")
        return None
    if path is None:
        raise BadInput("--engine parsl needs --cluster FILE", hint="docs/scale.md shows such files")
    if jobs is not None:
        raise BadInput("--jobs is for this machine", hint="workers_per_node in the file of --cluster is for others")
    return cluster_file.read(path)


def _head(class_store: Store, lab: Lab, place: str, given: dict[str, Any]) -> Head:
    known = class_store.head()
    if known is None:
        if given["shard"] != (1, 1) and given["seed"] is None:
            raise BadInput(
                "--shard needs --seed N in a new folder", hint="the same N for all shards gives all the same inputs"
            )
        seed = given["seed"] if given["seed"] is not None else store.new_seed()
        known = class_store.begin(Head(lab.name, seed, given["device"], given["seed_per_student"], place, __version__))
    where = f"{printable_name(str(class_store.folder))} holds a class"
    if known.lab != lab.name:
        raise BadInput(f"{where} of lab {known.lab}", hint="choose another --out for another lab")
    for option, mine, theirs in (
        ("--seed", given["seed"], known.seed),
        ("--device", None if given["device"] == "auto" else given["device"], known.device),
        ("--seed-per-student", given["seed_per_student"] or None, known.seed_per_student),
    ):
        if mine is not None and mine != theirs:
            raise BadInput(
                f"{where} with another {option} ({theirs})",
                hint=f"leave {option} out, or choose another --out: all of a class is graded alike",
            )
    return known


def _prepare(layout: Layout, lab: Lab, progress: Callable[[str], None]) -> None:
    """Build the judge before many threads need it."""
    judges.require(layout, lab, toolchain.find(layout), progress)


@contextmanager
def _interrupts() -> Iterator[Callable[[], bool]]:
    """Give a function that says whether Ctrl-C (or SIGTERM) came; a second one ends the process at once."""
    stop = threading.Event()

    def on_signal(number: int, frame: FrameType | None) -> None:
        if stop.is_set():
            os._exit(EXIT_INTERRUPTED)
        stop.set()

    before = {number: signal.signal(number, on_signal) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stop.is_set
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _finish(
    class_store: Store, policies: grades.Policies, collected: ClassAttempts, tally: run.Tally, wanted: run.RunOptions,
    kind: str, lab: Lab, *, whole: bool, stopped: bool, quiet: bool,
) -> int:  # fmt: skip
    if wanted.dry:
        _print_changes(tally, "would change", quiet=False)
        return EXIT_INTERRUPTED if stopped else EXIT_DONE
    part = Part(wanted.shard, collected.unclaimed, policies.max_points)
    class_store.take_in(part, keep_points=not wanted.regrade or bool(wanted.students))
    people = {student: name for student, name in collected.missing if wanted.includes(student)}
    people |= {each.student: each.name for each in collected.submissions if wanted.includes(each.student)}
    rows, packed = outputs.write(class_store, policies, people, kind, lab, whole=whole)
    _print_changes(tally, "changed", quiet=quiet)
    if not quiet:
        outputs.show(console(), class_store, rows, collected, packed)
        click.echo(_describe_tally(tally))
    if collected.unclaimed:
        say(
            f"warpgrade: not graded: {len(collected.unclaimed)} in the export that nobody is named for; "
            "until that is settled, nobody gets a zero for having handed in nothing:", err=True,
        )  # fmt: skip
        say("\n".join(f"    {each}" for each in collected.unclaimed), err=True)
        say("    give each a name as the platform gives to hand-ins, or remove it; then run this again", err=True)
    if tally.stale:
        say(
            f"warpgrade: {tally.stale} results are of an earlier lab or warpgrade and were kept: "
            "--regrade grades them again, --regrade --dry-run shows first what would change", err=True,
        )  # fmt: skip
    if stopped:
        left = tally.to_do - tally.ended
        say(f"warpgrade: interrupted with {left} left: the same command goes on from here", err=True)
        return EXIT_INTERRUPTED
    if tally.errors:
        say(
            f"warpgrade: {tally.errors} could not be graded for the machine's sake and have no grade: "
            "the same command tries them again", err=True,
        )  # fmt: skip
        return EXIT_GRADER_ERROR
    return EXIT_GRADER_ERROR if collected.unclaimed else EXIT_DONE


def _describe_tally(tally: run.Tally) -> str:
    parts = [
        (tally.done, "graded"), (tally.shared, "with a known result"), (tally.refused, "refused"),
        (tally.kept, "graded before"), (tally.errors, "not graded"),
    ]  # fmt: skip
    return ", ".join(f"{count} {what}" for count, what in parts if count) or "nothing was handed in"


def _print_changes(tally: run.Tally, what: str, *, quiet: bool) -> None:
    if quiet or not tally.changes:
        if what == "would change":
            click.echo("no grade would change")
        return
    count = len(tally.changes)
    counts = Counter(one.direction for one in tally.changes)
    told = ", ".join(f"{counts[direction]} {direction}" for direction in ("new", "up", "down") if counts[direction])
    click.echo(f"{count} submission{'' if count == 1 else 's'} {what}{': ' if told else ''}{told}")
    for change in sorted(tally.changes, key=lambda one: (one.student, one.number)):
        click.echo(f"    {change.summary}")
        for reason in change.reasons:
            click.echo(f"        {reason}")


@click.command("merge", epilog="Exit status: 0 done, 1 parts disagree, 2 wrong usage, 3 some have no grade yet.")
@click.argument(
    "parts", metavar="PART…", nargs=-1, required=True, type=click.Path(path_type=Path, exists=True, file_okay=False)
)
@click.option("--out", required=True, type=click.Path(path_type=Path, file_okay=False), help="Folder of the class.")
@click.option("--roster", type=click.Path(path_type=Path, exists=True, dir_okay=False), help="CSV of who is in it.")
@click.option("--latest", "attempts", flag_value="latest", help="Of each student the last submission counts.")
@click.option("--best", "attempts", flag_value="best", help="Of each student the best submission counts.")
def merge_command(parts: tuple[Path, ...], out: Path, roster: Path | None, attempts: grades.Attempts | None) -> int:
    """Bring together what parts of a class were graded into.

    PART is a folder that `class --shard` graded into.
    """
    layout = paths.find_layout()
    class_store = Store(out)
    with class_store.lock():
        merged = merge.merge(parts, class_store)
        known = class_folder.load_class(layout, out, attempts)
        people = {each.id: each.name for each in rosters.read(roster).students} if roster else {}
        rows, _ = outputs.write(class_store, known.policies, people, None, known.lab)
    click.echo(f"{merged.submissions} submissions of {len(rows)} students in {printable_name(str(out))}")
    if merged.twice:
        say(f"warpgrade: {len(merged.twice)} submissions were in several parts", err=True)
    for line in merged.differing:
        say(f"    {line}", err=True)
    open_ = [row for row in rows if row.state in ("waiting", "error")]
    lacking = class_store.lacking()
    if lacking:
        many = "s" if len(lacking) > 1 else ""
        say(
            f"warpgrade: shard{many} {listing(lacking, 8)} not among the parts: whoever is in there has no grade",
            err=True,
        )
    for what in sorted({each for part in class_store.parts() for each in part.unclaimed}):
        say(f"warpgrade: not graded, for nobody is named for it: {what}", err=True)
    if open_ or lacking:
        say(f"warpgrade: {len(open_)} have no grade yet: run their shards again, then merge again", err=True)
        return EXIT_GRADER_ERROR
    return EXIT_BELOW_THRESHOLD if merged.differing else EXIT_DONE


@click.command("leaderboard", epilog=_DONE)
@click.argument("folder", metavar="CLASS", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option(
    "--opted-in", required=True, type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="Who wants to be on it: an identifier a line, or the first column of a CSV.",
)  # fmt: skip
@click.option("--metric", default=leaderboard.POINTS, metavar="NAME", help="points, or what a test measured.")
@click.option("--smaller", is_flag=True, help="Smaller is better.")
@click.option("--aliases", is_flag=True, help="Under aliases, which say nothing of the students.")
@click.option(
    "--secret", type=click.Path(path_type=Path, dir_okay=False),
    help="File that the aliases depend on, the same for all labs; CLASS/aliases.secret otherwise.",
)  # fmt: skip
@click.option("--top", type=click.IntRange(0), default=0, metavar="N", help="Show so many; 0 is all.")
@click.option("--json", "json_file", metavar="FILE", help="Write it as JSON; - is stdout.")
@click.option("--show-hidden", is_flag=True, help="Also before the course shows points of hidden tests.")
def leaderboard_command(
    folder: Path, opted_in: Path, metric: str, secret: Path | None, top: int, json_file: str | None, *,
    smaller: bool, aliases: bool, show_hidden: bool,
) -> int:  # fmt: skip
    """Show who is best in a class, of those who want to be on it.

    CLASS is the folder that `class` graded into. Points, and what hidden tests measured, tell of hidden tests.
    """
    check_writable("--json", json_file or "-")
    known = class_folder.load_class(paths.find_layout(), folder)
    if not show_hidden:
        hidden.refuse_early(outputs.hidden_until(known.policies), known.lab.title)
    rows = list(grades.make_rows(known.store, known.policies, known.store.people()))
    names = leaderboard.list_metrics(rows)
    if metric not in names:
        raise BadInput(f"nothing measured “{printable_name(metric)}”", hint="there are: " + "; ".join(names))
    wanted = leaderboard.read_opted_in(opted_in)
    secret_names = (
        leaderboard.Aliases(leaderboard.read_secret(secret or folder / "aliases.secret")) if aliases else None
    )
    board = leaderboard.rank(rows, leaderboard.Metric(metric, "smaller" if smaller else "larger"), wanted, secret_names)
    if secret_names is not None:  # feedback tells them
        named = {row.student: secret_names.make_alias(row.student) for row in leaderboard.select_opted_in(rows, wanted)}
        known.store.save_aliases(named)
        outputs.write(known.store, known.policies, {}, None, known.lab)
    if strangers := leaderboard.find_strangers(rows, wanted):
        say(f"warpgrade: on the list and not in the class: {listing(strangers, 5)}", err=True)
    write(json_file, "--json", leaderboard.encode(board))
    if json_file != "-":
        say(leaderboard.render_text(board, top).rstrip())
    return EXIT_DONE
