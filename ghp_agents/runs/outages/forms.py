"""What clients print when their account or its service is at fault, and not the issue: one table.

Only a client's own errors are read, never what its agent reads or writes: that may be about rate
limits, too. Each row names where its form was seen.
"""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from ghp_agents.core.ids import one_line
from ghp_agents.hotpath.quoting import clean

READ = 4_000  # characters of an error that are read
KEPT = 600  # characters of it that are kept: they may name a time

# What is at fault, as the end of «The account of claude waits: …».
LIMIT = "its usage limit is reached"
RATE = "it sends too many requests"
CREDIT = "its credit is used up"
LOGIN = "its login is not accepted"
DOWN = "its service is overloaded or down"
OFFLINE = "its server cannot be reached"
AT_ONCE = "runs of different issues ended at once"
NEEDS_PERSON = (CREDIT, LOGIN)  # it does not end by waiting


class OutageForm(NamedTuple):
    """A form of an error."""

    kind: str
    pattern: str  # case-insensitive
    source: str


FORMS = (
    OutageForm(
        LIMIT,
        r"you(?:'ve| have) (?:hit|reached|exceeded) (?:your|the|an?) (?!rate )[\w' -]{0,60}"
        r"\blimits?\b",
        "Claude Code (code.claude.com/docs/en/errors: session, weekly, Opus, spend limit); Codex "
        "(openai/codex#3899, #26668); Cursor (cursor/cursor#3703)",
    ),
    OutageForm(
        LIMIT,
        r"\b(?:usage|session|weekly|monthly|daily|spend(?:ing)?|hour|opus|sonnet|quota)(?: usage)? "
        r"limits? (?:has been |was |is )?(?:reached|exceeded)",
        "Claude Code (anthropics/claude-code#12702), OpenCode (anomalyco/opencode#47239)",
    ),
    OutageForm(
        LIMIT,
        r"usage_limit_reached|FreeUsageLimitError|free usage exceeded|out of extra usage"
        r"|subscription quota exceeded|allocated quota exceeded|individual quota reached"
        r"|exhausted your capacity|quota will reset after|exceeded your copilot token usage",
        "Codex's and OpenCode's services (anomalyco/opencode#42033), Gemini CLI "
        "(googleQuotaErrors.ts), Qwen Code, Copilot CLI (github/copilot-cli#793)",
    ),
    OutageForm(
        CREDIT,
        r"credit balance is too low|insufficient_quota|insufficient credits|out of credits"
        r"|billing_error|payment required|(?:status|code|error|http)\W{0,12}402\b",
        "Claude Code (anthropics/claude-code#867), OpenAI's error codes, OpenRouter",
    ),
    OutageForm(
        LIMIT,
        r"exceeded your current quota|RESOURCE_?EXHAUSTED|resource (?:has been )?exhausted"
        r"|quota exceeded",
        "Gemini CLI (google-gemini/gemini-cli#1906, #14811), OpenAI's error codes",
    ),
    OutageForm(
        RATE,
        r"rate[_ -]?limit(?:s? (?:exceeded|reached)|ed\b|_error|_exceeded|error)|hit (?:the|a|your)"
        r" rate limit|too many requests|temporarily limiting requests|Throttling\b"
        r"|(?:status|code|error|http|rejected)\W{0,12}429\b|\b429:",
        "Claude Code's `rate_limit` and «Request rejected (429)» (github/gh-aw#31073), Codex "
        "(BerriAI/litellm#40115), Copilot CLI (github/copilot-cli#2144), aider's litellm",
    ),
    OutageForm(
        LOGIN,
        r"not logged in|run /login|log ?in again|login required|invalid (?:api key|credential)"
        r"|incorrect api key|api key not valid|oauth token|authentication_(?:error|failed)"
        r"|authentication (?:failed|required)|AuthenticationError|ProviderAuthError"
        r"|invalid authentication|\bunauthorized\b|(?:status|code|error|http)\W{0,12}401\b"
        r"|set an auth method|invalid_grant|refresh token|no authentication information"
        r"|organization has been disabled|missing environment variable\W{1,4}\w+_API_KEY",
        "Claude Code (code.claude.com/docs/en/errors), Codex (openai/codex#5456), Gemini CLI (exit "
        " code 41), OpenCode (anomalyco/opencode#14255), litellm's exceptions",
    ),
    OutageForm(
        DOWN,
        r"\boverloaded|overloaded_error|(?:status|code|error|http)\W{0,12}5(?:0[0234]|29)\b"
        r"|\b529:"
        r"|internal server error|service (?:is )?(?:temporarily )?unavailable|bad gateway"
        r"|gateway time-?out|servers are down|no capacity available|at capacity|server_error"
        r"|high (?:load|demand)",
        "Claude Code «Repeated 529 Overloaded errors» (anthropics/claude-code#68502), Gemini CLI "
        "«No capacity available for model», aider, OpenAI's error codes",
    ),
    OutageForm(
        OFFLINE,
        r"ECONNREFUSED|ECONNRESET|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|connection refused"
        r"|unable to connect|could not (?:connect|resolve)|cannot (?:connect|be reached)"
        r"|name or service not known|name resolution|network is unreachable|fetch failed"
        r"|APIConnectionError|connection error|the model at \S+ did not answer(?!: HTTP status 4)"
        r"|stream disconnected before completion|error sending request",
        "Claude Code «Unable to connect to API», Codex's `stream error`, errors of Node and Python "
        "where a local server does not run (Ollama, vLLM)",
    ),
)  # fmt: skip
# An issue can be too long for a model. Then no account is at fault, however fast the run ended.
TOO_LONG = re.compile(
    r"prompt is too long|context[ _](?:length|window)|maximum context|(?:request|input) (?:is )?too"
    r" (?:large|long)",
    re.IGNORECASE,
)
# The kinds of errors that Claude Code names in a field: `assistant.error` of its stream, and
# `error` of its hook StopFailure (anthropics/claude-code, hooks reference). Qwen Code has the same.
NAMED = {
    "rate_limit": LIMIT,
    "billing_error": CREDIT,
    "authentication_failed": LOGIN,
    "oauth_org_not_allowed": LOGIN,
    "overloaded": DOWN,
    "server_error": DOWN,
}
STATUSES = {
    401: LOGIN,
    402: CREDIT,
    429: RATE,
    500: DOWN,
    502: DOWN,
    503: DOWN,
    504: DOWN,
    529: DOWN,
}
_FORMS = [(form.kind, re.compile(form.pattern, re.IGNORECASE)) for form in FORMS]


