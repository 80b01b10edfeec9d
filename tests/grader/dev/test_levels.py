"""The device servers of a whole wheel, one for each level of x86-64, give the same results to the last bit.

By hand, for building all of them takes minutes: `./warpgrade package`, then pytest with WARPGRADE_WHEEL=dist/….whl.
"""

import functools
import os
import zipfile
from pathlib import Path
from typing import Any

import msgspec
import pytest

from warpgrade.grading import grade
from warpgrade.intake import intake
from warpgrade.lab import labs
from warpgrade.machine import cpu
from warpgrade.machine.paths import Layout, find_layout

LAYOUT = find_layout()
# Sums in single and half precision, tiles, speed, a race, a submission that is slow.
GRADED = [("matmul", "reference"), ("reduction", "reference"), ("step", "reference"), ("reverse", "starter")]
_OF_THIS_RUN = {"started_at", "seconds"}


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Return the wheel's device servers that this processor runs, by level."""
    named = os.environ.get("WARPGRADE_WHEEL", "")
    if not named:
        pytest.skip("WARPGRADE_WHEEL names no wheel")
    folder = tmp_path_factory.mktemp("wheel")
    with zipfile.ZipFile(named) as wheel:
        for name in wheel.namelist():
            if "/bin/warpgrade-device-" in name:
                Path(wheel.extract(name, folder)).chmod(0o755)
    found = {path.name.removeprefix("warpgrade-device-"): path for path in folder.rglob("warpgrade-device-*")}
    usable = {level: found[level] for level in cpu.supported_levels() if level in found}
    assert len(usable) > 1, f"the wheel and this processor have only {', '.join(usable)} in common"
    return usable


def _given(program: Path, _: Layout) -> Path:
    return program


@pytest.mark.labs
@pytest.mark.parametrize(("name", "kind"), GRADED)
def test_all_levels_give_the_same_result(
    servers: dict[str, Path], monkeypatch: pytest.MonkeyPatch, name: str, kind: str
) -> None:
    lab = labs.find(LAYOUT, name)
    folder = lab.reference_folder if kind == "reference" else lab.starter_folder
    results = {}
    for level, program in servers.items():
        monkeypatch.setattr(Layout, "device_server", property(functools.partial(_given, program)))
        graded = grade.grade(LAYOUT, lab, intake.read(lab, folder), grade.Options(seed=7))
        assert graded.status == "graded"
        results[level] = _without_times(msgspec.to_builtins(graded))
    first, *others = results.values()
    assert first["tests"]
    for other in others:
        assert other == first


def _without_times(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_times(each) for key, each in value.items() if key not in _OF_THIS_RUN}
    return [_without_times(each) for each in value] if isinstance(value, list) else value
