"""All errors that leave this folder: what GitHub refused, and requests without an answer.

Two families. `NoAnswerError` means that the result is unknown (exit code 4): a limit, or no
connection. All others are GitHub's refusal: the same request would fail again.
"""

from collections.abc import Sequence

from ghp_agents.core.errors import ExitCode, GhpError, NotFoundError, RefusedError, UnknownError


class HubError(GhpError):
    """GitHub refused. `status` is the HTTP status, `message` GitHub's own words."""

    status = 0
    message = ""

    def of(self, status: int, message: str) -> "HubError":
        """This error with its HTTP status and GitHub's message."""
        self.status, self.message = status, message
        return self


class TokenError(HubError):
    """401: the token is wrong, expired or revoked."""


class ForbiddenError(HubError, RefusedError):
    """403 that is not a rate limit: this token lacks the permission."""

    exit_code = ExitCode.REFUSED


class MissingError(HubError, NotFoundError):
    """404: it does not exist, or this token may not see it; GitHub does not tell which."""


class GoneError(HubError):
    """410: it was deleted."""


class SwitchedOffError(HubError):
    """410: issues are switched off in the repository. None of them was deleted."""


class PreconditionError(HubError):
    """409 or 412: the state that the request relied on has changed."""


class InvalidError(HubError):
    """422 or 400: GitHub rejects the values. `codes` are its reasons, e.g. `already_exists`."""

    codes: tuple[str, ...] = ()

    def because(self, codes: Sequence[str], *, usage: bool) -> "InvalidError":
        """With GitHub's codes; `usage` marks an error in the user's input."""
        self.codes = tuple(codes)
        self.exit_code = ExitCode.USAGE if usage else ExitCode.ERROR
        return self


class NoAnswerError(UnknownError):
    """The result is unknown. `happened`: the write may have succeeded all the same."""

    happened = False


class LimitError(NoAnswerError):
    """Nothing was sent: GitHub's rate limit applies, or GitHub was unreachable a moment ago.
    `until` is the time of the next try in seconds; 0 if it is unknown."""

    until = 0.0


class UnreachableError(NoAnswerError):
    """No connection, a timeout, a partial response, or an error on GitHub's side."""
