"""`explain`: the page about a rule, a counter, a function, a test or a word."""

from pathlib import Path

import click

from warpgrade.cli.console import console
from warpgrade.course import course as courses
from warpgrade.lab import labs
from warpgrade.lab.labs import Lab
from warpgrade.machine import paths
from warpgrade.machine.errors import EXIT_DONE, GraderError
from warpgrade.machine.paths import Layout
from warpgrade.report import explain, markdown
from warpgrade.report.stream import no_commands


@click.command("explain", epilog="Exit status: 0 done, 2 nothing of that name is known.")
@click.argument("words", metavar="[RULE|COUNTER|FUNCTION|TEST|WORD]", nargs=-1)
def explain_command(words: tuple[str, ...]) -> int:
    """Explain a rule of the checks, a counter, a function of the CUDA runtime, a test of a lab or a word."""
    known = explain.topics(_labs(paths.find_layout()))
    found = explain.find(" ".join(words), known) if words else []
    pages = [topic.page for topic in found] or [explain.overview(known)]
    terminal = console()
    with no_commands():
        for number, page in enumerate(pages):
            if number:
                terminal.print()
            markdown.show(terminal, page)
    return EXIT_DONE


def _labs(layout: Layout) -> list[Lab]:
    """Return the labs with the course's points, without those whose lab.toml has mistakes."""
    found = []
    here = [Path.cwd()] if (Path.cwd() / "lab.toml").is_file() else []
    for folder in [*here, *(path.parent for path in sorted(layout.labs.glob("*/lab.toml")))]:
        try:
            lab = labs.load(folder)
            course = courses.find_course(layout)
            found.append(course.applied(lab) if course else lab)
        except GraderError:
            continue
    return list({lab.folder.resolve(): lab for lab in found}.values())
