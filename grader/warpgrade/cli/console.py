"""The terminal as the commands write to it."""

import sys
from typing import IO, cast

from rich.console import Console

from warpgrade.report.stream import Gated


def console(*, stderr: bool = False) -> Console:
    """Return the console of stdout or stderr, without markup, because students' texts are printed."""
    return Console(file=cast(IO[str], Gated(sys.stderr if stderr else sys.stdout)), highlight=False, markup=False)
