"""A device server for one program that the grader starts itself: its sockets, and what it reports."""

import contextlib
import os
import socket
import subprocess
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Any

import msgspec

from warpgrade.machine.errors import GraderError
from warpgrade.machine.launch_progress import ProgressPage
from warpgrade.machine.paths import Layout
from warpgrade.machine.text import bounded, clean, one_line

# As grader/device/protocol.hpp has it: where the program's CUDA runtime finds its end.
CLIENT_VARIABLE = "WARPGRADE_DEVICE_FD"
_TAKE_SECONDS = 0.05
_START_SECONDS = 30
_LAST_SECONDS = 2  # a process that the program has left behind may keep its connection
_POLL_SECONDS = 0.002
_MAX_REPLY_BYTES = 256 << 20  # as the judge's (grader/judge/device_server.cpp)

Report = dict[str, Any]


@dataclass(frozen=True)
class ServerPlan:
    """What the device server is told."""

    device: str
    threads: int
    instructions: int = 0  # warp instructions of one launch; 0: no limit
    plain: bool = False  # in the sandbox for where namespaces are not to be had
    confined: bool = True  # the server reads what nvcc made of somebody's program
    lines: bool = False  # report counters by source line
    checks: str = "all"  # or "none", or some of race,init,sync,advice
    order: str = "forward"  # of blocks and warps: or "reverse", "interleaved", "ahead"
    traced: bool = False  # record some warps' accesses
    sample: int = 0  # run no more blocks of a launch; 0: all
    on_gpu: bool = False  # of this machine: its driver needs files that no sandbox gives


class DeviceServer:
    """Runs `warpgrade-device`; use as a context manager. Hands each report to `collect`, from a thread of its own."""

    def __init__(self, layout: Layout, plan: ServerPlan, collect: Callable[[Report], None]) -> None:
        self._plan = plan
        self._collect = collect
        self._control, control = socket.socketpair()
        self.client, client = socket.socketpair()
        self._replies = self._control.makefile("rb")
        self._done = threading.Event()
        self._trouble = ""
        self.progress = ProgressPage()
        try:
            # A session of its own: an interrupt from the terminal is for the program.
            self._process = subprocess.Popen(
                self._command(layout, client.fileno(), control.fileno()),
                pass_fds=(control.fileno(), client.fileno(), self.progress.file), stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True,
            )  # fmt: skip
        except OSError as error:
            raise GraderError(f"the device server cannot be started: {error.strerror}") from None
        finally:
            control.close()
            client.close()
            self.progress.close_file()
        self._thread = threading.Thread(target=self._follow, daemon=True)

    def _command(self, layout: Layout, client: int, control: int) -> list[str]:
        program = str(layout.device_server)
        if self._plan.on_gpu:
            return [
                program, "--device", self._plan.device, "--wait-for-take", "--client-fd", str(client),
                "--control-fd", str(control), "--progress-fd", str(self.progress.file),
            ]  # fmt: skip
        sandbox = [
            str(layout.program("warpgrade-sandbox")), "--profile", "device",
            "--keep-fd", str(control), "--keep-fd", str(client),
            "--keep-fd", str(self.progress.file),
        ]  # fmt: skip
        if self._plan.plain:
            sandbox += ["--sandbox", "plain"]
        if self._plan.confined:
            inside = "/warpgrade-device"
            sandbox += ["--file", program, inside, "--", inside]
        else:
            sandbox += ["--unconfined", "--", program]
        return [
            *sandbox, "--device", self._plan.device, "--threads", str(self._plan.threads),
            "--instructions", str(self._plan.instructions), "--checks", self._plan.checks, "--wait-for-take",
            "--client-fd", str(client), "--control-fd", str(control), "--progress-fd", str(self.progress.file),
            "--sample-blocks", str(self._plan.sample),
            "--order", self._plan.order, "--skip-repeats",
            *(["--trace-accesses"] if self._plan.traced else []),
        ]  # fmt: skip

    def __enter__(self) -> "DeviceServer":
        self._control.settimeout(_START_SECONDS)
        self._ask({"op": "hello"})
        self._control.settimeout(None)  # from here on it may be busy with a kernel for long
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.client.close()
        if kind is not None:
            self._process.kill()
        self._done.set()
        if self._thread.ident is not None:
            self._thread.join()
        self._control.close()
        with contextlib.suppress(ProcessLookupError):
            self._process.kill()
        self._process.wait()
        if self._process.stderr is not None:
            self._process.stderr.close()
        if self._trouble and kind is None:
            raise GraderError(self._trouble)

    def close_client(self) -> None:
        """Forget the program's end, once the program has its own copy of it."""
        self.client.close()

    def _follow(self) -> None:
        """Take reports while the program runs, and the last one when it has ended."""
        try:
            while not self._done.wait(_TAKE_SECONDS):
                self._collect(self._ask({"op": "take", "finish": False, "lines": self._plan.lines}))
            self._take_the_rest()
            self._ask({"op": "shutdown"})
        except GraderError as error:
            self._trouble = error.message

    def _take_the_rest(self) -> None:
        """The program has ended; its last messages, and the end of its connection, may still be on their way."""
        deadline = time.monotonic() + _LAST_SECONDS
        while True:
            report = self._ask({"op": "take", "lines": self._plan.lines})
            self._collect(report)
            if not report.get("connected", False) or time.monotonic() > deadline:
                return
            time.sleep(_POLL_SECONDS)

    def _ask(self, request: dict[str, Any]) -> Report:
        try:
            self._control.sendall(msgspec.json.encode(request) + b"\n")
            line = self._replies.readline(_MAX_REPLY_BYTES)
            if len(line) >= _MAX_REPLY_BYTES:
                raise GraderError("the device server's report is too long: the program does too much on the device")
            if not line:
                raise GraderError(self._why_gone())
            reply = msgspec.json.decode(line, type=dict[str, Any])
        except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            raise GraderError(self._why_gone()) from None
        if not reply.get("ok", False):
            raise GraderError(f"the device server refuses {request['op']}: {one_line(str(reply.get('error')), 300)}")
        if reply.get("internal_error"):
            raise GraderError(bounded(clean(str(reply["internal_error"])), lines=3))
        return reply

    def _why_gone(self) -> str:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=2)
        if self._process.poll() is None:
            self._process.kill()
        words = ""
        if self._process.stderr is not None:
            os.set_blocking(self._process.stderr.fileno(), False)
            words = bounded(clean(self._process.stderr.read() or b"").strip(), lines=8)
        status = self._process.returncode
        return (
            "the device server ended" + (f" with status {status}" if status else "") + (f": {words}" if words else "")
        )
