"""Intake: reads a submission (folder, single file, zip or tar archive) into memory, trusting nothing about it.

Nothing is ever unpacked to disk under a name that the submission chose: only files whose plain names the lab allows
are taken, and the build writes them out under those names.
"""

import difflib
import functools
import io
import os
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import IO

from warpgrade.grading.submission import Submission
from warpgrade.intake import answers, archives, main_file
from warpgrade.intake.archives import MAX_ENTRIES, Member
from warpgrade.intake.main_file import without_text_suffix
from warpgrade.lab.labs import Lab
from warpgrade.machine.errors import BadInput
from warpgrade.machine.text import listing, printable_name
from warpgrade.platforms.file_names import is_archive, is_source
from warpgrade.platforms.registry import name_for_lab, original_names

MAX_FILE_BYTES = 1 << 20
MAX_TOTAL_BYTES = 4 << 20
MAX_ARCHIVE_BYTES = 64 << 20  # of an archive that is not a file of its own
_MAX_DEPTH = 8  # of folders that are looked through for the main file


@dataclass(frozen=True)
class Leniency:
    """How a hand-in is read that is not as the lab asks.

    repair: take what can be meant in one way only; otherwise it is refused. main: the path or name of the file that a
    person has accepted as the main file.
    """

    repair: bool = True
    main: str = ""


LENIENT, STRICT = Leniency(), Leniency(repair=False)
Reader = Callable[[Leniency], Submission]


@dataclass(frozen=True)
class _Selection:
    """The files to grade, by the lab's names; the names of all other files; notes for the student."""

    files: dict[str, bytes]
    others: list[str]
    notes: list[str] = field(default_factory=list)
    repairs: list[str] = field(default_factory=list)


def read_mode(path: Path, shown: str) -> int:
    """Return the mode of the file at a user's path; raises BadInput if there is none."""
    try:
        return path.stat().st_mode
    except FileNotFoundError:
        raise BadInput(f"{shown} does not exist") from None
    except (OSError, ValueError) as error:
        raise BadInput(f"{shown} cannot be read: {getattr(error, 'strerror', error)}") from None


def read(lab: Lab, path: Path, called: str = "", how: Leniency = LENIENT) -> Submission:
    """Read the submission at `path`; raises BadInput with what is wrong and what to do.

    called: what it is called in messages, if not by its path.
    """
    shown = called or printable_name(str(path))
    mode = read_mode(path, shown)
    folder: Path | None = path.parent
    if stat.S_ISDIR(mode):
        folder = _without_wrapping(path)
        members = _list_top(folder)
        # A whole disk is not read for a main file that is at the top.
        if how.main or (how.repair and not any(name_for_lab(lab, each.name) == lab.main_file for each in members)):
            members = _list_tree(path)
        found = _select_from(lab, members, shown, how)
    elif not stat.S_ISREG(mode):
        raise BadInput(f"{shown} is neither a folder nor a file")
    else:
        # The path itself may be a link: it was named by the person who grades.
        member = Member(path.name, functools.partial(open_regular, path.resolve(), path.name))
        if is_archive(path.name):
            folder = None
            with member.open() as file:
                found = _select_packed(lab, file, path.name, shown, how)
        elif is_source(without_text_suffix(path.name)):
            found = _select_single(lab, member)
        else:
            raise BadInput(
                f"{shown} is not a submission",
                hint=f"give a folder or an archive that contains {lab.main_file}, or the file itself",
            )
    return _submission(lab, found, shown, folder, how)


def read_members(lab: Lab, members: Sequence[Member], shown: str, how: Leniency = LENIENT) -> Submission:
    """Read a submission that is a part of something larger; raises BadInput as `read` does.

    A single source file, and a single archive without a source beside it, are taken as if they had been named alone.
    """
    alone = len(members) == 1 and is_source(members[0].name) and "/" not in members[0].path
    found = _select_single(lab, members[0]) if alone else _select_from(lab, members, shown, how)
    return _submission(lab, found, shown, None, how)


