"""Hashes of all that verdicts and results depend on besides the submission, by which both are found again.

There are two, so that tests run again only if they must: one of the inputs of verdicts, and one of what turns verdicts
into a result.
"""

import functools
import hashlib
from pathlib import Path

import msgspec

from warpgrade import __version__
from warpgrade.compiling import toolchain
from warpgrade.course.course import Course
from warpgrade.grading import timing
from warpgrade.grading.grade import Options, starter_files
from warpgrade.grading.recall import Identity
from warpgrade.lab import test_digests
from warpgrade.lab.labs import Lab
from warpgrade.machine import cache, device
from warpgrade.machine.paths import Layout

_OURS = ("machine", "lab", "findings", "course", "compiling", "grading", "intake")  # that make results
_LIBRARIES = ("wg_judge", "wg_judge_core", "wg_device", "wg_model", "warpgrade_cudart", "warpgrade_worker")


def find(layout: Layout, lab: Lab, options: Options, course: Course | None) -> Identity:
    """Return what grading a lab depends on; `lab` has the course's points already. Raises GraderError."""
    if options.seed is None:
        raise ValueError("results are found again by their seed, and these options have none")
    target = device.resolve(layout, options.device)
    timed_on = timing.find(layout, options.timing_device)
    compilers = toolchain.find(layout)
    given = {path.name: path.read_bytes() for path in lab.given}
    same = cache.key(
        [
            lab.name, target.spec, repr(sorted(target.properties.items())), options.checks,
            repr((timed_on.spec, sorted(timed_on.properties.items()))) if timed_on is not None else "",
            # Their places may differ between machines that grade one class.
            compilers.nvcc_version, compilers.host_version,
            repr(msgspec.to_builtins(lab.file.limits)), *lab.refused_headers, _programs(layout),
        ],
        {**{f"given/{name}": content for name, content in given.items()},
         **{f"starter/{name}": content for name, content in starter_files(lab).items()}},
    )  # fmt: skip
    entry = course.entry(lab.name) if course is not None else None
    made_with = [
        __version__, _own_code(), options.scope, repr(msgspec.to_builtins(lab.file)), *options.only,
        repr(msgspec.to_builtins(entry)), course.file.course.compiler if course is not None else "",
    ]  # fmt: skip
    results = hashlib.sha256("\0".join(made_with).encode()).hexdigest()
    return Identity(same, test_digests.digest_tests(lab), results, options.seed)


def _programs(layout: Layout) -> str:
    """Return a hash of the programs and libraries that run a submission and judge it.

    Of a package's device servers, one for each kind of processor, all give the same results: one stands for them.
    """
    servers = sorted((layout.native / "bin").glob("warpgrade-device-*")) if layout.native else [layout.device_server]
    paths = [*servers[:1], *(layout.library(name) for name in _LIBRARIES)]
    return cache.key([], {path.name: path.read_bytes() for path in paths if path.is_file()})


@functools.cache
def _own_code() -> str:
    home = Path(__file__).resolve().parents[1]
    files = sorted(path for folder in _OURS for path in (home / folder).glob("*.py"))
    return cache.key([], {f"{path.parent.name}/{path.name}": path.read_bytes() for path in files})
