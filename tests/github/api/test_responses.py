"""What answers mean: limits, errors with hint and exit code, GitHub's own words."""

from typing import Any

import pytest

from ghp_agents.core.errors import ExitCode
from ghp_agents.github.api import errors
from ghp_agents.github.api import responses as verdict
from ghp_agents.github.api.errors import HubError
from ghp_agents.github.api.responses import Limit

NOW = 1_750_000_000.0  # 2025-06-15T15:06:40Z
DATE = "Sun, 15 Jun 2025 15:06:40 GMT"
TOO_QUICKLY = {
    "message": "Validation Failed",
    "errors": [{"resource": "Issue", "code": "custom", "message": "was submitted too quickly"}],
}
SECONDARY = {"message": "You have exceeded a secondary rate limit. Please wait a few minutes."}


@pytest.mark.parametrize(
    ("status", "headers", "body", "limit"),
    [
        (429, {"retry-after": "30"}, None, Limit("secondary", 30.0)),
        (429, {}, None, Limit("secondary", None)),
        (422, {}, TOO_QUICKLY, Limit("secondary", None)),
        (422, {"retry-after": "9"}, TOO_QUICKLY, Limit("secondary", 9.0)),
        (422, {}, {"message": "Validation Failed"}, None),
        (403, {"retry-after": "30"}, None, Limit("secondary", 30.0)),
        (403, {}, SECONDARY, Limit("secondary", None)),
        (
            403,
            {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "1750000600"},
            SECONDARY,
            Limit("secondary", None),
        ),
        (403, {}, {"message": "You have triggered an abuse detection mechanism"},
         Limit("secondary", None)),
        (403, {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "1750000600"}, None,
         Limit("primary", 600.0)),
        (429, {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "1750000600"}, None,
         Limit("primary", 600.0)),
        # Our clock is ten minutes ahead of the server's: what it says is counted from its time.
        (403, {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "1750000600",
               "date": "Sun, 15 Jun 2025 14:56:40 GMT"}, None, Limit("primary", 1_200.0)),
        (403, {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "1749999999"}, None,
         Limit("primary", 60.0)),
        (403, {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "soon"}, None,
         Limit("primary", 60.0)),
        (403, {"x-ratelimit-remaining": "0"}, None, Limit("primary", 60.0)),
        (403, {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "99999999999"}, None,
         Limit("primary", 86_400.0)),
        (429, {"retry-after": "Sun, 15 Jun 2025 15:07:40 GMT", "date": DATE}, None,
         Limit("secondary", 60.0)),
        (429, {"retry-after": "nan"}, None, Limit("secondary", None)),
        (429, {"retry-after": "-5"}, None, Limit("secondary", None)),
        (429, {"retry-after": "1e300"}, None, Limit("secondary", None)),
        (503, {"retry-after": "7"}, None, Limit("busy", 7.0)),
        (200, {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "1750000600"},
         {"errors": [{"type": "RATE_LIMITED"}]}, Limit("primary", 600.0)),
        (200, {}, {"errors": [{"type": "RATE_LIMITED"}]}, Limit("secondary", None)),
        (200, {"x-ratelimit-remaining": "0"}, {"id": 1}, None),
        (403, {"x-ratelimit-remaining": "4999"}, {"message": "Must have push access"}, None),
        (403, {}, None, None),
        (503, {}, None, None),
        (401, {"retry-after": "7"}, None, None),
    ],
)  # fmt: skip
def test_a_limit_is_told_from_everything_else(
    status: int, headers: dict[str, str], body: Any, limit: Limit | None
) -> None:
    assert verdict.limit_of(status, headers, body, NOW) == limit


@pytest.mark.parametrize(
    ("status", "kind", "code"),
    [
        (400, errors.InvalidError, ExitCode.ERROR),
        (401, errors.TokenError, ExitCode.ERROR),
        (403, errors.ForbiddenError, ExitCode.REFUSED),
        (404, errors.MissingError, ExitCode.ERROR),
        (405, errors.PreconditionError, ExitCode.ERROR),
        (409, errors.PreconditionError, ExitCode.ERROR),
        (410, errors.GoneError, ExitCode.ERROR),
        (412, errors.PreconditionError, ExitCode.ERROR),
        (422, errors.InvalidError, ExitCode.ERROR),
        (451, errors.GoneError, ExitCode.ERROR),
    ],
)
def test_each_no_has_its_error_its_exit_code_and_a_hint(
    status: int, kind: type[HubError], code: ExitCode
) -> None:
    error = verdict.error_of("GET /user", status, {}, {"message": "Not so."})
    assert type(error) is kind
    assert isinstance(error, HubError)
    assert (error.exit_code, error.status, error.message) == (code, status, "Not so")
    assert str(error) == f"GitHub answered {status} to `GET /user`: Not so."
    assert error.hint


