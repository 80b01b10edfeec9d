"""How long students wait for their grade: a queue of submissions before a deadline, and workers that empty it.

Prints docs/scale.md with its tables:  python -m warpgrade.dev.queueing
Everything that is assumed is a field of Course or a constant here; nothing else goes in.
"""

import heapq
import random
from bisect import bisect
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

PAGE = "docs/scale.md"

# Seconds of one core that a grade took: a reference, a starter and the wrong solutions of three labs on two cores of an
# AMD EPYC, compilation included and start-up not (docs/scale.md says how that was measured).
MEASURED: tuple[float, ...] = (
    # reduction
    1.26, 1.49, 1.65, 1.78, 1.78, 1.79, 1.79, 1.80, 1.80, 1.81, 1.83, 1.84, 1.84, 1.86, 1.87, 1.87,
    1.90, 1.92, 1.93, 1.94, 1.96, 1.97, 2.51, 4.31,
    # matmul
    1.19, 1.28, 1.43, 1.43, 1.45, 1.46, 1.46, 1.46, 1.47, 1.47, 1.47, 1.49, 1.50, 1.51, 1.53, 1.54,
    1.55, 1.61, 1.62, 1.69, 1.72, 1.74, 1.76, 1.76, 1.80, 1.83, 2.11, 3.57, 4.24,
    # reverse
    1.00, 1.06, 1.11, 1.13, 1.13, 1.14, 1.14, 1.14, 1.14, 1.15, 1.16, 1.17, 1.17, 1.18, 1.20, 1.22,
    1.23, 1.25, 1.28, 1.28, 1.28, 1.32, 1.33, 1.33, 1.33, 1.33, 1.35, 1.35, 1.42,
)  # fmt: skip
# Of those that are handed in while students wait: the share that hangs, and what its time limits let that cost.
HANGING, HANGING_SECONDS = 0.02, 30.0

WEEK, DAY, HOUR, MINUTE = 7 * 86400.0, 86400.0, 3600.0, 60.0
# Of the submissions of a lab that is open for a week: the share that comes within so long before the deadline.
ARRIVALS = ((0.0, 0.0), (10 * MINUTE, 0.04), (HOUR, 0.12), (6 * HOUR, 0.35), (DAY, 0.60), (3 * DAY, 0.82), (WEEK, 1.0))
ATTEMPTS = 5.0  # of each student, on average: most hand in, read, fix and hand in again


@dataclass(frozen=True)
class Course:
    """Who hands in, and what grades it. slowness: how much longer than measured a grade takes."""

    students: int
    workers: int
    slowness: float = 1.0


@dataclass(frozen=True)
class Waits:
    """How long students waited from handing in to their grade, in seconds: those of the last hour, and the longest."""

    submissions: int
    busy: float
    median: float
    slow: float
    longest: float
    queue: int


def arrivals(count: int, random_: random.Random) -> list[float]:
    """Return when so many submissions come, in seconds before the deadline, the first one first."""
    shares = [share for _, share in ARRIVALS]

    def before_deadline(u: float) -> float:
        index = bisect(shares, u, 1, len(shares) - 1)
        (early, low), (late, high) = ARRIVALS[index - 1], ARRIVALS[index]
        return early + (u - low) / (high - low) * (late - early)

    return sorted((before_deadline(random_.random()) for _ in range(count)), reverse=True)


def simulate(course: Course, seed: int = 1) -> Waits:
    """Let a course hand in, first come first served."""
    random_ = random.Random(seed)  # noqa: S311 - no secret
    before = arrivals(round(course.students * ATTEMPTS), random_)
    free = [-WEEK] * course.workers  # when each worker is free; 0 is the deadline
    starts: list[float] = []
    waits: list[float] = []
    worked = 0.0
    for came in (-seconds for seconds in before):
        starts.append(max(came, free[0]))
        took = course.slowness * _seconds(random_)
        heapq.heapreplace(free, starts[-1] + took)
        if came >= -HOUR:
            waits.append(starts[-1] + took - came)
            worked += took
    waits.sort()
    return Waits(
        len(before), worked / (HOUR * course.workers), _quantile(waits, 0.5), _quantile(waits, 0.95), waits[-1],
        _longest_queue([-seconds for seconds in before], starts),
    )  # fmt: skip


def _seconds(random_: random.Random) -> float:
    if random_.random() < HANGING:
        return HANGING_SECONDS
    return MEASURED[int(random_.random() * len(MEASURED))]


def _longest_queue(came: Sequence[float], starts: Sequence[float]) -> int:
    """Return how many waited at most. First come first served: starts are in the order of arrivals."""
    events = sorted([(moment, 1) for moment in came] + [(moment, -1) for moment in starts])
    return max(accumulate(change for _, change in events))


def _quantile(values: Sequence[float], share: float) -> float:
    return values[min(len(values) - 1, int(share * len(values)))]


RESULT_KB = 110.0  # of a submission, kept: 73 of reverse, 103 of matmul, 145 of reduction


def sizes() -> str:
    """Return the page's table of what it takes to grade a class once, after the deadline, in Markdown."""
    mean = (1 - HANGING) * sum(MEASURED) / len(MEASURED) + HANGING * HANGING_SECONDS
    lines = [
        "| submissions | hours of one core | with 2 cores | 16 cores | 128 cores | 1,024 cores | disk |",
        "|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for count in (1_000, 10_000, 100_000):
        work = count * mean
        times = " | ".join(_duration(work / cores) for cores in (2, 16, 128, 1024))
        lines.append(f"| {count:,} | {work / HOUR:.1f} | {times} | {count * RESULT_KB / 1e6:.1f} GB |")
    return "\n".join(lines) + "\n"


COURSES = tuple(
    Course(students, workers)
    for students, choices in ((1_000, (1, 2, 4)), (10_000, (8, 12, 16)), (100_000, (64, 96, 128)))
    for workers in choices
)


def waits() -> str:
    """Return the page's table of how long students wait for their grade, in Markdown."""
    lines = [
        "| students | workers | busy in the last hour | half wait at most | 19 of 20 | longest wait | longest queue |",
        "|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for course in COURSES:
        had = simulate(course)
        lines.append(
            f"| {course.students:,} | {course.workers} | {100 * had.busy:.0f} % | {_duration(had.median)} "
            f"| {_duration(had.slow)} | {_duration(had.longest)} | {had.queue:,} |"
        )
    return "\n".join(lines) + "\n"


def _duration(seconds: float) -> str:
    if seconds < 2 * MINUTE:
        return f"{seconds:.0f} s"
    return f"{seconds / MINUTE:.0f} min" if seconds < 2 * HOUR else f"{seconds / HOUR:.0f} h"


def page(text: str) -> str:
    """Return the page with its tables made anew."""
    for name, made in (("sizes", sizes()), ("waits", waits())):
        head, mark, rest = text.partition(f"<!-- {name}:")
        comment, arrow, old = rest.partition("-->\n")
        text = f"{head}{mark}{comment}{arrow}\n{made}\n{old[old.index('<!-- end -->') :]}"
    return text


if __name__ == "__main__":
    print(page((Path(__file__).resolve().parents[3] / PAGE).read_text(encoding="utf-8")), end="")
