"""Reads course.toml; each mistake in it is told with its line and what to do about it."""

import difflib
import re
import zoneinfo
from collections.abc import Iterable, Iterator
from datetime import date, datetime, time, tzinfo
from typing import Any

import msgspec

from warpgrade.course.schema import SCHEMA, CourseFile, LabEntry, Policy, RubricItem
from warpgrade.lab import labs
from warpgrade.lab.labs import PRELAB, Lab, Mistake
from warpgrade.lab.toml_lines import explain_error, find_line, line_with
from warpgrade.machine import device, toml_file
from warpgrade.machine.errors import GraderError
from warpgrade.machine.paths import Layout
from warpgrade.machine.text import bounded
from warpgrade.machine.toml_file import TomlMistake

NAME = "course.toml"
_TABLES = ("course", "late", "policy")
_RELEASE = re.compile(r"\d+(\.\d+){0,2}")
# A day without a time is meant to its end where something ends, and from its start where something begins.
_ENDS = ("due", "prelab_due", "until")
_DATES = {"lab": ("due", "prelab_due", "hidden_until"), "extension": ("until",)}
_MAX_POINTS, _MAX_DAYS, _YEARS = 1_000_000, 366, (1990, 9990)
_WITH_OFFSET = "2027-03-01T23:59:00+01:00"


class CourseMistake(GraderError):  # noqa: N818 - reads as what it is
    """A mistake of whoever wrote course.toml: no reason for a zero."""


def read(layout: Layout) -> tuple[CourseFile, str] | None:
    """Return the course's file and its text; None where there is no course.toml. Raises CourseMistake."""
    path = layout.root / NAME
    try:
        text = toml_file.read(path)
    except FileNotFoundError:
        return None
    except TomlMistake as mistake:
        raise CourseMistake(f"{NAME} {mistake.what}", hint=f"look at {path}") from None
    except OSError as error:
        raise CourseMistake(f"{NAME} cannot be read: {error.strerror}", hint=f"look at {path}") from None
    return parse(text), text


def parse(text: str) -> CourseFile:
    """Return what the text of a course.toml says."""
    try:
        raw = toml_file.parse(text)
    except TomlMistake as mistake:
        more = "; text needs quotation marks, and dates have none" if "not valid TOML" in mistake.what else ""
        where = f"{NAME}:{mistake.line}:" if mistake.line else NAME
        raise CourseMistake(f"{where} {mistake.what}{more}") from None
    _require_schema(raw, text)
    refuse(_with_times(raw, text))
    try:
        file = msgspec.convert(raw, CourseFile)
    except msgspec.ValidationError as error:
        line_number, what = explain_error(str(error), raw, text, _TABLES)
        raise CourseMistake(Mistake(NAME, line_number, _with_close_key(what)).message) from None
    refuse(Mistake(NAME, line, what) for line, what in _mistakes(file, text))
    return file


def refuse(mistakes: Iterable[Mistake]) -> None:
    """Raise CourseMistake if there are any: the first is what is wrong, and the others are its detail."""
    told = [mistake.message for mistake in mistakes]
    if told:
        raise CourseMistake(told[0], detail=bounded("\n".join(told[1:]), lines=20))


def _require_schema(raw: dict[str, Any], text: str) -> None:
    known = f"this version of Warpgrade reads schema {SCHEMA}"
    version = raw.get("schema")
    if version == SCHEMA and not isinstance(version, bool):
        return
    line = next((n for n, row in enumerate(text.splitlines(), 1) if re.match(r"\s*schema\s*=", row)), 1)
    if version is None:
        what = f"the file's schema is missing: begin it with `schema = {SCHEMA}`, above the first [table]"
    elif isinstance(version, int) and version > SCHEMA:
        what = f"schema {version} is newer than this: {known}; update Warpgrade"
    else:
        what = f"schema = {version!r} is unknown: {known}; write `schema = {SCHEMA}`"
    raise CourseMistake(Mistake(NAME, line, what).message)


def _with_times(raw: dict[str, Any], text: str) -> Iterator[Mistake]:
    """Give all dates a time and its offset, in place; yield where that cannot be done."""
    head = raw.get("course")
    name = head.get("timezone", "") if isinstance(head, dict) else ""
    zone = None
    if isinstance(name, str) and name:
        try:
            zone = zoneinfo.ZoneInfo(name)
        except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
            what = f"timezone: “{name}” is unknown here: use a name like Europe/Berlin, or install tzdata"
            yield Mistake(NAME, find_line(text, "course", key="timezone"), what)
            return
    for table, keys in _DATES.items():
        entries = raw.get(table)
        for index, entry in enumerate(entries if isinstance(entries, list) else []):
            for key in keys if isinstance(entry, dict) else ():
                if isinstance(entry.get(key), date):
                    entry[key], wrong = _moment(entry[key], key, zone)
                    if wrong:
                        yield Mistake(NAME, find_line(text, table, index, key), f"{key}: {wrong}")
                elif isinstance(entry.get(key), str):
                    what = f"{key}: write the date without quotation marks: {key} = {_WITH_OFFSET}"
                    yield Mistake(NAME, find_line(text, table, index, key), what)


