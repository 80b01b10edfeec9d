"""`similarity`: which submissions of a class have pieces in common."""

import functools
from pathlib import Path

import click

from warpgrade.cli.console import console
from warpgrade.cohort import receive, similarity, similarity_page
from warpgrade.cohort.attempts import ClassAttempts, StudentAttempt, latest_attempts
from warpgrade.cohort.similarity import Source
from warpgrade.intake.intake import LENIENT
from warpgrade.lab import agreement
from warpgrade.machine import paths
from warpgrade.machine.errors import EXIT_DONE
from warpgrade.machine.files import check_writable, write
from warpgrade.machine.progress import Progress
from warpgrade.platforms.registry import EXPORTS


@click.command("similarity")
@click.argument("lab_name", metavar="LAB")
@click.argument("path", metavar="PATH", type=click.Path(path_type=Path, exists=True))
@click.option("--platform", type=click.Choice(list(EXPORTS)), help="Whose export it is, if not recognised.")
@click.option("--html", "page", metavar="FILE", help="A page with the pieces of each pair side by side.")
@click.option("--json", "document", metavar="FILE", help="The pairs and where their pieces are; - is stdout.")
@click.option(
    "--given", multiple=True, metavar="FILE", type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="More code that students were given, such as of a lecture.",
)  # fmt: skip
@click.option(
    "--threshold", type=click.FloatRange(0, 100, min_open=True), default=similarity.THRESHOLD, show_default=True,
    metavar="PERCENT", help="Of one student's own code that another has too.",
)  # fmt: skip
@click.option("--top", type=click.IntRange(1, 1000), default=50, show_default=True, help="At most so many pairs.")
def similarity_command(
    lab_name: str, path: Path, platform: str | None, page: str | None, document: str | None,
    given: tuple[Path, ...], threshold: float, top: int,
) -> int:  # fmt: skip
    """Compare a class's submissions, and show the pairs to look at.

    PATH is what `class` takes. What the lab gives does not count, nor do names and layout. This is no part of a grade.
    """
    for option, name in (("--html", page), ("--json", document)):
        if name is not None:
            check_writable(option, name)
    lab = agreement.find_own(paths.find_layout(), lab_name)
    texts = [*similarity.given_code(lab), *(file.read_text(encoding="utf-8", errors="replace") for file in given)]
    with Progress(console(stderr=True)) as progress:
        sources = _sources(receive.read(lab, path, platform=platform))
        found = similarity.compare(sources, texts, threshold=threshold, most=top, say=progress.say)
    if page is not None:
        write(page, "--html", similarity_page.page(found, f"{lab.title}: similar submissions"))
    write(document, "--json", similarity_page.encode(found))
    if "-" not in (page, document):
        similarity_page.show(console(), found, top=top)
    return EXIT_DONE


def _sources(collected: ClassAttempts) -> list[Source]:
    """Return the latest submission of each student."""
    last = latest_attempts(collected.submissions)
    return [Source(one.student, _shown(one), functools.partial(_files, one)) for one in last]


def _shown(one: StudentAttempt) -> str:
    return f"{one.name} ({one.student})" if one.name and one.name != one.student else one.student


def _files(one: StudentAttempt) -> dict[str, bytes]:
    return one.read(LENIENT).files
