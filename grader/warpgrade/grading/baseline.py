"""Where a judge keeps what the starter did, which is the same for a whole class that meets the same inputs.

Judges alone read and write the file (grader/judge/baseline_cache.hpp). Its name says all that makes a difference, so
that a starter, judge, device or seed that changes begins another one. Only for the virtual GPU, which gives the same
bits each time, and where the seed is chosen: inputs that nobody meets again are not kept.
"""

import contextlib
from pathlib import Path

from warpgrade import __version__
from warpgrade.lab.labs import Lab
from warpgrade.machine import cache, facts
from warpgrade.machine.device import Device
from warpgrade.machine.paths import Layout

_MAX_FILES = 200


def cache_file(
    layout: Layout, lab: Lab, target: Device, judge: Path, starter: Path, seed: int | None, checks: str
) -> Path | None:
    """Return the file for these programs, device and inputs; None where each judge is to measure by itself."""
    if seed is None or target.kind != "vgpu" or lab.is_handout:  # whose judge may be an older one
        return None
    limits = lab.file.limits
    programs = [facts.digest(program) for program in (judge, layout.device_server)]
    words = [__version__, target.spec, checks, str(seed), str(limits.memory_mib), str(limits.instructions), *programs]
    data = {path.name: path.read_bytes() for path in sorted(lab.data.glob("*"))} if lab.data.is_dir() else {}
    folder = layout.cache / "baselines"
    # The starter's program lies in a folder that is named by its content.
    file = folder / cache.key([*words, starter.parent.name], data)
    with contextlib.suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        if not file.exists():
            _forget_oldest(folder)
    return file


def _forget_oldest(folder: Path) -> None:
    entries = []
    for path in folder.iterdir():
        with contextlib.suppress(FileNotFoundError):
            entries.append((path.stat().st_mtime, path))
    for _, path in sorted(entries, reverse=True)[_MAX_FILES - 1 :]:
        path.unlink(missing_ok=True)