def _moment(value: date, key: str, zone: tzinfo | None) -> tuple[date, str]:
    if not isinstance(value, datetime):
        value = datetime.combine(value, time(23, 59, 59) if key in _ENDS else time())
    if not _YEARS[0] <= value.year <= _YEARS[1]:
        return value, f"the year {value.year} is not between {_YEARS[0]} and {_YEARS[1]}: is the date right?"
    if value.tzinfo is not None:
        return value, ""
    if zone is None:
        example = value.strftime("%Y-%m-%dT%H:%M:%S+01:00")
        return value, f'in which time zone? Write {example}, or `timezone = "Europe/Berlin"` in [course] for all dates'
    return value.replace(tzinfo=zone), ""


def _with_close_key(what: str) -> str:
    """Add which keys there are, or which is close, to the words about an unknown one."""
    found = re.search(r"(?:\[\[?(\w+)\]?\].*: )?unknown key `(\w+)`", what)
    if found is None:
        return what
    kinds = {field.name: field.type for field in msgspec.structs.fields(CourseFile)}
    kind = kinds.get(found[1], CourseFile) if found[1] else CourseFile
    kind = RubricItem if ".rubric[" in what else getattr(kind, "__args__", (kind,))[0]
    keys = [field.name for field in msgspec.structs.fields(kind)]
    close = difflib.get_close_matches(found[2], keys, n=1)
    return f"{what}: did you mean `{close[0]}`?" if close else f"{what}; there are {', '.join(keys)}"


def _mistakes(file: CourseFile, text: str) -> Iterator[tuple[int, str]]:
    """Yield all that is wrong beyond types, without a look at the labs."""
    head = file.course
    if not head.title.strip():
        yield find_line(text, "course", key="title"), "title: the course needs one"
    if not device.is_spec(head.device):
        what = f"device: “{head.device}” is none; use auto, vgpu, vgpu:PROFILE or vgpu:PROFILE:MULTIPROCESSORS"
        yield find_line(text, "course", key="device"), what
    if head.compiler and not _RELEASE.fullmatch(head.compiler):
        what = f"compiler: “{head.compiler}” is no version of nvcc; write one like 13.0 or 13.0.88"
        yield find_line(text, "course", key="compiler"), what
    yield from _mistakes_in_labs(file.lab, text)
    yield from _mistakes_in_policies(file, text)
    yield from _mistakes_in_extensions(file, text)


def _mistakes_in_labs(entries: list[LabEntry], text: str) -> Iterator[tuple[int, str]]:
    if not entries:
        yield 0, "the course has no lab: add a [[lab]] with its name for each"
        return
    seen: set[str] = set()
    for index, entry in enumerate(entries):
        if not labs.is_name(entry.name):
            what = f"name: “{entry.name}” is no lab's name, which is that of its folder in labs/"
            yield find_line(text, "lab", index, "name"), what
        if entry.name in seen:
            yield find_line(text, "lab", index, "name"), f"lab “{entry.name}” appears twice: remove one of the two"
        seen.add(entry.name)
        if not 0 <= entry.weight <= _MAX_POINTS:
            what = f"“{entry.name}”: weight must not be below 0, nor above {_MAX_POINTS:,}"
            yield find_line(text, "lab", index, "weight"), what
        if entry.prelab_due and entry.due and entry.prelab_due > entry.due:
            what = f"“{entry.name}”: its prelab is due after the lab ({entry.due:%Y-%m-%d %H:%M}): is the date right?"
            yield find_line(text, "lab", index, "prelab_due"), what
        for test, points in entry.points.items():
            if not 0 <= points <= _MAX_POINTS:
                line = line_with(text, test, find_line(text, "lab", index))
                yield line, f"“{entry.name}”, points of “{test}”: must not be below 0, nor above {_MAX_POINTS:,}"
        yield from _mistakes_in_rubric(entry, find_line(text, "lab", index, "rubric"), text)
    if sum(entry.weight for entry in entries) == 0:
        yield find_line(text, "lab", key="weight"), "all weights together are 0: give at least one lab a weight"


def _mistakes_in_rubric(entry: LabEntry, start: int, text: str) -> Iterator[tuple[int, str]]:
    seen: set[str] = set()
    for item in entry.rubric:
        about = f"“{entry.name}”, rubric: “{item.name}”"
        line = line_with(text, item.name, start)
        if not item.name.strip() or "=" in item.name:
            yield line, f"{about}: an item needs a name, without the sign ="
        if item.name.casefold() in seen:
            yield line, f"{about} appears twice: remove one of the two"
        seen.add(item.name.casefold())
        if not 0 < item.points <= _MAX_POINTS:
            yield line, f"{about}: points must be above 0, and at most {_MAX_POINTS:,}"