class Outage(NamedTuple):
    """Why an account cannot work."""

    kind: str
    text: str = ""  # the client's words, printable
    resets: float = 0.0  # seconds since the epoch, if the client names the time in a field


def read(text: str) -> Outage | None:
    """The outage that an error of a client is about; None if it is none that we know."""
    plain = clean(text[:READ]).replace("\u2019", "'")
    if TOO_LONG.search(plain):
        return None
    kind = next((kind for kind, form in _FORMS if form.search(plain)), "")
    return Outage(kind, one_line(plain, KEPT)) if kind else None


def of_status(status: object, text: str) -> Outage | None:
    """The outage by the status of an HTTP response, with the client's words for it."""
    kind = STATUSES.get(status) if isinstance(status, int) else None
    return read(text) or (Outage(kind, one_line(clean(text), KEPT)) if kind else None)


def of_name(name: object, text: str) -> Outage | None:
    """The outage by the client's name for its kind, with its words for it."""
    kind = NAMED.get(name) if isinstance(name, str) else None
    return read(text) or (Outage(kind, one_line(clean(text), KEPT)) if kind else None)


def merged(before: Outage | None, outage: Outage | None) -> Outage | None:
    """What two errors of a client say together: a second one may repeat the first without its
    time."""
    if before is None or outage is None or before.kind != outage.kind:
        return outage or before
    text = max(outage.text, before.text, key=len)
    return Outage(outage.kind, text, outage.resets or before.resets)


def of_limits(info: Mapping[str, Any]) -> Outage | None:
    """The outage in Claude Code's `rate_limit_event`, its field `rate_limit_info`: `status` is
    `rejected`, and `resetsAt` is in seconds or milliseconds (`RateLimitEvent` in the packages
    claude-codes for Rust and claude_code for Elixir)."""
    if info.get("status") != "rejected" or info.get("isUsingOverage") is True:
        return None
    at = info.get("resetsAt")
    seconds = float(at) if isinstance(at, int | float) and not isinstance(at, bool) else 0.0
    seconds = seconds / 1000 if seconds > 1e11 else seconds
    return Outage(LIMIT, "", seconds if 0 < seconds < 1e11 else 0.0)
