"""What GitHub said no to, and what became of asking it: every error that leaves this folder.

Two families. `NoAnswerError` says that nobody knows yet (exit code 4): a limit, or no connection.
Everything else is GitHub's own no: asking the same again brings the same.
"""

from collections.abc import Sequence

from ghp_agents.core.errors import ExitCode, GhpError, NotFoundError, RefusedError, UnknownError


class HubError(GhpError):
    """GitHub's no; `status` is the HTTP status, `said` GitHub's own words."""

    status = 0
    message = ""

    def of(self, status: int, message: str) -> "HubError":
        """This error with the status and the words that it came with."""
        self.status, self.message = status, message
        return self


class TokenError(HubError):
    """401: the token is wrong, expired or revoked."""


class ForbiddenError(HubError, RefusedError):
    """403 that is no limit: this token may not do this."""

    exit_code = ExitCode.REFUSED


class MissingError(HubError, NotFoundError):
    """404: it is not there, or this token may not see it; GitHub does not tell which."""


class GoneError(HubError):
    """410: it was deleted, or issues are switched off in the repository."""


class PreconditionError(HubError):
    """409 or 412: what the request was built on has moved."""


class InvalidError(HubError):
    """422 or 400: GitHub does not take these values. `codes` are its reasons: `already_exists`."""

    codes: tuple[str, ...] = ()

    def because(self, codes: Sequence[str], *, usage: bool) -> "InvalidError":
        """With GitHub's codes; a `usage` error is about words that somebody gave."""
        self.codes = tuple(codes)
        self.exit_code = ExitCode.USAGE if usage else ExitCode.ERROR
        return self


class NoAnswerError(UnknownError):
    """Nobody knows the answer yet. `happened`: a write may have been done all the same."""

    happened = False


class LimitError(NoAnswerError):
    """Nothing was sent or done, because it is not the time: a limit of GitHub's, or nobody reached
    it a moment ago. `until`: when to ask again, in seconds; 0 if nobody can tell."""

    until = 0.0


class UnreachableError(NoAnswerError):
    """No connection, no answer in time, half an answer, or an error on GitHub's side."""
