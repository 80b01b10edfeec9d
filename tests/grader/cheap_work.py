"""Stands in for grading on workers: as quick as nothing, and as unlucky as a submission's name says."""

import os
import signal
import time
from pathlib import Path

import msgspec

from warpgrade import __version__
from warpgrade.engine.job import Job, Outcome
from warpgrade.grading.grade import Options
from warpgrade.grading.result import DeviceInfo, LabInfo, Result, Score, Seconds, SubmissionInfo

DIARY = "WARPGRADE_TEST_DIARY"


def job(key: str, name: str = "fine", threads: int | None = None) -> Job:
    """Return a job that ends as its name says."""
    return Job(key, "toy", name, {"toy.cu": key.encode()}, Options(threads=threads))


def result(one: Job, status: str = "graded") -> Result:
    """Return a result of the job."""
    return msgspec.convert(
        {
            "lab": LabInfo("toy", "Toy"),
            "submission": SubmissionInfo(one.name),
            "status": status,
            "score": Score(1, 1, 100, 0, 0),
            "tests": [],
            "device": DeviceInfo("auto", "vgpu", {"threads": one.options.threads}),
            "started_at": "",
            "seconds": Seconds(0, 0),
            "warpgrade": __version__ if one.name != "old" else "0.0.1",
        },
        Result,
        from_attributes=True,
    )


def work(payload: bytes) -> bytes:
    """Take a moment, and write down that it was done and where."""
    one = msgspec.msgpack.decode(payload, type=Job)
    diary = Path(os.environ[DIARY])
    tried = diary.read_text().split("\n").count(f"{one.key} begun") if diary.exists() else 0
    _write(diary, f"{one.key} begun")
    time.sleep(float(one.name[5:]) if one.name.startswith("slow ") else 0.02)
    if one.name == "kills" or (one.name == "kills once" and not tried):
        os.kill(os.getpid(), signal.SIGKILL)
    if one.name == "trouble" or (one.name == "trouble once" and not tried):
        return msgspec.msgpack.encode(Outcome(one.key, trouble="the disk is full"))
    if one.name == "raises":
        raise RuntimeError("a mistake of ours")
    if one.name == "nonsense":
        return b"\xc1"
    _write(diary, f"{one.key} done on {os.environ.get('SLURMD_NODENAME', 'this')}")
    status = one.name if one.name in ("rejected", "error") else "graded"
    return msgspec.msgpack.encode(Outcome(one.key, result(one, status)))


def _write(diary: Path, line: str) -> None:
    with diary.open("a") as file:  # one write a line: many append at a time
        file.write(f"{line}\n")
