"""What clients print of limits, logins and outages; and what is none."""

import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ghp_agents.runs import stream
from ghp_agents.runs.outages import forms as outages
from ghp_agents.runs.outages import reset_times
from ghp_agents.runs.outages.forms import CREDIT, DOWN, LIMIT, LOGIN, OFFLINE, RATE, Outage
from ghp_agents.runs.stream import ClientProgress

NOW = datetime(2026, 11, 29, 10, 0, tzinfo=UTC).timestamp()  # a Sunday
FORMS = [
    (LIMIT, "29 14:45", "You've hit your session limit · resets 3:45pm (Europe/Madrid)"),
    (LIMIT, "30 00:00", "You've hit your weekly limit · resets Mon 12:00am"),
    (LIMIT, "03 01:00", "You've hit your Opus limit · resets Dec 2, 8pm (America/New_York)"),
    (LIMIT, "", "You've hit your org's monthly spend limit · ask your admin"),
    (LIMIT, "30 00:53", "Claude AI usage limit reached|1796000000"),
    (LIMIT, "01 00:00", "You have reached your specified workspace API usage limits. You will "
     "regain access on 2026-12-01 at 00:00 UTC."),
    (RATE, "", "API Error: Request rejected (429) · Rate limited"),
    (DOWN, "", "API Error: Repeated 529 Overloaded errors. The API is at capacity"),
    (CREDIT, "", "Credit balance is too low"),
    (LOGIN, "", "OAuth token has expired · Please run /login"),
    (LOGIN, "", "Invalid API key · Fix external API key"),
    (OFFLINE, "", "API Error: Unable to connect to API (ECONNREFUSED)"),
    (LIMIT, "05 08:11", "You've hit your usage limit. Upgrade to Pro (https://chatgpt.com/pro) or "
     "try again in 5 days 22 hours 11 minutes."),
    (LIMIT, "01 04:59", "You\u2019ve hit your usage limit. Visit https://chatgpt.com/usage to "
     "purchase more credits or try again at Dec 1st, 2026 4:59 AM."),
    (LIMIT, "29 19:38", "You've hit your usage limit for codex, or try again at 7:38 PM."),
    (RATE, "", "exceeded retry limit, last status: 429 Too Many Requests"),
    (LOGIN, "", "exceeded retry limit, last status: 401 Unauthorized, request id: 1-SIN"),
    (LOGIN, "", "Your access token could not be refreshed because your refresh token was revoked."),
    (LIMIT, "29 12:52", "You have exhausted your capacity on this model. Your quota will reset "
     "after 2h52m39s."),
    (LIMIT, "29 10:00", '{"code":429,"status":"RESOURCE_EXHAUSTED","retryDelay":"34.07s"}'),
    (LOGIN, "", "Please set an Auth method in your settings.json or specify GEMINI_API_KEY"),
    (DOWN, "", "No capacity available for model gemini-3-flash-preview on the server"),
    (LIMIT, "17 00:00", "You've hit your usage limit. Your usage limits will reset when your "
     "monthly cycle ends on 12/17/2026.*"),
    (LOGIN, "", "Error: Authentication required. Please run 'cursor-agent login' first"),
    (RATE, "30 01:23", "Sorry, you've hit a rate limit that restricts the number of Copilot model "
     "requests. Please try again in 15 hours 23 minutes. Please review our Terms"),
    (LIMIT, "", "Sorry, you have exceeded your Copilot token usage."),
    (LIMIT, "", '429: {"type":"FreeUsageLimitError","message":"Rate limit exceeded."}'),
    (LIMIT, "06 09:39", "Individual quota reached. Resets in 167h39m40s."),
    (RATE, "", "litellm.RateLimitError: AnthropicException"),
    (LOGIN, "", "litellm.AuthenticationError: OpenAIException - Incorrect API key provided"),
    (DOWN, "", "The API provider's servers are down or overloaded."),
    (OFFLINE, "", "litellm.APIConnectionError: OllamaException - Connection refused"),
    (OFFLINE, "", "The model at http://127.0.0.1:11434/v1 did not answer: refused."),
    (LIMIT, "30 00:53", '{"type":"usage_limit_reached","resets_at":1796000000}'),
    (LIMIT, "29 10:10", '{"type":"usage_limit_reached","resets_in_seconds":600}'),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "day", "text"), FORMS)
