"""GitHub: checkouts as Classroom and its successors name them, matmul-ada-l/ of the user ada-l, or ada-l/; Actions."""

import re
from collections.abc import Sequence

from warpgrade.lab.labs import Lab
from warpgrade.platforms.adapter import Adapter, Attempt, Contents, Entry, Export
from warpgrade.platforms.file_names import is_archive, without_archive_suffix
from warpgrade.platforms.github import workflow_annotations
from warpgrade.platforms.github.git_time import last_commit

_USER = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,38})")


def _read(lab: Lab, folder: str, entries: Sequence[Entry]) -> Contents:
    """Read folders and archives as repositories; the time is the last commit's, of checkouts on disk."""
    contents = Contents([])
    repositories = {}
    for entry in entries:
        if entry.is_folder or is_archive(entry.name):
            repositories[entry.name if entry.is_folder else without_archive_suffix(entry.name)] = entry
        else:
            contents.unclaimed.append((entry, "not a repository"))
    prefix = _prefix(lab, folder, list(repositories))
    for name, entry in repositories.items():
        user = name[len(prefix) :] if name.casefold().startswith(prefix.casefold()) else name
        submitted = last_commit(entry.path) if entry.path is not None and entry.is_folder else None
        contents.attempts.append(
            Attempt(user or name, [entry], identifiers=(name,), accounts=(user, name), submitted=submitted)
        )
    return contents


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


ADAPTER = Adapter(
    title="GitHub",
    # Checkouts may be handed in on any platform, so a name says more.
    export=Export(lambda entry: entry.is_checkout, _read, certainty=1),
    account_headings=("github", "githubusername", "githublogin", "githubuser"),
    formats=(workflow_annotations.FORMAT,),
)
