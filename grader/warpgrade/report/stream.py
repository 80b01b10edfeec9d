"""Keeps printed lines from being commands to a build service; they are checked here, after they are wrapped."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any

import click

from warpgrade.machine.text import defuse_commands


class Gated:
    """A stream that breaks up commands to a build service, and otherwise passes all to the stream that it wraps."""

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream
        self._at_start = True  # of a line: nothing but blanks is in it yet

    def write(self, text: str) -> int:
        """Write the text, with a space in what would be a command."""
        # A character before it, where it goes on in a line.
        self._stream.write(defuse_commands(text) if self._at_start else defuse_commands(f".{text}")[1:])
        *lines, last = text.rsplit("\n", 1)
        self._at_start = (bool(lines) or self._at_start) and not last.strip()
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def say(text: str, *, err: bool = False) -> None:
    """Print lines that contain students' text."""
    click.echo(defuse_commands(text), err=err)


@contextmanager
def no_commands(*, err: bool = False) -> Iterator[None]:
    """In GitHub Actions, let nothing that is printed meanwhile be a workflow command: it cannot know the token."""
    if os.environ.get("GITHUB_ACTIONS") != "true":
        yield
        return
    token = os.urandom(16).hex()
    click.echo(f"::stop-commands::{token}", err=err)
    try:
        yield
    finally:
        click.echo(f"::{token}::", err=err)
