"""Git checkouts as GitHub Classroom and its successors name them: matmul-ada-l/ of the user ada-l, or ada-l/."""

from __future__ import annotations

import re
from functools import partial

from warpgrade.cohort.exports import Export, Found, read_items, source
from warpgrade.cohort.git_time import last_commit
from warpgrade.cohort.places import Place
from warpgrade.intake import archives
from warpgrade.lab.labs import Lab

_USER = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,38})")


def looks_so(place: Place) -> bool:
    """Whether most of the folders are git checkouts."""
    folders = [item for item in place.items if item.is_folder]
    return bool(folders) and 2 * sum(item.is_checkout for item in folders) > len(place.items)


def github(lab: Lab, place: Place) -> Export:
    """Read folders and archives as repositories; the time is the last commit's, of checkouts on disk."""
    others, repositories = [], []
    for item in place.items:
        if item.is_folder or archives.is_archive(item.name):
            repositories.append((item, item.name if item.is_folder else archives.without_suffix(item.name)))
        else:
            others.append(f"{item.shown}: not a repository")
    prefix = _prefix(lab, place.name, [name for _, name in repositories])
    found = []
    for item, name in repositories:
        user = name[len(prefix) :] if name.casefold().startswith(prefix.casefold()) else name
        submitted = last_commit(item.path) if item.path is not None and item.is_folder else None
        found.append(
            Found(
                user or name,
                "",
                source([item]),
                partial(read_items, lab, [item]),
                identifiers=(name,),
                github=(user, name),
                submitted=submitted,
            )
        )
    return Export(found, others)


def _prefix(lab: Lab, folder: str, names: list[str]) -> str:
    """Return what stands before each user's name: the assignment's, which the folder, the lab or all of them tell."""
    for assignment in (re.sub(r"-submissions\Z", "", folder), lab.name):
        prefix = f"{assignment}-"
        if 2 * sum(_follows(prefix, name) for name in names) > len(names):
            return prefix
    if len(names) < 2:
        return ""
    first, last = min(names), max(names)
    same = next((at for at, (one, other) in enumerate(zip(first, last, strict=False)) if one != other), len(first))
    common = first[:same]
    prefix = common[: common.rfind("-") + 1]
    return prefix if all(_follows(prefix, name) for name in names) else ""


def _follows(prefix: str, name: str) -> bool:
    return name.casefold().startswith(prefix.casefold()) and _USER.fullmatch(name[len(prefix) :]) is not None
