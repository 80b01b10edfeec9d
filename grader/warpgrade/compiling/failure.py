"""Why a submission could not be built: a verdict on it, not a fault of the program."""

from collections.abc import Sequence
from typing import Literal

import msgspec

Stage = Literal["intake", "compile", "link", "judge"]


class Problem(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Why a submission could not be judged; `detail` holds the compiler's own words."""

    stage: Stage
    message: str
    detail: str = ""
    hint: str = ""


class BuildFailure(Exception):  # noqa: N818 - a verdict on the submission, not a fault of the program
    """The submission does not compile or link; `unsupported` when it is Warpgrade that lacks something.

    `review` says what a person should look at, as of something that honest work does not do.
    """

    def __init__(
        self,
        stage: Stage,
        message: str,
        *,
        hint: str = "",
        detail: str = "",
        review: Sequence[str] = (),
        unsupported: bool = False,
    ) -> None:
        super().__init__(message)
        self.problem = Problem(stage=stage, message=message, detail=detail, hint=hint)
        self.review = list(review)
        self.unsupported = unsupported
