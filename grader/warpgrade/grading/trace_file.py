"""The file in which a judge leaves accesses that the device recorded, apart from its verdicts."""

import tempfile
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path
from types import TracebackType

import msgspec

from warpgrade.findings.accesses import Traces


class Recording:
    """Asks the judge for accesses, if anybody wants them; use as a context manager around its run."""

    def __init__(self, traces: Traces | None) -> None:
        self._traces = traces
        self._folder = tempfile.TemporaryDirectory(prefix="warpgrade-accesses-") if traces is not None else None
        self._file = Path(self._folder.name, "accesses.jsonl") if self._folder else Path()

    @property
    def words(self) -> list[str]:
        """The words of the judge's command line."""
        return ["--trace-accesses", str(self._file)] if self._folder else []

    def read(self, tests: Collection[str]) -> None:
        """Hand over what was recorded in these tests."""
        if self._traces is None or not self._file.is_file():
            return
        with self._file.open("rb") as file:
            for line in file:
                with suppress(msgspec.DecodeError):  # the last line of a judge that was killed
                    launch = msgspec.json.decode(line)
                    if launch["test"] in tests:
                        self._traces.add(launch)

    def __enter__(self) -> "Recording":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._folder:
            self._folder.cleanup()