def _mistakes_in_policies(file: CourseFile, text: str) -> Iterator[tuple[int, str]]:
    late = file.late
    if not 0 <= late.grace_minutes <= _MAX_DAYS * 24 * 60:
        yield find_line(text, "late", key="grace_minutes"), "late.grace_minutes must not be below 0, nor above a year"
    if not 0 <= late.percent_per_day <= 100:
        yield find_line(text, "late", key="percent_per_day"), "late.percent_per_day must be between 0 and 100"
    if late.max_days is not None and late.max_days < 1:
        what = "late.max_days must be at least 1; if nothing late is to count, write hard = true in its place"
        yield find_line(text, "late", key="max_days"), what
    if late.hard and (late.percent_per_day or late.max_days is not None):
        what = "late.hard means that nothing late counts: remove it, or percent_per_day and max_days"
        yield find_line(text, "late", key="hard"), what
    if not 0 <= file.policy.repair_percent <= 100:
        yield find_line(text, "policy", key="repair_percent"), "policy.repair_percent must be between 0 and 100"
    yield from _mistakes_in_attempts(file.policy, text)


def _mistakes_in_attempts(policy: Policy, text: str) -> Iterator[tuple[int, str]]:
    if policy.max_attempts is not None and policy.max_attempts < 1:
        what = "policy.max_attempts must be at least 1; without a limit, leave it out"
        yield find_line(text, "policy", key="max_attempts"), what
    if not 0 <= policy.cooldown_minutes <= _MAX_DAYS * 24 * 60:
        what = "policy.cooldown_minutes must not be below 0, nor above a year"
        yield find_line(text, "policy", key="cooldown_minutes"), what


def _mistakes_in_extensions(file: CourseFile, text: str) -> Iterator[tuple[int, str]]:
    due = {entry.name: entry.due for entry in file.lab}
    for index, one in enumerate(file.extension):
        line = find_line(text, "extension", index)
        if not one.student.strip():
            yield find_line(text, "extension", index, "student"), "extension: student must not be empty"
        if (one.until is None) == (one.days is None):
            yield line, f"extension of “{one.student}”: give either `until`, a date, or `days`, a number"
        if one.days is not None and not 0 < one.days <= _MAX_DAYS:
            what = f"extension of “{one.student}”: days must be above 0, and at most {_MAX_DAYS}"
            yield find_line(text, "extension", index, "days"), what
        if not one.lab:
            if one.until is not None:
                yield line, f"extension of “{one.student}”: `until` needs a `lab`; for all labs use `days`"
            continue
        if one.lab not in due:
            what = f"extension of “{one.student}”: there is no [[lab]] “{one.lab}”"
            yield find_line(text, "extension", index, "lab"), what + _close(one.lab, due)
        elif (end := due[one.lab]) is None:
            yield line, f"extension of “{one.student}”: lab “{one.lab}” has no due date; give it one, or remove this"
        elif one.until is not None and one.until <= end:
            what = f"extension of “{one.student}” ends before the lab is due ({end:%Y-%m-%d %H:%M})"
            yield find_line(text, "extension", index, "until"), f"{what}: is the date right?"


def mistakes_with_lab(entry: LabEntry, index: int, lab: Lab, text: str) -> Iterator[Mistake]:
    """Yield where the points of a lab's entry do not fit its lab.toml."""
    items = {item.name: item for item in lab.items}
    start = find_line(text, "lab", index)
    for test in entry.points:
        line = line_with(text, test, start)
        if test not in items:
            what = f"lab “{lab.name}” has no test “{test}”" + _close(test, items)
            yield Mistake(NAME, line, what)
    if entry.prelab_due and not any(name.startswith(PRELAB) for name in items):
        what = f"lab “{lab.name}” has no prelab, which is tests whose names begin with “{PRELAB}”: remove prelab_due"
        yield Mistake(NAME, find_line(text, "lab", index, "prelab_due"), what)
    if items and not sum(entry.points.get(name, item.points) for name, item in items.items()):
        yield Mistake(NAME, start, f"all points of lab “{lab.name}” together are 0: give at least one test points")


def missing_labs(file: CourseFile, text: str, layout: Layout) -> Iterator[Mistake]:
    """Yield the labs that are not there."""
    known = sorted(path.parent.name for path in layout.labs.glob("*/lab.toml"))
    for index, entry in enumerate(file.lab):
        if entry.name not in known:
            what = f"there is no lab “{entry.name}” in labs/" + (
                _close(entry.name, known) or ": add it, or remove this"
            )
            yield Mistake(NAME, find_line(text, "lab", index, "name"), what)


def _close(word: str, among: Iterable[str]) -> str:
    names = list(among)
    close = difflib.get_close_matches(word, names, n=1, cutoff=0.5)
    if close:
        return f": did you mean “{close[0]}”?"
    return f"; there are {', '.join(f'“{name}”' for name in names)}" if len(names) <= 20 and names else ""