def _submission(lab: Lab, found: _Selection, shown: str, folder: Path | None, how: Leniency) -> Submission:
    _require_main_file(lab, found.files, found.others, shown)
    answered = answers.read(found.files.pop(lab.answers, b""))
    files, repairs = {}, list(found.repairs)
    for name, content in found.files.items():
        files[name] = _as_utf8(name, content) if how.repair else content
        if files[name] is not content:
            repairs.append(f"{name} was saved as UTF-16 and is graded as UTF-8")
        _check_content(name, files[name])
    ignored = sorted(
        printable_name(name)
        for name in found.others
        if is_source(name) and not any(lab.gives(each) for each in original_names(name))
    )
    notes = [*found.notes, *repairs]
    return Submission(
        name=shown,
        files=dict(sorted(files.items())),
        ignored=ignored,
        folder=None if notes else folder,
        notes=[*notes, *_tell_namesakes(ignored, files)],
        repairs=repairs,
        answers=answered,
    )


def _tell_namesakes(ignored: Iterable[str], files: Iterable[str]) -> Iterator[str]:
    """Say what to do about a `.cpp` that lies beside the `.cu` of its name: either may be the student's work."""
    for name in ignored:
        path = PurePosixPath(name)
        graded = path.with_suffix(".cu").name
        if path.suffix != ".cu" and graded in files:
            yield f"{name} was not graded, but {graded} was: if your work is in {path.name}, rename it to {graded}"


def _as_utf8(name: str, content: bytes) -> bytes:
    """Return the content; as UTF-8, if it says that it is UTF-16 and is."""
    if not content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return content
    try:
        return content.decode("utf-16").encode()
    except UnicodeError:
        return content


def _select(lab: Lab, members: Iterable[Member]) -> _Selection:
    """Select the lab's files: one with the exact name, else the only one that was renamed by a platform or browser."""
    by_name: dict[str, list[Member]] = {}
    by_case: dict[str, Member] = {}
    found = _Selection({}, [])
    for member in members:
        name = name_for_lab(lab, member.name)
        other = by_case.setdefault(member.name.casefold(), member)
        if other.name != member.name and (name or name_for_lab(lab, other.name)):
            raise BadInput(
                f"{printable_name(other.name)} and {printable_name(member.name)} differ only in capital letters",
                hint="keep the one to grade",
            )
        if name:
            by_name.setdefault(name, []).append(member)
        else:
            found.others.append(member.name)
    for name, several in by_name.items():
        exact = [member for member in several if member.name == name]
        if not exact and len(several) > 1:
            raise BadInput(
                f"each of {listing([member.name for member in several])} could be {name}",
                hint=f"keep the one to grade, and name it {name}",
            )
        (chosen,) = exact or several
        found.files[name] = _content(chosen)
        _check_total(found.files)
        found.others.extend(member.name for member in several if member is not chosen)
        if chosen.name != name:
            found.notes.append(_renaming_note(chosen.name, name))
    return found


def _content(member: Member) -> bytes:
    content = member.read(MAX_FILE_BYTES)
    if len(content) > MAX_FILE_BYTES:
        raise BadInput(
            f"{printable_name(member.name)} is larger than {MAX_FILE_BYTES >> 20} MiB: too large for a source file of "
            "this lab"
        )
    return content


def _renaming_note(given: str, name: str) -> str:
    return f"{printable_name(given)} is graded as {name}"


def _check_total(files: dict[str, bytes]) -> None:
    if sum(map(len, files.values())) > MAX_TOTAL_BYTES:
        raise BadInput(f"together, the submission's files are larger than {MAX_TOTAL_BYTES >> 20} MiB")


# --- folder and single file ------------------------------------------------------------------------------------------


def _without_wrapping(folder: Path) -> Path:
    """Return the only subfolder if no source is beside it: students often hand in the folder around theirs."""
    names, subfolders = _list_folder(folder)
    wraps = len(subfolders) == 1 and not any(is_source(name) or is_archive(name) for name in names)
    return folder / subfolders[0] if wraps else folder


def _list_top(folder: Path) -> list[Member]:
    names, _ = _list_folder(folder)
    return [Member(name, functools.partial(open_regular, folder / name, name)) for name in names]


