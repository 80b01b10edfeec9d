"""All platforms with an adapter, found by their folders, and questions to all of them at once."""

import importlib
from collections.abc import Mapping, Sequence
from pathlib import Path

from warpgrade.lab.labs import Lab
from warpgrade.platforms.adapter import MAX_NAME_LENGTH, Adapter, Entry, Export, Sheet
from warpgrade.platforms.file_names import choose_lab_name, without_copy_number
from warpgrade.report.format import Format, Reads


def _load_adapters() -> dict[str, Adapter]:
    names = sorted(path.parent.name for path in Path(__file__).parent.glob("*/adapter.py"))
    return {name: importlib.import_module(f"warpgrade.platforms.{name}.adapter").ADAPTER for name in names}


# At import, because a process that reads what students handed in may open no module any more.
ADAPTERS: Mapping[str, Adapter] = _load_adapters()
EXPORTS: Mapping[str, Export] = {name: each.export for name, each in ADAPTERS.items() if each.export}
SHEETS: Mapping[str, Sheet] = {name: each.sheet for name, each in ADAPTERS.items() if each.sheet}
# Reads what no other adapter recognises.
FALLBACK = min(EXPORTS, key=lambda name: EXPORTS[name].certainty)


def original_names(name: str) -> list[str]:
    """Return the names that a file may have had before a browser or a platform renamed it, the likeliest last."""
    names = {name}
    if len(name) <= MAX_NAME_LENGTH:
        names |= {before for each in ADAPTERS.values() for before in each.original_names(name)}
        names |= {without_copy_number(each) for each in names}
    return sorted(names, key=lambda each: (-len(each), each))


def name_for_lab(lab: Lab, name: str) -> str:
    """Return the name of the lab's that a file had before it was renamed, or ""."""
    return choose_lab_name(lab, original_names(name))


def is_entry(entry: Entry) -> bool:
    """Whether a platform named this entry, which then belongs to one student."""
    return any(export.is_entry(entry) for export in EXPORTS.values())


def recognise(entries: Sequence[Entry]) -> str:
    """Return the platform whose export this is."""
    known = [name for name, export in EXPORTS.items() if export.recognises(entries)]
    return max(known, key=lambda name: EXPORTS[name].certainty, default=FALLBACK)


def is_submission_name(name: str) -> bool:
    """Whether a platform gave this name, and it names the student."""
    return any(sheet.find_ids(name) for sheet in SHEETS.values())


def formats(reads: Reads) -> list[Format]:
    """Return the platforms' formats that a result, or a profile, can be written in."""
    return [each for adapter in ADAPTERS.values() for each in adapter.formats if each.reads in (reads, "findings")]
