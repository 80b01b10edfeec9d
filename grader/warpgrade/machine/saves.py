"""Waits until files of a folder are saved: looks at them again and again, which works on every file system."""

import os
import time
from collections.abc import Callable
from pathlib import Path

_POLL_SECONDS = 0.2
_SETTLED_SECONDS = 0.1
# Editors that save by renaming take a file away for a moment; one that stays away has been removed.
_PATIENCE = 10

State = dict[str, tuple[int, int, int, int]]


class Saves:
    """The files of a folder whose names are wanted, as they were when we last looked."""

    def __init__(self, folder: Path, wanted: Callable[[str], bool]) -> None:
        self._folder = folder
        self._wanted = wanted
        self._seen = self._state()

    def wait(self) -> list[str]:
        """Return the names of files that have been saved, added or removed since the last call, once they rest."""
        while True:
            while (now := self._state()) == self._seen:
                pause(_POLL_SECONDS)
            now, seen = self._at_rest(now), self._seen
            self._seen = now
            if names := sorted(name for name in now.keys() | seen.keys() if now.get(name) != seen.get(name)):
                return names

    def _at_rest(self, now: State) -> State:
        """Return the state that stays; a file that is there no more is waited for."""
        for _ in range(_PATIENCE):
            pause(_SETTLED_SECONDS)
            before, now = now, self._state()
            if now == before and self._seen.keys() <= now.keys():
                break
        return now

    def _state(self) -> State:
        found: State = {}
        try:
            with os.scandir(self._folder) as entries:
                for entry in entries:
                    if not self._wanted(entry.name):
                        continue
                    try:
                        seen = entry.stat()
                    except OSError:
                        continue
                    # A file that was put in another's place may have its time and size.
                    found[entry.name] = (seen.st_mtime_ns, seen.st_size, seen.st_ino, seen.st_ctime_ns)
        except OSError:
            return {}
        return found


def pause(seconds: float) -> None:
    """Sleep; tests do something else meanwhile."""
    time.sleep(seconds)