def _list_tree(folder: Path) -> list[Member]:
    """Return the files in a folder and in the folders below it."""
    members: list[Member] = []
    waiting = [""]
    while waiting:
        above = waiting.pop()
        names, subfolders = _list_folder(folder / above)
        here = folder / above
        members += [Member(above + name, functools.partial(open_regular, here / name, name)) for name in names]
        waiting += [f"{above}{name}/" for name in reversed(subfolders) if (above + name).count("/") < _MAX_DEPTH]
        if len(members) > MAX_ENTRIES:
            raise BadInput(f"{printable_name(str(folder))} contains more than {MAX_ENTRIES} files")
    return members


def _list_folder(folder: Path) -> tuple[list[str], list[str]]:
    """Return the visible files (of any kind) and the real sub-folders, sorted."""
    names: list[str] = []
    subfolders: list[str] = []
    try:
        with os.scandir(folder) as entries:
            for count, entry in enumerate(entries):
                if count >= MAX_ENTRIES:
                    raise BadInput(f"{printable_name(str(folder))} contains more than {MAX_ENTRIES} files")
                if archives.is_clutter(entry.name):
                    continue
                (subfolders if entry.is_dir(follow_symlinks=False) else names).append(entry.name)
    except OSError as error:
        raise BadInput(f"{printable_name(str(folder))} cannot be read: {error.strerror}") from None
    return sorted(names), sorted(subfolders)


def open_regular(path: Path, name: str) -> IO[bytes]:
    """Open a regular file; links, pipes and devices are refused without opening what is behind them."""
    shown = printable_name(name)
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        what = (
            "is a symbolic link; hand in the file itself" if path.is_symlink() else f"cannot be read: {error.strerror}"
        )
        raise BadInput(f"{shown} {what}") from None
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise BadInput(f"{shown} is not a regular file")
    return os.fdopen(descriptor, "rb")


def _select_single(lab: Lab, member: Member) -> _Selection:
    main, given = lab.main_file, without_text_suffix(member.name)
    alike = [name for name in lab.file.lab.files if PurePosixPath(name).suffix == PurePosixPath(given).suffix]
    if name_for_lab(lab, member.name) or alike != [main]:
        return _select(lab, [member])
    # Whoever names one file means it, and there is only one that it can be.
    return _Selection({main: _content(member)}, [], [_renaming_note(member.name, main)])


# --- archives and what is in them ------------------------------------------------------------------------------------


def _select_packed(lab: Lab, file: IO[bytes], name: str, shown: str, how: Leniency, depth: int = 1) -> _Selection:
    def wanted(each: str) -> bool:
        return bool(name_for_lab(lab, each)) or is_source(without_text_suffix(each)) or is_archive(each)

    with archives.open_archive(file, name, shown, wanted, MAX_FILE_BYTES) as members:
        return _select_from(lab, members, shown, how, depth)


def _read_packed(lab: Lab, member: Member, how: Leniency, depth: int) -> _Selection:
    """Read an archive that is itself a part of something: a bounded copy of it, without a name."""
    shown = printable_name(member.name)
    with io.BytesIO() as copy, member.open() as file:
        size = 0
        while chunk := file.read(1 << 16):
            size += copy.write(chunk)
            if size > MAX_ARCHIVE_BYTES:
                raise BadInput(f"{shown} is larger than {MAX_ARCHIVE_BYTES >> 20} MiB: too large for a submission")
        return _select_packed(lab, copy, member.name, shown, how, depth)


def _select_from(lab: Lab, members: Sequence[Member], shown: str, how: Leniency, depth: int = 0) -> _Selection:
    """Select the lab's files: at the top, in the only folder, in the only archive; else where the main file must be."""
    if not members:
        raise BadInput(f"{shown} is empty", hint=f"it should contain {lab.main_file}")
    packed = [member for member in members if is_archive(member.name)]
    if len(packed) == 1 and depth < (2 if how.repair else 1) and not any(is_source(each.name) for each in members):
        found = _read_packed(lab, packed[0], how, depth + 1)
        found.notes.insert(0, f"taken from {printable_name(packed[0].name)}")
        return found
    if how.main:
        accepted = main_file.choose(members, how.main)
        found = _select_around(lab, members, accepted, "accepted by the person who grades")
    else:
        found = _select_at_top(lab, members, shown)
        if lab.main_file not in found.files and how.repair and (main := main_file.find(lab, members, MAX_FILE_BYTES)):
            found = _select_around(lab, members, main)
    if how.repair and lab.main_file in found.files:
        _take_from_elsewhere(lab, members, found)
    return found


