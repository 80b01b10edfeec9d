"""Keeps verdicts of earlier runs: a file for each submission, with a verdict for each test.

A changed test has another hash, so only that test runs again. Errors are not kept, because the machine caused them.
"""

import gzip
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import msgspec

from warpgrade.grading.judge import Case
from warpgrade.machine import cache, files


class _Kept(msgspec.Struct, frozen=True):
    cases: dict[str, Case] = {}
    device: dict[str, Any] = {}
    schema: Literal["warpgrade/verdicts/1"] = "warpgrade/verdicts/1"


@dataclass(frozen=True)
class Identity:
    """What verdicts and results of one lab depend on besides the submission (identity.py finds it out).

    verdicts: of all that is the same for each test: starter, contract, limits, device, compilers, Warpgrade's programs,
    what is checked. tests: of each test's own source. results: of points, hints and what makes reports of verdicts.
    """

    verdicts: str
    tests: Mapping[str, str]
    results: str
    seed: int

    def verdicts_key(self, submitted: Mapping[str, bytes]) -> str:
        """Return the name of the file with a submission's verdicts."""
        return cache.key([self.verdicts, str(self.seed)], submitted)

    def result_key(self, submitted: Mapping[str, bytes]) -> str:
        """Return the name of a submission's result."""
        return cache.key([self.verdicts, self.results, str(self.seed), repr(sorted(self.tests.items()))], submitted)


@dataclass(frozen=True)
class Recall:
    """The verdicts of one class or course, in a folder."""

    folder: Path
    identity: Identity

    def find(self, submitted: Mapping[str, bytes], names: Iterable[str]) -> tuple[dict[str, Case], dict[str, Any]]:
        """Return the stored verdicts of these tests, and the description of the device that gave them."""
        kept = self._read(submitted)
        hashes = self.identity.tests
        return {name: kept.cases[hashes[name]] for name in names if hashes.get(name) in kept.cases}, kept.device

    def store(self, submitted: Mapping[str, bytes], cases: Mapping[str, Case], device: dict[str, Any]) -> None:
        """Store verdicts on a submission, without errors."""
        hashes = self.identity.tests
        new = {hashes[name]: case for name, case in cases.items() if name in hashes and case.status != "error"}
        kept = self._read(submitted)
        if new.keys() <= kept.cases.keys():
            return
        self._write(submitted, _Kept({**kept.cases, **new}, device or kept.device))

    def forget(self, submitted: Mapping[str, bytes], names: Iterable[str]) -> None:
        """Remove the verdicts of these tests, so that they run again."""
        kept = self._read(submitted)
        old = {self.identity.tests.get(name) for name in names}
        rest = {test: case for test, case in kept.cases.items() if test not in old}
        if len(rest) < len(kept.cases):
            self._write(submitted, _Kept(rest, kept.device))

    def _write(self, submitted: Mapping[str, bytes], kept: _Kept) -> None:
        files.replace(self._path(submitted), gzip.compress(msgspec.json.encode(kept), 6, mtime=0))

    def _read(self, submitted: Mapping[str, bytes]) -> _Kept:
        try:
            return msgspec.json.decode(gzip.decompress(self._path(submitted).read_bytes()), type=_Kept)
        except (OSError, EOFError, ValueError, msgspec.DecodeError):
            return _Kept()  # nothing is known, or nothing that can be read: the tests run

    def _path(self, submitted: Mapping[str, bytes]) -> Path:
        name = self.identity.verdicts_key(submitted)
        return self.folder / name[:2] / f"{name}.json.gz"
