"""Verdicts that are known already: where they lie and when they are written; and nobody changes what was read."""

import dataclasses
import importlib
import inspect
import os
import pkgutil
from collections.abc import Sequence
from pathlib import Path

import msgspec
from handed_in import CODE
from samples import GRADED

from warpgrade import grading
from warpgrade.findings.sources import HostCode
from warpgrade.grading import judge, own_lines, recall
from warpgrade.grading.judge import Case
from warpgrade.grading.recall import Identity
from warpgrade.machine.confined import Allowance
from warpgrade.machine.sandbox import Sandbox

FILES = {"toy.cu": CODE}
GOOD = Case(name="adds", status="pass")


def test_verdicts_lie_where_earlier_versions_put_them_and_are_written_when_there_are_new_ones(tmp_path: Path) -> None:
    identity = Identity("v", {"adds": "1", "speed": "2"}, "r", 7)
    memory = recall.Recall(tmp_path / "not" / "yet", identity)
    memory.store(FILES, {"adds": msgspec.structs.replace(GOOD, status="error"), "unknown": GOOD}, {})
    assert list(tmp_path.rglob("*.gz")) == []
    memory.store(FILES, {"adds": GOOD}, {})
    (path,) = tmp_path.rglob("*.gz")
    name = identity.verdicts_key(FILES)
    assert path == tmp_path / "not" / "yet" / name[:2] / f"{name}.json.gz"
    os.utime(path, (1, 1))
    memory.store(FILES, {"adds": GOOD}, {"name": "H100"})
    memory.store(FILES, {}, {})
    assert path.stat().st_mtime == 1
    memory.store(FILES, {"adds": GOOD, "speed": msgspec.structs.replace(GOOD, name="speed")}, {"name": "H100"})
    assert path.stat().st_mtime > 1
    assert set(memory.find(FILES, ["adds", "speed"])[0]) == {"adds", "speed"}
    memory.forget(FILES, ["speed", "unknown"])
    assert set(memory.find(FILES, ["adds", "speed"])[0]) == {"adds"}
    assert memory.find(FILES, ["adds"])[1] == {"name": "H100"}


def test_what_is_read_or_asked_for_cannot_be_changed() -> None:
    found = []
    for info in pkgutil.iter_modules(grading.__path__, f"{grading.__name__}."):
        module = importlib.import_module(info.name)
        for each in vars(module).values():
            if not inspect.isclass(each) or each.__module__ != info.name or each is judge.Verdicts:
                continue
            if dataclasses.is_dataclass(each):
                found.append((each.__qualname__, each.__dataclass_params__.frozen))  # type: ignore[attr-defined]
            elif issubclass(each, msgspec.Struct):
                found.append((each.__qualname__, each.__struct_config__.frozen))
    assert len(found) >= 20
    assert [name for name, frozen in found if not frozen] == []


def test_places_of_findings_and_of_hangs_are_asked_for_together_and_the_time_counts(tmp_path: Path) -> None:
    asked: list[int] = []

    class Told(HostCode):
        def ask(self, codes: Sequence[int]) -> bytes:
            asked.extend(codes)
            return b"0x11\n/a/submission/my.cu:1\n"

    test = msgspec.structs.replace(GRADED.tests[0], diagnostics=[], launches=[], message="it did not finish")
    host_code = Told(Path("/nothing"), Sandbox(Path("/nothing")))
    source = {"my.cu": b"int main() { for (;;) {} }\n"}
    allowance = Allowance()
    (after,), left_out = own_lines.show(
        [test], {test.name: [17, 18]}, source, host_code, [], allowance, reads_sources=False
    )
    assert asked == [17, 18]
    assert left_out == ""
    assert after.message.startswith("it did not finish")
    none = Allowance(seconds=0)
    own_lines.show([test], {}, source, host_code, [], none, reads_sources=False)
    assert none.used > 0  # what lines alone took
