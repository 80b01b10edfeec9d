"""How far the device server is with a launch, read from memory that both share: it answers nobody meanwhile."""

import mmap
import os
import struct
from typing import NamedTuple


class LaunchProgress(NamedTuple):
    """The fields of grader/device/progress.hpp, in its order, less the last."""

    launches: int  # that have begun
    running: int  # 1 while one runs
    began_ns: int  # when the last one began, as time.monotonic_ns()
    blocks: int  # of the last one, that run
    blocks_done: int
    instructions: int  # warp instructions


class ProgressPage:
    """The memory itself; `file` is a descriptor for the device server."""

    _numbers = struct.Struct(f"={len(LaunchProgress._fields)}Q")
    _stop = struct.Struct("=Q")
    _attempts = 100

    def __init__(self) -> None:
        self.file = os.memfd_create("warpgrade-progress")
        os.ftruncate(self.file, mmap.PAGESIZE)
        self._memory = mmap.mmap(self.file, mmap.PAGESIZE)

    def read(self) -> LaunchProgress:
        """Return numbers of one and the same launch, unless launches follow each other without a pause."""
        for _ in range(self._attempts):
            first, second = (LaunchProgress(*self._numbers.unpack_from(self._memory)) for _ in range(2))
            if first[:4] == second[:4]:
                break
        return second

    def stop(self) -> None:
        """End the running launch with an error, and each later one."""
        self._stop.pack_into(self._memory, self._numbers.size, 1)

    def close_file(self) -> None:
        """Close the descriptor; the memory stays."""
        if self.file >= 0:
            os.close(self.file)
        self.file = -1
