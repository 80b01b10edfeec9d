"""Reads the submission_metadata.yml of Gradescope's export: whose each submission is, and when it was handed in.

The file also holds all that autograders printed for each student. It is read as a stream of events, nothing is made of
what is not needed, and aliases are not followed.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, timezone
from typing import IO, Any

import yaml

from warpgrade.machine.errors import BadInput

METADATA = "submission_metadata.yml"
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_MAX_SUBMITTERS = 200
_MAX_TEXT_LENGTH = 400
_NOTHING = {"", "~", "null"}
_TIME = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)[T ]+(\d\d):(\d\d):(\d\d)(?:\.(\d{1,9})\d*)?\s*(?:(Z|UTC)|([+-])(\d\d):?(\d\d))?"
)


@dataclass
class Record:
    """What is said of one submission: by whom (name, sid, email), and when."""

    submitters: list[dict[str, str]] = field(default_factory=list)
    submitted: datetime | None = None


def read_metadata(file: IO[bytes]) -> dict[str, Record]:
    """Return what the file says of each submission; raises BadInput where it is not what Gradescope writes."""
    records: dict[str, Record] = {}
    try:
        events = _Events(yaml.parse(file, Loader=_LOADER))
        for key in events.mapping():
            if key is None:
                events.skip()
            else:
                records[key] = _record(events)
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        where = f", line {mark.line + 1}" if mark else ""
        raise BadInput(f"{METADATA}{where}: not what Gradescope writes", hint="export the submissions again") from None
    return records


class _Events:
    """YAML's events, read by whoever knows what should come next."""

    def __init__(self, events: Iterator[Any]) -> None:
        self._events = (
            event for event in events if not isinstance(event, (yaml.StreamStartEvent, yaml.DocumentStartEvent))
        )
        self._put_back: list[Any] = []  # events that were looked at, and are still the next ones
        self._texts: dict[str, str] = {}

    def mapping(self) -> Iterator[str | None]:
        """Yield a mapping's keys, None for one that is no text; whoever takes them reads the value after each."""
        if not self._begins(yaml.MappingStartEvent):
            return
        while not isinstance(event := self._next(), yaml.MappingEndEvent):
            text = self._text(event)
            if text is None:
                self._skip_rest(event)
            yield text

    def sequence(self) -> Iterator[None]:
        """Yield for each element that is a mapping, which the taker must read."""
        if not self._begins(yaml.SequenceStartEvent):
            return
        while not isinstance(event := self._next(), yaml.SequenceEndEvent):
            if isinstance(event, yaml.MappingStartEvent):
                self._put_back.append(event)
                yield
            else:
                self._skip_rest(event)

    def text(self) -> str:
        """Return a value that is text, or nothing for any other."""
        event = self._next()
        text = self._text(event)
        if text is None:
            self._skip_rest(event)
        return text or ""

    def text_or(self, *keys: str) -> str:
        """Return a value that is text, or the first of these keys' if it is a mapping, as Rails writes times."""
        event = self._next()
        if not isinstance(event, yaml.MappingStartEvent):
            self._put_back.append(event)
            return self.text()
        self._put_back.append(event)
        values = {key: self.text() for key in self.mapping()}
        return next((values[key] for key in keys if values.get(key)), "")

    def skip(self) -> None:
        """Read a value and forget it."""
        self._skip_rest(self._next())

    def _begins(self, kind: type) -> bool:
        event = self._next()
        if isinstance(event, kind):
            return True
        self._skip_rest(event)
        return False

    def _next(self) -> Any:
        return self._put_back.pop() if self._put_back else next(self._events)

    def _text(self, event: Any) -> str | None:
        if isinstance(event, yaml.AliasEvent):
            return self._texts.get(event.anchor, "")
        if not isinstance(event, yaml.ScalarEvent):
            return None
        text: str = event.value[:_MAX_TEXT_LENGTH]
        if not event.style and text in _NOTHING:
            text = ""
        if event.anchor:
            self._texts[event.anchor] = text
        return text

    def _skip_rest(self, event: Any) -> None:
        depth = 0
        while True:
            if isinstance(event, yaml.CollectionStartEvent):
                depth += 1
            elif isinstance(event, yaml.CollectionEndEvent):
                depth -= 1
            if depth <= 0:
                return
            event = self._next()


def _record(events: _Events) -> Record:
    record = Record()
    for key in events.mapping():
        if key == ":submitters":
            for _ in events.sequence():
                one = {}
                for word in events.mapping():
                    value = events.text()
                    if word in (":name", ":sid", ":email") and value:
                        one[word[1:]] = value
                if one and len(record.submitters) < _MAX_SUBMITTERS:
                    record.submitters.append(one)
        elif key == ":created_at":
            record.submitted = moment(events.text_or("utc", "time"))
        else:
            events.skip()
    return record


def moment(text: str) -> datetime | None:
    """Return a time as Ruby writes it, `2026-04-26 17:34:00.861687000 Z`, or None for what is none."""
    found = _TIME.fullmatch(text.strip())
    if not found:
        return None
    zone: timezone = UTC
    if found[9]:
        minutes = 60 * int(found[10]) + int(found[11])
        zone = timezone(timedelta(minutes=minutes if found[9] == "+" else -minutes))
    try:
        year, month, day, hour, minute, second = (int(found[number]) for number in range(1, 7))
        fraction = int((found[7] or "0").ljust(6, "0")[:6])
        return datetime(year, month, day, hour, minute, second, fraction, zone)
    except ValueError:
        return None
