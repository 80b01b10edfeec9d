"""What is said of how far the work is."""

import io

from rich.console import Console

from warpgrade.machine.progress import Count, Progress


def test_waiting_is_told_and_is_no_time_of_the_work() -> None:
    out, now = io.StringIO(), [0.0]
    with Progress(Console(file=out, width=80)) as progress:
        count = Count(progress, "submissions", lambda: now[0])
        count.show(0, 4)
        count.wait("the queue")
        now[0] = 3600.0
        count.wait("")
        now[0] = 3640.0
        count.show(1, 4)
        count.show(4, 4)
    assert out.getvalue().splitlines() == [
        "warpgrade: 0 of 4 submissions",
        "warpgrade: 0 of 4 submissions, waiting for the queue",
        "warpgrade: 0 of 4 submissions",
        "warpgrade: 1 of 4 submissions, about 2 min left",
        "warpgrade: 4 of 4 submissions",
    ]
