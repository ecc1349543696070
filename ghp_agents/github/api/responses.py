"""What a response from GitHub means: a rate limit, an error, or success. Pure."""

import re
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import Any, NamedTuple

from ghp_agents.core.clock import ago
from ghp_agents.github.api import errors
from ghp_agents.github.api.errors import HubError, InvalidError, UnreachableError
from ghp_agents.hotpath.quoting import phrase

LEAST_REST = 60.0  # seconds after a secondary limit that names no time; GitHub's own advice
LONGEST_REST = 86_400.0  # a server that asks for more is mistaken
LONGEST_WORDS = 300
TOO_QUICKLY = "submitted too quickly"  # about twenty new issues within a minute

DOCTOR = "Run `ghp agent-doctor` for this clone's GitHub status."
_USAGE = {"invalid", "missing_field", "missing", "custom", "unprocessable"}
_SWITCHED_OFF = (
    errors.SwitchedOffError,
    "Switch issues on in the repository's settings, or keep them in git: "
    '"agents": {"tracker": "local"}.',
)
# In GitHub's message: what no other token may do.
_FOR_NOBODY = {
    "archived": "Nobody can change an archived repository. Its owner can unarchive it in its "
    'settings, under Danger Zone. Until then, keep issues in git: "agents": {"tracker": "local"}.',
    "locked": "Its conversation is locked. Somebody with write access can unlock it on its page.",
}
_SSO_PAGE = re.compile(r"url=(https://[!-:<-~]{1,300})")
_MEANINGS: dict[int, tuple[type[HubError], str]] = {
    401: (
        errors.TokenError,
        "The token is wrong, expired or revoked. Run `gh auth login`, or set another "
        "GITHUB_TOKEN (GH_ENTERPRISE_TOKEN for your own server).",
    ),
    404: (
        errors.MissingError,
        "It does not exist, or this token cannot see it: GitHub does not say which. Check "
        "the number, `agents.github.repository`, and the token's access.",
    ),
    **dict.fromkeys(
        (405, 409, 412),
        (
            errors.PreconditionError,
            "Somebody changed it meanwhile, or it is not ready. Check it and try again.",
        ),
    ),
    **dict.fromkeys((410, 451), (errors.GoneError, "It was deleted on GitHub.")),
}


class Limit(NamedTuple):
    """GitHub asks for a pause. `seconds` is None if it names no time."""

    kind: str  # "primary": requests in an hour; "secondary": too much at once; "busy"
    seconds: float | None


def limit_of(status: int, headers: Mapping[str, str], body: Any, now: float) -> Limit | None:
    """The limit that a response reports, or None."""
    after = _seconds(headers.get("retry-after"), _server_time(headers) or now)
    if status == 503 and after is not None:
        return Limit("busy", after)
    if status == 422 and TOO_QUICKLY in words_of(body).lower():
        return Limit("secondary", after)
    if status not in (403, 429) and not _limited_in_graphql(body):
        return None
    message = words_of(body).lower()
    secondary = "secondary rate limit" in message or "abuse detection" in message
    if after is not None or secondary:
        return Limit("secondary", after)
    if headers.get("x-ratelimit-remaining") == "0":
        reset = _number(headers.get("x-ratelimit-reset"))
        rest = None if reset is None else reset - (_server_time(headers) or now)
        return Limit("primary", _within(rest) if rest and rest > 0 else LEAST_REST)
    return None if status == 403 else Limit("secondary", None)


def _limited_in_graphql(body: Any) -> bool:
    return any(
        isinstance(reason, dict) and reason.get("type") == "RATE_LIMITED"
        for reason in _reasons(body)
    )


def error_of(
    request: str, status: int, headers: Mapping[str, str], body: Any
) -> HubError | UnreachableError:
    """The error for a response that is neither success nor limit. `request` is for people."""
    message = words_of(body)
    because = f": {message}" if message else ""
    text = f"GitHub answered {status} to `{request}`{because}."
    if status >= 500:
        return failed(f"GitHub answered {status} (an error on its side) to `{request}`")
    if status in _MEANINGS:
        kind, hint = _MEANINGS[status]
        if status == 410 and "disabled" in message.lower():
            kind, hint = _SWITCHED_OFF
        return kind(text, hint=hint).of(status, message)
    error = _forbidden(text, message, headers) if status == 403 else _invalid(text, body)
    return error.of(status, message)


