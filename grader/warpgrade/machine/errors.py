"""The two ways in which a command can end early, each with its exit status."""

EXIT_DONE = 0
EXIT_BELOW_THRESHOLD = 1
EXIT_BAD_INPUT = 2
EXIT_GRADER_ERROR = 3
EXIT_INTERRUPTED = 130


class WarpgradeError(Exception):
    """An expected end: one line that says what is wrong, and one that says what to do about it."""

    exit_status = EXIT_GRADER_ERROR

    def __init__(self, message: str, hint: str = "", detail: str = "", review: str = "") -> None:
        super().__init__(message)
        self.review = review  # for the instructor: what honest work does not do
        self.message = message
        self.hint = hint
        self.detail = detail


class BadInput(WarpgradeError):  # noqa: N818 - reads as what it is
    """The user's or the student's: wrong usage, or a submission that cannot be graded."""

    exit_status = EXIT_BAD_INPUT


class GraderError(WarpgradeError):
    """The grader's or the machine's: never a reason for a zero."""

    exit_status = EXIT_GRADER_ERROR
