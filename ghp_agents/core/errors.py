"""Errors for people: what went wrong and why, what to do next, and the exit code."""

from enum import IntEnum


class ExitCode(IntEnum):
    """The closed list of exit codes. Scripts and hooks rely on it."""

    DONE = 0
    ERROR = 1
    USAGE = 2
    REFUSED = 3  # held by another, or needs approval
    UNKNOWN = 4  # the answer depends on a remote that cannot be reached
    NOT_SET_UP = 5


class GhpError(Exception):
    """An error with a hint. `str(error)` says what and why, `hint` says what next."""

    exit_code = ExitCode.ERROR

    def __init__(self, message: str, *, hint: str) -> None:
        super().__init__(message)
        self.hint = hint


def sentence(error: object) -> str:
    """An error's text before another sentence: git's own words end without a full stop."""
    text = str(error).rstrip()
    return text if text.endswith((".", "!", "?", "…")) else f"{text}."


class UsageError(GhpError):
    """The command was used wrongly; nothing was changed."""

    exit_code = ExitCode.USAGE


class RefusedError(GhpError):
    """Another agent or person holds what was requested."""

    exit_code = ExitCode.REFUSED


class UnapprovedError(RefusedError):
    """Somebody's answer or approval is missing, as far as this clone knows."""


class UnknownError(GhpError):
    """The answer depends on a remote that cannot be reached. It never means "free"."""

    exit_code = ExitCode.UNKNOWN


class LostAnswerError(UnknownError):
    """The connection broke during a change: it may have happened."""


class NotSetUpError(GhpError):
    """There is no repository, or no identity to act under."""

    exit_code = ExitCode.NOT_SET_UP


class NotFoundError(GhpError):
    """Nothing has the given id or number."""


class StateMovedError(GhpError):
    """The state changed between reading and writing: the decision must be made again."""

    def __init__(self) -> None:
        super().__init__(
            "The state kept changing while this command ran.",
            hint="Try again; if it still fails, run `ghp agent-doctor`.",
        )
