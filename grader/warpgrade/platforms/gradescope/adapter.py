"""Gradescope: "Export Submissions" with folders submission_123456 and submission_metadata.yml; results.json."""

from collections.abc import Sequence

from warpgrade.lab.labs import Lab
from warpgrade.machine.errors import BadInput
from warpgrade.machine.text import printable_name
from warpgrade.platforms.adapter import Adapter, Attempt, Contents, Entry, Export
from warpgrade.platforms.gradescope import results
from warpgrade.platforms.gradescope.metadata import METADATA, read_metadata


def _is_metadata(entry: Entry) -> bool:
    return entry.name == METADATA and not entry.is_folder


def _read(_: Lab, folder: str, entries: Sequence[Entry]) -> Contents:
    """Read what the metadata names; a submission of several students is one of each."""
    folders = {entry.name: entry for entry in entries if not _is_metadata(entry)}
    metadata = next(filter(_is_metadata, entries), None)
    if metadata is None:
        raise BadInput(
            f"{printable_name(folder)} has no {METADATA}", hint="in Gradescope: Review Grades, Export Submissions"
        )
    with metadata.open() as file:
        records = read_metadata(file)
    contents = Contents([])
    for key, record in records.items():
        entry = folders.pop(key, None)
        if entry is None:
            contents.lost.append(f"{printable_name(key)}: it is in {METADATA}, but not in the export; export it again")
            continue
        if not record.submitters:
            contents.unclaimed.append((entry, f"{METADATA} names no student"))
        for one in record.submitters:
            identifiers = tuple(one[what] for what in ("sid", "email") if what in one)
            name = one.get("name", "")
            contents.attempts.append(
                Attempt(
                    next(iter([*identifiers, name])), [entry], name, identifiers, submitted=record.submitted
                )
            )  # fmt: skip
    contents.unclaimed.extend((entry, f"not in {METADATA}") for entry in folders.values())
    return contents


ADAPTER = Adapter(
    title="Gradescope",
    export=Export(_is_metadata, _read, certainty=4, share=0, metadata=METADATA),
    formats=(results.FORMAT,),
)
