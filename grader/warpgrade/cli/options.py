"""Options that several commands have, and how a command's options become the structs that the work takes."""

from collections.abc import Callable
from dataclasses import fields
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    T = TypeVar("T", bound=DataclassInstance)

Decorator = Callable[[Any], Any]

EXIT_STATUSES = (
    "Exit status: 0 done, 1 below --fail-under, 2 wrong usage or a submission that cannot be graded, 3 grader error."
)
CHECKS = ("race", "init", "sync", "advice")


def take(kind: "type[T]", given: dict[str, Any], **more: Any) -> "T":
    """Make a dataclass from the options named like its fields, and remove them from `given`.

    A command makes its last dataclass from all that is left, so an option without a field raises an error.
    """
    own = {field.name for field in fields(kind)} & set(given)
    return kind(**{name: given.pop(name) for name in own}, **more)


def together(*options: Decorator) -> Decorator:
    """Return one decorator that adds these options in this order."""

    def decorate(command: Any) -> Any:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


def _checks(context: click.Context, parameter: click.Parameter, value: str) -> str:
    words = value.split(",")
    if value not in ("all", "none") and not all(word in CHECKS for word in words):
        raise click.BadParameter(f"use all, none, or some of {','.join(CHECKS)}", ctx=context, param=parameter)
    return value


THREADS = click.option("--threads", type=click.IntRange(1, 1024), help="CPU threads of the virtual GPU.")
CHECKING = together(
    click.option(
        "--checks", default="all", callback=_checks, metavar="all|none|race,init,sync,advice",
        help="What the device checks for; memory bounds are always checked.",
    ),
    click.option("--advice", is_flag=True, help="Show all advice on speed, not only the most important."),
)  # fmt: skip


def no_sandbox(help_text: str) -> Decorator:
    """Return the option that switches the sandbox off; it sets the field `confined`."""
    return click.option("--no-sandbox", "confined", flag_value=False, default=True, help=help_text)
