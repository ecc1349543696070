"""The errors of GitHub: two families, and an exit code for each."""

import pytest

from ghp_agents.core.errors import ExitCode, GhpError, NotFoundError, RefusedError, UnknownError
from ghp_agents.github.api import errors


@pytest.mark.parametrize(
    ("kind", "family", "code"),
    [
        (errors.TokenError, errors.HubError, ExitCode.ERROR),
        (errors.ForbiddenError, RefusedError, ExitCode.REFUSED),
        (errors.MissingError, NotFoundError, ExitCode.ERROR),
        (errors.GoneError, errors.HubError, ExitCode.ERROR),
        (errors.PreconditionError, errors.HubError, ExitCode.ERROR),
        (errors.InvalidError, errors.HubError, ExitCode.ERROR),
        (errors.LimitError, UnknownError, ExitCode.UNKNOWN),
        (errors.UnreachableError, UnknownError, ExitCode.UNKNOWN),
    ],
)
def test_each_error_is_of_its_family_and_ends_with_its_code(
    kind: type[GhpError], family: type[GhpError], code: ExitCode
) -> None:
    error = kind("What and why.", hint="What next.")
    assert isinstance(error, family)
    assert error.exit_code is code
    assert isinstance(error, errors.HubError) is not isinstance(error, errors.NoAnswerError)
    assert (str(error), error.hint) == ("What and why.", "What next.")


def test_what_is_invalid_in_somebodys_words_is_a_mistake_of_usage() -> None:
    error = errors.InvalidError("x", hint="y")
    assert error.because(["invalid"], usage=True).exit_code is ExitCode.USAGE
    assert errors.InvalidError("x", hint="y").exit_code is ExitCode.ERROR
