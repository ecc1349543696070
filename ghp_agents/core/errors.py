"""Errors meant for people: what went wrong and why, what to do next, and how the process ends."""

from enum import IntEnum


class ExitCode(IntEnum):
    """The closed list of exit codes; scripts and hooks rely on it."""

    DONE = 0
    ERROR = 1
    USAGE = 2
    REFUSED = 3  # held by another, or needs approval
    UNKNOWN = 4  # the remote cannot be reached and the answer depends on it
    NOT_SET_UP = 5


class GhpError(Exception):
    """An error with a hint. `str(error)` says what and why, `hint` says what next."""

    exit_code = ExitCode.ERROR

    def __init__(self, message: str, *, hint: str) -> None:
        super().__init__(message)
        self.hint = hint


class UsageError(GhpError):
    """The words of the command are wrong; nothing was done."""

    exit_code = ExitCode.USAGE


class RefusedError(GhpError):
    """Somebody else holds what was asked for."""

    exit_code = ExitCode.REFUSED


class UnknownError(GhpError):
    """The answer lies with a remote that cannot be reached; it is never taken as "free"."""

    exit_code = ExitCode.UNKNOWN


class NotSetUpError(GhpError):
    """There is no repository, or no name to act under."""

    exit_code = ExitCode.NOT_SET_UP


class NotFoundError(GhpError):
    """Nothing goes by the given id or number."""


class StateMovedError(GhpError):
    """The state changed between reading and writing; whoever decided must decide again."""

    def __init__(self) -> None:
        super().__init__(
            "The state changed while this command was deciding, again and again.",
            hint="Try again; if it persists, run `ghp agent-doctor`.",
        )