def test_a_client_names_what_is_at_fault_and_until_when(kind: str, day: str, text: str) -> None:
    found = outages.read(text)
    until = reset_times.read(text, NOW, UTC)
    shown = datetime.fromtimestamp(until, UTC).strftime("%d %H:%M") if until else ""
    assert (found and found.kind, shown) == (kind, day)


@pytest.mark.parametrize(
    "text",
    [
        "Prompt is too long", "This model's maximum context length is 8192 tokens (status 429)",
        "no key", "make: *** [test] Error 1", "I added a rate limit to the API.",
        "12 passed, 529 skipped", "fatal: not a git repository", "",
    ],
)  # fmt: skip
def test_an_error_of_the_issue_is_no_outage(text: str) -> None:
    assert outages.read(text) is None


@given(st.text(max_size=300), st.floats(0, 4e9))
def test_a_time_is_in_the_future_and_no_text_breaks_it(text: str, now: float) -> None:
    for words in (text, f"resets {text}", f"try again at {text}"):
        until = reset_times.read(words, now, UTC)
        assert until is None or now < until <= now + reset_times.LONGEST
        outages.read(words)


def test_a_time_that_is_too_far_away_is_a_month_away() -> None:
    assert reset_times.read("resets on 2100-01-01", NOW, UTC) == NOW + reset_times.LONGEST


def read(*lines: object) -> ClientProgress:
    progress = ClientProgress()
    for line in lines:
        progress = stream.read(progress, line if isinstance(line, str) else json.dumps(line))
    return progress


REJECTED = {"type": "rate_limit_event",
            "rate_limit_info": {"status": "rejected", "resetsAt": 1_796_000_000_000}}  # fmt: skip
SAID = {"type": "assistant", "error": "rate_limit",
        "message": {"id": "m", "model": "<synthetic>",
                    "content": [{"type": "text", "text": "You've hit your limit"}]}}  # fmt: skip
RESULT = {"type": "result", "subtype": "success", "is_error": True, "api_error_status": 429,
          "num_turns": 1, "result": "You've hit your limit · resets 11pm (UTC)"}  # fmt: skip
ANSWER = {"type": "assistant", "message": {"id": "m-2", "content": []}}
TOOL = {"type": "user", "message": {"content": [
    {"type": "tool_result", "is_error": True, "content": "429 Too Many Requests"}]}}  # fmt: skip


def test_claude_names_its_limit_in_three_events_and_no_turn_was_made() -> None:
    progress = read(REJECTED, SAID, RESULT)
    text = "You've hit your limit · resets 11pm (UTC)"
    assert progress.outage == Outage(LIMIT, text, 1_796_000_000.0)
    assert (progress.turns, progress.has_worked) == (0, False)


def test_codex_repeats_its_limit_without_the_time() -> None:
    long = "You've hit your usage limit, or try again at 7:38 PM."
    progress = read(
        {"type": "error", "message": long},
        {"type": "turn.failed", "error": {"message": "You've hit your usage limit."}},
    )
    assert progress.outage == Outage(LIMIT, long)


def test_opencode_names_the_status_and_the_name_of_an_error() -> None:
    data = {"message": "The model said no", "statusCode": 529}
    assert read({"type": "error", "error": {"name": "APIError", "data": data}}).outage == Outage(
        DOWN, "APIError: The model said no"
    )
    login = {"type": "error", "error": {"name": "ProviderAuthError", "data": {"message": "no"}}}
    assert read(login).outage == Outage(LOGIN, "ProviderAuthError: no")


@pytest.mark.parametrize(
    "lines",
    [
        [REJECTED, ANSWER],
        [RESULT, {"type": "result", "is_error": False, "num_turns": 3}],
        [{"type": "rate_limit_event", "rate_limit_info": {"status": "allowed_warning"}}],
        [TOOL],
        ["Connection refused", *(f"line {n}" for n in range(8))],
    ],
)
def test_an_outage_that_was_not_the_end_is_none(lines: list[object]) -> None:
    assert read(*lines).outage is None


def test_a_line_of_text_near_the_end_counts() -> None:
    outage = read("litellm.RateLimitError: slow down", "Retrying", "Error: no commits").outage
    assert outage == Outage(RATE, "litellm.RateLimitError: slow down")
