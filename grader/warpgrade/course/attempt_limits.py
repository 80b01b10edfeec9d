"""Limits of attempts, for platforms that leave them to the autograder: how many are graded, and how soon again."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from warpgrade.course.course import Course, format_time


def refusal(course: Course, now: datetime, graded: Sequence[datetime]) -> str:
    """Return why a submission of now is not graded, in words for the student; "" if it is.

    graded: when those submissions came that were graded; others cost no attempt.
    """
    policy = course.file.policy
    if policy.max_attempts is not None and len(graded) >= policy.max_attempts:
        used = "the one attempt is" if policy.max_attempts == 1 else f"all {policy.max_attempts} attempts are"
        return f"This submission was not graded: {used} used."
    if not policy.cooldown_minutes or not graded:
        return ""
    next_time = max(graded) + timedelta(minutes=policy.cooldown_minutes)
    if now >= next_time:
        return ""
    when = format_time(next_time.astimezone(course.zone or now.tzinfo))
    every = f"{policy.cooldown_minutes:g} minutes"
    return f"This submission was not graded: one is graded every {every}. Hand in again from {when} on."