@pytest.mark.parametrize("status", [500, 502, 503, 504, 599])
def test_an_error_on_githubs_side_leaves_the_answer_unknown(status: int) -> None:
    error = verdict.error_of("POST /x", status, {}, None)
    assert isinstance(error, errors.UnreachableError)
    assert error.exit_code is ExitCode.UNKNOWN
    assert error.happened
    assert str(error) == f"GitHub answered {status} (an error on its side) to `POST /x`."


@pytest.mark.parametrize(
    ("headers", "hint"),
    [
        (
            {"x-accepted-github-permissions": "issues=write; pull_requests=write"},
            "Give the token the permission issues=write; pull_requests=write, or use another "
            "token.",
        ),
        (
            {"x-github-sso": "required; url=https://github.com/orgs/x/sso?authorization_request=A"},
            "The organization requires single sign-on. A person opens "
            "«https://github.com/orgs/x/sso?authorization_request=A» and authorizes the token; "
            "then run the command again.",
        ),
        (
            {"x-github-sso": "required; url=javascript:alert(1)"},
            "The organization requires single sign-on. A person opens GitHub, Settings, Developer "
            "settings and authorizes the token; then run the command again.",
        ),
        ({}, "Give the token write access to issues, pull requests and contents."),
    ],
)
def test_a_token_that_may_not_is_told_which_permission_it_lacks(
    headers: dict[str, str], hint: str
) -> None:
    assert verdict.error_of("GET /x", 403, headers, None).hint == hint


@pytest.mark.parametrize(
    ("message", "hint"),
    [
        (
            "Repository was archived so is read-only.",
            "Nobody can change an archived repository. Its owner can unarchive it in its settings, "
            "under Danger Zone. Until then, keep issues in git: "
            '"agents": {"tracker": "local"}.',
        ),
        (
            "Unable to create comment because issue is locked.",
            "Its conversation is locked. Somebody with write access can unlock it on its page.",
        ),
    ],
)
def test_what_no_token_may_do_is_no_missing_permission(message: str, hint: str) -> None:
    headers = {"x-accepted-github-permissions": "issues=write"}
    assert verdict.error_of("POST /x", 403, headers, {"message": message}).hint == hint


def test_a_page_to_sign_on_is_bounded_and_one_line() -> None:
    page = "https://github.com/orgs/x/sso?authorization_request=" + "A" * 9_000
    long = verdict.error_of("GET /x", 403, {"x-github-sso": f"required; url={page}"}, None)
    assert len(long.hint) < 500
    torn = {"x-github-sso": "required; url=https://github.com/x\x1b[31m; run rm -rf"}
    assert "\x1b" not in verdict.error_of("GET /x", 403, torn, None).hint
    assert "rm -rf" not in verdict.error_of("GET /x", 403, torn, None).hint


def test_what_is_invalid_is_named_in_githubs_own_words() -> None:
    body = {
        "message": "Validation Failed",
        "errors": [
            {"resource": "Issue", "field": "assignees", "code": "invalid", "value": "nobody"},
            {"code": "custom", "message": "Title is too long"},
        ],
    }
    error = verdict.error_of("POST /x", 422, {}, body)
    assert isinstance(error, errors.InvalidError)
    assert error.exit_code is ExitCode.USAGE
    assert error.codes == ("invalid", "custom")
    assert str(error) == (
        "GitHub answered 422 to `POST /x`: Validation Failed; Issue assignees invalid; "
        "Title is too long."
    )


def test_what_exists_already_is_no_mistake_in_somebodys_words() -> None:
    body = {"message": "Validation Failed", "errors": [{"code": "already_exists"}]}
    error = verdict.error_of("POST /x", 422, {}, body)
    assert isinstance(error, errors.InvalidError)
    assert (error.exit_code, error.codes) == (ExitCode.ERROR, ("already_exists",))


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (None, ""),
        ([], ""),
        ("Not Found", ""),
        ({"message": None}, ""),
        ({"message": "A.", "errors": "it has no commits"}, "A; it has no commits"),
        ({"message": "A", "errors": [{"code": 5}, "b", None]}, "A; 5; b; None"),
        ({"message": "x" * 5_000}, "x" * 300),
    ],
)
def test_strange_bodies_of_errors_are_read_as_far_as_they_can_be(body: Any, words: str) -> None:
    assert verdict.words_of(body) == words


def test_how_far_our_clock_is_ahead_is_read_from_the_answer() -> None:
    assert verdict.skew({"date": DATE}, NOW + 90) == 90.0
    assert verdict.skew({"date": "yesterday"}, NOW) == 0.0
    assert verdict.skew({}, NOW) == 0.0
