"""Counters by kernel, file and line as collapsed stacks, which speedscope and flamegraph.pl read."""

from collections.abc import Iterator

import click

from warpgrade.machine.errors import BadInput
from warpgrade.machine.files import check_writable, write
from warpgrade.machine.text import listing, one_line
from warpgrade.report.counters import metrics
from warpgrade.report.format import Format, Report
from warpgrade.report.profile import from_here
from warpgrade.running.profile import SAMPLED, Kernel, Profile

_OPTION = "--stacks"
_COUNTER = "inst_executed"
_NO_LINE = "(no line)"
_WIDTH = 400


def encode(profile: Profile, counter: str = _COUNTER) -> bytes:
    """Return a line for each source line of a kernel, `kernel;file;file:line count`; they add up to the counter."""
    return "".join(row for kernel in profile.kernels for row in _rows(kernel, counter)).encode()


def _rows(kernel: Kernel, counter: str) -> Iterator[str]:
    name = _frame(kernel.name) + (SAMPLED if kernel.sample else "")
    left = kernel.counters.get(counter, 0)
    for line in kernel.lines:
        if count := line.counters.get(counter, 0):
            left -= count
            file = _frame(from_here(line.file))
            yield f"{name};{file};{file}:{line.line} {count}\n"
    if left > 0:
        yield f"{name};{_NO_LINE} {left}\n"


def _frame(name: str) -> str:
    """Return the name of a frame: a semicolon would end it."""
    return one_line(name, _WIDTH).replace(";", ",") or "?"


def _split(given: str) -> tuple[str, str]:
    """Return the counter and the file of `FILE` or `COUNTER:FILE`."""
    counter, colon, file = given.partition(":")
    if not colon or not counter.isidentifier():
        return _COUNTER, given
    if counter not in metrics():
        raise BadInput(f"{_OPTION}: no counter is called {counter}", hint=f"there are: {listing(list(metrics()), 60)}")
    return counter, file


def _check(given: str | None) -> None:
    if given is not None:
        check_writable(_OPTION, _split(given)[1])


def _write(given: str | None, report: Report) -> None:
    if given is not None and report.profile is not None:
        counter, file = _split(given)
        write(file, _OPTION, encode(report.profile, counter))


FORMAT = Format(
    "profile",
    click.Option(
        [_OPTION],
        metavar="[COUNTER:]FILE",
        help=f"Write a counter ({_COUNTER}, if none is named) by kernel and line, as stacks for speedscope.",
    ),
    _write,
    _check,
    by_line=True,
)
