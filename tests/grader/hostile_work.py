"""Functions to call in a confined process: what strangers' text could make of those that read it."""

import os
import resource
import socket
from collections.abc import Callable
from pathlib import Path

from warpgrade.machine.errors import BadInput


def sizes(files: dict[str, bytes], folder: Path) -> dict[str, int]:
    return {str(folder / name): len(content) for name, content in files.items()}


def computes_forever() -> int:
    while True:
        pass


def takes_memory() -> int:
    return len(bytearray(1 << 40))


def floods() -> bytes:
    return bytes(8 << 20)


def crashes() -> int:
    os.abort()


def refuses() -> int:
    raise BadInput("ada.zip is no zip", hint="pack it again", review="odd")


def breaks_out(folder: Path) -> list[str]:
    """Return which ways out are open."""
    ways: dict[str, Callable[[], object]] = {
        "write": lambda: (folder / "made").write_bytes(b"x"),
        "append": lambda: os.open(folder / "there", os.O_RDWR),
        "truncate": lambda: os.open(folder / "there", os.O_RDONLY | os.O_TRUNC),
        "unlink": (folder / "there").unlink,
        "rename": lambda: (folder / "there").rename(folder / "elsewhere"),
        "chmod": lambda: (folder / "there").chmod(0o600),
        "socket": socket.socket,
        "fork": os.fork,
        "execute": lambda: os.execv("/bin/true", ["true"]),  # noqa: S606
        "signal": lambda: os.kill(os.getppid(), 0),
        "limits": lambda: resource.setrlimit(resource.RLIMIT_CPU, (99, 99)),
        "read": (folder / "there").read_bytes,
    }
    found = []
    for name, way in ways.items():
        try:
            way()
        except OSError:
            continue
        found.append(name)
    return found


def table(count: int) -> tuple[int, Callable[[int], str]]:
    """Make something large, and answer questions about it."""
    words = [str(number) for number in range(count)]

    def word(number: int) -> str:
        while number < 0:
            pass
        return words[number]

    return len(words), word