def failed(why: str, *, happened: bool = True, hint: str = "") -> UnreachableError:
    """The error for a missing answer."""
    error = UnreachableError(
        f"{why}.", hint=hint or f"Try again when GitHub can be reached. {DOCTOR}"
    )
    error.happened = happened
    return error


def limited(why: str, until: float, now: float) -> errors.LimitError:
    """The error for a pause that is too long to wait for."""
    error = errors.LimitError(
        f"{why}; this clone may send requests again in {ago(max(1.0, until - now))}.",
        hint=f"Try again then; queued changes are sent automatically. {DOCTOR}",
    )
    error.until = until
    return error


def words_of(body: Any) -> str:
    """GitHub's error message, with the fields that it names."""
    if not isinstance(body, dict):
        return ""
    message = str(body.get("message") or "").strip().rstrip(".")
    reasons = [words for reason in _reasons(body) if (words := _reason_words(reason))]
    return "; ".join(filter(None, [message, *reasons]))[:LONGEST_WORDS]


def _reasons(body: Any) -> list[Any]:
    reasons = body.get("errors") if isinstance(body, dict) else None
    return reasons if isinstance(reasons, list) else [reasons] if isinstance(reasons, str) else []


def _reason_words(reason: Any) -> str:
    if not isinstance(reason, dict):
        return str(reason)
    if reason.get("message"):
        return str(reason["message"])
    return " ".join(str(reason[key]) for key in ("resource", "field", "code") if reason.get(key))


def _forbidden(text: str, message: str, headers: Mapping[str, str]) -> HubError:
    needed = headers.get("x-accepted-github-permissions", "").strip()
    sign_on = headers.get("x-github-sso", "")
    final = [hint for word, hint in _FOR_NOBODY.items() if word in message.lower()]
    if sign_on:
        page = _SSO_PAGE.search(sign_on)
        where = phrase(page[1], LONGEST_WORDS) if page else "GitHub, Settings, Developer settings"
        hint = (
            "The organization requires single sign-on. A person opens "
            f"{where} and authorizes the token; then run the command again."
        )
    elif final:
        (hint,) = final[:1]
    elif needed:
        hint = f"Give the token the permission {needed[:100]}, or use another token."
    else:
        hint = "Give the token write access to issues, pull requests and contents."
    return errors.ForbiddenError(text, hint=hint)


def _invalid(text: str, body: Any) -> HubError:
    codes = [str(reason.get("code")) for reason in _reasons(body) if isinstance(reason, dict)]
    error = InvalidError(text, hint="Fix what GitHub names, and try again.")
    return error.because(codes, usage=bool(_USAGE.intersection(codes)))


def _within(seconds: float) -> float:
    return min(max(seconds, 0.0), LONGEST_REST)


def _seconds(text: str | None, now: float) -> float | None:
    """`Retry-After`: seconds, or a date."""
    if text is None:
        return None
    number = _number(text)
    if number is not None:
        return _within(number)
    moment = _moment(text)
    return None if moment is None else _within(moment - now)


def skew(headers: Mapping[str, str], now: float) -> float:
    """How many seconds our clock is ahead of the server's."""
    theirs = _server_time(headers)
    return 0.0 if theirs is None else now - theirs


def _server_time(headers: Mapping[str, str]) -> float | None:
    """The server's time, so that a wrong local clock does no harm."""
    return _moment(headers.get("date", ""))


def _moment(text: str) -> float | None:
    try:
        return parsedate_to_datetime(text).timestamp()
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


def _number(text: str | None) -> float | None:
    try:
        number = float(text or "")
    except ValueError:
        return None
    return number if 0 <= number < 1e15 else None  # excludes nan and infinity
