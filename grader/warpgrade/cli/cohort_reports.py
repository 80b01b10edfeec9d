"""`similarity`: which submissions of a class have pieces in common."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from pathlib import Path

import click

from warpgrade.cli.console import console
from warpgrade.cohort import similarity, similarity_page
from warpgrade.cohort.similarity import Source
from warpgrade.grading import intake
from warpgrade.lab import agreement
from warpgrade.lab.labs import Lab
from warpgrade.machine import paths
from warpgrade.machine.errors import EXIT_DONE, BadInput
from warpgrade.machine.files import check_writable, write
from warpgrade.machine.progress import Progress


@click.command("similarity")
@click.argument("lab_name", metavar="LAB")
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path, exists=True, file_okay=False))
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
    lab_name: str, folder: Path, page: str | None, document: str | None, given: tuple[Path, ...], threshold: float,
    top: int,
) -> int:  # fmt: skip
    """Compare the submissions in a folder, and show the pairs that a person should look at.

    DIR has a folder, a file or a zip for each student. What the lab gives does not count, nor do names and layout.
    """
    for option, name in (("--html", page), ("--json", document)):
        if name is not None:
            check_writable(option, name)
    lab = agreement.find_own(paths.find_layout(), lab_name)
    texts = [*similarity.given_of(lab), *(file.read_text(encoding="utf-8", errors="replace") for file in given)]
    with Progress(console(stderr=True)) as progress:
        found = similarity.compare(_sources(lab, folder), texts, threshold=threshold, most=top, say=progress.say)
    if page is not None:
        write(page, "--html", similarity_page.page(found, f"{lab.title}: similar submissions"))
    write(document, "--json", similarity_page.encode(found))
    if "-" not in (page, document):
        similarity_page.show(console(), found, top=top)
    return EXIT_DONE


def _sources(lab: Lab, folder: Path) -> Iterator[Source]:
    paths_of = sorted(path for path in folder.iterdir() if not path.name.startswith("."))
    if not paths_of:
        raise BadInput(f"{folder} is empty", hint="it should contain a folder, file or zip for each student")
    for path in paths_of:
        yield Source(path.name, path.name, functools.partial(_files, lab, path))


def _files(lab: Lab, path: Path) -> dict[str, bytes]:
    return intake.read(lab, path).files