def _take_from_elsewhere(lab: Lab, members: Sequence[Member], found: _Selection) -> None:
    """Take the lab's files that are not beside the main file, where only one can be meant."""
    for name in filter(None, (*lab.file.lab.files, lab.answers)):
        there = [member for member in members if member.name == name]
        if name in found.files or not there:
            continue
        if len({member.read(MAX_FILE_BYTES) for member in there}) > 1:
            found.notes.append(f"{name} is in several folders, and none was taken: put it beside {lab.main_file}")
            continue
        found.files[name] = _content(there[0])
        _check_total(found.files)
        found.others[:] = [other for other in found.others if other != name]
        found.repairs.append(_renaming_note(there[0].path, name))


def _select_around(lab: Lab, members: Sequence[Member], main: Member, why: str = "") -> _Selection:
    """Select this file as the main file, and the lab's other files beside it."""
    folder = main.path.removesuffix(main.name)
    beside = [each for each in members if each.path == folder + each.name and each is not main]
    found = _select(lab, [each for each in beside if name_for_lab(lab, each.name) != lab.main_file])
    found.files[lab.main_file] = _content(main)
    _check_total(found.files)
    found.others.extend(each.name for each in members if each is not main and each not in beside)
    note = f"{printable_name(main.path)} is graded as {lab.main_file}"
    found.repairs.append(f"{note}: {why}" if why else note)
    return found


def _select_at_top(lab: Lab, members: Sequence[Member], shown: str) -> _Selection:
    """Select the lab's files at the top, or in the only folder if no source is at the top."""
    inner = _wrapping_folder(members)
    files: dict[str, Member] = {}
    elsewhere: list[str] = []
    for member in members:
        if member.path.removesuffix(member.name) != inner:
            elsewhere.append(member.name)
        elif member.name in files and name_for_lab(lab, member.name):
            raise BadInput(f"{shown} contains {printable_name(member.name)} twice")
        else:
            files[member.name] = member
    found = _select(lab, files.values())
    found.others.extend(elsewhere)
    return found


def _wrapping_folder(members: Sequence[Member]) -> str:
    """Return the folder around the files with its slash, or ""; `_without_wrapping` has the same rule."""
    folders = {member.path.partition("/")[0] for member in members if "/" in member.path}
    top = [member.name for member in members if "/" not in member.path]
    is_wrapped = len(folders) == 1 and not any(is_source(name) or is_archive(name) for name in top)
    return f"{folders.pop()}/" if is_wrapped else ""


# --- checks ----------------------------------------------------------------------------------------------------------


def _check_content(name: str, content: bytes) -> None:
    if not content.strip():
        raise BadInput(f"{name} is empty")
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise BadInput(f"{name} is saved as UTF-16", hint="save it as UTF-8 (in most editors: “Save with encoding”)")
    if b"\0" in content:
        raise BadInput(f"{name} is not a text file", hint="hand in the source, not a compiled program or an archive")


def _require_main_file(lab: Lab, files: dict[str, bytes], others: list[str], shown: str) -> None:
    wanted = lab.main_file
    if wanted in files:
        return
    sources = sorted(PurePosixPath(name).name for name in others if is_source(name))
    code = [name for name in sources if main_file.is_code(name)]  # a header is not the main file under another name
    same = [name for name in code if name.lower() == wanted.lower()]
    close = same or difflib.get_close_matches(wanted, code, n=1, cutoff=0.6)
    if wanted in same:
        raise BadInput(f"{wanted} is in a subfolder of {shown}", hint="put it at the top of the folder or archive")
    if close:
        raise BadInput(
            f"expected {wanted}, found {printable_name(close[0])}",
            hint=f"rename {printable_name(close[0])} to {wanted}; names are case-sensitive",
        )
    what = f"found {listing(sorted(set(sources) or set(others)))}" if others else "found no file"
    raise BadInput(f"expected {wanted}, {what}", hint=f"the lab accepts {', '.join(lab.file.lab.files)}")
